import type { FastifyBaseLogger } from 'fastify';
import type { StoredList } from '../catalog/stored-lists.ts';
import { KnownError, unavailable } from '../domain/errors.ts';
import type { Selection } from '../domain/select-rows.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { OpenFiles } from '../storage/file-store.ts';
import { Blocks, blockOf, type ListFile, type ListRow, type Rendering } from './blocks.ts';
import { type JoinedRows, joinFiles, joinHeld } from './joined-rows.ts';
import { SelectedRows, select } from './selected-rows.ts';
import { isStorageFailure } from './storage-failures.ts';
import type { ListStore } from './store.ts';
import type { AnyList } from './unstored-lists.ts';

/** A stored list is missing or damaged. It has been removed, and the next request fetches a new one. */
export class UnreadableList extends KnownError {
  constructor(cause?: unknown) {
    super('unavailable', 'The list was lost and is being fetched again; try again in a minute.', {
      retryAfter: 60,
      reason: 'list-unreadable',
      cause,
    });
  }
}

export interface ReaderOptions {
  readonly engine: Engine;
  readonly store: ListStore;
  /** Bytes for the cache of list blocks. */
  readonly memory: number;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Reads rows of lists. Files are verified when a process first opens them. */
export class ListReader {
  readonly #options: ReaderOptions;
  readonly #blocks: Blocks;
  readonly #selected: SelectedRows;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#blocks = new Blocks(options.engine, options.memory);
    this.#selected = new SelectedRows(options.engine);
  }

  /** The state of the cache of list blocks, for metrics. */
  get cache(): Blocks['state'] {
    return this.#blocks.state;
  }

  /**
   * The JSON of rows `from` to `to` (exclusive) of a list, in parts to concatenate. The buffers are shared and must not be
   * modified. Throws `UnreadableList` for a missing or damaged file, and `unavailable` for other read errors.
   */
  async read(list: AnyList, { from, to }: { from: number; to: number }, rendering: Rendering): Promise<Buffer[]> {
    if (from >= to) return [];
    if (list.held !== undefined) {
      const held = list.held.slice(from, to);
      const rows = (await rendering.beside?.(held)) ?? held;
      return [blockOf(rendering, rows).json.subarray(0, -1)];
    }
    return this.#readFile(list, (file) => this.#blocks.json(file, from, to, rendering));
  }

  /** The filtered and sorted list, with its rows. */
  async select(list: AnyList, selection: Selection, rendering: Rendering, signal: AbortSignal): Promise<AnyList> {
    const { rows, held } = list;
    const selected =
      held !== undefined || rows === 0
        ? await select(held ?? [], selection, rendering, signal)
        : await this.#readFile(
            list,
            (file) => this.#selected.of({ ...file, rows }, selection, rendering, signal),
            signal,
          );
    return { ...list, rows: selected.length, held: selected };
  }

  async #readFile<T>(list: StoredList, read: (file: ListFile) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { store } = this.#options;
    using opened = await this.#open(list);
    try {
      return await read({ name: list.file, path: opened.paths[0]! });
    } catch (error) {
      const isOfRequest = error instanceof KnownError || (signal?.aborted && error === signal.reason);
      if (isOfRequest || /out of memory/i.test(String(error))) throw error;
      // The bytes were verified, so a retry may succeed. Lists of older versions have no hash.
      if (store.has(list) && list.sha256 !== '' && isStorageFailure(error)) {
        throw cannotRead(error);
      }
      return await this.#lose(list, error);
    }
  }

  /** Like `read`, but yields the rows in batches. */
  async rows(
    list: AnyList,
    { from, to }: { from: number; to: number },
    { beside }: Rendering,
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly ListRow[]>> {
    const { held } = list;
    const parts =
      held !== undefined || from >= to
        ? batchesOf((held ?? []).slice(from, to))
        : await this.#rows(list, { from, to }, signal);
    return beside === undefined ? parts : withOthers(parts, beside);
  }

  /** Adds the measures of another list to rows. */
  async beside(rows: readonly ListRow[], list: AnyList): Promise<readonly ListRow[]> {
    if (list.rows === 0 || rows.length === 0) return rows;
    const byText =
      list.held === undefined
        ? await this.#readFile(list, (file) => this.#selected.byText({ ...file, rows: list.rows }))
        : new Map(list.held.map((row) => [row.text, row]));
    return rows.map((row) => ({ ...row, base: byText.get(row.text) }));
  }

  /** The rows of two lists side by side, and the `limit` rows that changed most. */
  async join(now: AnyList, base: AnyList, limit: number): Promise<JoinedRows> {
    if (!isInFile(now) || !isInFile(base)) {
      const read = async (list: AnyList): Promise<Iterable<ListRow>> =>
        isInFile(list)
          ? (await this.#readFile(list, (file) => this.#selected.byText({ ...file, rows: list.rows }))).values()
          : (list.held ?? []);
      return joinHeld(await read(now), await read(base), limit);
    }
    const how = { capacity: now.rows + base.rows, limit };
    return this.#readFile(now, ({ path }) =>
      this.#readFile(base, (other) => joinFiles(this.#options.engine, { now: path, base: other.path }, how)),
    );
  }

  /** Opens the file immediately, to detect a lost list, and again for each batch. */
  async #rows(
    list: StoredList,
    { from, to }: { from: number; to: number },
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly ListRow[]>> {
    (await this.#open(list))[Symbol.dispose]();
    return this.#blocks.rows(() => this.#open(list), from, to, signal);
  }

  async #open(list: StoredList): Promise<OpenFiles> {
    const opened = await this.#options.store.open(list).catch((error: unknown) => {
      throw cannotRead(error);
    });
    return opened ?? this.#lose(list);
  }

  async #lose(list: StoredList, cause?: unknown): Promise<never> {
    const { store, log } = this.#options;
    log.warn({ err: cause, file: list.file }, 'a stored list is damaged or missing and will be fetched again');
    await store.drop(list);
    throw new UnreadableList(cause);
  }
}

/** Whether a list has a file: empty ones, and those that could not be stored, have none. */
function isInFile({ file }: AnyList): boolean {
  return file !== '';
}

/** Rows per batch. */
const BATCH_ROWS = 5000;

async function* batchesOf(rows: readonly ListRow[]): AsyncGenerator<readonly ListRow[]> {
  for (let start = 0; start < rows.length; start += BATCH_ROWS) yield rows.slice(start, start + BATCH_ROWS);
}

async function* withOthers(
  parts: AsyncIterable<readonly ListRow[]>,
  beside: NonNullable<Rendering['beside']>,
): AsyncGenerator<readonly ListRow[]> {
  for await (const rows of parts) yield beside(rows);
}

function cannotRead(cause: unknown): KnownError {
  return unavailable('The service cannot read its lists right now; try again later.', 'list-unreadable', cause);
}
