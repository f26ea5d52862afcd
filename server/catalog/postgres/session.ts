import type { QueryResult } from 'pg';
import type { Statement, Statements, Values } from '../catalog.ts';
import { orderValues, statementOf, type Translated } from './dialect.ts';
import type { Client, Connection } from './pool.ts';

/** Rows per batch of a cursor, and statements that are sent before the first is answered. */
const BATCH = 500;

/** Statements on one connection, in a snapshot or transaction. */
export class Session implements Statements {
  readonly #client: Client | Connection;
  /** Sent statements that were not awaited yet. */
  readonly #sent: Promise<unknown>[] = [];
  #cursors = 0;
  #hasEnded = false;

  constructor(client: Client | Connection) {
    this.#client = client;
  }

  async get<Row>(statement: Statement, values?: Values): Promise<Row | undefined> {
    return (await this.all<Row>(statement, values))[0];
  }

  async all<Row>(statement: Statement, values: Values = {}): Promise<Row[]> {
    return (await this.#execute(statementOf('catalog', statement), values)).rows as Row[];
  }

  async *each<Row>(statement: Statement, values: Values = {}): AsyncGenerator<readonly Row[], void> {
    const translated = statementOf('catalog', statement);
    const cursor = `ordinate_${this.#cursors++}`;
    await this.#open().query({
      text: `declare ${cursor} no scroll cursor for ${translated.text}`,
      values: orderValues(translated, values),
    });
    const fetch = async (): Promise<Row[]> =>
      (await this.#open().query(`fetch forward ${BATCH} from ${cursor}`)).rows as Row[];
    for (;;) {
      const rows = await fetch();
      if (rows.length > 0) yield rows;
      if (rows.length < BATCH) break;
    }
    await this.#open().query(`close ${cursor}`);
  }

  async run(statement: Statement, values: Values = {}): Promise<number> {
    return (await this.#execute(statementOf('catalog', statement), values)).rowCount ?? 0;
  }

  async send(statement: Statement, values: Values = {}): Promise<void> {
    const running = this.#execute(statementOf('catalog', statement), values);
    // `settle` throws it.
    running.catch(() => {});
    this.#sent.push(running);
    if (this.#sent.length >= BATCH) await this.settle();
  }

  /** Awaits sent statements. Throws the first failure. */
  async settle(): Promise<void> {
    for (const result of await Promise.allSettled(this.#sent.splice(0))) {
      if (result.status === 'rejected') throw result.reason;
    }
  }

  async runEach<Row extends Values>(statement: Statement, rows: Iterable<Row>): Promise<Row[]> {
    const translated = statementOf('catalog', statement);
    const changed: Row[] = [];
    for (const batch of batchesOf(rows)) {
      // All are sent before the first is answered.
      const results = await Promise.allSettled(batch.map((row) => this.#execute(translated, row)));
      for (const [index, result] of results.entries()) {
        if (result.status === 'rejected') throw result.reason;
        if ((result.value.rowCount ?? 0) > 0) changed.push(batch[index]!);
      }
    }
    return changed;
  }

  /** Rejects further statements, because the connection will be reused. Statements already sent still count. */
  end(): void {
    this.#hasEnded = true;
  }

  async #execute(translated: Translated, values: Values): Promise<QueryResult> {
    return execute(this.#open(), translated, values);
  }

  #open(): Client | Connection {
    if (this.#hasEnded) throw new Error('The snapshot or transaction has ended.');
    return this.#client;
  }
}

/** Runs a statement, which is prepared once for each connection. */
export function execute(client: Client | Connection, translated: Translated, values: Values): Promise<QueryResult> {
  const { name, text } = translated;
  return client.query({ name, text, values: orderValues(translated, values) });
}

function* batchesOf<Row>(rows: Iterable<Row>): Generator<readonly Row[], void> {
  let batch: Row[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length === BATCH) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
