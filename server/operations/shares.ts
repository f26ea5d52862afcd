import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Type } from 'typebox';
import {
  createShare,
  findShare,
  listShares,
  revokeShare,
  SHARE_SCREENS,
  type Share,
  type ShareScreen,
} from '../catalog/keys.ts';
import { parseDay } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { isoInstant, isoInstantOrNull, type Microseconds } from '../domain/instants.ts';
import { issues, lists, type Needs, type Noun, OF_PROJECT, type ProjectPlace, removes } from './operation.ts';
import { MANAGERS } from './rights.ts';

const MAX_PASSWORD = 200;
const HASH_BYTES = 32;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})$/;
/** The cost of a guess: 16 MB and 30 ms. Stored with each hash, so that later ones can cost more. */
const COST = { N: 16_384, r: 8, p: 1 };
const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

const SHARE: Noun<ProjectPlace, Share> = {
  name: 'share',
  plural: 'shares',
  of: OF_PROJECT,
  find: async (catalog, { project }, id) => {
    const found = await findShare(catalog, id);
    return found?.project === project ? found : undefined;
  },
  missing: 'The project has no such share.',
  show: shownShare,
  audited: ({ id, project }) => ({ subject: id, details: { project } }),
};

export const shareCreation = issues(SHARE, {
  roles: MANAGERS,
  audit: 'share.created',
  fields: {
    screens: Type.Array(Type.String(), { description: `What it shows: some of ${SHARE_SCREENS.join(', ')}.` }),
    hideQueries: Type.Optional(Type.Boolean({ description: 'Whether no text of a query is shown.' })),
    expiresAt: optionalText('The day that it ends with (UTC), or an instant; it does not end by default.'),
    password: optionalText(`What visitors must type, of 1 to ${MAX_PASSWORD} characters; nothing by default.`),
  },
  run: {
    before: async (_: Needs, { input: { screens, hideQueries = false, expiresAt = null, password = null }, at }) => {
      const choice = {
        screens: checkScreens(screens),
        hideQueries,
        expiresAt: expiresAt === null ? null : checkEnd(expiresAt, at),
        passwordHash: password === null ? null : await hashPassword(password),
      };
      return ({ tx, place }) => createShare(tx, place, choice, at);
    },
  },
  audited: ({ share: { id, project, screens, hideQueries, expiresAt, passwordHash } }) => ({
    subject: id,
    details: {
      ...{ project, screens, hideQueries },
      ...{ expiresAt: isoInstantOrNull(expiresAt), hasPassword: passwordHash !== null },
    },
  }),
  answer: ({ share, token }, server) => ({ share: shownShare(share), url: shareAddress(server, token) }),
});

export const shareRevocation = removes(SHARE, {
  roles: MANAGERS,
  audit: 'share.revoked',
  run: ({ tx, found: { id }, at }) => revokeShare(tx, id, at),
});

/** Shares of a project: owners and admins make links that show a part of it, and take them back. */
export const SHARE_OPERATIONS = [
  lists(SHARE, MANAGERS, ({ catalog }, { project }) => listShares(catalog, project)),
  shareCreation,
  shareRevocation,
];

function optionalText(description: string) {
  return Type.Optional(Type.Union([Type.String(), Type.Null()], { description }));
}

/** Where a share is opened. */
export function shareAddress(server: string, token: string): string {
  return `${server}/share/${token}`;
}

function checkScreens(screens: readonly string[]): ShareScreen[] {
  const unknown = screens.find((screen) => !SHARE_SCREENS.includes(screen as ShareScreen));
  if (unknown !== undefined || screens.length === 0) {
    const found = unknown === undefined ? '' : `; '${unknown.slice(0, 40)}' is none`;
    throw invalidRequest(`'screens' must be some of ${SHARE_SCREENS.join(', ')}${found}.`);
  }
  return SHARE_SCREENS.filter((screen) => screens.includes(screen));
}

function checkEnd(text: string, at: Microseconds): Microseconds {
  const day = parseDay(text);
  const end = day === undefined ? (INSTANT.test(text) ? Date.parse(text) : Number.NaN) : Date.parse(day) + 86_400_000;
  if (Number.isNaN(end)) {
    throw invalidRequest("'expiresAt' must be a day such as 2026-03-01, or an instant such as 2026-03-01T12:00:00Z.");
  }
  if (end * 1000 <= at) throw invalidRequest(`'expiresAt' must be in the future; it is ${isoInstant(at)} now.`);
  return end * 1000;
}

async function hashPassword(password: string): Promise<string> {
  if (password.trim() === '' || password.length > MAX_PASSWORD) {
    throw invalidRequest(`'password' must be a text of 1 to ${MAX_PASSWORD} characters.`);
  }
  const salt = randomBytes(16);
  const hash = await derive(password, salt, HASH_BYTES, COST);
  const { N, r, p } = COST;
  return ['scrypt', N, r, p, salt.toString('hex'), hash.toString('hex')].join(':');
}

/** Whether a password is that of a share. */
export async function isPasswordOf({ passwordHash }: Share, password: string): Promise<boolean> {
  const [, N, r, p, salt, text] = (passwordHash ?? '').split(':');
  if (text === undefined || password.length > MAX_PASSWORD) return false;
  const hash = Buffer.from(text, 'hex');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  return timingSafeEqual(await derive(password, Buffer.from(salt!, 'hex'), hash.length, cost), hash);
}

/** A share in answers and lists. */
export function shownShare({
  id,
  project,
  screens,
  hideQueries,
  expiresAt,
  passwordHash,
  createdAt,
  revokedAt,
}: Share) {
  return {
    ...{
      id,
      project,
      screens,
      hideQueries,
      expiresAt: isoInstantOrNull(expiresAt),
      hasPassword: passwordHash !== null,
    },
    ...{ createdAt: isoInstant(createdAt), revokedAt: isoInstantOrNull(revokedAt) },
  };
}
