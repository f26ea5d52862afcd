import type { QueryResult } from 'pg';
import type { Values } from '../catalog.ts';
import type { CatalogLocation } from '../location.ts';
import type { Usage } from '../usage.ts';
import { statementOf } from './dialect.ts';
import type { PostgresPool } from './pool.ts';
import { execute } from './session.ts';

/** Usage data in the database of the catalog. Connects at the first use; without the database nothing is read or written. */
export class PostgresUsage implements Usage {
  readonly #location: CatalogLocation;
  readonly #onError: (error: unknown) => void;
  #pool: Promise<PostgresPool> | undefined;
  #isClosed = false;

  /** @param onError called for failed reads and writes */
  constructor(location: CatalogLocation, onError: (error: unknown) => void) {
    this.#location = location;
    this.#onError = onError;
  }

  async get<Row>(name: string, values: Values = {}): Promise<Row | undefined> {
    return (await this.#execute(name, values))?.rows[0] as Row | undefined;
  }

  async all<Row>(name: string, values: Values = {}): Promise<Row[]> {
    return ((await this.#execute(name, values))?.rows ?? []) as Row[];
  }

  async run(name: string, values: Values = {}): Promise<boolean> {
    return (await this.change(name, values)) !== undefined;
  }

  async change(name: string, values: Values = {}): Promise<number | undefined> {
    const result = await this.#execute(name, values);
    return result && (result.rowCount ?? 0);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await (await this.#pool?.catch(() => undefined))?.close();
  }

  async #execute(name: string, values: Values): Promise<QueryResult | undefined> {
    try {
      if (this.#isClosed) throw new Error('The usage database has been closed.');
      // The driver is loaded only if it is used.
      this.#pool ??= import('./pool.ts').then(({ poolOf }) => {
        const { catalogUrl, catalogConnections } = this.#location;
        return poolOf(catalogUrl, catalogConnections);
      });
      const pool = await this.#pool;
      return await pool.use((client) => execute(client, statementOf('usage', name), values));
    } catch (error) {
      this.#onError(error);
      return undefined;
    }
  }
}
