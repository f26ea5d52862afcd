import { KEY_PATTERN } from '../domain/ids.ts';
import type { Catalog } from './catalog.ts';
import { type Access, findAccess, hashOf } from './keys.ts';
import { findProject, type Project } from './projects.ts';

/** Entries of each kind that are kept. */
const MOST = 10_000;

/**
 * Keys and projects as the catalog has them, read once for as long as nobody changes it: SQLite tells whether another
 * connection has committed anything since. So a revocation by another process counts at once.
 */
export class KnownCatalog {
  readonly #catalog: Catalog;
  readonly #access = new Map<string, Access | undefined>();
  readonly #projects = new Map<string, Project | undefined>();
  #version = -1;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** Whom a presented key belongs to; undefined when it is malformed, unknown or revoked. */
  access(presented: string): Access | undefined {
    if (!KEY_PATTERN.test(presented)) return undefined;
    const hash = hashOf(presented);
    return this.#known(this.#access, hash, () => findAccess(this.#catalog, hash));
  }

  /** As `findProject`. */
  project(workspace: string, id: string): Project | undefined {
    return this.#known(this.#projects, `${workspace} ${id}`, () => findProject(this.#catalog, workspace, id));
  }

  #known<T>(kept: Map<string, T>, key: string, read: () => T): T {
    const version = this.#catalog.version();
    if (version !== this.#version) {
      this.#access.clear();
      this.#projects.clear();
      this.#version = version;
    }
    if (kept.has(key)) return kept.get(key)!;
    const value = read();
    if (kept.size >= MOST) kept.clear();
    kept.set(key, value);
    return value;
  }
}
