import { mkdirSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Catalog } from '../catalog/catalog.ts';
import { findList, type KeptList, type ListKey, putList } from '../catalog/kept-lists.ts';
import { newUuid } from '../domain/ids.ts';
import { toMicroseconds } from '../domain/instants.ts';

export interface StoreOptions {
  readonly catalog: Catalog;
  readonly dataFolder: string;
  /** Bytes that kept lists may take on disk. */
  readonly diskBudget: number;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
}

const USE_NOTED_EVERY = 60_000;
const LEFTOVER_AGE = 3_600_000;
const RETIRED_FOR = 900_000;

/** Kept lists: each a Parquet file below the data folder and a row of the catalog, shared by all processes. */
export class ListStore {
  readonly #options: StoreOptions;
  /** Uses by file that are not in the catalog yet, and when those of a file were last written there. */
  readonly #uses = new Map<string, number>();
  readonly #noted = new LRUCache<string, number>({ max: 10_000 });

  constructor(options: StoreOptions) {
    this.#options = options;
    mkdirSync(join(options.dataFolder, 'lists'), { recursive: true });
  }

  /** The list of a key, when its file is there and whole. */
  find(key: ListKey): KeptList | undefined {
    const list = findList(this.#options.catalog, key);
    return list !== undefined && sizeOf(this.path(list.file)) === list.bytes ? list : undefined;
  }

  /** Whether the file of a list that was replaced is still there. */
  has({ file }: KeptList): boolean {
    return sizeOf(this.path(file)) !== undefined;
  }

  path(file: string): string {
    return join(this.#options.dataFolder, file);
  }

  /**
   * Keeps what `write` writes, in place of what was kept by the key before. What cannot be written leaves that and no
   * file.
   */
  async keep(key: ListKey, write: (target: string) => Promise<Omit<KeptList, 'file' | 'bytes'>>): Promise<KeptList> {
    const { catalog } = this.#options;
    const file = `lists/${newUuid()}.parquet`;
    const target = this.path(file);
    let list: KeptList;
    let before: string | undefined;
    try {
      const written = await write(target);
      list = { file, ...written, bytes: sizeOf(target) ?? 0 };
      before = await catalog.patiently(() => putList(catalog, key, list));
    } catch (error) {
      await rm(target, { force: true });
      throw error;
    }
    if (before !== undefined) this.#retire(before);
    await this.#makeRoom(file);
    return list;
  }

  /** Walks that began with a list may go on with it for a while; after a crash the sweep finds it. */
  #retire(file: string): void {
    setTimeout(() => void rm(this.path(file), { force: true }), RETIRED_FOR).unref();
  }

  async drop(files: readonly string[]): Promise<void> {
    if (files.length === 0) return;
    const { catalog } = this.#options;
    await catalog.patiently(() => {
      for (const file of files) catalog.run('list_delete', { file });
    });
    for (const file of files) await rm(this.path(file), { force: true });
  }

  /** Counts a use; the catalog is told at most once a minute for each list. */
  noteUse({ file }: KeptList): void {
    this.#uses.set(file, (this.#uses.get(file) ?? 0) + 1);
    if (Date.now() - (this.#noted.get(file) ?? 0) >= USE_NOTED_EVERY) void this.flush([file]);
  }

  /** Writes the counted uses; resolves when they are in. */
  async flush(files: Iterable<string> = [...this.#uses.keys()]): Promise<void> {
    const { catalog, log } = this.#options;
    for (const file of files) {
      const hits = this.#uses.get(file) ?? 0;
      this.#uses.delete(file);
      this.#noted.set(file, Date.now());
      await catalog
        .patiently(() => catalog.run('list_used', { file, hits, at: toMicroseconds(Date.now()) }))
        .catch((error: unknown) => log.warn({ err: error, list: basename(file) }, 'the use of a list was not noted'));
    }
  }

  /** Removes files that no row of the catalog names: a crash left them, or their connection is gone. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.path('lists'))) {
      const file = `lists/${name}`;
      const found = await stat(this.path(file)).catch(() => undefined);
      // A younger one may be in the making.
      if (found === undefined || Date.now() - found.mtimeMs < LEFTOVER_AGE) continue;
      if (this.#options.catalog.get('list_exists', { file }) !== undefined) continue;
      await rm(this.path(file), { force: true });
    }
  }

  /** Drops lists of what is no more, then the least recently used ones until the rest fits the disk budget. */
  async #makeRoom(keep: string): Promise<void> {
    const { catalog, diskBudget } = this.#options;
    // The list just made may be stale already; who asked for it is still to read it.
    const stale = catalog.all<{ file: string }>('lists_stale').map(({ file }) => file);
    const drop = new Set(stale.filter((file) => file !== keep));
    const rest = catalog.all<{ file: string; bytes: number }>('lists_by_use').filter(({ file }) => !drop.has(file));
    let total = rest.reduce((bytes, list) => bytes + list.bytes, 0);
    for (const { file, bytes } of rest) {
      if (total <= diskBudget) break;
      if (file === keep) continue;
      drop.add(file);
      total -= bytes;
    }
    await this.drop([...drop]);
  }
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
