import { unavailable } from '../../domain/errors.ts';
import { sqlText } from '../../runtime/sql.ts';
import type { CatalogVersion } from '../catalog.ts';
import { translate } from './dialect.ts';
import { SCHEMA_VERSION } from './migrations.ts';
import type { Connection, PostgresPool } from './pool.ts';

/** For the answer of the database, in milliseconds: every request waits for it. */
const ANSWER_TIMEOUT = 5000;
const LIMITS = { statement_timeout: ANSWER_TIMEOUT, query_timeout: ANSWER_TIMEOUT };

const READ = translate(sqlText('catalog/postgres/catalog_version'));

/**
 * Reads the version of the catalog, over a connection that nothing else uses. A read serves all calls that came before it was
 * sent, so that each request sees every commit that ended before the request began.
 */
export class VersionReader {
  readonly #pool: PostgresPool;
  #client: Promise<Connection> | undefined;
  #version: CatalogVersion & { readonly value: number } = { value: -1 };
  /** The read that was sent, and the one that will be sent after it. */
  #sent: Promise<CatalogVersion> | undefined;
  #next: Promise<CatalogVersion> | undefined;
  /** What was read just now; for further calls of the requests that waited for it. */
  #fresh: CatalogVersion | undefined;
  #outdated = 0;
  #isClosed = false;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  read(): CatalogVersion | Promise<CatalogVersion> {
    if (this.#fresh !== undefined) return this.#fresh;
    if (this.#sent === undefined) return this.#send();
    const send = (): Promise<CatalogVersion> => this.#send();
    this.#next ??= this.#sent.then(send, send);
    return this.#next;
  }

  /** This process has committed: a read that was sent before does not count any more. */
  outdate(): void {
    this.#outdated++;
    this.#fresh = undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = await this.#client?.catch(() => undefined);
    await client?.end();
  }

  #send(): Promise<CatalogVersion> {
    this.#next = undefined;
    const sent = this.#read().finally(() => {
      if (this.#sent === sent) this.#sent = undefined;
    });
    this.#sent = sent;
    return sent;
  }

  async #read(): Promise<CatalogVersion> {
    if (this.#isClosed) throw new Error('The catalog has been closed.');
    const before = this.#outdated;
    const { value, schema } = await this.#ask();
    if (schema !== SCHEMA_VERSION) {
      throw unavailable('The data is used by a newer version of the service.', 'newer-version');
    }
    if (value !== this.#version.value) this.#version = { value };
    if (before === this.#outdated) {
      this.#fresh = this.#version;
      // Runs after everything that waited for this answer, before anything that arrives later.
      process.nextTick(() => {
        this.#fresh = undefined;
      });
    }
    return this.#version;
  }

  async #ask(): Promise<{ value: number; schema: number }> {
    this.#client ??= this.#pool.connect(LIMITS);
    const opening = this.#client;
    try {
      const { rows } = await (await opening).query<{ value: number; schema: number }>(READ);
      return rows[0]!;
    } catch (error) {
      // The next read connects again.
      if (this.#client === opening) this.#client = undefined;
      void opening.then((client) => client.end()).catch(() => {});
      throw this.#pool.named(error);
    }
  }
}
