import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { KEY_PATTERN, SESSION_PATTERN } from '../domain/ids.ts';
import type { CatalogVersion, OpenCatalog } from './catalog.ts';
import { type Access, findAccess, hashOf } from './keys.ts';
import { findProject, type Project } from './projects.ts';
import { findSession, type Session } from './sessions.ts';

/** Entries of each kind that are cached. */
const MAX_ENTRIES = 10_000;

/** A value that is there at once, where it is cached. */
export type Found<T> = T | undefined | Promise<T | undefined>;

/**
 * Keys, sessions and projects as the catalog has them, read once for as long as nobody changes it. So a revocation by another
 * process counts at once.
 */
export class CatalogCache {
  readonly #catalog: OpenCatalog;
  readonly #access = new Map<CacheKey, Access | undefined>();
  readonly #sessions = new Map<CacheKey, Session | undefined>();
  readonly #projects = new Map<CacheKey, Project | undefined>();
  #version: CatalogVersion | undefined;

  constructor(catalog: OpenCatalog) {
    this.#catalog = catalog;
  }

  /** Whom a presented key belongs to; undefined when it is malformed, unknown or revoked. */
  access(presented: string): Found<Access> {
    if (!KEY_PATTERN.test(presented)) return undefined;
    const hash = hashOf(presented);
    return this.#lookUp(this.#access, cacheKey(hash), () => findAccess(this.#catalog, hash));
  }

  /** The session of a presented secret; undefined when it is malformed, unknown or ended. It may have expired. */
  session(presented: string): Found<Session> {
    if (!SESSION_PATTERN.test(presented)) return undefined;
    const hash = hashOf(presented);
    return this.#lookUp(this.#sessions, cacheKey(hash), () => findSession(this.#catalog, hash));
  }

  /** As `findProject`. */
  project(workspace: string, id: string): Found<Project> {
    // Checked again where it is handed out: no mistake in the cache may show a workspace what belongs to another.
    const own = (project: Project | undefined) =>
      project?.workspaceId === workspace && project.id === id ? project : undefined;
    const read = () => findProject(this.#catalog, workspace, id);
    const found = this.#lookUp(this.#projects, cacheKey(workspace, id), read);
    return found instanceof Promise ? found.then(own) : own(found);
  }

  #lookUp<T>(cached: Map<CacheKey, T | undefined>, key: CacheKey, read: () => Promise<T | undefined>): Found<T> {
    const version = this.#current();
    if (cached.has(key)) return cached.get(key);
    return read().then((value) => {
      // What was read before a commit may not be true after it.
      if (this.#current() !== version) return value;
      if (cached.size >= MAX_ENTRIES) cached.clear();
      cached.set(key, value);
      return value;
    });
  }

  /** The version of the catalog; what is cached is of it. */
  #current(): CatalogVersion {
    const version = this.#catalog.version();
    if (version !== this.#version) {
      this.#access.clear();
      this.#sessions.clear();
      this.#projects.clear();
      this.#version = version;
    }
    return version;
  }
}
