import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { CatalogVersion, OpenCatalog } from '../catalog/catalog.ts';
import type { CatalogCache } from '../catalog/catalog-cache.ts';
import type { Project } from '../catalog/projects.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { KnownError } from '../domain/errors.ts';
import { whileListening } from './while-listening.ts';

/** Questions that are asked again after a publication. */
const MAX_QUESTIONS = 8;
/** How long after a client asked it, in milliseconds. */
const LATELY = 10 * 60_000;
/** A first sync publishes again and again: the pause is so many times as long as the questions took. */
const PAUSE = 4;

/** A question about a project, as a client asked it last. */
interface RecentQuestion {
  readonly operation: string;
  /** In the state in which it was asked. */
  readonly project: Project;
  /** Computes the answer to the same question now. */
  readonly again: (signal: AbortSignal) => Promise<unknown>;
}

/** The questions that clients asked lately, the last one of each project and operation. */
export class RecentQuestions {
  readonly #questions: LRUCache<CacheKey, RecentQuestion>;

  /** @param now milliseconds */
  constructor(now: () => number) {
    this.#questions = new LRUCache({ max: MAX_QUESTIONS, ttl: LATELY, ttlResolution: 0, perf: { now } });
  }

  note(question: RecentQuestion): void {
    const { operation, project } = question;
    this.#questions.set(cacheKey(project.workspaceId, project.id, operation), question);
  }

  get isEmpty(): boolean {
    this.#questions.purgeStale();
    return this.#questions.size === 0;
  }

  /** The questions whose projects have changed since, each once. */
  async *changed(catalogCache: CatalogCache): AsyncGenerator<RecentQuestion, void> {
    for (const [key, question] of [...this.#questions.entries()]) {
      const { id, workspaceId, factsRevision, entitiesRevision } = question.project;
      const project = await catalogCache.project(workspaceId, id);
      // Otherwise a client has asked meanwhile.
      if (this.#questions.peek(key) !== question) continue;
      if (project === undefined) this.#questions.delete(key);
      else if (project.factsRevision !== factsRevision || project.entitiesRevision !== entitiesRevision) {
        this.#questions.set(key, { ...question, project }, { noUpdateTTL: true });
        yield question;
      }
    }
  }
}

interface Followed {
  readonly catalog: OpenCatalog;
  readonly catalogCache: CatalogCache;
  readonly recent: RecentQuestions;
}

/**
 * Asks again what clients asked lately when a load or sync, of any process, has published something else about it, and
 * drops the answers: otherwise the next client waits until new files are compared with their hashes, and read for the first
 * time. Looks every `every` milliseconds while the server listens, after a longer pause if the questions take longer, and
 * one question runs at a time. Long answers are not among them.
 */
export function followPublications(app: FastifyInstance, followed: Followed, every: number): void {
  const failed = 'could not prepare for the next question';
  whileListening(app, failed, (signal) =>
    follow(followed, every, signal, (error) => {
      // Clients get these errors when they ask again.
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
      for await (const { again } of recent.changed(catalogCache)) await again(signal).catch(warn);
      seen = version;
      took = performance.now() - started;
    } catch {
      // The catalog is away. Requests and the health of the server tell of it.
    }
  }
}
