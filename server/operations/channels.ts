import { Type } from 'typebox';
import { ALERT_KINDS } from '../alerts/alert.ts';
import {
  addChannel,
  CHANNEL_EVENTS,
  CHANNEL_KINDS,
  type Channel,
  type ChannelChoice,
  type ChannelEvent,
  type ChannelKind,
  changeChannel,
  findChannel,
  listChannels,
  removeChannel,
  rotateChannel,
} from '../catalog/channels.ts';
import { recordDelivery, SEVERITIES } from '../catalog/deliveries.ts';
import { findAnyProject } from '../catalog/projects.ts';
import { AddressRefused, parseAddress, resolveAddress } from '../channels/addresses.ts';
import { attemptNow, ownerOf, shownChannel, shownDelivery } from '../channels/channels.ts';
import { missingMailSetting } from '../channels/mail.ts';
import { oneLine } from '../channels/message.ts';
import { invalidRequest, KnownError } from '../domain/errors.ts';
import { HOUR } from '../domain/hours.ts';
import { isoInstant } from '../domain/instants.ts';
import type { Stores } from '../load/stores.ts';
import { orAborted } from '../runtime/promises.ts';
import type { Settings } from '../settings/settings.ts';
import { isMailAddress } from '../settings/values.ts';
import {
  acts,
  answerOf,
  changes,
  issues,
  lists,
  type Noun,
  OF_WORKSPACE,
  type Place,
  reads,
  removes,
  type WorkOn,
} from './operation.ts';
import { MANAGERS } from './rights.ts';

/** Types of alerts that a channel can choose. */
const ALERT_TYPES: readonly string[] = Object.keys(ALERT_KINDS);
const DEFAULT_EVENTS = CHANNEL_EVENTS.filter((event) => !event.startsWith('digest.'));
const MAX_NAME = 100;
const MAX_OVERLAP_HOURS = 720;
const GONE = 'The channel was removed.';
/** Milliseconds until a name counts as one that cannot be resolved. */
const RESOLVE_LIMIT = 5000;

const CHANNEL: Noun<Place, Channel> = {
  name: 'channel',
  plural: 'channels',
  of: OF_WORKSPACE,
  find: async (catalog, { workspace }, id) => {
    const found = await findChannel(catalog, id);
    return found?.workspace === workspace ? found : undefined;
  },
  missing: 'The workspace has no such channel.',
  edited: ({ name, events, types, minSeverity, state }) => ({ name, events, types, minSeverity, state }),
  show: shownChannel,
  audited: ({ id, kind, shown: to }) => ({ subject: id, details: { kind, to } }),
};

/** Events and types are checked by `checkChoice`, which says what is possible. */
const choice = {
  name: Type.Optional(
    Type.String({ description: `Its name, of 1 to ${MAX_NAME} characters; the host or address by default.` }),
  ),
  events: Type.Optional(
    Type.Array(Type.Unsafe<ChannelEvent>(Type.String()), {
      description: `What it is told of: ${CHANNEL_EVENTS.join(', ')}; all but digests by default.`,
    }),
  ),
  types: Type.Optional(
    Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'The types of alerts that it is told of; null for all.',
    }),
  ),
  minSeverity: Type.Optional(
    Type.Union(
      [
        Type.Unsafe<NonNullable<ChannelChoice['minSeverity']>>({
          type: 'string',
          enum: SEVERITIES,
        }),
        Type.Null(),
      ],
      { description: 'Only alerts that are at least so serious; null for all.' },
    ),
  ),
};

export const channelCreation = issues(CHANNEL, {
  roles: MANAGERS,
  audit: 'channel.created',
  fields: {
    kind: Type.Unsafe<ChannelKind>({ type: 'string', enum: CHANNEL_KINDS, description: 'How it is sent.' }),
    to: Type.String({ maxLength: 2000, description: 'An address of mail, or of a webhook or chat.' }),
    project: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: 'Only what happens to this project; null for all.' }),
    ),
    ...choice,
  },
  run: {
    before: async ({ settings, catalog }: Stores, { place: { workspace }, input }) => {
      const { kind, to, project = null, events = DEFAULT_EVENTS, types = null, minSeverity = null } = input;
      const isOwn = project === null || (await findAnyProject(catalog, project))?.workspaceId === workspace;
      if (!isOwn) throw invalidRequest(`project: the workspace has no project '${project}'.`);
      checkChoice(input);
      const { shown, address } = kind === 'email' ? checkMail(settings, to) : await checkWeb(settings, to);
      const name = oneLine(input.name ?? (kind === 'email' ? shown : new URL(to).hostname));
      const about = { workspace, project, kind, name, shown, address, minSeverity };
      const wanted = { ...about, events: unique(events), types: types && unique(types) };
      return ({ tx, at }) => addChannel(tx, settings, wanted, at);
    },
  },
  audited: ({ channel: { id, kind, shown: to, project } }) => ({ subject: id, details: { kind, to, project } }),
  answer: ({ channel, secret }) => ({ ...answerOf(CHANNEL, channel), ...(secret && { secret }) }),
});

export const channelChange = changes(CHANNEL, {
  roles: MANAGERS,
  audit: 'channel.changed',
  fields: { ...choice, enabled: Type.Optional(Type.Boolean({ description: 'False: nothing is sent.' })) },
  check: checkChoice,
  run: async ({ tx, input, found, at }) => {
    const channel = { ...found, ...chosen(input) };
    await changeChannel(tx, channel, at);
    return channel;
  },
  details: chosen,
});

export const channelRemoval = removes(CHANNEL, {
  roles: MANAGERS,
  audit: 'channel.removed',
  run: ({ tx, found: { id } }) => removeChannel(tx, id),
  gone: GONE,
});

/** Sends a test at once, and waits for the answer. */
export const channelTest = acts(CHANNEL, 'test', {
  roles: MANAGERS,
  audit: 'channel.tested',
  fields: {},
  // A receiver may be a stranger.
  limit: { most: 10, what: 'tests', receiver: ({ shown }) => shown },
  run: {
    before: async ({ settings, catalog }: Stores, { found, at, signal }) => {
      const { id, name, workspace } = found;
      const project = found.project === null ? undefined : await findAnyProject(catalog, found.project);
      const data = { ...(await ownerOf(catalog, workspace, project)), channel: { id, name }, link: '/app' };
      const body = { type: 'channel.test', timestamp: isoInstant(at), data };
      const sent = { event: 'channel.test', subject: id, body };
      const { delivery, result } = await attemptNow(settings, found, sent, at, { signal });
      return async ({ tx, by, at }) => ({ result, delivery: await recordDelivery(tx, delivery, result, { by, at }) });
    },
  },
  gone: GONE,
  details: ({ result: { outcome, status } }) => ({ outcome, status }),
  answer: ({ delivery }) => ({ delivery: shownDelivery(delivery) }),
});

const rotation = {
  roles: MANAGERS,
  audit: 'channel.rotated',
  isSecret: true,
  run: {
    before: async ({ settings }: Stores, { input: { overlapHours = 24 } }: { readonly input: Overlap }) => {
      const overlap = overlapHours * HOUR * 1000;
      return async ({ tx, found, at }: Pick<WorkOn<Place, Overlap, Channel>, 'tx' | 'found' | 'at'>) => {
        const { kind } = found;
        if (kind !== 'webhook') throw new KnownError('conflict', `A channel of kind ${kind} has no secret to rotate.`);
        return rotateChannel(tx, settings, found, at + overlap);
      };
    },
  },
  gone: GONE,
  details: () => ({}),
  answer: shownRotation,
} as const;

interface Overlap {
  readonly overlapHours?: number;
}

/** Gives a webhook a new secret; commands choose any overlap. */
export const channelRotation = acts(CHANNEL, 'rotate', {
  ...rotation,
  fields: { overlapHours: Type.Optional(Type.Number()) },
});

/** Channels of a workspace: owners and admins choose where it is told of what happens. */
export const CHANNEL_OPERATIONS = [
  lists(CHANNEL, MANAGERS, ({ catalog }, { workspace }) => listChannels(catalog, workspace)),
  reads(CHANNEL, MANAGERS),
  channelCreation,
  channelChange,
  channelRemoval,
  channelTest,
  acts(CHANNEL, 'rotate', {
    ...rotation,
    fields: {
      overlapHours: Type.Optional(
        Type.Number({
          ...{ minimum: 0, maximum: MAX_OVERLAP_HOURS },
          description: 'How many hours the old secret signs too; 24 by default.',
        }),
      ),
    },
  }),
];

/** The secret of a webhook, and until when the one before signs too. */
export function shownRotation({ secret, oldSecretValidUntil }: Awaited<ReturnType<typeof rotateChannel>>) {
  return { secret, oldSecretValidUntil: isoInstant(oldSecretValidUntil) };
}

type Sent = Partial<Omit<ChannelChoice, 'state'>> & { readonly enabled?: boolean };

/** What a change chooses. */
function chosen({ enabled, ...changed }: Sent): Partial<ChannelChoice> {
  return { ...changed, ...(enabled !== undefined && { state: enabled ? ('on' as const) : ('disabled' as const) }) };
}

/** Throws `invalid_request` for a choice that names what does not exist. */
function checkChoice({ name, events, types }: Partial<ChannelChoice>): void {
  if (name !== undefined && (oneLine(name) === '' || name.length > MAX_NAME)) {
    throw invalidRequest(`name must be a text of 1 to ${MAX_NAME} characters.`);
  }
  const unknownEvent = events?.find((event) => !CHANNEL_EVENTS.includes(event));
  if (unknownEvent !== undefined || events?.length === 0) {
    throw invalidRequest(`events must be some of ${CHANNEL_EVENTS.join(', ')}.`);
  }
  const unknownType = types?.find((type) => !ALERT_TYPES.includes(type));
  if (unknownType !== undefined || types?.length === 0) {
    throw invalidRequest(`types must be some of ${ALERT_TYPES.join(', ')}.`);
  }
}

function checkMail(settings: Settings, to: string): { shown: string; address: null } {
  if (!isMailAddress(to)) throw invalidRequest('to must be one address of mail, such as team@example.com.');
  const missing = missingMailSetting(settings);
  if (missing !== undefined) throw new KnownError('conflict', `Mail cannot be sent: ${missing} is not set.`);
  return { shown: to, address: null };
}

async function checkWeb(settings: Settings, to: string): Promise<{ shown: string; address: string }> {
  const loopback = settings.deliveryLoopback;
  try {
    const url = parseAddress(to, { loopback });
    await orAborted(resolveAddress(url, { loopback }), AbortSignal.timeout(RESOLVE_LIMIT)).catch((error: unknown) => {
      // A name that cannot be resolved now may be resolved later; it is checked again for each attempt.
      if (error instanceof AddressRefused) throw error;
    });
    return { shown: `${url.protocol}//${url.host}/…`, address: url.href };
  } catch (error) {
    if (error instanceof AddressRefused) throw invalidRequest(`to ${error.message}.`);
    throw error;
  }
}

const unique = <T extends string>(values: readonly T[]): T[] => [...new Set(values)];
