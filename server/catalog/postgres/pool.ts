import pg from 'pg';
import { type Measurements, measure, secondsSince } from '../../runtime/measurements.ts';
import { CatalogFailure } from '../failures.ts';
import { type Address, readAddress } from './address.ts';
import { namePostgresFailure } from './failures.ts';
import { TYPES } from './types.ts';

/** Maximum connections of a process for snapshots, transactions and single statements, by default. */
const MAX_CONNECTIONS = 12;
/** Wait for a new connection or a free one of the pool, in milliseconds. */
const CONNECT_TIMEOUT = 5000;
/** Limit of idle connections, in milliseconds. */
const IDLE_TIMEOUT = 30_000;
/** Per statement, by the server, in milliseconds. */
const STATEMENT_TIMEOUT = 60_000;
/** The client's limit, if the server does not answer at all, in milliseconds. */
const ANSWER_TIMEOUT = STATEMENT_TIMEOUT + 10_000;
/** How long to wait for other writers, in milliseconds, as for SQLite. */
const LOCK_TIMEOUT = 30_000;
/** Limit of idle transactions, which would block others, in milliseconds. */
const IDLE_IN_TRANSACTION = 300_000;
/**
 * The server notices within 30 s that the machine of a client is gone, and ends its transactions and locks. It must not
 * end idle sessions, which may hold locks.
 */
const SESSION = [
  'tcp_keepalives_idle=15',
  'tcp_keepalives_interval=5',
  'tcp_keepalives_count=3',
  'idle_session_timeout=0',
  'client_min_messages=warning',
];

/** Wait for the server to end a connection, in milliseconds: it may be unreachable. */
const GOODBYE_TIMEOUT = 2000;

type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/** `end` never fails, and takes at most `GOODBYE_TIMEOUT`; a failed `connect` leaves nothing open. */
class BoundedClient extends pg.Client {
  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    // Without a password, the server would wait a minute for it, and the process for the server.
    const cut = (): void => void this.connection.stream.destroy();
    if (callback === undefined) {
      return super.connect().catch((error: unknown) => {
        cut();
        throw error;
      });
    }
    super.connect((error: Error | null, client?: pg.Client) => {
      if (error !== null) cut();
      (callback as (failed: Error | null, connected?: pg.Client) => void)(error, client);
    });
    return undefined;
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    const cut = setTimeout(() => this.connection.stream.destroy(), GOODBYE_TIMEOUT);
    this.once('end', () => clearTimeout(cut));
    // An open socket already keeps the process alive.
    cut.unref();
    return callback === undefined ? super.end() : super.end(callback);
  }
}

/** A connection. With `pipeline`, statements are sent without waiting for the answers of earlier ones. */
export type Client = pg.PoolClient;
/** A connection owned by its opener. */
export type Connection = pg.Client;

/** Pools in use, by address. */
const pools = new Map<string, { readonly pool: PostgresPool; users: number }>();

/**
 * The pool of a process for one address, shared by everything that uses the database. Connects at the first use. Throws
 * `CatalogFailure` for an invalid address. Each user closes it.
 * @param connections from the settings, the same for all users
 */
export function poolOf(url: string, connections = MAX_CONNECTIONS): PostgresPool {
  let entry = pools.get(url);
  if (entry === undefined) {
    entry = { pool: new PostgresPool(url, connections), users: 0 };
    pools.set(url, entry);
  }
  entry.users++;
  return entry.pool;
}

/** Connections to one database. */
export class PostgresPool {
  readonly address: Address;
  /** Maximum, excluding those of `connect`. */
  readonly connections: number;
  readonly #url: string;
  readonly #config: pg.PoolConfig;
  readonly #pool: pg.Pool;

  constructor(url: string, connections: number) {
    this.#url = url;
    this.connections = connections;
    this.address = readAddress(url);
    const { host, port, user, database, ssl, options, password } = this.address;
    this.#config = {
      host,
      port,
      user,
      database,
      ssl,
      // The driver takes an empty password for a missing one and would look for it elsewhere.
      password: async () => password() ?? '',
      options: `${SESSION.map((setting) => `-c ${setting}`).join(' ')} ${options}`.trim(),
      application_name: 'ordinate',
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      idleTimeoutMillis: IDLE_TIMEOUT,
      statement_timeout: STATEMENT_TIMEOUT,
      lock_timeout: LOCK_TIMEOUT,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION,
      query_timeout: ANSWER_TIMEOUT,
      keepAlive: true,
      pipeline: true,
      types: TYPES,
    };
    this.#pool = new pg.Pool({ ...this.#config, Client: BoundedClient, max: connections, allowExitOnIdle: true });
    // A broken connection is replaced at the next use; its current user gets the failure of its statement.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /**
   * A separate connection, for session locks and other long uses; the caller ends it. Throws
   * `CatalogFailure`. It emits `end` when it is lost.
   * @param options other time limits, in milliseconds; 0 for none
   */
  async connect(
    options: Pick<pg.ClientConfig, 'statement_timeout' | 'lock_timeout' | 'query_timeout' | 'pipeline'> = {},
  ): Promise<Connection> {
    const client = new BoundedClient({ ...this.#config, ...options });
    client.on('error', () => {});
    return this.measured('connection', async () => {
      await client.connect();
      return client;
    });
  }

  /** Measures a wait for the database. Throws failures with its name. */
  async measured<T>(kind: Measurements['postgresWait']['kind'], work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const ended = (outcome: 'ok' | 'away'): void =>
      measure('postgresWait', () => ({ kind, outcome, seconds: secondsSince(started) }));
    try {
      const result = await work();
      ended('ok');
      return result;
    } catch (cause) {
      const error = this.named(cause);
      ended(error instanceof CatalogFailure && error.resource === 'database-unreachable' ? 'away' : 'ok');
      throw error;
    }
  }

  /** The connections of the pool, those in use, and what waits for one. */
  get usage(): { readonly limit: number; readonly used: number; readonly waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { limit: this.connections, used: totalCount - idleCount, waiting: waitingCount };
  }

  /** Runs `work` with a connection of the pool. A connection that is lost, or in a transaction, is not used again. */
  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.measured('connection', () => this.#pool.connect());
    try {
      return await this.measured('work', () => work(client));
    } catch (error) {
      // Without effect outside a transaction; if this fails, the connection is lost.
      await client.query('rollback').catch(() => {});
      throw error;
    } finally {
      client.release(client.getTransactionStatus() !== 'I');
    }
  }

  /** Adds the name of the database to a failure. */
  named(error: unknown): unknown {
    return namePostgresFailure(error, this.address);
  }

  /** Closes the connections after its last user has closed it. */
  async close(): Promise<void> {
    const entry = pools.get(this.#url);
    if (entry?.pool !== this) return;
    entry.users--;
    if (entry.users > 0) return;
    pools.delete(this.#url);
    // Running work keeps its connection until it ends; nothing waits for that.
    const isIdle = this.#pool.totalCount === this.#pool.idleCount;
    const ended = this.#pool.end();
    if (isIdle) await ended;
  }
}
