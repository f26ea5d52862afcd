/** A value of a row. */
export type Value = string | number | bigint | null | Uint8Array;
export type Values = Readonly<Record<string, Value>>;

/** A statement of `sql/catalog/`, as `notes.one`, or a template with its identifiers, which never come from users. */
export type Statement = string | { readonly template: string; readonly fills: Readonly<Record<string, string>> };

/** Runs statements. Used only by the repositories in this folder. */
export interface Statements {
  /** First row of a query, or undefined. */
  get<Row>(statement: Statement, values?: Values): Promise<Row | undefined>;
  all<Row>(statement: Statement, values?: Values): Promise<Row[]>;
  /** Rows of a query in batches. In a snapshot or transaction they need not fit in memory. */
  each<Row>(statement: Statement, values?: Values): AsyncIterable<readonly Row[]>;
  /** Runs a statement; returns the number of changed rows. */
  run(statement: Statement, values?: Values): Promise<number>;
  /**
   * Runs a statement of a transaction, ignoring its result. Does not wait for a database: later statements are sent at
   * once, and a failure ends the transaction later.
   */
  send(statement: Statement, values?: Values): Promise<void>;
  /** Runs a statement for each row, in one transaction; returns the rows that changed something. */
  runEach<Row extends Values>(statement: Statement, rows: Iterable<Row>): Promise<Row[]>;
}

/**
 * The catalog: workspaces, projects, their entities, and the current fact files. Shared by several processes. Uncommitted
 * writes are not visible to others.
 */
export interface Catalog {
  readonly statements: Statements;
  /**
   * Reads one consistent state, `snapshot`. Nested calls join the outer snapshot or transaction.
   */
  snapshot<T>(reads: (snapshot: Catalog) => Promise<T>): Promise<T>;
  /**
   * Like `snapshot`, of a state that no commit has changed before this call. A database is not asked again for what was
   * read since the last commit to the catalog. `reads` has no effects, because it may run twice, and must not change rows.
   */
  cachedSnapshot<T>(reads: (snapshot: Catalog) => Promise<T>): Promise<T>;
  /**
   * Writes atomically to `tx`, which sees its own writes, as if no other transaction ran. Waits for other writers without
   * blocking the process. Nested calls join the outer transaction.
   * @param lock with the lock of a load, publications of other projects may commit at the same time; if the lock is lost,
   * nothing is committed
   */
  transaction<T>(writes: (tx: Catalog) => Promise<T>, lock?: LoadLock): Promise<T>;
}

/** Identifies a state of the catalog by object identity. */
export type CatalogVersion = Readonly<object>;

/** An open catalog. */
export interface OpenCatalog extends Catalog, AsyncDisposable {
  readonly locks: Locks;
  /**
   * An object that changes (by `!==`) with every commit to the catalog, of this process or another, that ended before this
   * call. SQLite answers synchronously, in microseconds; concurrent calls share a query of a database. Throws
   * `unavailable` if a newer version has changed the schema of the catalog, or if the catalog is lost.
   */
  version(): CatalogVersion | Promise<CatalogVersion>;
  /** Queries a database for the version while a request is read. */
  prefetchVersion(): void;
  /** Connections to a database; undefined for a file. `waiting`: reads and writes that wait for one, or for each other. */
  readonly connections?: { readonly limit: number; readonly used: number; readonly waiting: number };
  /** Bytes on disk. */
  size(): Promise<number>;
  /** Throws `CatalogFailure` if the catalog cannot be read or its file was replaced. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenCatalogOptions {
  /** Creates a missing folder and catalog; true by default. */
  readonly create?: boolean;
  /** Opens an older catalog than the facts, to bring it up to date. */
  readonly mayBeOlder?: boolean;
}

/** An exclusive lock. It ends with the process of its holder, even if that is killed. */
export interface Lock extends AsyncDisposable {
  release(): Promise<void>;
}

/** A file that a load was about to write. */
export interface PlannedFile {
  readonly file: string;
  /** It was removed before; a delayed upload may have stored it again. */
  readonly isAgain: boolean;
}

/** The right to change stored facts. */
export interface LoadLock extends Lock {
  /** Whether no other load runs. */
  readonly isForAll: boolean;
  /**
   * Locks further projects; returns false, and locks none, while another load has one of them. Without effect
   * if no other load runs.
   */
  takeProjects(ids: readonly string[]): Promise<boolean>;
  /** Records a file before the holder writes it, so that it is found if the holder is killed. */
  plan(file: string): Promise<void>;
  /**
   * The files that this holder and killed ones have planned, until `settlePlans`; without those to be removed again later.
   * @param now milliseconds
   */
  plans(now: number): Promise<PlannedFile[]>;
  /**
   * Forgets files of `plans`.
   * @param again those to return again, from the instant `at` (milliseconds)
   */
  settlePlans(files: readonly PlannedFile[], again: readonly PlannedFile[], at: number): Promise<void>;
}

/** Locks between all processes that use a catalog. */
export interface Locks {
  /**
   * The lock of loads; undefined while another holder has it.
   * @param scope `all`: no other load runs; `projects`: loads of other projects may run beside this one, where the
   *   catalog supports it
   */
  takeLoad(scope: 'all' | 'projects'): Promise<LoadLock | undefined>;
  /** A named lock; undefined while another holder has it. */
  take(name: string): Promise<Lock | undefined>;
  /** Removes what killed processes have left. */
  sweep(): Promise<void>;
}
