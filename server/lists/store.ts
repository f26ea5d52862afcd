import { basename } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import {
  exceeds,
  findLeastUsedList,
  findList,
  findOldestList,
  forgetListUse,
  forgetRetiredLists,
  isListKnown,
  type ListKey,
  type ListLimits,
  listRetiredLists,
  noteListUse,
  putList,
  removeList,
  retireList,
  type StoredList,
} from '../catalog/stored-lists.ts';
import type { Usage } from '../catalog/usage.ts';
import { newUuid } from '../domain/ids.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import type { FileStore, OpenFiles } from '../storage/file-store.ts';
import type { PageSequences } from './page-sequences.ts';
import type { RankedRows } from './ranked-rows.ts';

export interface StoreOptions {
  readonly catalog: Catalog;
  readonly usage: Usage;
  readonly sequences: PageSequences;
  readonly files: FileStore;
  /** Limits of the store. */
  readonly limits: ListLimits;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
}

const USE_NOTED_EVERY = 60_000;
const LEFTOVER_AGE = 3_600_000;
/** Files of replaced lists are kept this long, and while page sequences read them, up to `MAX_GRACE`. */
const GRACE = 900_000;
const MAX_GRACE = 3_600_000;

/** Stored lists: each is a Parquet file and a catalog row, shared by all processes. */
export class ListStore {
  readonly #options: StoreOptions;
  /** Uses by file that are not written yet, and the last write by file. */
  readonly #uses = new Map<string, { hits: number; at: number }>();
  readonly #noted = new Map<string, number>();

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  /** The list of a key, unless its file is known to be missing. */
  async find(key: ListKey): Promise<StoredList | undefined> {
    const list = await this.#options.catalog.cachedSnapshot((snapshot) => findList(snapshot, key));
    return list !== undefined && this.has(list) ? list : undefined;
  }

  /** False if the file of a list is known to be missing. A replaced list may still have it. */
  has(list: StoredList): boolean {
    return this.#options.files.mayHave(list);
  }

  /** Opens the file of a list; undefined if it is missing or damaged. Throws for other read errors. */
  async open(list: StoredList): Promise<OpenFiles | undefined> {
    try {
      return await this.#options.files.open([list]);
    } catch (error) {
      if (error instanceof DamagedFile) return undefined;
      throw error;
    }
  }

  /**
   * Stores a list, replacing the previous one of the key. If writing fails, it throws, keeps the previous list and leaves no
   * file.
   */
  async put(
    key: ListKey,
    ranked: RankedRows,
    found: Omit<StoredList, 'file' | 'bytes' | 'sha256'>,
  ): Promise<StoredList> {
    const { catalog, usage, limits, files } = this.#options;
    const file = `lists/${newUuid()}.parquet`;
    try {
      await ranked.write(files.prepare(file), found.rows);
      // A store without listing could not find the file again if this process were killed.
      if (files.folder === undefined) await retireList(catalog, file, toMicroseconds(Date.now()));
      const list = { ...found, ...(await files.seal(file)) };
      await catalog.transaction(async (tx) => {
        await putList(tx, key, list);
        if (files.folder === undefined) await forgetRetiredLists(tx, [file]);
        if (await exceeds(tx, limits)) await this.#makeRoom(tx, file);
      });
      await noteListUse(usage, file, 0, toMicroseconds(Date.now()));
      return list;
    } catch (error) {
      await files.remove(file).catch(() => {});
      throw error;
    }
  }

  /** Removes a list with a damaged file. */
  async drop({ file }: StoredList): Promise<void> {
    await removeList(this.#options.catalog, file);
    await this.#options.files.remove(file);
  }

  /** Counts a use. Writes to the database at most once a minute per list. */
  noteUse({ file }: StoredList): void {
    const at = Date.now();
    this.#uses.set(file, { hits: (this.#uses.get(file)?.hits ?? 0) + 1, at });
    if (at - (this.#noted.get(file) ?? 0) >= USE_NOTED_EVERY) void this.#writeUses(file);
  }

  /** Writes the counted uses. */
  async flush(): Promise<void> {
    for (const file of [...this.#uses.keys()]) await this.#writeUses(file);
  }

  /**
   * Removes files of lists that were replaced or removed before the grace period, and files left by a crash. Failed removals
   * are retried next time.
   */
  async sweep(): Promise<void> {
    await this.#removeRetired();
    const { catalog, files } = this.#options;
    for (const { file, modifiedAt } of (await files.folder?.list('lists')) ?? []) {
      // A newer file may still be in use by a writer.
      if (Date.now() - modifiedAt < LEFTOVER_AGE) continue;
      if (!(await isListKnown(catalog, file))) await files.remove(file);
    }
  }

  async #removeRetired(): Promise<void> {
    const { catalog, usage, files, sequences, log } = this.#options;
    const now = Date.now();
    const before = toMicroseconds(now - GRACE);
    const retired = await listRetiredLists(catalog, before);
    const removed: string[] = [];
    for (const { file, retiredAt } of retired) {
      if (retiredAt > toMicroseconds(now - MAX_GRACE) && (await sequences.reads(file))) continue;
      try {
        await files.remove(file);
        removed.push(file);
      } catch (error) {
        log.warn({ err: error, list: basename(file) }, 'could not remove the file of a list');
      }
    }
    if (removed.length === 0) return;
    await forgetRetiredLists(catalog, removed);
    for (const file of removed) await forgetListUse(usage, file);
  }

  /**
   * Removes the least recently used lists, except `keep`, until the limits are met. The cost depends only on the number of
   * removed lists.
   */
  async #makeRoom(tx: Catalog, keep: string): Promise<void> {
    const { usage, limits } = this.#options;
    await this.flush();
    while (await exceeds(tx, limits)) {
      const used = await findLeastUsedList(usage, keep);
      // If uses are unknown, because their database was lost or is read-only, the oldest list is removed.
      const isForgotten = used !== undefined && (await forgetListUse(usage, used));
      const victim = isForgotten ? used : await findOldestList(tx, keep);
      if (victim === undefined) return;
      await removeList(tx, victim);
    }
  }

  async #writeUses(file: string): Promise<void> {
    const { hits = 0, at = Date.now() } = this.#uses.get(file) ?? {};
    this.#uses.delete(file);
    if (this.#noted.size > 10_000) this.#noted.clear();
    this.#noted.set(file, at);
    await noteListUse(this.#options.usage, file, hits, toMicroseconds(at));
  }
}
