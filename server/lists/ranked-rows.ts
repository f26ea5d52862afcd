import type { Engine, Parameters, Session } from '../facts/duckdb/engine.ts';
import type { ListRow } from './blocks.ts';

type RankParameters = Parameters & { readonly max: number };

/** The rows of one list in DuckDB, in the order of the API, best first, until they are stored. */
export class RankedRows {
  readonly count: number;
  readonly #session: Session;

  private constructor(session: Session, count: number) {
    this.#session = session;
    this.count = count;
  }

  /**
   * Ranks the rows of a statement.
   * @param rows the statement: it reads texts, clicks, impressions and sums of positions
   * @param parameters those of the statement, and `max`, the number of rows that are kept
   */
  static async from(engine: Engine, rows: string, parameters: RankParameters): Promise<RankedRows> {
    const session = await engine.session();
    return RankedRows.in(session, rows, parameters);
  }

  /** Like `from`, in an existing session, which is closed with the rows. */
  static async in(session: Session, rows: string, parameters: RankParameters): Promise<RankedRows> {
    try {
      await session.runFile('lists/rank_rows', parameters, { rows });
      const [counted] = await session.rowsOfFile<{ rows: number }>('lists/count_ranked_rows', {});
      return new RankedRows(session, counted?.rows ?? 0);
    } catch (error) {
      session.close();
      throw error;
    }
  }

  /** Writes the best `max` rows to a Parquet file. */
  async write(target: string, max: number): Promise<void> {
    await this.#session.runFile('lists/write_ranked_rows', { target, max });
  }

  /** The best `max` rows. */
  read(max: number): Promise<ListRow[]> {
    return this.#session.rowsOfFile<ListRow>('lists/read_ranked_rows', { max });
  }

  [Symbol.dispose](): void {
    this.#session.close();
  }
}
