import { unavailable } from '../../domain/errors.ts';
import type { CatalogVersion } from '../catalog.ts';
import { SCHEMA_VERSION } from './migrations.ts';
import type { PostgresPool } from './pool.ts';
import { VersionConnection } from './version-connection.ts';

/**
 * Reads the version of the catalog, over a connection that nothing else uses. A read serves all calls that came before it was
 * sent, or in the same turn of the event loop, so that each request sees every commit that ended before the request began.
 */
export class VersionReader {
  readonly #pool: PostgresPool;
  readonly #connection: VersionConnection;
  #version: CatalogVersion & { readonly value: string | null } = { value: null };
  /** The read that was sent, and the one that will be sent after it. */
  #sent: Promise<CatalogVersion> | undefined;
  #next: Promise<CatalogVersion> | undefined;
  /** The read that was sent in this turn of the event loop: whatever this turn is about had arrived before. */
  #early: Promise<CatalogVersion> | undefined;
  /** What was read just now; for further calls of the requests that waited for it. */
  #fresh: CatalogVersion | undefined;
  #outdated = 0;
  #isClosed = false;
  readonly #forgetLater = (): void => {
    // Runs after everything that this turn has set off, before anything that arrives later.
    process.nextTick(this.#forget);
  };
  readonly #forget = (): void => {
    this.#fresh = undefined;
    this.#early = undefined;
  };

  constructor(pool: PostgresPool) {
    this.#pool = pool;
    this.#connection = new VersionConnection(pool);
  }

  read(): CatalogVersion | Promise<CatalogVersion> {
    const known = this.#fresh ?? this.#early ?? this.#next;
    if (known !== undefined) return known;
    if (this.#sent === undefined) return this.#send();
    const send = (): Promise<CatalogVersion> => this.#send();
    this.#next = this.#sent.then(send, send);
    return this.#next;
  }

  /** This process has committed: a read that was sent before does not count any more. */
  outdate(): void {
    this.#outdated++;
    this.#fresh = undefined;
    this.#early = undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Ending a connection cuts off what it was asked.
    await this.#sent?.catch(() => {});
    await this.#connection.close();
  }

  #send(): Promise<CatalogVersion> {
    this.#next = undefined;
    if (this.#isClosed) return Promise.reject(new Error('The catalog has been closed.'));
    const { promise, resolve, reject } = Promise.withResolvers<CatalogVersion>();
    const before = this.#outdated;
    this.#sent = promise;
    this.#early = promise;
    // The driver and servers call what leads here before anything that waits goes on.
    queueMicrotask(this.#forgetLater);
    this.#connection.ask((error, row) => {
      this.#sent = undefined;
      if (error !== undefined) {
        reject(this.#pool.named(error));
        return;
      }
      const [value = null, schema] = row;
      if (schema !== String(SCHEMA_VERSION)) {
        reject(unavailable('The data is used by a newer version of the service.', 'newer-version'));
        return;
      }
      if (value !== this.#version.value) this.#version = { value };
      if (before === this.#outdated) {
        this.#fresh = this.#version;
        queueMicrotask(this.#forgetLater);
      }
      resolve(this.#version);
    });
    return promise;
  }
}
