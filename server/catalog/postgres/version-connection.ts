import { sqlText } from '../../runtime/sql.ts';
import { CatalogFailure } from '../failures.ts';
import { translate } from './dialect.ts';
import type { Connection, PostgresPool } from './pool.ts';

/** Timeout of the query, in milliseconds: every request waits for it. */
const ANSWER_TIMEOUT = 5000;
const OPTIONS = { statement_timeout: ANSWER_TIMEOUT, query_timeout: ANSWER_TIMEOUT, pipeline: false };

const { name, text } = translate(sqlText('catalog/postgres/database.version'));

/** The version, and the schema of the oldest release that can use it; neither is known if the table is empty. */
interface Row {
  readonly value: number | bigint;
  readonly schema: number;
}

/** A connection only for reading the version of the catalog. The first read opens it. */
export class VersionConnection {
  readonly #pool: PostgresPool;
  #client: Connection | undefined;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  /**
   * Reads the version; one read at a time. If the connection ends before the answer, reads once more on a new one: a
   * restart of the database is not an error. Throws `CatalogFailure`.
   */
  async read(): Promise<Row | undefined> {
    const client = this.#client ?? (await this.#connect());
    try {
      return await this.#ask(client);
    } catch (error) {
      if (!hasEnded(error)) throw error;
    }
    return this.#ask(await this.#connect());
  }

  async close(): Promise<void> {
    await this.#client?.end();
  }

  async #connect(): Promise<Connection> {
    const client = await this.#pool.connect(OPTIONS);
    client.once('end', () => this.#leave(client));
    this.#client = client;
    return client;
  }

  async #ask(client: Connection): Promise<Row | undefined> {
    try {
      return await this.#pool.measured('version', async () => (await client.query<Row>({ name, text })).rows[0]);
    } catch (error) {
      // A late answer would belong to no read.
      this.#leave(client);
      client.end().catch(() => {});
      throw error;
    }
  }

  #leave(client: Connection): void {
    if (this.#client === client) this.#client = undefined;
  }
}

/** Whether the connection has ended. After a timeout, another connection would time out, too. */
function hasEnded(error: unknown): boolean {
  if (!(error instanceof CatalogFailure) || error.resource !== 'database-unreachable') return false;
  return !(error.cause instanceof Error && error.cause.message === 'Query read timeout');
}
