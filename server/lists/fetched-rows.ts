import type { Engine, Session } from '../facts/duckdb/engine.ts';
import type { ProviderRow } from '../providers/provider.ts';
import { RankedRows } from './ranked-rows.ts';

/** Collects rows of a provider in DuckDB until all are fetched and can be ranked. */
export class FetchedRows {
  readonly #session: Session;
  #isRanked = false;

  private constructor(session: Session) {
    this.#session = session;
  }

  static async open(engine: Engine): Promise<FetchedRows> {
    const session = await engine.session();
    await session.runFile('lists/fetched_rows', {});
    return new FetchedRows(session);
  }

  /** @param rows each text only once */
  async add(rows: Iterable<ProviderRow>): Promise<void> {
    await this.#session.append('fetched_rows', [rows]);
  }

  /** The best `max` rows in the order of the API. The result must be disposed separately. */
  rank(max: number): Promise<RankedRows> {
    this.#isRanked = true;
    return RankedRows.in(this.#session, 'from fetched_rows', { max });
  }

  [Symbol.dispose](): void {
    if (!this.#isRanked) this.#session.close();
  }
}
