import { EventEmitter } from 'node:events';
import type { Random } from '../../../test/random.ts';
import type { Host } from '../host.ts';

/** A database server that only has the version of a catalog, and ends connections. */
export interface Database {
  value: number;
  readonly schema: number;
  isDown: boolean;
  /** Statements are not answered. */
  isHanging: boolean;
  readonly random: Random;
  readonly connections: Set<Client>;
  onConnect: (client: Client) => void;
}

/** A connection as the driver has it. */
export interface Client {
  readonly process: Host;
  /** When the driver heard that it has ended. */
  readonly heardAt: number;
  /** The server ends it; the driver hears of it a while later. */
  endByServer(): void;
}

interface Config {
  readonly query_timeout?: number;
}

/** The driver of PostgreSQL, as far as the version of a catalog needs it. */
export function databaseOf(process: Host, database: Database): Readonly<Record<string, unknown>> {
  const { simulation } = process;
  const refused = (): Error => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  class SimulatedClient extends EventEmitter implements Client {
    readonly process = process;
    readonly #config: Config;
    heardAt = Number.POSITIVE_INFINITY;
    #isEnded = false;

    constructor(config: Config) {
      super();
      this.#config = config;
    }

    async connect(): Promise<void> {
      await simulation.operation(process, 'connect', () => {
        if (database.isDown) throw refused();
        database.connections.add(this);
        database.onConnect(this);
      });
    }

    async query(): Promise<{ rows: readonly object[] }> {
      if (this.heardAt <= simulation.now) throw new Error('Client was closed and is not queryable');
      const ask = () =>
        simulation.operation(process, 'read the version', () => {
          if (this.#isEnded) throw new Error('Connection terminated unexpectedly');
          return { rows: [{ value: database.value, schema: database.schema }] };
        });
      const limit = this.#config.query_timeout ?? 0;
      const { promise: late, reject } = Promise.withResolvers<never>();
      const timer = simulation.schedule(process, limit, 'timeout of the driver', () =>
        reject(new Error('Query read timeout')),
      );
      try {
        return await (database.isHanging ? late : Promise.race([ask(), late]));
      } finally {
        timer.isCancelled = true;
      }
    }

    endByServer(): void {
      if (!database.connections.delete(this)) return;
      this.#isEnded = true;
      simulation.schedule(process, database.random.next() * 50, 'connection ended', () => {
        this.heardAt = simulation.now;
        this.emit('error', new Error('Connection terminated unexpectedly'));
        this.emit('end');
      });
    }

    end(): Promise<void> {
      database.connections.delete(this);
      this.#isEnded = true;
      this.heardAt = simulation.now;
      this.emit('end');
      return Promise.resolve();
    }
  }
  class Pool extends EventEmitter {
    end(): Promise<void> {
      return Promise.resolve();
    }
  }
  return { pg: { Client: SimulatedClient, Pool } };
}
