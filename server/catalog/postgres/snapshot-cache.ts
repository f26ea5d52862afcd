import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../../domain/cache-key.ts';
import type { Catalog, Statement, Statements, Values } from '../catalog.ts';
import { CatalogScope } from '../scope.ts';
import type { Version } from './version.ts';

/** Rows of one version that are remembered, some 500 bytes each. */
const MAX_ROWS = 10_000;

type Rows = LRUCache<CacheKey, readonly object[]>;

/** Snapshots that read from memory what was read of the same version of the catalog before. */
export class SnapshotCache {
  readonly #snapshot: Catalog['snapshot'];
  /** What was read of a version goes with it. */
  readonly #rows = new WeakMap<Version, Rows>();

  /** @param snapshot of the database */
  constructor(snapshot: Catalog['snapshot']) {
    this.#snapshot = snapshot;
  }

  /** See `Catalog.cachedSnapshot`. Opens a snapshot of the database only for what is not in memory. */
  async read<T>(version: Version, reads: (snapshot: Catalog) => Promise<T>): Promise<T> {
    const statements = new CachedStatements(this.#snapshot, version, this.#rowsOf(version));
    const scope = new CatalogScope(statements, { mayWrite: false });
    let result: T | undefined;
    try {
      result = await reads(scope);
    } catch (error) {
      if (!statements.isOutdated) throw error;
    } finally {
      scope.end();
      statements.end();
    }
    return statements.isOutdated ? this.#snapshot(reads) : (result as T);
  }

  #rowsOf(version: Version): Rows {
    let rows = this.#rows.get(version);
    if (rows === undefined) {
      rows = new LRUCache({ maxSize: MAX_ROWS, sizeCalculation: ({ length }) => length + 1 });
      this.#rows.set(version, rows);
    }
    return rows;
  }
}

/** A snapshot of the database. */
interface Opened {
  readonly statements: Statements;
  readonly version: Promise<Pick<Version, 'value'> | undefined>;
}

/** Statements of one version of the catalog. */
class CachedStatements implements Statements {
  readonly #snapshot: Catalog['snapshot'];
  readonly #version: Version;
  readonly #rows: Rows;
  readonly #ended = Promise.withResolvers<void>();
  #opened: Promise<Opened> | undefined;
  /** Whether something was committed between the read of the version and the snapshot of the database. */
  isOutdated = false;

  constructor(snapshot: Catalog['snapshot'], version: Version, rows: Rows) {
    this.#snapshot = snapshot;
    this.#version = version;
    this.#rows = rows;
  }

  async get<Row>(statement: Statement, values?: Values): Promise<Row | undefined> {
    return (await this.all<Row>(statement, values))[0];
  }

  /** The rows are frozen, because others read them too. */
  async all<Row>(statement: Statement, values: Values = {}): Promise<Row[]> {
    const key = cacheKey(statement, values);
    const known = this.#rows.get(key);
    if (known !== undefined) return known as Row[];
    const opened = await this.#open();
    // Both were sent before the first is answered.
    const [rows] = await Promise.all([opened.statements.all<Row & object>(statement, values), this.#check(opened)]);
    for (const row of rows) Object.freeze(row);
    this.#rows.set(key, Object.freeze(rows));
    return rows;
  }

  async *each<Row>(statement: Statement, values?: Values): AsyncGenerator<readonly Row[], void> {
    const opened = await this.#open();
    await this.#check(opened);
    yield* opened.statements.each<Row>(statement, values);
  }

  run = refuse;
  send = refuse;
  runEach = refuse;

  /** Ends the snapshot of the database. */
  end(): void {
    this.#ended.resolve();
  }

  #open(): Promise<Opened> {
    if (this.#opened === undefined) {
      const { promise, resolve, reject } = Promise.withResolvers<Opened>();
      this.#opened = promise;
      this.#snapshot(async ({ statements }) => {
        // Its first statement, so that no commit comes between it and others.
        const version = statements.get<Version>('database.version');
        resolve({ statements, version });
        await Promise.allSettled([version, this.#ended.promise]);
      }).catch(reject);
    }
    return this.#opened;
  }

  async #check({ version }: Opened): Promise<void> {
    if ((await version)?.value === this.#version.value) return;
    this.isOutdated = true;
    throw new Error('The catalog has changed since its version was read.');
  }
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('A snapshot is read-only.'));
}
