import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import { exceeds, findList, type ListKey, type ListLimits, putList, type StoredList } from '../catalog/stored-lists.ts';
import type { UsageDatabase } from '../catalog/usage.ts';
import { newUuid } from '../domain/ids.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { FileChecks, hashOf, sizeOf } from './list-files.ts';
import type { PageSequences } from './page-sequences.ts';
import type { RankedRows } from './ranked-rows.ts';

export interface StoreOptions {
  readonly catalog: Catalog;
  readonly usage: UsageDatabase;
  readonly sequences: PageSequences;
  readonly dataFolder: string;
  /** What may be stored. */
  readonly limits: ListLimits;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
}

const USE_NOTED_EVERY = 60_000;
const LEFTOVER_AGE = 3_600_000;
/** Files of lists that were replaced stay for so long, and as long as page sequences read them, but not for ever. */
const GRACE = 900_000;
const MAX_GRACE = 3_600_000;

/** Stored lists: each a Parquet file below the data folder and a row of the catalog, shared by all processes. */
export class ListStore {
  readonly #options: StoreOptions;
  readonly #checks = new FileChecks();
  /** Uses by file that are not in the database yet, and when those of a file were last written there. */
  readonly #uses = new Map<string, { hits: number; at: number }>();
  readonly #noted = new Map<string, number>();

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  /** The list of a key, when its file is there. */
  find(key: ListKey): StoredList | undefined {
    const list = findList(this.#options.catalog, key);
    return list !== undefined && this.has(list) ? list : undefined;
  }

  /** Whether the file of a list, be it replaced since, is still there. */
  has({ file, bytes }: StoredList): boolean {
    return sizeOf(this.path(file)) === bytes;
  }

  /** As `FileChecks.isWhole`. */
  isWhole(list: StoredList): Promise<boolean> {
    return this.#checks.isWhole(this.path(list.file), list);
  }

  path(file: string): string {
    return join(this.#options.dataFolder, file);
  }

  /**
   * Stores the best rows in place of what was stored by the key before. Throws where they cannot be written; then that
   * stays, and no file is left.
   */
  async put(
    key: ListKey,
    ranked: RankedRows,
    found: Omit<StoredList, 'file' | 'bytes' | 'sha256'>,
  ): Promise<StoredList> {
    const { catalog, usage, limits } = this.#options;
    const file = `lists/${newUuid()}.parquet`;
    const target = this.path(file);
    try {
      await ranked.write(target, found.rows);
      const list = { file, ...found, bytes: sizeOf(target) ?? 0, sha256: await hashOf(target) };
      await catalog.transactionWithRetry(() => {
        putList(catalog, key, list);
        if (exceeds(catalog, limits)) this.#makeRoom(file);
      });
      usage.run('list_used', { file, hits: 0, at: toMicroseconds(Date.now()) });
      return list;
    } catch (error) {
      await rm(target, { force: true }).catch(() => {});
      throw error;
    }
  }

  /** Drops the list of a key, where there is one. Its file stays for the sequences that read it. */
  async remove(key: ListKey): Promise<void> {
    const { catalog } = this.#options;
    const list = findList(catalog, key);
    if (list !== undefined) await catalog.transactionWithRetry(() => catalog.run('list_delete', { file: list.file }));
  }

  /** Drops a list whose file is damaged: nobody can read it. */
  async drop({ file }: StoredList): Promise<void> {
    const { catalog } = this.#options;
    await catalog.transactionWithRetry(() => catalog.run('list_delete', { file }));
    await rm(this.path(file), { force: true });
    this.#checks.forget(this.path(file));
  }

  /** Counts a use; the database is told at most once a minute for each list. */
  noteUse({ file }: StoredList): void {
    const at = Date.now();
    this.#uses.set(file, { hits: (this.#uses.get(file)?.hits ?? 0) + 1, at });
    if (at - (this.#noted.get(file) ?? 0) >= USE_NOTED_EVERY) this.#writeUses(file);
  }

  /** Writes the counted uses. */
  flush(): void {
    for (const file of [...this.#uses.keys()]) this.#writeUses(file);
  }

  /**
   * Removes the files of lists that were replaced or dropped a while ago, by whichever process, and files that a crash
   * left behind. What cannot be removed is tried again the next time.
   */
  async sweep(): Promise<void> {
    await this.#removeRetired();
    // Made by the first server.
    const names = await readdir(this.path('lists')).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    for (const name of names) {
      const file = `lists/${name}`;
      const found = await stat(this.path(file)).catch(() => undefined);
      // A younger one may be in the making.
      if (found === undefined || Date.now() - found.mtimeMs < LEFTOVER_AGE) continue;
      if (this.#options.catalog.get('list_known', { file }) === undefined) await rm(this.path(file), { force: true });
    }
  }

  async #removeRetired(): Promise<void> {
    const { catalog, usage, sequences, log } = this.#options;
    const now = Date.now();
    const before = toMicroseconds(now - GRACE);
    const retired = catalog.all<{ file: string; retiredAt: number }>('lists_retired', { before });
    const removed: string[] = [];
    for (const { file, retiredAt } of retired) {
      if (retiredAt > toMicroseconds(now - MAX_GRACE) && sequences.reads(file)) continue;
      try {
        await rm(this.path(file), { force: true });
        removed.push(file);
      } catch (error) {
        log.warn({ err: error, list: basename(file) }, 'the file of a list cannot be removed');
      }
    }
    if (removed.length === 0) return;
    await catalog.transactionWithRetry(() => {
      for (const file of removed) catalog.run('list_retired_forget', { file });
    });
    for (const file of removed) {
      usage.run('list_use_delete', { file });
      this.#checks.forget(this.path(file));
    }
  }

  /**
   * Drops the least recently used lists until the rest fits, but for the one just made. It costs what is dropped, however
   * many there are. Run it in a transaction.
   */
  #makeRoom(keep: string): void {
    const { catalog, usage, limits } = this.#options;
    this.flush();
    while (exceeds(catalog, limits)) {
      const used = usage.get<{ file: string }>('list_least_used', { keep });
      // Where uses are not known, because their database was lost or takes no writes, the age decides.
      const isForgotten = used !== undefined && usage.run('list_use_delete', { file: used.file });
      const victim = isForgotten ? used : catalog.get<{ file: string }>('list_oldest', { keep });
      if (victim === undefined) return;
      catalog.run('list_delete', { file: victim.file });
    }
  }

  #writeUses(file: string): void {
    const { hits = 0, at = Date.now() } = this.#uses.get(file) ?? {};
    this.#uses.delete(file);
    if (this.#noted.size > 10_000) this.#noted.clear();
    this.#noted.set(file, at);
    this.#options.usage.run('list_used', { file, hits, at: toMicroseconds(at) });
  }
}
