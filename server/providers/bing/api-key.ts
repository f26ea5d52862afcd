import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { ProviderFailure } from '../failures.ts';

const MAX_BYTES = 1000;
const KEY = /^[\w-]{16,128}$/;

/**
 * Reads a file with an API key, which may end with a line break. Throws `ProviderFailure` if it is missing, unreadable or has
 * something else; the message names the file but contains none of its contents.
 */
export function readApiKey(path: string): string {
  const key = readText(path).trim();
  if (!KEY.test(key)) throw keyFailure(path, 'must contain one API key: 16 to 128 letters, digits, - or _');
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
