import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import pg, { type CustomTypesConfig } from 'pg';
import type { ResourceFailure } from '../../domain/failures.ts';
import { type Measurements, measure, secondsSince } from '../../runtime/measurements.ts';
import { CatalogFailure } from '../failures.ts';

/** Parameters of an address that have a meaning here. */
const PARAMETERS = ['host', 'options', 'passfile', 'sslcert', 'sslkey', 'sslmode', 'sslrootcert'] as const;
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

/** How to reach a database; `name` identifies it, without its password. */
export interface Address {
  readonly name: string;
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Options of the session, such as `-c search_path=reports`. */
  readonly options: string;
  readonly ssl: ConnectionOptions | false;
  /** Read for each connection, because passwords change; undefined if none is known. */
  readonly password: () => string | undefined;
}

/** Reads `postgres://user:password@host:port/database?…`. Throws `CatalogFailure`, which never has the password. */
export function readAddress(url: string): Address {
  const { searchParams, hostname, port, username, password, pathname } = new URL(url);
  const parameters = Object.fromEntries(searchParams) as Partial<Record<(typeof PARAMETERS)[number], string>>;
  const unknown = Object.keys(parameters).find((name) => !(PARAMETERS as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new CatalogFailure(
      `The address in ORDINATE_CATALOG has the parameter '${unknown}'; it may have ${PARAMETERS.join(', ')}.`,
    );
  }
  const host = parameters.host ?? (decodeURIComponent(hostname) || 'localhost');
  const server = {
    host,
    port: Number(port || 5432),
    user: decodeURIComponent(username) || (process.env['PGUSER'] ?? process.env['USER'] ?? 'ordinate'),
    database: decodeURIComponent(pathname.slice(1)),
  };
  return {
    ...server,
    name: `the database '${server.database}' on ${server.host}:${server.port} (user '${server.user}')`,
    options: parameters.options ?? '',
    ssl: readSsl(parameters),
    password: () =>
      decodeURIComponent(password) || process.env['PGPASSWORD'] || passwordFromFile(parameters.passfile, server),
  };
}

/** As in libpq, `require` encrypts, and verifies the certificate only if a root certificate is given. */
function readSsl({
  sslmode = 'disable',
  sslrootcert,
  sslcert,
  sslkey,
}: Partial<Record<(typeof PARAMETERS)[number], string>>): ConnectionOptions | false {
  if (!(SSL_MODES as readonly string[]).includes(sslmode)) {
    throw new CatalogFailure(
      `The address in ORDINATE_CATALOG has sslmode=${sslmode}; it may be ${SSL_MODES.join(', ')}.`,
    );
  }
  if (sslmode === 'disable') return false;
  return {
    ...(sslrootcert === undefined ? {} : { ca: readNamed('sslrootcert', sslrootcert) }),
    ...(sslcert === undefined ? {} : { cert: readNamed('sslcert', sslcert) }),
    ...(sslkey === undefined ? {} : { key: readNamed('sslkey', sslkey) }),
    rejectUnauthorized: sslmode !== 'require' || sslrootcert !== undefined,
    ...(sslmode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

function readNamed(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new CatalogFailure(`The file of ${name} in ORDINATE_CATALOG cannot be read: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

/**
 * The password of the first matching line of a password file, `host:port:database:user:password`; all but the last may
 * be `*`. Undefined without such a line. Like libpq, ignores a file that others may read.
 */
function passwordFromFile(
  named: string | undefined,
  { host, port, database, user }: Pick<Address, 'host' | 'port' | 'database' | 'user'>,
): string | undefined {
  const given = named ?? process.env['PGPASSFILE'];
  const path = given ?? join(homedir(), '.pgpass');
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    if (named === undefined) return undefined;
    throw new CatalogFailure(`The password file '${path}' in ORDINATE_CATALOG does not exist.`);
  }
  if ((found.mode & 0o077) !== 0) {
    throw new CatalogFailure(`Others may read the password file '${path}', so it is not used: give it the mode 0600.`);
  }
  const wanted = [host, String(port), database, user];
  for (const line of readNamed('passfile', path).split('\n')) {
    if (line.startsWith('#')) continue;
    // A colon or backslash in a field follows a backslash.
    const fields = [...line.matchAll(/((?:\\.|[^:\\])*)(?::|$)/g)].map(([, field]) => field!.replace(/\\(.)/g, '$1'));
    if (fields.length > 4 && wanted.every((text, index) => fields[index] === '*' || fields[index] === text)) {
      return fields[4];
    }
  }
  return undefined;
}

/** Codes of PostgreSQL (https://www.postgresql.org/docs/current/errcodes-appendix.html) and Node: message, remedy. */
const REASONS: Readonly<Record<string, readonly [ResourceFailure | undefined, string, string]>> = {
  // Raised by `database.stop_changes`.
  OR001: [
    'read-only',
    'takes no more changes, which a copy would not have; it is still read',
    "Set ORDINATE_CATALOG and ORDINATE_DATA to the place of the copy. To stay with the database instead, run 'drop schema catalog_was_copied cascade' in it and drop the copy.",
  ],
  '28P01': [undefined, 'refused the password', 'Check the user and the password.'],
  '28000': [undefined, 'refused the user', 'Check the user, and pg_hba.conf of the server.'],
  '3D000': [undefined, 'does not exist', 'Create it, or name another one in ORDINATE_CATALOG.'],
  '42501': [undefined, 'does not give this user the rights that are needed', 'Let the user create and change tables.'],
  '25006': ['read-only', 'is read-only', 'Name the primary server in ORDINATE_CATALOG, not a standby.'],
  '40001': ['busy', 'ended a transaction that others were in the way of', 'Try again.'],
  '40P01': ['busy', 'ended a transaction that waited for another one, which waited for it', 'Try again.'],
  '53100': ['disk-full', 'cannot grow because the disk of its server is full', 'Free some space there and try again.'],
  '53200': ['out-of-memory', 'has no memory left', 'Look at the log of its server.'],
  '53300': [
    'database-unreachable',
    'accepts no more connections',
    'Raise max_connections of its server or the limit of the user, or lower ORDINATE_CATALOG_CONNECTIONS.',
  ],
  '55P03': ['busy', 'is locked by another process', 'Wait until it has ended, and try again.'],
  '57014': ['busy', 'took too long for a statement', 'Look at what else runs on its server, and try again.'],
  '57P01': ['database-unreachable', 'ended the connection', 'It is shutting down, or somebody ended the connection.'],
  '57P02': ['database-unreachable', 'ended the connection after a crash', 'It recovers by itself.'],
  '57P03': ['database-unreachable', 'is starting or stopping', 'Wait until it has started.'],
  '57P05': ['database-unreachable', 'ended an idle connection', 'Try again.'],
  '25P03': ['busy', 'ended a transaction that was idle for too long', 'Try again.'],
  '58030': ['disk-error', 'cannot be read or written because the disk of its server is failing', 'Check that disk.'],
  XX001: [undefined, 'is corrupt', 'Restore it from a backup.'],
  XX002: [undefined, 'has a corrupt index', 'Rebuild it with REINDEX, or restore the database from a backup.'],
};

/** Codes of Node for a server that cannot be reached. */
const UNREACHABLE = /^(?:ECONN|EHOST|ENET|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|ENOENT|08|ERR_TLS|ERR_SSL)/;
/** Messages of the driver, which have no code. */
const LOST =
  /^(?:Connection terminated|timeout exceeded|timeout expired|Query read timeout|Client (?:has encountered|was closed)|The server does not support SSL)/;

/** Adds the name of the database and a remedy to a failure of PostgreSQL or its driver. Other errors are returned unchanged. */
export function namePostgresFailure(error: unknown, { name }: Pick<Address, 'name'>): unknown {
  if (error instanceof CatalogFailure || !(error instanceof Error)) return error;
  const { code = '', message } = error as { code?: string; message: string };
  const reason = REASONS[code];
  if (reason !== undefined) {
    const [resource, what, remedy] = reason;
    return failure(`The catalog, ${name}, ${what} (${message}). ${remedy}`, error, resource);
  }
  if (message.startsWith('SASL')) {
    const remedy = 'Put its password into the address, PGPASSWORD or a password file.';
    return failure(
      `The catalog, ${name}, was given no password, or a wrong one (${message}). ${remedy}`,
      error,
      undefined,
    );
  }
  if (!UNREACHABLE.test(code) && !LOST.test(message)) return error;
  return failure(
    `The catalog, ${name}, cannot be reached (${message || code}). Check that its server runs and can be reached from here.`,
    error,
    'database-unreachable',
  );
}

function failure(message: string, cause: Error, resource: ResourceFailure | undefined): CatalogFailure {
  return new CatalogFailure(message, { cause, ...(resource === undefined ? {} : { resource }) });
}

type Parser = (text: string) => unknown;

/** A number if that is exact, else a bigint. */
function toInteger(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

/** By the oid of a type, which never changes: `select oid, typname from pg_type`. Other types stay text. */
const PARSERS: Readonly<Record<number, Parser>> = {
  // bool, 0 or 1 in SQLite
  16: (text) => (text === 't' ? 1 : 0),
  // bytea
  17: (text) => Buffer.from(text.slice(2), 'hex'),
  // int8, int2, int4
  20: toInteger,
  21: Number,
  23: Number,
  // float4, float8, numeric
  700: Number,
  701: Number,
  1700: Number,
};

const asText: Parser = (text) => text;

/** Converts values of rows to SQLite's types. */
export const TYPES = {
  getTypeParser: (oid: number) => PARSERS[oid] ?? asText,
} as CustomTypesConfig;

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
