import type { Engine, Session } from '../facts/engine.ts';

/** The rows that a provider gives, put aside outside of JavaScript until they are ranked and written. */
export class FetchedRows {
  readonly #session: Session;

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
    return this.#session.append('fetched_rows', rows);
  }

  /** Writes the best `most` rows in the order of the API; returns how many there are. */
  write(target: string, most: number): Promise<number> {
    return this.#session.runFile('lists/fetched_list', { target, most });
  }

  [Symbol.dispose](): void {
    this.#session.close();
  }
}
