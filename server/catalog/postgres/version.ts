import { unavailable } from '../../domain/errors.ts';
import { sqlText } from '../../runtime/sql.ts';
import type { CatalogVersion } from '../catalog.ts';
import { CatalogFailure } from '../failures.ts';
import { SCHEMA_VERSION } from '../schema.ts';
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

/** A version, by the number in the database. */
export type Version = CatalogVersion & { readonly value: number | bigint | null };

/**
 * Reads the version of the catalog on a separate connection. A read serves all calls before it was sent or in the same
 * turn of the event loop, so that each request sees every commit that ended before the request began.
 */
export class VersionReader {
  readonly #connection: VersionConnection;
  #version: Version = { value: null };
  /** The read that was sent, and the one that will be sent after it. */
  #sent: Promise<Version> | undefined;
  #next: Promise<Version> | undefined;
  /** The read that was sent in this turn of the event loop: all requests of this turn arrived before it. */
  #early: Promise<Version> | undefined;
  /** The latest result, for further calls of the requests that waited for it. */
  #fresh: Version | undefined;
  #outdated = 0;
  #isClosed = false;
  readonly #forgetLater = (): void => {
    // Runs after all callbacks of this turn, before anything that arrives later.
    process.nextTick(this.#forget);
  };
  readonly #forget = (): void => {
    this.#fresh = undefined;
    this.#early = undefined;
  };

  constructor(pool: PostgresPool) {
    this.#connection = new VersionConnection(pool);
  }

  read(): Version | Promise<Version> {
    const known = this.#fresh ?? this.#early ?? this.#next;
    if (known !== undefined) return known;
    if (this.#sent === undefined) return this.#send();
    const send = (): Promise<Version> => this.#send();
    this.#next = this.#sent.then(send, send);
    return this.#next;
  }

  /** Called after a commit of this process: reads sent before are outdated. */
  outdate(): void {
    this.#outdated++;
    this.#fresh = undefined;
    this.#early = undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Closing a connection would abort its query.
    await this.#sent?.catch(() => {});
    await this.#connection.close();
  }

  #send(): Promise<Version> {
    this.#next = undefined;
    if (this.#isClosed) return Promise.reject(new Error('The catalog has been closed.'));
    const sent = this.#ask();
    this.#sent = sent;
    this.#early = sent;
    // The driver and servers call this code before any waiting callbacks continue.
    queueMicrotask(this.#forgetLater);
    return sent;
  }

  async #ask(): Promise<Version> {
    const before = this.#outdated;
    let row: Awaited<ReturnType<VersionConnection['read']>>;
    try {
      row = await this.#connection.read();
    } finally {
      this.#sent = undefined;
    }
    if (row === undefined || row.schema > SCHEMA_VERSION) {
      throw unavailable('The data is used by a newer version of the service.', 'newer-version');
    }
    if (row.value !== this.#version.value) this.#version = { value: row.value };
    if (before === this.#outdated) {
      this.#fresh = this.#version;
      queueMicrotask(this.#forgetLater);
    }
    return this.#version;
  }
}
