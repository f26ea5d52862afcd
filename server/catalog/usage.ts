import type { Values } from './catalog.ts';

/**
 * Usage data, shared by all processes. Data that is written with each request is stored here, because a commit to the
 * catalog invalidates the caches of all processes. The data is expendable: failed writes are dropped. Statements are files
 * of `sql/usage/`. Used only by the repositories in this folder.
 */
export interface Usage {
  /** First row of a query; undefined if there is none or the database is unavailable. */
  get<Row>(name: string, values?: Values): Promise<Row | undefined>;
  /** All rows of a query; none if the database is unavailable. */
  all<Row>(name: string, values?: Values): Promise<Row[]>;
  /** Runs a statement; false if the write failed. */
  run(name: string, values?: Values): Promise<boolean>;
  /** Like `run`; returns the number of changed rows, or undefined if the write failed. */
  change(name: string, values?: Values): Promise<number | undefined>;
  close(): Promise<void>;
}
