import { closeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { DuckDBConnection } from '@duckdb/node-api';
import { type Product, type Program, requirePackage } from './bundle.ts';
import type { Host, Machine } from './host.ts';
import { clockOf } from './modules/clock.ts';
import { chosenBy } from './modules/crypto.ts';
import { duckdbOf } from './modules/duckdb.ts';
import { filesOf } from './modules/files.ts';
import { sqliteOf } from './modules/sqlite.ts';
import type { Database } from './postgres/database.ts';
import { sharedBy } from './shared.ts';
import type { Simulation } from './simulation.ts';

/** Packages that a world replaces, by name. */
export type Packages = (process: Host) => Readonly<Record<string, unknown>>;

export interface ProcessOptions {
  readonly name: string;
  readonly machine: Machine;
  readonly program: Program;
  readonly packages?: Packages;
  /** Statements of the catalog take time, as over a network. */
  readonly isCatalogDistant?: boolean;
  /** Where its catalog is; undefined for SQLite. */
  readonly database?: Database | undefined;
}

/** A running process of the product: its own memory, clock and open files, all of which end with it. */
export class SimulatedProcess implements Host {
  readonly name: string;
  readonly simulation: Simulation;
  readonly machine: Machine;
  readonly product: typeof Product;
  readonly files = new Set<number>();
  readonly databases = new Set<DatabaseSync>();
  readonly connections = new Set<DuckDBConnection>();
  readonly isCatalogDistant: boolean;
  /** Called for each look at a lease; false: another process has it now. */
  holdsLease: (name: string) => boolean = () => true;
  /** Called when a lease is taken or was released; throws where that fails. */
  disturbLease: (name: string) => void = () => {};
  /** When the jobs that it runs have begun. */
  readonly runs = new Map<string, number>();
  isGone = false;
  /** Resolves when it is killed. */
  readonly gone: Promise<undefined>;
  readonly #leave: (nothing: undefined) => void;

  constructor(simulation: Simulation, options: ProcessOptions) {
    const { name, machine, program, packages, isCatalogDistant = false, database } = options;
    ({ promise: this.gone, resolve: this.#leave } = Promise.withResolvers<undefined>());
    this.simulation = simulation;
    this.name = name;
    this.machine = machine;
    // The packets of a database take time themselves.
    this.isCatalogDistant = isCatalogDistant && database === undefined;
    const clock = clockOf(this);
    const files = filesOf(this);
    const modules: Readonly<Record<string, unknown>> = {
      'node:crypto': chosenBy(simulation.random.fork(`ids of ${name}`)),
      'node:fs': files.sync,
      'node:fs/promises': files.promises,
      'node:sqlite': sqliteOf(this),
      'node:timers/promises': clock.promises,
      // A context for `gc` takes longer than all else that a process does when it starts.
      'node:vm': { runInNewContext: () => () => {} },
      '@duckdb/node-api': duckdbOf(this),
      ...database?.packagesOf(this, clock.globals),
      ...packages?.(this),
    };
    this.product = program((wanted) => modules[wanted] ?? requirePackage(wanted), {
      ...clock.globals,
      // No network: its answers and their timing would not follow from the seed.
      fetch: () =>
        simulation.operation(this, 'fetch', () => {
          throw new TypeError('fetch failed');
        }),
      simulated: sharedBy(this),
    });
  }

  /** The process is killed: nothing of it goes on, and what the system holds for it is released. */
  kill(): void {
    this.simulation.note(`${this.name} is killed`);
    this.isGone = true;
    this.#leave(undefined);
    for (const database of this.databases) database.close();
    for (const connection of this.connections) connection.closeSync();
    for (const file of this.files) closeSync(file);
    this.databases.clear();
    this.connections.clear();
    this.files.clear();
  }
}
