import type pg from 'pg';
import { sqlText } from '../../runtime/sql.ts';
import { translate } from './dialect.ts';
import type { Connection, PostgresPool } from './pool.ts';

/** For the answer of the database, in milliseconds: every request waits for it. */
const ANSWER_TIMEOUT = 5000;
/** Without the timer that the driver would set for each read: one of this connection serves all. */
const OPTIONS = { statement_timeout: ANSWER_TIMEOUT, query_timeout: 0, pipeline: false };

const READ = translate(sqlText('catalog/postgres/catalog_version'));
const MESSAGE = readMessage(READ.name);

/** The value and the schema of the version, as text. */
type Row = readonly (string | null)[];
type Take = (error: unknown, row: Row) => void;

/**
 * The connection that reads the version of the catalog. Every request pays for this read, so it is one prepared message
 * instead of a query of the driver, which takes several times the processor time.
 */
export class VersionConnection {
  readonly #pool: PostgresPool;
  /** With the statement prepared. */
  #opening: Promise<Connection> | undefined;
  #client: Connection | undefined;
  #asked: VersionQuery | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  /** Reads the version; one read at a time. Connects again after a failure. */
  ask(take: Take): void {
    if (this.#client !== undefined) {
      this.#send(this.#client, take);
      return;
    }
    this.#opening ??= this.#open();
    this.#opening.then(
      (client) => this.#send(client, take),
      (error) => {
        this.#opening = undefined;
        take(error, []);
      },
    );
  }

  async close(): Promise<void> {
    clearTimeout(this.#deadline);
    const client = await this.#opening?.catch(() => undefined);
    await client?.end();
  }

  async #open(): Promise<Connection> {
    const client = await this.#pool.connect(OPTIONS);
    try {
      const prepared = { name: READ.name, text: READ.text, query_timeout: ANSWER_TIMEOUT };
      await client.query(prepared);
    } catch (error) {
      await client.end();
      throw error;
    }
    this.#client = client;
    return client;
  }

  #send(client: Connection, take: Take): void {
    const query = new VersionQuery((error, row) => {
      // The answer may come after the deadline.
      if (this.#asked !== query) return;
      this.#asked = undefined;
      if (error !== undefined) this.#leave();
      take(error, row);
    });
    this.#asked = query;
    if (this.#deadline === undefined) {
      const fail = (): void => this.#asked?.handleError(new Error('Query read timeout'));
      this.#deadline = setTimeout(fail, ANSWER_TIMEOUT).unref();
    } else {
      this.#deadline.refresh();
    }
    client.query(query);
  }

  #leave(): void {
    void this.#client?.end().catch(() => {});
    this.#client = undefined;
    this.#opening = undefined;
  }
}

/** A read as the driver takes queries of other kinds: it calls all methods. */
class VersionQuery implements pg.Submittable {
  readonly #take: Take;
  #row: Row = [];

  constructor(take: Take) {
    this.#take = take;
  }

  submit({ stream }: pg.Connection): void {
    stream.write(MESSAGE);
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.#row = fields;
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#take(undefined, this.#row);
  }

  handleError(error: unknown): void {
    this.#take(error, []);
  }
}

/** Runs a prepared statement without parameters: the messages Bind (for columns as text), Execute (for all rows) and Sync. */
function readMessage(name: string): Buffer {
  const bind = messageOf('B', Buffer.from(`\0${name}\0`), Buffer.alloc(6));
  const execute = messageOf('E', Buffer.from('\0'), Buffer.alloc(4));
  return Buffer.concat([bind, execute, messageOf('S')]);
}

function messageOf(kind: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.from(`${kind}\0\0\0\0`, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
