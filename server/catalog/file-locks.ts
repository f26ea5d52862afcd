import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FileLock } from '../runtime/file-lock.ts';
import { ifMissing } from '../storage/local-files.ts';
import type { LoadLock, Lock, Locks, PlannedFile } from './catalog.ts';

/** Lock files of killed processes are removed after this time, in milliseconds. */
const OLD_LOCK = 3_600_000;

/** The file of planned files, in the folder of staged ones. */
export const PLANS = 'planned-files';

/** Locks between the processes of one machine: files in the data folder. */
export class FileLocks implements Locks {
  readonly #dataFolder: string;
  readonly #folder: string;

  constructor(dataFolder: string) {
    this.#dataFolder = dataFolder;
    this.#folder = join(dataFolder, 'locks');
  }

  /** One load at a time, even of other projects. */
  async takeLoad(): Promise<LoadLock | undefined> {
    const lock = FileLock.take(join(this.#dataFolder, 'load.lock'));
    return lock && new FileLoadLock(lock, join(this.#dataFolder, 'staging', PLANS));
  }

  async take(name: string): Promise<Lock | undefined> {
    // If this fails, taking the lock reports the reason.
    if (!existsSync(this.#folder)) mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, `${createHash('sha256').update(name).digest('hex').slice(0, 32)}.lock`);
    const lock = FileLock.take(path);
    if (lock === undefined) return undefined;
    const release = async (): Promise<void> => {
      // While the lock is held: the next process creates a new file.
      await rm(path, { force: true }).catch(() => {});
      lock.release();
    };
    return { release, [Symbol.asyncDispose]: release };
  }

  async sweep(): Promise<void> {
    for (const name of await readdir(this.#folder).catch(ifMissing<string[]>([]))) {
      const path = join(this.#folder, name);
      const found = await stat(path).catch(() => undefined);
      if (found === undefined || Date.now() - found.mtimeMs < OLD_LOCK) continue;
      using lock = FileLock.take(path);
      if (lock !== undefined) await rm(path, { force: true });
    }
  }
}

/** The lock of all loads of a data folder. Planned files are the lines of a text file, those to be removed again with an instant. */
class FileLoadLock implements LoadLock {
  readonly isForAll = true;
  readonly #lock: FileLock;
  readonly #plans: string;

  constructor(lock: FileLock, plans: string) {
    this.#lock = lock;
    this.#plans = plans;
  }

  async takeProjects(): Promise<boolean> {
    return true;
  }

  async plan(file: string): Promise<void> {
    mkdirSync(dirname(this.#plans), { recursive: true, mode: 0o700 });
    appendFileSync(this.#plans, `${file}\n`, { mode: 0o600 });
  }

  async plans(now: number): Promise<PlannedFile[]> {
    return (await this.#read())
      .filter(({ againAt }) => againAt <= now)
      .map(({ file, againAt }) => ({ file, isAgain: againAt > 0 }));
  }

  async settlePlans(files: readonly PlannedFile[], again: readonly PlannedFile[], at: number): Promise<void> {
    const settled = new Set(files.map(({ file }) => file));
    const left = (await this.#read()).filter(({ file }) => !settled.has(file));
    const lines = [...left, ...again.map(({ file }) => ({ file, againAt: at }))];
    if (lines.length === 0) return rm(this.#plans, { force: true });
    const text = lines.map(({ file, againAt }) => `${file}${againAt > 0 ? ` ${againAt}` : ''}\n`).join('');
    await writeFile(`${this.#plans}.new`, text, { mode: 0o600 });
    await rename(`${this.#plans}.new`, this.#plans);
  }

  /** `againAt`: milliseconds; 0 for files that were not removed yet. */
  async #read(): Promise<{ file: string; againAt: number }[]> {
    const text = await readFile(this.#plans, 'utf8').catch(() => '');
    return text.split('\n').flatMap((line) => {
      // The last line may be incomplete.
      const [, file, againAt = '0'] = /^(facts\/\w+\/[^/]+\/[^/]+\.parquet)(?: (\d+))?$/.exec(line) ?? [];
      return file === undefined ? [] : [{ file, againAt: Number(againAt) }];
    });
  }

  async release(): Promise<void> {
    this.#lock.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}
