import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { CatalogVersion, OpenCatalog } from '../catalog/catalog.ts';
import type { CatalogCache } from '../catalog/catalog-cache.ts';
import type { Project } from '../catalog/projects.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { KnownError } from '../domain/errors.ts';
import { whileListening } from './while-listening.ts';

/** Requests that are repeated after a publication. */
const MAX_REQUESTS = 8;
/** How long after a client sent one, in milliseconds. */
const LATELY = 10 * 60_000;
/** A first sync publishes again and again: the pause is so many times as long as the requests took. */
const PAUSE = 4;

/** A request about a project, as a client sent it last. */
interface RecentRequest {
  readonly operation: string;
  /** In the state in which it was sent. */
  readonly project: Project;
  /** Computes the answer as of now. */
  readonly repeat: (signal: AbortSignal) => Promise<unknown>;
}

/** The requests that clients sent lately, the last one of each project and operation. */
export class RecentRequests {
  readonly #requests: LRUCache<CacheKey, RecentRequest>;

  /** @param now milliseconds */
  constructor(now: () => number) {
    this.#requests = new LRUCache({ max: MAX_REQUESTS, ttl: LATELY, ttlResolution: 0, perf: { now } });
  }

  note(request: RecentRequest): void {
    const { operation, project } = request;
    this.#requests.set(cacheKey(project.workspaceId, project.id, operation), request);
  }

  get isEmpty(): boolean {
    this.#requests.purgeStale();
    return this.#requests.size === 0;
  }

  /** The requests whose projects have changed since, each once. */
  async *changed(catalogCache: CatalogCache): AsyncGenerator<RecentRequest, void> {
    for (const [key, request] of [...this.#requests.entries()]) {
      const { id, workspaceId, factsRevision, entitiesRevision } = request.project;
      const project = await catalogCache.project(workspaceId, id);
      // Otherwise a client has sent another one meanwhile.
      if (this.#requests.peek(key) !== request) continue;
      if (project === undefined) this.#requests.delete(key);
      else if (project.factsRevision !== factsRevision || project.entitiesRevision !== entitiesRevision) {
        this.#requests.set(key, { ...request, project }, { noUpdateTTL: true });
        yield request;
      }
    }
  }
}

interface Followed {
  readonly catalog: OpenCatalog;
  readonly catalogCache: CatalogCache;
  readonly recent: RecentRequests;
}

/**
 * Repeats what clients requested lately when a load or sync, of any process, has published something else about it, and
 * drops the answers: otherwise the next client waits until new files are compared with their hashes, and read for the first
 * time. Looks every `every` milliseconds while the server listens, after a longer pause if the requests take longer, and
 * one request runs at a time. Streamed answers are not among them.
 */
export function followPublications(app: FastifyInstance, followed: Followed, every: number): void {
  const failed = 'could not prepare for the next question';
  whileListening(app, failed, (signal) =>
    follow(followed, every, signal, (error) => {
      // Clients get these errors with their next request.
      if (!signal.aborted && !(error instanceof KnownError)) app.log.warn({ err: error }, failed);
    }),
  );
}

async function follow(
  { catalog, catalogCache, recent }: Followed,
  every: number,
  signal: AbortSignal,
  warn: (error: unknown) => void,
): Promise<void> {
  let seen: CatalogVersion | undefined;
  for (let took = 0; ; ) {
    await sleep(Math.max(every, PAUSE * took), undefined, { signal, ref: false });
    took = 0;
    if (recent.isEmpty) continue;
    const started = performance.now();
    try {
      const version = await catalog.version();
      if (version === seen) continue;
      for await (const { repeat } of recent.changed(catalogCache)) await repeat(signal).catch(warn);
      seen = version;
      took = performance.now() - started;
    } catch {
      // The catalog is away. Requests and the health of the server tell of it.
    }
  }
}
