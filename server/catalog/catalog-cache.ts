import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { KEY_PATTERN } from '../domain/ids.ts';
import type { Catalog, CatalogVersion } from './catalog.ts';
import { type Access, findAccess, hashOf } from './keys.ts';
import { findProject, type Project } from './projects.ts';

/** Entries of each kind that are cached. */
const MAX_ENTRIES = 10_000;

/**
 * Keys and projects as the catalog has them, read once for as long as nobody changes it: SQLite tells whether another
 * connection has committed anything since. So a revocation by another process counts at once.
 */
export class CatalogCache {
  readonly #catalog: Catalog;
  readonly #access = new Map<CacheKey, Access | undefined>();
  readonly #projects = new Map<CacheKey, Project | undefined>();
  #version: CatalogVersion | undefined;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** Whom a presented key belongs to; undefined when it is malformed, unknown or revoked. */
  access(presented: string): Access | undefined {
    if (!KEY_PATTERN.test(presented)) return undefined;
    const hash = hashOf(presented);
    return this.#lookUp(this.#access, cacheKey(hash), () => findAccess(this.#catalog, hash));
  }

  /** As `findProject`. */
  project(workspace: string, id: string): Project | undefined {
    const project = this.#lookUp(this.#projects, cacheKey(workspace, id), () =>
      findProject(this.#catalog, workspace, id),
    );
    // Checked again where it is handed out: no mistake in the cache may show a workspace what belongs to another.
    return project?.workspaceId === workspace && project.id === id ? project : undefined;
  }

  #lookUp<T>(cached: Map<CacheKey, T>, key: CacheKey, read: () => T): T {
    const version = this.#catalog.version();
    if (version !== this.#version) {
      this.#access.clear();
      this.#projects.clear();
      this.#version = version;
    }
    if (cached.has(key)) return cached.get(key)!;
    const value = read();
    if (cached.size >= MAX_ENTRIES) cached.clear();
    cached.set(key, value);
    return value;
  }
}
