import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { newUuid } from '../../domain/ids.ts';
import { toMicroseconds } from '../../domain/instants.ts';
import { sqlText } from '../../runtime/sql.ts';
import type { LoadLock, Lock, Locks, PlannedFile } from '../catalog.ts';
import type { Lease } from '../leases.ts';
import type { CatalogLocation } from '../location.ts';
import { translate } from './dialect.ts';
import { type Client, type Connection, type PostgresPool, poolOf } from './pool.ts';
import { execute } from './session.ts';

/** Waiting would block the connection; callers retry. */
const TRY = 'select pg_try_advisory_lock($1) as taken';
const TRY_SHARED = 'select pg_try_advisory_lock_shared($1) as taken';
const RELEASE = 'select pg_advisory_unlock($1)';

const PLAN = translate(sqlText('catalog/postgres/database.add_planned_file'));
const PLANS = translate(sqlText('catalog/postgres/database.planned_files'));
const FORGET = translate(sqlText('catalog/postgres/database.forget_planned_files'));
const AGAIN = translate(sqlText('catalog/postgres/database.plan_again'));

const LOADS = numberOf('loads');

/**
 * Advisory locks of the database, for processes of all machines. They end with their connection, and so with the process of
 * their holder; if its machine is gone, once the server notices.
 */
export class PostgresLocks implements Locks {
  readonly #pool: PostgresPool;
  /** For named locks. A connection can take a lock twice, so this process must track its own. */
  #connection: Promise<Connection> | undefined;
  readonly #names = new Set<string>();

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  takeLoad(scope: 'all' | 'projects'): Promise<LoadLock | undefined> {
    return PostgresLoadLock.take(this.#pool, scope);
  }

  async take(name: string): Promise<Lock | undefined> {
    if (this.#names.has(name)) return undefined;
    this.#names.add(name);
    let isTaken = false;
    try {
      const connection = await this.#connect();
      isTaken = await take(connection, TRY, numberOf(`name ${name}`));
      if (!isTaken) return undefined;
      const release = async (): Promise<void> => {
        if (!this.#names.delete(name)) return;
        // Without its connection the lock has ended.
        await connection.query(RELEASE, [numberOf(`name ${name}`)]).catch(() => {});
      };
      return { release, [Symbol.asyncDispose]: release };
    } catch (error) {
      throw this.#pool.named(error);
    } finally {
      if (!isTaken) this.#names.delete(name);
    }
  }

  /** The server releases their locks itself. */
  async sweep(): Promise<void> {}

  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.end();
  }

  /** The connection of named locks; a new one if it was lost, with all locks. */
  #connect(): Promise<Connection> {
    if (this.#connection !== undefined) return this.#connection;
    const connecting = this.#pool.connect();
    const forget = (): void => {
      if (this.#connection === connecting) this.#connection = undefined;
    };
    connecting.then((connection) => connection.once('end', forget), forget);
    this.#connection = connecting;
    return connecting;
  }
}

/** The lock of a load, which also publishes on the connection of the lock: if it is lost, nothing is committed. */
export class PostgresLoadLock implements LoadLock {
  readonly connection: Connection;
  readonly isForAll: boolean;
  /** One transaction at a time. */
  readonly alone = pLimit(1);
  readonly #pool: PostgresPool;
  /** Owner of its plans; locked while it is alive. */
  readonly #id = newUuid();
  /** Its own plans: others delete them if they consider a hung process dead. */
  readonly #planned = new Set<string>();

  private constructor(pool: PostgresPool, connection: Connection, scope: 'all' | 'projects') {
    this.#pool = pool;
    this.connection = connection;
    this.isForAll = scope === 'all';
  }

  static async take(pool: PostgresPool, scope: 'all' | 'projects'): Promise<PostgresLoadLock | undefined> {
    const connection = await pool.connect();
    let lock: PostgresLoadLock | undefined;
    try {
      if (!(await take(connection, scope === 'all' ? TRY : TRY_SHARED, LOADS))) return undefined;
      const taken = new PostgresLoadLock(pool, connection, scope);
      await take(connection, TRY, numberOf(`load ${taken.#id}`));
      lock = taken;
      return lock;
    } catch (error) {
      throw pool.named(error);
    } finally {
      if (lock === undefined) await connection.end();
    }
  }

  async takeProjects(ids: readonly string[]): Promise<boolean> {
    if (this.isForAll) return true;
    const taken: string[] = [];
    try {
      for (const id of ids) {
        const key = numberOf(`project ${id}`);
        if (await take(this.connection, TRY, key)) {
          taken.push(key);
          continue;
        }
        for (const mine of taken) await this.connection.query(RELEASE, [mine]);
        return false;
      }
      return true;
    } catch (error) {
      throw this.#pool.named(error);
    }
  }

  async plan(file: string): Promise<void> {
    this.#planned.add(file);
    await this.#pool.use((client) => execute(client, PLAN, { file, load: this.#id }));
  }

  async plans(now: number): Promise<PlannedFile[]> {
    return this.#pool.use(async (client) => {
      const { rows } = await execute(client, PLANS, { at: toMicroseconds(now) });
      const byOwner = Map.groupBy(rows as PlanRow[], ({ load }) => load);
      const files = new Map([...this.#planned].map((file) => [file, { file, isAgain: false }]));
      for (const [owner, planned] of byOwner) {
        if (owner !== this.#id && (await isHeld(client, numberOf(`load ${owner}`)))) continue;
        for (const { file, again_at: againAt } of planned) files.set(file, { file, isAgain: againAt !== null });
      }
      return [...files.values()];
    });
  }

  async settlePlans(files: readonly PlannedFile[], again: readonly PlannedFile[], at: number): Promise<void> {
    const kept = new Set(again.map(({ file }) => file));
    const forgotten = files.map(({ file }) => file).filter((file) => !kept.has(file));
    await this.#pool.use(async (client) => {
      if (forgotten.length > 0) await execute(client, FORGET, { files: JSON.stringify(forgotten) });
      const again = { files: JSON.stringify([...kept]), at: toMicroseconds(at) };
      if (kept.size > 0) await execute(client, AGAIN, again);
    });
    for (const { file } of files) this.#planned.delete(file);
  }

  async release(): Promise<void> {
    await this.connection.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

interface PlanRow {
  readonly file: string;
  readonly load: string;
  readonly again_at: number | null;
}

/** Whether any connection has a lock. */
async function isHeld(connection: Client, key: string): Promise<boolean> {
  if (!(await take(connection, TRY, key))) return true;
  await connection.query(RELEASE, [key]);
  return false;
}

async function take(connection: Connection | Client, text: string, key: string): Promise<boolean> {
  const { rows } = await connection.query<{ taken: number }>(text, [key]);
  return rows[0]!.taken === 1;
}

/** Takes a lock with a connection, unless another one has it; it ends with the connection. */
function tryLock(connection: Connection, name: string): Promise<boolean> {
  return take(connection, TRY, numberOf(name));
}

/** The number of a lock; names with the same number only exclude each other. */
function numberOf(name: string): string {
  return createHash('sha256').update(`ordinate ${name}`).digest().readBigInt64BE().toString();
}

/** Timeout for a server that may be gone, in milliseconds. */
const ANSWER_TIMEOUT = 10_000;

/** Takes a lease over several machines: an advisory lock on a separate connection. See `Leases`. */
export async function acquireLease(
  { catalogUrl, catalogConnections }: CatalogLocation,
  name: string,
): Promise<Lease | undefined> {
  const pool = poolOf(catalogUrl, catalogConnections);
  try {
    const connection = await pool.connect({ query_timeout: ANSWER_TIMEOUT });
    let isTaken = false;
    try {
      isTaken = await tryLock(connection, `lease ${name}`);
    } catch (error) {
      throw pool.named(error);
    } finally {
      if (!isTaken) await connection.end();
    }
    if (!isTaken) return undefined;
    return {
      isHeld: () =>
        connection.query('select 1').then(
          () => true,
          () => false,
        ),
      release: () => connection.end(),
    };
  } finally {
    await pool.close();
  }
}
