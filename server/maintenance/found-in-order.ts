import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ifMissing } from '../storage/local-files.ts';

/**
 * What verifications found in order: objects by their tags, and rollups by the immutable files that they were compared with.
 * What has not changed since is not read again. Kept in a file of this machine; losing it only costs time.
 */
export class FoundInOrder {
  readonly #path: string;
  readonly #before: ReadonlySet<string>;
  readonly #now = new Set<string>();

  private constructor(path: string, before: ReadonlySet<string>) {
    this.#path = path;
    this.#before = before;
  }

  static async open(path: string): Promise<FoundInOrder> {
    const text = await readFile(path, 'utf8').catch(ifMissing(''));
    return new FoundInOrder(path, new Set(text.split('\n')));
  }

  /** Whether it was found in order before. `names` say all that the result depended on. */
  has(names: readonly string[]): boolean {
    const digest = digestOf(names);
    if (!this.#before.has(digest)) return false;
    this.#now.add(digest);
    return true;
  }

  note(names: readonly string[]): void {
    this.#now.add(digestOf(names));
  }

  /** @param isAll whether everything was asked for, so that what was not is forgotten */
  async save(isAll: boolean): Promise<void> {
    const digests = isAll ? this.#now : this.#now.union(this.#before);
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const unfinished = `${this.#path}-${process.pid}`;
    await writeFile(unfinished, [...digests].join('\n'), { mode: 0o600 });
    await rename(unfinished, this.#path);
  }
}

function digestOf(names: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(names)).digest('base64url');
}
