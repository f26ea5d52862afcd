import type { DatabaseSync } from 'node:sqlite';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Owner, Simulation } from './simulation.ts';

/** A machine: a folder, and a disk that may be full. */
export class Machine {
  readonly name: string;
  readonly folder: string;
  isFull = false;
  /** Called before each transaction of this machine that writes to SQLite or PostgreSQL. */
  onBegin: (process: Host) => void = () => {};
  /** Called after each commit of this machine to SQLite or PostgreSQL. */
  onCommit: (process: Host) => void = () => {};
  /** Called before that for a commit to PostgreSQL that has published facts. */
  onPublish: (process: Host) => void = () => {};
  /** Simulated times of files, by their real ones. */
  readonly modified = new Map<string, number>();

  constructor(name: string, folder: string) {
    this.name = name;
    this.folder = folder;
  }

  /** The name of a file for the trace, which is the same in each run. */
  nameOf(path: unknown): string {
    const text = typeof path === 'string' ? path : path instanceof URL ? path.pathname : '';
    return text.startsWith(this.folder) ? text.slice(this.folder.length) : text.slice(text.lastIndexOf('/') + 1);
  }
}

/** What the modules of a process know of it: what it has open ends with it. */
export interface Host extends Owner {
  /** Resolves when it is killed. */
  readonly gone: Promise<undefined>;
  readonly simulation: Simulation;
  readonly machine: Machine;
  /** Descriptors of its open files. */
  readonly files: Set<number>;
  readonly databases: Set<DatabaseSync>;
  readonly connections: Set<DuckDBConnection>;
  readonly isCatalogDistant: boolean;
  /** Called for each look at a lease; false: another process has it now. */
  holdsLease: (name: string) => boolean;
  /** Called when a lease is taken or was released; throws where that fails. */
  disturbLease: (name: string) => void;
}
