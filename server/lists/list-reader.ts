import type { FastifyBaseLogger } from 'fastify';
import type { StoredList } from '../catalog/stored-lists.ts';
import { KnownError, unavailable } from '../domain/errors.ts';
import type { Selection } from '../domain/select-rows.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { Blocks, type ListRow, type Rendering } from './blocks.ts';
import { SelectedRows, select } from './selected-rows.ts';
import { isStorageFailure } from './storage-failures.ts';
import type { ListStore } from './store.ts';
import type { AnyList } from './unstored-lists.ts';

/** A stored list was lost or damaged; it is dropped, and the next request makes a new one. */
export class UnreadableList extends KnownError {
  constructor(cause?: unknown) {
    super('unavailable', 'The list was lost and is fetched again; ask again in a minute.', { retryAfter: 60, cause });
  }
}

export interface ReaderOptions {
  readonly engine: Engine;
  readonly store: ListStore;
  /** Bytes that parts of lists may take in memory. */
  readonly memory: number;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Reads rows of lists as JSON. Files are checked when they are first opened in a process. */
export class ListReader {
  readonly #options: ReaderOptions;
  readonly #blocks: Blocks;
  readonly #selected: SelectedRows;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#blocks = new Blocks(options.engine, options.memory);
    this.#selected = new SelectedRows(options.engine);
  }

  /**
   * Rows `from` to `to` (not included) of a list, in parts to be put together. They are shared: do not write to them.
   * Throws `UnreadableList` where the file is gone or not what was written, and `unavailable` where it cannot be read now.
   */
  async read(list: AnyList, { from, to }: { from: number; to: number }, rendering: Rendering): Promise<Buffer[]> {
    if (from >= to) return [];
    if (list.held !== undefined) {
      const held = list.held.slice(from, to);
      const rows = (await rendering.beside?.(held)) ?? held;
      return [Buffer.from(rows.map((row) => JSON.stringify(rendering.render(row))).join(','))];
    }
    return this.#readFile(list, (path) => this.#blocks.json(path, from, to, rendering));
  }

  /** The list that a selection leaves, with its rows. */
  async select(list: AnyList, selection: Selection, rendering: Rendering): Promise<AnyList> {
    const { rows, held } = list;
    const selected =
      held !== undefined || rows === 0
        ? await select(held ?? [], selection, rendering)
        : await this.#readFile(list, (path) => this.#selected.of({ path, rows }, selection, rendering));
    return { ...list, rows: selected.length, held: selected };
  }

  async #readFile<T>(list: StoredList, read: (path: string) => Promise<T>): Promise<T> {
    const { store } = this.#options;
    const path = await this.#open(list);
    try {
      return await read(path);
    } catch (error) {
      if (/out of memory/i.test(String(error))) throw error;
      // Its bytes are right, so the next try may succeed. Those of older versions are not known to be.
      if (store.has(list) && list.sha256 !== '' && isStorageFailure(error)) {
        throw cannotRead(error);
      }
      return this.#lose(list, error);
    }
  }

  /** As `read`, but the rows themselves, some at a time. What cannot be read later ends them with an error. */
  async rows(
    list: AnyList,
    { from, to }: { from: number; to: number },
    { beside }: Rendering,
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly ListRow[]>> {
    const { held } = list;
    const parts =
      held !== undefined || from >= to
        ? partsOf((held ?? []).slice(from, to))
        : this.#blocks.rows(await this.#open(list), from, to, signal);
    return beside === undefined ? parts : withOthers(parts, beside);
  }

  /** Rows with what another list has of them. */
  async beside(rows: readonly ListRow[], list: AnyList): Promise<readonly ListRow[]> {
    if (list.rows === 0 || rows.length === 0) return rows;
    const texts = rows.map(({ text }) => text);
    const found = list.held ?? (await this.#readFile(list, (path) => this.#blocks.find(path, texts)));
    const byText = new Map(found.map((row) => [row.text, row]));
    return rows.map((row) => ({ ...row, base: byText.get(row.text) }));
  }

  async #open(list: StoredList): Promise<string> {
    const path = await this.#options.store.open(list).catch((error: unknown) => {
      throw cannotRead(error);
    });
    return path ?? this.#lose(list);
  }

  async #lose(list: StoredList, cause?: unknown): Promise<never> {
    const { store, log } = this.#options;
    log.warn({ err: cause, file: list.file }, 'a stored list is damaged or gone and is made again');
    await store.drop(list);
    throw new UnreadableList(cause);
  }
}

/** Rows that are written at a time. */
const PART = 5000;

async function* partsOf(rows: readonly ListRow[]): AsyncGenerator<readonly ListRow[]> {
  for (let start = 0; start < rows.length; start += PART) yield rows.slice(start, start + PART);
}

async function* withOthers(
  parts: AsyncIterable<readonly ListRow[]>,
  beside: NonNullable<Rendering['beside']>,
): AsyncGenerator<readonly ListRow[]> {
  for await (const rows of parts) yield beside(rows);
}

function cannotRead(cause: unknown): KnownError {
  return unavailable('The service cannot read its lists right now; ask again later.', cause);
}
