import { unavailable } from '../../domain/errors.ts';
import type { CatalogVersion } from '../catalog.ts';
import { SCHEMA_VERSION } from '../schema.ts';
import type { PostgresPool } from './pool.ts';
import { VersionConnection } from './version-connection.ts';

/** A version, by the number in the database. */
export type Version = CatalogVersion & { readonly value: number | bigint | null };

/**
 * Reads the version of the catalog on a separate connection. A read serves all calls before it was sent or in the same
 * turn of the event loop, so that each request sees every commit that ended before the request began.
 */
export class VersionReader {
  readonly #connection: VersionConnection;
  #version: Version = { value: null };
  /** The read that was sent, and the one that will be sent after it. */
  #sent: Promise<Version> | undefined;
  #next: Promise<Version> | undefined;
  /** The read that was sent in this turn of the event loop: all requests of this turn arrived before it. */
  #early: Promise<Version> | undefined;
  /** The latest result, for further calls of the requests that waited for it. */
  #fresh: Version | undefined;
  #outdated = 0;
  #isClosed = false;
  readonly #forgetLater = (): void => {
    // Runs after all callbacks of this turn, before anything that arrives later.
    process.nextTick(this.#forget);
  };
  readonly #forget = (): void => {
    this.#fresh = undefined;
    this.#early = undefined;
  };

  constructor(pool: PostgresPool) {
    this.#connection = new VersionConnection(pool);
  }

  read(): Version | Promise<Version> {
    const known = this.#fresh ?? this.#early ?? this.#next;
    if (known !== undefined) return known;
    if (this.#sent === undefined) return this.#send();
    const send = (): Promise<Version> => this.#send();
    this.#next = this.#sent.then(send, send);
    return this.#next;
  }

  /** Called after a commit of this process: reads sent before are outdated. */
  outdate(): void {
    this.#outdated++;
    this.#fresh = undefined;
    this.#early = undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Closing a connection would abort its query.
    await this.#sent?.catch(() => {});
    await this.#connection.close();
  }

  #send(): Promise<Version> {
    this.#next = undefined;
    if (this.#isClosed) return Promise.reject(new Error('The catalog has been closed.'));
    const sent = this.#ask();
    this.#sent = sent;
    this.#early = sent;
    // The driver and servers call this code before any waiting callbacks continue.
    queueMicrotask(this.#forgetLater);
    return sent;
  }

  async #ask(): Promise<Version> {
    const before = this.#outdated;
    let row: Awaited<ReturnType<VersionConnection['read']>>;
    try {
      row = await this.#connection.read();
    } finally {
      this.#sent = undefined;
    }
    if (row === undefined || row.schema > SCHEMA_VERSION) {
      throw unavailable('The data is used by a newer version of the service.', 'newer-version');
    }
    if (row.value !== this.#version.value) this.#version = { value: row.value };
    if (before === this.#outdated) {
      this.#fresh = this.#version;
      queueMicrotask(this.#forgetLater);
    }
    return this.#version;
  }
}
