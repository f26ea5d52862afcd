import type { Engine, Session } from '../facts/duckdb/engine.ts';
import { RankedRows } from './ranked-rows.ts';

/** The rows that a provider gives, held outside of JavaScript until all of them are there and can be ranked. */
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

  /** @param rows text, clicks, impressions, zero-based sum of positions; texts that were not added before */
  add(rows: Iterable<readonly [string, number, number, number]>): Promise<void> {
    return this.#session.append('fetched_rows', [rows]);
  }

  /** The best `max` rows in the order of the API. They outlive this object. */
  rank(max: number): Promise<RankedRows> {
    this.#isRanked = true;
    return RankedRows.in(this.#session, 'lists/rank_fetched_rows', { max });
  }

  [Symbol.dispose](): void {
    if (!this.#isRanked) this.#session.close();
  }
}
