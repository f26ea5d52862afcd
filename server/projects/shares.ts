import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Submission } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { createShare, SHARE_SCREENS, type Share, type ShareScreen } from '../catalog/keys.ts';
import { parseDay } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { isoInstant, isoInstantOrNull, type Microseconds } from '../domain/instants.ts';

const MAX_PASSWORD = 200;
const HASH_BYTES = 32;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})$/;
/** The cost of a guess: 16 MB and 30 ms. Stored with each hash, so that later ones can cost more. */
const COST = { N: 16_384, r: 8, p: 1 };
const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** What somebody asks for. */
export interface WantedShare {
  readonly screens: readonly string[];
  readonly hideQueries?: boolean;
  /** A day, which it ends with (UTC), or an instant. */
  readonly expiresAt?: string | null;
  readonly password?: string | null;
}

/** Creates a share. Throws `invalid_request` with the name of the wrong field, and `not_found`. */
export async function addShare(
  catalog: Catalog,
  project: string,
  { screens, hideQueries = false, expiresAt = null, password = null }: WantedShare,
  writer: { readonly by: string; readonly at: Microseconds; readonly submission?: Submission },
): Promise<{ share: Share; token: string }> {
  const choice = {
    screens: checkScreens(screens),
    hideQueries,
    expiresAt: expiresAt === null ? null : checkEnd(expiresAt, writer.at),
    passwordHash: password === null ? null : await hashPassword(password),
  };
  return createShare(catalog, project, choice, writer);
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
