import type { ListKind } from '../catalog/kept-lists.ts';
import type { Engine } from '../facts/engine.ts';
import type { CheckedFiles } from '../storage/checked-files.ts';
import type { StoredFile } from '../storage/fact-store.ts';
import type { Question, Source, Written } from './source.ts';

/** The longest list (contract, 4.8). */
const MOST_ROWS = 100_000;

const SQL: Record<ListKind, string> = { pages: 'lists/page_list', queries: 'lists/query_list' };

/** Lists computed from the project's own loaded facts. */
export class LoadedFacts implements Source {
  readonly kind = 'bigquery';
  readonly name = 'facts';
  readonly #engine: Engine;
  readonly #checked: CheckedFiles;
  readonly #files: readonly StoredFile[];

  /** @param files Parquet files of page_daily or query_daily; at least one */
  constructor(engine: Engine, checked: CheckedFiles, files: readonly StoredFile[]) {
    this.#engine = engine;
    this.#checked = checked;
    this.#files = files;
  }

  async write({ kind, range, country }: Question, target: string): Promise<Written> {
    const files = await this.#checked.open(this.#files);
    using session = await this.#engine.session();
    const rows = await session.runFile(SQL[kind], {
      files,
      from: range.from,
      to: range.to,
      country,
      most: MOST_ROWS + 1,
      target,
    });
    // The row beyond the most stays in the file, and is never read.
    const held = Math.min(rows, MOST_ROWS);
    return { rows: held, truncated: rows > MOST_ROWS, capped: rows >= MOST_ROWS, complete: true };
  }
}
