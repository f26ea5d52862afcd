import type { ConcurrencyLimit } from '../../runtime/limits.ts';
import type { FileStore, StoredFile } from '../../storage/file-store.ts';
import type { TakeColumns } from '../facts.ts';
import type { FactsRead, FactsReader } from '../reader.ts';
import type { Engine } from './engine.ts';

/** Runs statements over stored files in DuckDB. */
export class DuckDBReader implements FactsReader {
  readonly maxFiles = Number.POSITIVE_INFINITY;
  readonly #engine: Engine;
  readonly #files: FileStore;
  readonly #heavy: ConcurrencyLimit;

  /** @param heavy limits how many queries with many rows run at once */
  constructor(engine: Engine, files: FileStore, heavy: ConcurrencyLimit) {
    this.#engine = engine;
    this.#files = files;
    this.#heavy = heavy;
  }

  async rows<Row>(name: string, { files, values, fills, signal }: FactsRead): Promise<Row[]> {
    using opened = await this.#files.open(files);
    return await this.#engine.query<Row>(name, { ...values, files: opened.paths }, signal, fills);
  }

  async numbers(name: string, read: FactsRead, take: TakeColumns): Promise<void> {
    const { files, values, fills, priority, signal } = read;
    for (const some of read.isByFile ? files.map((file) => [file]) : [files]) {
      using opened = await this.#files.open(some);
      const bound = { ...values, files: opened.paths };
      const run = (): Promise<void> => this.#engine.numbers(name, bound, take, signal, fills);
      await (priority === undefined ? run() : this.#heavy.run(signal, run, priority));
    }
  }

  async check(files: readonly StoredFile[]): Promise<void> {
    using _ = await this.#files.open(files);
  }

  /** The numbers of pages, in the order of `urls`. */
  async pageNumbers(urls: readonly string[], signal: AbortSignal): Promise<number[]> {
    const rows = await this.#engine.query<{ url: string; page: number }>('alerts/page_numbers', { urls }, signal);
    const numbers = new Map(rows.map(({ url, page }) => [url, page]));
    return urls.map((url) => numbers.get(url)!);
  }
}
