import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { type Connection, findGrant, tokenOf } from '../../catalog/connections.ts';
import { SecretsFailure } from '../../runtime/secrets.ts';
import { ProviderFailure } from '../failures.ts';
import type { ProviderContext } from '../provider.ts';

const MAX_BYTES = 1000;
/** What a key looks like, for messages; see `isApiKey`. */
export const API_KEY_FORM = 'one API key: 16 to 128 letters, digits, - or _';

export function isApiKey(text: string): boolean {
  return /^[\w-]{16,128}$/.test(text);
}

/** The key of a connection: in its file, or encrypted in the catalog. Throws `ProviderFailure`. */
export async function keyOf(
  { credentials, grant: id }: Connection,
  { catalog, settings }: Pick<ProviderContext, 'catalog' | 'settings'>,
): Promise<string> {
  if (id === null) return readApiKey(credentials ?? '');
  const step = 'credentials';
  const grant = await findGrant(catalog, id);
  if (grant === undefined) throw new ProviderFailure('access-lost', 'the API key was removed', { step });
  try {
    return tokenOf(settings, grant);
  } catch (error) {
    if (!(error instanceof SecretsFailure)) throw error;
    throw new ProviderFailure('misconfigured', error.message, { step });
  }
}

/**
 * Reads a file with an API key, which may end with a line break. Throws `ProviderFailure` if it is missing, unreadable or has
 * something else; the message names the file but contains none of its contents.
 */
export function readApiKey(path: string): string {
  const key = readText(path).trim();
  if (!isApiKey(key)) throw keyFailure(path, `must contain ${API_KEY_FORM}`);
  return key;
}

/** Identifies a key without containing it. */
export function nameOfKey(key: string): string {
  return `key ${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
}

function readText(path: string): string {
  try {
    const stats = statSync(path);
    // Reading a pipe would block.
    if (!stats.isFile()) throw keyFailure(path, 'is not a file');
    if (stats.size > MAX_BYTES) throw keyFailure(path, `has ${stats.size} bytes, too many for an API key`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof ProviderFailure) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw keyFailure(path, `cannot be read (${code}); each machine that runs Ordinate needs it at this path`);
  }
}

function keyFailure(path: string, why: string): ProviderFailure {
  return new ProviderFailure('misconfigured', `the file of the API key '${path}' ${why}`, { step: 'credentials' });
}
