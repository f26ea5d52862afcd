import { LRUCache } from 'lru-cache';
import type { CacheKey } from '../domain/cache-key.ts';
import { SingleFlight } from '../runtime/promises.ts';
import type { Judged } from './findings-answer.ts';

/** Kept findings of all projects; each takes about a kilobyte. */
const MAX_FINDINGS = 20_000;
/** What an entry without findings counts. */
const ENTRY = 10;

/** Judged findings by project, revision, range and country, so that another page, `q` or type needs no test again. */
export class JudgedFindings {
  readonly #finished = new LRUCache<CacheKey, Judged>({
    maxSize: MAX_FINDINGS,
    sizeCalculation: ({ findings }) => findings.length + ENTRY,
  });
  readonly #running = new SingleFlight<Judged>();

  find(key: CacheKey): Judged | undefined {
    return this.#finished.get(key);
  }

  /** Judges once for all who ask at the same time. @param signal aborted when the caller stops waiting */
  make(key: CacheKey, signal: AbortSignal, judge: (signal: AbortSignal) => Promise<Judged>): Promise<Judged> {
    return this.#running.run(key, signal, async (stop) => {
      const judged = await judge(stop);
      this.#finished.set(key, judged);
      return judged;
    });
  }
}
