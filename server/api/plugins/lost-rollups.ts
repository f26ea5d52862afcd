import type { FastifyInstance } from 'fastify';
import { lostRollups } from '../../catalog/fact-files.ts';
import { type KnownError, unavailable } from '../../domain/errors.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Begins to make the damaged rollups of a project again. */
    remakeRollups?: (project: string) => void;
  }
}

/** The least time between two attempts of a project, in milliseconds, whether they succeed or not. */
const PAUSE = 60_000;

/**
 * Makes rollups of days again when an answer misses one, once at a time for each project. Until then the answers that need
 * it are 503.
 * @param remake returns how many files were made
 * @param now milliseconds
 */
export function addLostRollups(
  app: FastifyInstance,
  remake: (project: string, signal: AbortSignal) => Promise<number>,
  now: () => number,
): void {
  const notBefore = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  const run = async (project: string): Promise<void> => {
    try {
      const files = await remake(project, stopping.signal);
      if (files > 0) app.log.warn({ project, files }, 'lost rollups were made again');
      else app.log.info({ project }, 'another process has made the lost rollups again');
    } catch (error) {
      if (!stopping.signal.aborted) app.log.error({ project, err: error }, 'lost rollups could not be made again');
    }
  };
  app.decorate('remakeRollups', (project: string) => {
    if (stopping.signal.aborted || now() < (notBefore.get(project) ?? 0)) return;
    notBefore.set(project, now() + PAUSE);
    const made = run(project).finally(() => running.delete(made));
    running.add(made);
  });
  app.addHook('preClose', async () => stopping.abort());
  // The catalog is open until then.
  app.addHook('onClose', async () => void (await Promise.all(running)));
}

/** The answer to a request that misses a rollup, which is then made again; undefined for other errors. */
export function answerLostRollup(error: unknown, app: FastifyInstance): KnownError | undefined {
  if (app.remakeRollups === undefined) return undefined;
  const projects = lostRollups(error);
  if (projects.size === 0) return undefined;
  for (const project of projects) app.remakeRollups(project);
  return unavailable('Sums of keywords were lost and are being made again from their days.', 'rollup-lost', error);
}
