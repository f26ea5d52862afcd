import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { FEED_PATTERN, KEY_PATTERN, SESSION_PATTERN, SHARE_PATTERN } from '../domain/ids.ts';
import type { CatalogVersion, OpenCatalog } from './catalog.ts';
import { type Access, type Feed, findAccess, findFeed, findShareOfToken, hashOf } from './keys.ts';
import { findProject, type Project, readWorkspaceProjects, type WorkspaceProjects } from './projects.ts';
import { findSession, type Session } from './sessions.ts';

/** Maximum entries of each kind. */
const MAX_ENTRIES = 10_000;
/** Maximum workspaces, which may have a thousand projects each. */
const MAX_WORKSPACES = 100;

/** A value that is available synchronously if cached. */
export type Found<T> = T | undefined | Promise<T | undefined>;

/**
 * Caches keys, feeds, sessions and projects until the catalog changes, so that a revocation by another process takes effect
 * immediately.
 */
export class CatalogCache {
  readonly #catalog: OpenCatalog;
  readonly #access = new Map<CacheKey, Access | undefined>();
  readonly #feeds = new Map<CacheKey, Feed | undefined>();
  readonly #sessions = new Map<CacheKey, Session | undefined>();
  readonly #shares = new Map<CacheKey, Awaited<ReturnType<typeof findShareOfToken>>>();
  readonly #projects = new Map<CacheKey, Project | undefined>();
  readonly #workspaces = new Map<CacheKey, WorkspaceProjects | undefined>();
  #version: CatalogVersion | undefined;

  constructor(catalog: OpenCatalog) {
    this.#catalog = catalog;
  }

  /** The access of a key; undefined if it is malformed, unknown or revoked. */
  access(presented: string): Found<Access> {
    if (!KEY_PATTERN.test(presented)) return undefined;
    const hash = hashOf(presented);
    return this.#lookUp(this.#access, cacheKey(hash), () => findAccess(this.#catalog, hash));
  }

  /** The feed of a token; undefined if it is malformed, unknown or revoked, or its key is revoked. */
  feed(token: string): Found<Feed> {
    if (!FEED_PATTERN.test(token)) return undefined;
    const hash = hashOf(token);
    return this.#lookUp(this.#feeds, cacheKey(hash), () => findFeed(this.#catalog, hash));
  }

  /** The session of a token; undefined if it is malformed, unknown or ended. It may have expired. */
  session(token: string): Found<Session> {
    if (!SESSION_PATTERN.test(token)) return undefined;
    const hash = hashOf(token);
    return this.#lookUp(this.#sessions, cacheKey(hash), () => findSession(this.#catalog, hash));
  }

  /** The share of a token; undefined if it is malformed, unknown or revoked. It may have ended. */
  share(token: string): ReturnType<typeof findShareOfToken> | undefined {
    if (!SHARE_PATTERN.test(token)) return undefined;
    const hash = hashOf(token);
    const found = this.#lookUp(this.#shares, cacheKey(hash), () => findShareOfToken(this.#catalog, hash));
    return found instanceof Promise ? found : Promise.resolve(found);
  }

  /** See `findProject`. */
  project(workspace: string, id: string): Found<Project> {
    // Checked again, so that a cache error cannot expose a project of another workspace.
    const ofWorkspace = (project: Project | undefined) =>
      project?.workspaceId === workspace && project.id === id ? project : undefined;
    const read = () => findProject(this.#catalog, workspace, id);
    const found = this.#lookUp(this.#projects, cacheKey(workspace, id), read);
    return found instanceof Promise ? found.then(ofWorkspace) : ofWorkspace(found);
  }

  /** See `readWorkspaceProjects`. */
  workspaceProjects(
    workspace: string,
    readable: readonly string[] | null,
  ): WorkspaceProjects | Promise<WorkspaceProjects> {
    const read = () => readWorkspaceProjects(this.#catalog, workspace, readable);
    const key = readable === null ? cacheKey(workspace) : cacheKey(workspace, readable.length, ...readable);
    const found = this.#lookUp(this.#workspaces, key, read, MAX_WORKSPACES);
    return found as WorkspaceProjects | Promise<WorkspaceProjects>;
  }

  #lookUp<T>(
    cached: Map<CacheKey, T | undefined>,
    key: CacheKey,
    read: () => Promise<T | undefined>,
    maxEntries = MAX_ENTRIES,
  ): Found<T> {
    const version = this.#catalog.version();
    // Synchronous if the version is, so that cached answers need not wait.
    return version instanceof Promise
      ? version.then((known) => this.#find(known, cached, key, read, maxEntries))
      : this.#find(version, cached, key, read, maxEntries);
  }

  #find<T>(
    version: CatalogVersion,
    cached: Map<CacheKey, T | undefined>,
    key: CacheKey,
    read: () => Promise<T | undefined>,
    maxEntries: number,
  ): Found<T> {
    this.#clearIfOutdated(version);
    if (cached.has(key)) return cached.get(key);
    return this.#read(version, cached, key, read, maxEntries);
  }

  async #read<T>(
    version: CatalogVersion,
    cached: Map<CacheKey, T | undefined>,
    key: CacheKey,
    read: () => Promise<T | undefined>,
    maxEntries: number,
  ): Promise<T | undefined> {
    const value = await read();
    const after = await this.#catalog.version();
    this.#clearIfOutdated(after);
    // A value read before a commit may be outdated.
    if (after !== version) return value;
    if (cached.size >= maxEntries) cached.clear();
    cached.set(key, value);
    return value;
  }

  #clearIfOutdated(version: CatalogVersion): void {
    if (version === this.#version) return;
    this.#access.clear();
    this.#feeds.clear();
    this.#sessions.clear();
    this.#shares.clear();
    this.#projects.clear();
    this.#workspaces.clear();
    this.#version = version;
  }
}
