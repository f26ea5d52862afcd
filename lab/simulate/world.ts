import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Program } from './bundle.ts';
import { Machine } from './host.ts';
import { Database } from './postgres/database.ts';
import type { Databases } from './postgres/databases.ts';
import { type ProcessOptions, SimulatedProcess } from './process.ts';
import type { Simulation } from './simulation.ts';

/** The instant at which worlds begin: noon in California. */
export const START = Date.parse('2026-03-15T19:00:00Z');

/** One simulated run of a world. */
export class Run {
  readonly simulation: Simulation;
  readonly program: Program;
  readonly folder: string;
  readonly #processes: SimulatedProcess[] = [];
  readonly #waiting = new Map<Promise<unknown>, { readonly name: string; readonly process: SimulatedProcess }>();

  /** Where databases of catalogs are made; undefined for SQLite. */
  readonly databases: Databases | undefined;
  /** The database of the catalog, once there is one. */
  database: Database | undefined;

  constructor(simulation: Simulation, program: Program, folder: string, databases?: Databases) {
    this.databases = databases;
    this.simulation = simulation;
    this.program = program;
    this.folder = folder;
  }

  machine(name: string): Machine {
    const folder = join(this.folder, name);
    mkdirSync(folder, { recursive: true });
    return new Machine(name, folder);
  }

  /** Makes the data folder of a machine, and the database of the catalog if it is not in the folder. */
  async data(machine: Machine, template?: { folder: string; database: string | undefined }): Promise<string> {
    const folder = join(machine.folder, 'data');
    if (template === undefined) mkdirSync(folder);
    else cpSync(template.folder, folder, { recursive: true });
    if (this.databases !== undefined)
      this.database = await Database.open(this.databases, this.simulation, template?.database);
    return folder;
  }

  /** Runs a statement in the catalog of a data folder, outside of simulated time. */
  async rows(folder: string, sql: string): Promise<readonly object[]> {
    if (this.database !== undefined) return this.database.rows(sql);
    const catalog = new DatabaseSync(join(folder, 'catalog.sqlite'));
    try {
      return catalog.prepare(sql).all();
    } finally {
      catalog.close();
    }
  }

  /** The settings of processes that say where the catalog is. */
  get environment(): Readonly<Record<string, string>> {
    return this.database === undefined ? {} : { ORDINATE_CATALOG: this.database.url };
  }

  start(options: Omit<ProcessOptions, 'program' | 'database'>): SimulatedProcess {
    const { program, database } = this;
    const process = new SimulatedProcess(this.simulation, { ...options, program, database });
    this.#processes.push(process);
    return process;
  }

  /** Follows something that must end, unless its process does. */
  follow<T>(process: SimulatedProcess, name: string, promise: Promise<T>): Promise<T> {
    this.#waiting.set(promise, { name, process });
    const ended = (): void => void this.#waiting.delete(promise);
    promise.then(ended, ended);
    return promise;
  }

  /** Whatever is followed has ended. */
  get isIdle(): boolean {
    return [...this.#waiting.values()].every(({ process }) => process.isGone);
  }

  /** Lets everything that is followed end, and violates if something does not within some simulated time. */
  async settle(minutes = 60): Promise<void> {
    const { simulation } = this;
    await simulation.run({ until: simulation.now + minutes * 60_000, isDone: () => this.isIdle });
    if (simulation.violations.length > 0) return;
    for (const { name, process } of this.#waiting.values()) {
      if (!process.isGone) simulation.violate(`${process.name}: ${name} waits for ever`);
    }
  }

  /** Waits for something of a process while events run. */
  async wait<T>(promise: Promise<T>): Promise<T> {
    const { simulation } = this;
    let isDone = false;
    const ended = (): void => {
      isDone = true;
    };
    promise.then(ended, ended);
    await simulation.run({ until: simulation.now + 600_000, isDone: () => isDone });
    if (!isDone) throw new Error('what the world waits for does not end');
    return promise;
  }

  /** Ends all processes. */
  async stop(): Promise<void> {
    for (const process of this.#processes) if (!process.isGone) process.kill();
    await this.database?.close();
  }
}

export interface World {
  readonly name: string;
  /** Its processes share a catalog, which may be in PostgreSQL. */
  readonly hasCatalog: boolean;
  run(run: Run): Promise<void>;
}
