import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Day } from '../domain/dates.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { type Collected, groupsOf } from './each-range.ts';
import type { FactsQuery, StoredRange, TakeColumns } from './facts.ts';
import { type FactsRead, type FactsReader, type FactsValues, UnreadableHere } from './reader.ts';

/** Cached rows, some 40 (days) to 450 bytes (of questions about pages, with their JSON) each. */
const MAX_CACHED_ROWS = 100_000;

interface Remembered<T> {
  readonly read: () => Promise<T>;
  readonly rowsOf: (found: T) => number;
  /** Throws if what is remembered may not be used. */
  readonly check?: () => Promise<void>;
}

/** Runs statements over stored files, each in the engine that is chosen for its files. */
export class FactStatements {
  readonly #local: FactsReader;
  readonly #choose: (files: readonly StoredFile[]) => FactsReader;
  /** Results by statement, range and files: a file never changes. */
  readonly #cached = new LRUCache<CacheKey, object>({ maxSize: MAX_CACHED_ROWS });

  /** @param local reads what the chosen reader cannot */
  constructor(local: FactsReader, choose: (files: readonly StoredFile[]) => FactsReader) {
    this.#local = local;
    this.#choose = choose;
  }

  /** Like `rows`, of results that are read again and again. */
  cached<Row, T>(name: string, query: FactsQuery, read: (row: Row) => T): Promise<readonly T[]> {
    const rows = async (): Promise<T[]> => (await this.rows<Row>(name, query, {})).map(read);
    return this.remember(name, query, {}, { read: rows, rowsOf: ({ length }) => length });
  }

  /** The result of `read`, or of an earlier call. @param more what it depends on beside files and range, as plain data */
  async remember<T extends object>(
    name: string,
    { range, files }: FactsQuery,
    more: object,
    { read, rowsOf, check }: Remembered<T>,
  ): Promise<T> {
    const key = cacheKey(name, more, range, ...files.map(({ file }) => file));
    const known = this.#cached.get(key);
    if (known !== undefined) {
      await check?.();
      return known as T;
    }
    const found = await read();
    this.#cached.set(key, found, { size: rowsOf(found) + 1 });
    return found;
  }

  /** All rows of `sql/NAME.sql` over the files and range of a query. */
  async rows<Row>(
    name: string,
    query: FactsQuery,
    more: FactsValues,
    fills = {},
    pageNumbers?: FactsRead['pageNumbers'],
  ): Promise<Row[]> {
    const { files, signal } = query;
    if (files.length === 0) return [];
    const read = { files, values: { ...more, ...daysOf(query) }, fills, signal, ...(pageNumbers && { pageNumbers }) };
    return this.withReader(files, (reader) => reader.rows<Row>(name, read));
  }

  /** Passes the columns of `sql/NAME.sql`. Cannot fall back to another engine after the first rows. */
  async take(name: string, read: FactsRead, take: TakeColumns): Promise<void> {
    if (read.files.length === 0) return;
    let hasTaken = false;
    await this.withReader(read.files, (reader) => {
      if (hasTaken) throw new Error(`sql/${name}.sql met a file that it could not read after it had read others`);
      return reader.numbers(name, read, (...rows) => {
        hasTaken = true;
        take(...rows);
      });
    });
  }

  /** One statement over the files of several properties; its first column is the index of a property in `ranges`. */
  each<T>(
    name: string,
    ranges: readonly StoredRange[],
    { values, signal }: Pick<FactsRead, 'values' | 'signal'>,
    collect: (ranges: readonly StoredRange[]) => Collected<T>,
  ): Promise<T[]> {
    const all = ranges.flatMap(({ files }) => files);
    return this.withReader(all, async (reader) => {
      const { found, take } = collect(ranges);
      for (const { files, ...lists } of groupsOf(ranges, reader.maxFiles)) {
        await reader.numbers(name, { files, values: { ...values, ...lists }, priority: 0, signal }, take);
      }
      return found;
    });
  }

  /** Runs `work` with the chosen reader, or again with the local one if that cannot read the files. */
  async withReader<T>(files: readonly StoredFile[], work: (reader: FactsReader) => Promise<T>): Promise<T> {
    const chosen = this.#choose(files);
    try {
      return await work(chosen);
    } catch (error) {
      if (!(error instanceof UnreadableHere)) throw error;
      return work(this.#local);
    }
  }
}

export const daysOf = ({ range: { from, to } }: FactsQuery): { from: Day; to: Day } => ({ from, to });
