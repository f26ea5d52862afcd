import type { StoredList } from '../catalog/stored-lists.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { KnownError, unavailable } from '../domain/errors.ts';
import type { Range } from '../domain/range.ts';
import type { Selection } from '../domain/select-rows.ts';
import type { ListRow, Rendering } from './blocks.ts';
import type { JoinedRows } from './joined-rows.ts';
import type { ListReader } from './list-reader.ts';
import type { ListRequest } from './list-request.ts';
import type { PageSequences } from './page-sequences.ts';
import { isStorageFailure } from './storage-failures.ts';
import type { ListStore } from './store.ts';
import type { AnyList } from './unstored-lists.ts';

export interface ListPagesOptions {
  /** The list of a request; see `Lists.get`. */
  readonly get: (request: ListRequest, signal: AbortSignal) => Promise<AnyList>;
  readonly sequences: PageSequences;
  readonly store: ListStore;
  readonly reader: ListReader;
}

interface Page extends Selection {
  readonly offset: number;
  /** Null: all that follow. */
  readonly limit: number | null;
  /** Identifies the client: all its pages are read from the lists of the first one. */
  readonly reader: string;
}

/** A list with its range. */
export interface RangeList {
  readonly list: StoredList;
  readonly range: Range;
}

/** The list to read pages from. */
export interface PageRequest {
  readonly list: ListRequest;
  readonly rendering: Rendering;
  /** The list of another range to compare with, and how rows are rendered then. */
  readonly compared: {
    readonly request: ListRequest;
    readonly renderingOf: (list: RangeList, other: RangeList) => Promise<Rendering>;
  } | null;
}

interface ReadPage extends RangeList {
  /** The list to compare with. */
  readonly other: RangeList | null;
  /** Number of rows that match the filter. */
  readonly total: number;
}

type Open = Pick<ReadPage, 'range'> & { readonly list: AnyList };

/** Reads pages of lists. All pages of a sequence come from one list, in all processes. */
export class ListPages {
  readonly #options: ListPagesOptions;

  constructor(options: ListPagesOptions) {
    this.#options = options;
  }

  /**
   * Rows `offset` to `offset + limit` of a list as JSON, without the brackets, in parts to concatenate. Throws
   * `google_access_lost`, `unavailable` after the timeout, and `UnreadableList` if the list has just been lost: then
   * plan and read again.
   */
  json(request: PageRequest, page: Page, signal: AbortSignal): Promise<ReadPage & { readonly json: Buffer[] }> {
    return this.#read(request, page, signal, async (list, rows, rendering) => ({
      json: await this.#options.reader.read(list, rows, rendering),
    }));
  }

  /** Like `json`, but yields the rows in batches, each read on demand. */
  rows(
    request: PageRequest,
    page: Page,
    signal: AbortSignal,
  ): Promise<ReadPage & { readonly rendering: Rendering; readonly rows: AsyncIterable<readonly ListRow[]> }> {
    return this.#read(request, page, signal, async (list, rows, rendering) => ({
      rows: await this.#options.reader.rows(list, rows, rendering, signal),
      rendering,
    }));
  }

  /** The rows of two lists side by side, and the `limit` rows that changed most. Throws like `json`. */
  joined(
    requests: { readonly now: ListRequest; readonly base: ListRequest },
    limit: number,
    signal: AbortSignal,
  ): Promise<JoinedRows & { readonly now: StoredList; readonly base: StoredList }> {
    const { get, reader, store } = this.#options;
    return withStorageFailures(async () => {
      const [now, base] = await Promise.all([get(requests.now, signal), get(requests.base, signal)]);
      for (const list of [now, base]) if (list.file !== '') store.noteUse(list);
      return { now, base, ...(await reader.join(now, base, limit)) };
    });
  }

  #read<T>(
    request: PageRequest,
    { filter, sort, reader, offset, limit }: Page,
    signal: AbortSignal,
    read: (list: AnyList, rows: { from: number; to: number }, rendering: Rendering) => Promise<T>,
  ): Promise<ReadPage & T> {
    const isSelection = filter !== null || sort !== null;
    const sequences = sequencesOf(request, isSelection ? { filter, sort } : null);
    return withStorageFailures(async () => {
      const [open, other] = await this.#open(request, sequences, { reader, offset }, signal);
      const selected = isSelection
        ? await this.#options.reader.select(open.list, { filter, sort }, request.rendering, signal)
        : open.list;
      const rendering = await this.#rendering(request, open, other);
      const total = selected.rows;
      const next = limit === null ? total : offset + limit;
      const found = await read(selected, { from: offset, to: Math.min(total, next) }, rendering);
      if (limit !== null) await this.#remember([open, other], sequences, { reader, offset: next });
      return { ...open, other, total, ...found };
    });
  }

  /** The lists of the previous page, if there is one, else those of the request. */
  async #open(
    request: PageRequest,
    sequences: readonly CacheKey[],
    { reader, offset }: { readonly reader: string; readonly offset: number },
    signal: AbortSignal,
  ): Promise<readonly [Open, Open | null]> {
    const { get, sequences: stored, store } = this.#options;
    const open = async (asked: ListRequest, sequence: CacheKey): Promise<Open> => {
      const begun = offset > 0 ? await stored.find({ reader, sequence, offset }) : undefined;
      const isThere = begun !== undefined && store.has(begun.list);
      const opened = isThere ? begun : { list: await get(asked, signal), range: asked.range };
      if (opened.list.file !== '') store.noteUse(opened.list);
      return opened;
    };
    return Promise.all([
      open(request.list, sequences[0]!),
      request.compared === null ? null : open(request.compared.request, sequences[1]!),
    ]);
  }

  async #remember(
    lists: readonly (Open | null)[],
    sequences: readonly CacheKey[],
    key: { readonly reader: string; readonly offset: number },
  ): Promise<void> {
    for (const [index, opened] of lists.entries()) {
      if (opened === null) continue;
      const { list, range } = opened;
      const sequence = sequences[index]!;
      if (list.file !== '') await this.#options.sequences.remember({ ...key, sequence }, { list, range });
    }
  }

  async #rendering({ rendering, compared }: PageRequest, open: Open, other: Open | null): Promise<Rendering> {
    if (compared === null || other === null) return rendering;
    const { reader } = this.#options;
    return { ...(await compared.renderingOf(open, other)), beside: (rows) => reader.beside(rows, other.list) };
  }
}

/** A failure of the machine is `unavailable`. */
async function withStorageFailures<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof KnownError || !isStorageFailure(error)) throw error;
    throw unavailable(
      'The service cannot read or write its lists right now; ask again later.',
      'list-unreadable',
      error,
    );
  }
}

/** The keys of the page sequences of the list and of the one to compare with. */
function sequencesOf({ list, compared }: PageRequest, selection: Selection | null): CacheKey[] {
  const sequence = selection === null ? list.sequence : cacheKey(list.sequence, selection);
  if (compared === null) return [sequence];
  const both = cacheKey(sequence, compared.request.sequence);
  return [both, cacheKey(both, 'other')];
}
