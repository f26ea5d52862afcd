import type { ConcurrencyLimit } from '../../runtime/limits.ts';
import type { FileStore, OpenFiles, StoredFile } from '../../storage/file-store.ts';
import type { TakeColumns } from '../facts.ts';
import type { FactsRead, FactsReader } from '../reader.ts';
import type { Engine } from './engine.ts';

type RunOn = (paths: OpenFiles['paths']) => Promise<void>;

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
      const run: RunOn = (paths) => this.#engine.numbers(name, { ...values, files: paths }, take, signal, fills);
      if (priority === undefined) await this.#open(some, run);
      else await this.#openInSlot(some, run, { signal, priority });
    }
  }

  async #open(files: readonly StoredFile[], run: RunOn): Promise<void> {
    using opened = await this.#files.open(files);
    await run(opened.paths);
  }

  /** Files are fetched before, so that a store that is slow takes no slot, and not held while others have all of them. */
  async #openInSlot(
    files: readonly StoredFile[],
    run: RunOn,
    { signal, priority }: Required<Pick<FactsRead, 'signal' | 'priority'>>,
  ): Promise<void> {
    {
      using opened = await this.#files.open(files);
      const { used, limit } = this.#heavy.state;
      if (used < limit) return await this.#heavy.run(signal, () => run(opened.paths), priority);
    }
    await this.#heavy.run(signal, () => this.#open(files, run), priority);
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
