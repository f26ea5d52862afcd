import type { Engine, Parameters, Session } from '../facts/duckdb/engine.ts';
import type { ListRow } from './blocks.ts';

/** The rows of one list in DuckDB, in the order of the API, best first, until they are stored. */
export class RankedRows {
  readonly count: number;
  readonly #session: Session;

  private constructor(session: Session, count: number) {
    this.#session = session;
    this.count = count;
  }

  /** Ranks rows with `sql/NAME.sql`, which creates the table `ranked_rows`. */
  static async from(engine: Engine, name: string, parameters: Parameters): Promise<RankedRows> {
    const session = await engine.session();
    return RankedRows.in(session, name, parameters);
  }

  /** Like `from`, in an existing session, which is closed with the rows. */
  static async in(session: Session, name: string, parameters: Parameters): Promise<RankedRows> {
    try {
      await session.runFile(name, parameters);
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
