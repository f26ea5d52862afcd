/** A value of a row. */
export type Value = string | number | bigint | null | Uint8Array;
export type Values = Readonly<Record<string, Value>>;

/** A file of `sql/catalog/`; one with placeholders comes with the identifiers, all of our own, that they stand for. */
export type Statement = string | { readonly template: string; readonly parts: Readonly<Record<string, string>> };

/** What runs statements. Only repositories, the functions of this folder, use it; others use these. */
export interface Statements {
  /** First row of a query, or undefined. */
  get<Row>(statement: Statement, values?: Values): Promise<Row | undefined>;
  all<Row>(statement: Statement, values?: Values): Promise<Row[]>;
  /** Rows of a query, some at a time: in a snapshot or a transaction they need not fit in memory. */
  each<Row>(statement: Statement, values?: Values): AsyncIterable<readonly Row[]>;
  /** Runs a statement that changes rows; returns how many. */
  run(statement: Statement, values?: Values): Promise<number>;
  /** Runs a statement for each of many values, in one transaction; returns those that changed something. */
  runEach<Row extends Values>(statement: Statement, rows: Iterable<Row>): Promise<Row[]>;
}

/**
 * The catalog: who exists and which fact files are current. Several processes use it at once. Nobody sees what others
 * write before it is committed; commits of this process are seen at once.
 */
export interface Catalog {
  readonly statements: Statements;
  /**
   * Reads one state, `own`, whatever is committed meanwhile. Within a snapshot or a transaction it is part of that one.
   */
  snapshot<T>(reads: (own: Catalog) => Promise<T>): Promise<T>;
  /**
   * Writes all or nothing to `own`, and reads what it has written. It waits for other writers without holding up the
   * process. Within a transaction it is part of that one.
   */
  transaction<T>(writes: (own: Catalog) => Promise<T>): Promise<T>;
}

/** Stands for a state of the catalog, by its identity. */
export type CatalogVersion = Readonly<object>;

/** A catalog that is open, as a process has it for as long as it needs one. */
export interface OpenCatalog extends Catalog, AsyncDisposable {
  /**
   * A value that is another one (by `!==`) after every commit to the catalog. Those of this process count at once; other
   * processes are asked about once in each turn of the event loop, for all requests handled in it. Costs microseconds.
   * Throws `unavailable` once a newer version has changed the catalog's schema: what this one reads may mean other things;
   * and once the catalog is lost.
   */
  version(): CatalogVersion;
  /** Throws `CatalogFailure` when the catalog does not answer or is not the one that was opened. */
  check(): Promise<void>;
  close(): Promise<void>;
}
