import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileLock } from '../../../server/runtime/file-lock.ts';

/**
 * What a stopped server should not leave. Files that loads replaced stay for an hour, and those of lists until the next
 * sweep; `verify` finds fact files that nothing knows. Lock files stay: what counts is that nobody holds them.
 */
export async function findLeftovers(dataFolder: string, target: string): Promise<string[]> {
  const found: string[] = [];
  for (const folder of ['staging', 'temporary']) {
    const path = join(dataFolder, folder);
    if (existsSync(path)) found.push(...readdirSync(path).map((name) => `${folder}/${name}`));
  }
  for (const lock of globSync('leases/*.lock', { cwd: dataFolder })) {
    const taken = FileLock.take(join(dataFolder, lock));
    if (taken === undefined) found.push(`${lock} is held`);
    taken?.release();
  }
  found.push(...globSync('{facts,lists}/**/*.{tmp,partial,pending.ndjson}', { cwd: dataFolder }));
  found.push(...globSync('unfinished/*', { cwd: target }).map((name) => `backup: ${name}`));
  return found;
}

/** Lines of the log at the levels error and fatal. */
export function errorLines(log: string): string[] {
  if (!existsSync(log) || statSync(log).size === 0) return [];
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => /^\{"level":(5|6)0,/.test(line));
}
