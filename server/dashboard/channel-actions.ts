import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { tooMany } from '../api/plugins/guard.ts';
import {
  CHANNEL_KINDS,
  type Channel,
  type ChannelEvent,
  changeChannel,
  channelVersion,
  findChannel,
  listChannels,
  removeChannel,
} from '../catalog/channels.ts';
import { listDeliveries } from '../catalog/deliveries.ts';
import {
  addChannel,
  checkChoice,
  rotateSecret,
  shownChannel,
  shownDelivery,
  testChannel,
} from '../channels/channels.ts';
import { notFound } from '../domain/errors.ts';
import { HOUR } from '../domain/hours.ts';
import type { Stores } from '../load/stores.ts';
import { MANAGERS } from '../operations/rights.ts';
import { oneOf } from '../presets/schemas.ts';
import type { AddAction, Wanted } from './actions.ts';

const MAX_DELIVERIES = 200;
const MAX_OVERLAP_HOURS = 720;
/** Tests that a host, or an address of mail, gets in a minute from all workspaces. */
const MAX_TESTS = 10;
const MINUTE = 60_000;

/** Events and types are checked by `checkChoice`, which says what is possible. */
const choice = {
  name: Type.Optional(Type.String()),
  events: Type.Optional(Type.Array(Type.Unsafe<ChannelEvent>(Type.String()))),
  types: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
  minSeverity: Type.Optional(Type.Union([oneOf('MinSeverity', ['info', 'warning', 'critical']), Type.Null()])),
};

/** `/app/api/channels`: owners and admins choose where the workspace is told of what happens. */
export function addChannelActions(api: FastifyInstance, add: AddAction, stores: Stores): void {
  const { catalog } = stores;
  const countTest = limitTests(api);
  const find = async ({ workspace, ids }: Wanted): Promise<Channel> => {
    const channel = await findChannel(catalog, ids['channel']!);
    if (channel?.workspace !== workspace) throw notFound('The workspace has no such channel.');
    return channel;
  };
  const orGone = <T>(result: T | undefined): T => {
    if (result === undefined) throw notFound('The channel was removed.');
    return result;
  };
  add({
    method: 'GET',
    url: '/channels',
    roles: MANAGERS,
    run: async ({ workspace }) => ({
      channels: (await listChannels(catalog, workspace)).map((channel) => ({
        ...shownChannel(channel),
        version: channelVersion(channel),
      })),
    }),
  });
  add({
    method: 'POST',
    creates: true,
    url: '/channels',
    roles: MANAGERS,
    status: 201,
    body: Type.Object(
      {
        kind: oneOf('ChannelKind', CHANNEL_KINDS),
        to: Type.String({ maxLength: 2000 }),
        project: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        ...choice,
      },
      { additionalProperties: false },
    ),
    run: async ({ workspace, body, by, at, reply, submission }) => {
      const { channel, secret } = await addChannel(stores, { ...body, workspace }, { by, at, submission });
      reply.header('cache-control', 'no-store');
      return { ...answerOf(channel), ...(secret && { secret }) };
    },
  });
  add({
    method: 'GET',
    url: '/channels/:channel',
    roles: MANAGERS,
    find,
    run: ({ found }) => answerOf(found),
  });
  add({
    method: 'PATCH',
    edits: true,
    url: '/channels/:channel',
    roles: MANAGERS,
    body: Type.Object({ ...choice, enabled: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
    find,
    run: async ({ found, body: { enabled, ...changes }, by, at, version }) => {
      checkChoice(changes);
      const state = enabled === undefined ? {} : { state: enabled ? ('on' as const) : ('disabled' as const) };
      const changed = await changeChannel(catalog, found.id, { ...changes, ...state }, { by, at, version });
      return answerOf(orGone(changed));
    },
  });
  add({
    method: 'DELETE',
    url: '/channels/:channel',
    roles: MANAGERS,
    find,
    run: async ({ found, by, at }) => {
      orGone((await removeChannel(catalog, found.id, { by, at })) || undefined);
    },
  });
  add({
    method: 'POST',
    creates: false,
    url: '/channels/:channel/test',
    roles: MANAGERS,
    find,
    run: async ({ found, by, at, signal, request }) => {
      await countTest(request, found);
      return { delivery: shownDelivery(await testChannel(stores, found, { by, at }, signal)) };
    },
  });
  add({
    method: 'POST',
    creates: true,
    url: '/channels/:channel/rotate',
    roles: MANAGERS,
    body: Type.Object(
      { overlapHours: Type.Optional(Type.Number({ minimum: 0, maximum: MAX_OVERLAP_HOURS })) },
      { additionalProperties: false },
    ),
    isBodyOptional: true,
    find,
    run: async ({ found, body: { overlapHours = 24 }, by, at, reply, submission }) => {
      reply.header('cache-control', 'no-store');
      return rotateSecret(stores, found, overlapHours * HOUR, { by, at, submission });
    },
  });
  add({
    method: 'GET',
    url: '/channels/:channel/deliveries',
    roles: MANAGERS,
    find,
    run: async ({ found }) => ({
      deliveries: (await listDeliveries(catalog, found.id, MAX_DELIVERIES)).map(shownDelivery),
    }),
  });
}

const answerOf = (channel: Channel) => ({ channel: shownChannel(channel), version: channelVersion(channel) });

/** Counts tests by their receiver, who may be a stranger. The returned function throws `rate_limited` after too many. */
function limitTests(api: FastifyInstance): (request: FastifyRequest, channel: Channel) => Promise<void> {
  const receivers = new WeakMap<FastifyRequest, string>();
  const count = api.createRateLimit({
    timeWindow: MINUTE,
    max: MAX_TESTS,
    keyGenerator: (request) => receivers.get(request) ?? '',
  });
  return async (request, { shown }) => {
    receivers.set(request, shown.toLowerCase());
    const counted = await count(request);
    if (counted.isAllowed) throw new Error('the limit must count every receiver');
    if (counted.isExceeded) throw tooMany(`tests to ${shown}`, counted.ttlInSeconds);
  };
}
