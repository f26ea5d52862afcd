import { mkdirSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Catalog } from '../catalog/catalog.ts';
import { newUuid } from '../domain/ids.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { Measures } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import type { Engine } from '../facts/engine.ts';

/** The longest list that a warehouse gives (contract, 4.8). */
const MOST_ROWS = 100_000;

/** A row asked beyond the most, to know whether there were more. */
const ASKED_ROWS = MOST_ROWS + 1;

export type ListKind = 'pages' | 'queries';
export type ListRow = Measures & { readonly text: string };

export interface ListRequest {
  readonly project: string;
  readonly revision: number;
  readonly kind: ListKind;
  readonly range: Range;
  readonly country: string | null;
  /** The project's own facts that the list is computed from, relative to the data folder. */
  readonly files: readonly string[];
}

/** A list that stands ready; its rows are read page by page. */
export interface List {
  readonly file: string;
  /** Rows that can be read. */
  readonly total: number;
  /** Microseconds. */
  readonly fetchedAt: number;
  /** There were more rows than the list holds. */
  readonly truncated: boolean;
  /** The list is as long as its source may make it. */
  readonly capped: boolean;
}

interface ListsOptions {
  readonly engine: Engine;
  readonly catalog: Catalog;
  readonly dataFolder: string;
  /** Bytes that kept lists may take on disk. */
  readonly diskBudget: number;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
}

const SQL: Record<ListKind, string> = { pages: 'lists/page_list', queries: 'lists/query_list' };
const USE_NOTED_EVERY = 60_000;
const LEFTOVER_AGE = 3_600_000;

/**
 * Page and query lists: each is computed once per range, country and revision and kept as a Parquet file and a row of
 * the catalog, so that all pages of a walk come from one list, from whichever process.
 */
export class Lists {
  readonly #options: ListsOptions;
  readonly #noted = new LRUCache<string, true>({ max: 10_000, ttl: USE_NOTED_EVERY });
  /** Requests for the same list at the same time share one computation. */
  readonly #held: LRUCache<string, List, ListRequest>;

  constructor(options: ListsOptions) {
    this.#options = options;
    mkdirSync(join(options.dataFolder, 'lists'), { recursive: true });
    this.#held = new LRUCache<string, List, ListRequest>({
      max: 10_000,
      ignoreFetchAbort: true,
      fetchMethod: async (_key, _stale, { context }) => this.#find(context) ?? (await this.#compute(context)),
    });
  }

  /** The list of a request. */
  async get(request: ListRequest): Promise<List> {
    const list = await this.#held.forceFetch(keyOf(request), { context: request });
    if (list.total > 0) this.#noteUse(list.file);
    return list;
  }

  /** Rows `offset` to `offset + limit` of a list. A list whose file is lost or damaged is computed again. */
  async rows(
    request: ListRequest,
    page: { offset: number; limit: number },
    signal: AbortSignal,
  ): Promise<{ list: List; rows: ListRow[] }> {
    const list = await this.get(request);
    if (page.offset >= list.total) return { list, rows: [] };
    try {
      return { list, rows: await this.#read(list, page, signal) };
    } catch (error) {
      if (signal.aborted) throw error;
      this.#options.log.warn({ err: error, file: list.file }, 'a kept list cannot be read and is made again');
      await this.#drop([list.file]);
      this.#held.delete(keyOf(request));
      const again = await this.get(request);
      return { list: again, rows: await this.#read(again, page, signal) };
    }
  }

  /** Removes files that a crash left behind, which no row of the catalog names. */
  async sweep(): Promise<void> {
    const { catalog } = this.#options;
    for (const name of await readdir(this.#path('lists'))) {
      const file = `lists/${name}`;
      const { mtimeMs } = await stat(this.#path(file));
      if (catalog.get('list_exists', { file }) !== undefined || Date.now() - mtimeMs < LEFTOVER_AGE) continue;
      await rm(this.#path(file), { force: true });
    }
  }

  #read(list: List, page: { offset: number; limit: number }, signal: AbortSignal): Promise<ListRow[]> {
    const limit = Math.min(page.limit, list.total - page.offset);
    const parameters = { file: this.#path(list.file), after: page.offset, limit };
    return this.#options.engine.query<ListRow>('lists/list_rows', parameters, signal);
  }

  #find(request: ListRequest): List | undefined {
    type Row = { file: string; rows: number; bytes: number; fetchedAt: number };
    const row = this.#options.catalog.get<Row>('list_get', rowKeyOf(request));
    if (row === undefined || sizeOf(this.#path(row.file)) !== row.bytes) return undefined;
    return toList(row.file, row.rows, row.fetchedAt);
  }

  async #compute(request: ListRequest): Promise<List> {
    const { engine, catalog } = this.#options;
    // The range lies outside of what is stored: an empty list needs no file.
    if (request.files.length === 0) return toList('', 0, toMicroseconds(Date.now()));
    const file = `lists/${newUuid()}.parquet`;
    const target = this.#path(file);
    const session = await engine.session();
    let rows: number;
    try {
      rows = await session.runFile(SQL[request.kind], {
        files: request.files.map((name) => this.#path(name)),
        from: request.range.from,
        to: request.range.to,
        country: request.country,
        most: ASKED_ROWS,
        target,
      });
    } catch (error) {
      await rm(target, { force: true });
      throw error;
    } finally {
      session.close();
    }
    const at = toMicroseconds(Date.now());
    const found = await catalog.patiently(() => {
      const damaged = catalog.get<{ file: string }>('list_get', rowKeyOf(request));
      if (damaged !== undefined && this.#find(request) === undefined)
        catalog.run('list_delete', { file: damaged.file });
      catalog.run('list_insert', { ...rowKeyOf(request), file, rows, bytes: sizeOf(target) ?? 0, at });
      return this.#find(request);
    });
    // Another process may have been faster: then its list is the one, and this file goes.
    if (found?.file !== file) await rm(target, { force: true });
    await this.#makeRoom(file);
    return found ?? toList(file, rows, at);
  }

  /** Drops lists of older revisions, then the least recently used ones until the rest fits the disk budget. */
  async #makeRoom(keep: string): Promise<void> {
    const { catalog, diskBudget } = this.#options;
    const drop = catalog.all<{ file: string }>('lists_stale').map(({ file }) => file);
    const rest = catalog
      .all<{ file: string; bytes: number }>('lists_by_use')
      .filter(({ file }) => !drop.includes(file));
    let total = rest.reduce((bytes, list) => bytes + list.bytes, 0);
    for (const { file, bytes } of rest) {
      if (total <= diskBudget) break;
      if (file === keep) continue;
      drop.push(file);
      total -= bytes;
    }
    await this.#drop(drop);
  }

  async #drop(files: readonly string[]): Promise<void> {
    if (files.length === 0) return;
    const { catalog } = this.#options;
    await catalog.patiently(() => {
      for (const file of files) catalog.run('list_delete', { file });
    });
    for (const file of files) await rm(this.#path(file), { force: true });
  }

  #noteUse(file: string): void {
    if (this.#noted.has(file)) return;
    this.#noted.set(file, true);
    const { catalog, log } = this.#options;
    catalog
      .patiently(() => catalog.run('list_used', { file, at: toMicroseconds(Date.now()) }))
      .catch((error: unknown) => log.warn({ err: error, list: basename(file) }, 'the use of a list was not noted'));
  }

  #path(file: string): string {
    return join(this.#options.dataFolder, file);
  }
}

function keyOf(request: ListRequest): string {
  return Object.values(rowKeyOf(request)).join(' ');
}

function rowKeyOf({ project, kind, range, country, revision }: ListRequest): Record<string, string | number> {
  return { project, kind, from: range.from, to: range.to, country: country ?? '', revision };
}

function toList(file: string, rows: number, fetchedAt: number): List {
  const truncated = rows > MOST_ROWS;
  return { file, total: truncated ? MOST_ROWS : rows, fetchedAt, truncated, capped: rows >= MOST_ROWS };
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
