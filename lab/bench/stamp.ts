import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A hash of the values and of the content of files (globs relative to the checkout). */
export function stampOf(values: object, files: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(values));
  for (const file of globSync([...files], { cwd: root }).sort())
    digest.update(file).update(readFileSync(join(root, file)));
  return digest.digest('hex');
}

/** Makes a folder, in place of an old one, unless one with this stamp exists. Returns whether it was made. */
export async function makeOnce(folder: string, stamp: string, make: () => Promise<void>): Promise<boolean> {
  const file = `${folder}.stamp`;
  if (readStamp(file) === stamp) return false;
  rmSync(file, { force: true });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await make();
  // Written last: an incomplete folder has none.
  writeFileSync(file, stamp);
  return true;
}

function readStamp(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
