import { LRUCache } from 'lru-cache';
import type { CacheKey } from '../domain/cache-key.ts';
import type { Quality } from '../domain/quality.ts';
import type { FindingType } from '../findings/finding.ts';
import { SingleFlight } from '../runtime/promises.ts';
import type { UntestedReason } from './findings-plan.ts';
import type { Finding } from './listed-finding.ts';

export interface TestedType {
  /** Rows that were tested, or looked at for a list. */
  readonly tested: number;
  /** How many of them have a p under 0.05: by chance alone one in twenty has. */
  readonly below05: number;
  readonly listed: number;
  readonly reason?: UntestedReason;
}

/** All that the days of a range say, before a question chooses from it. */
export interface Judged {
  readonly quality?: Quality;
  /** Those that the largest `q` lists, in order. */
  readonly findings: readonly Finding[];
  readonly tested: Readonly<Record<FindingType, Omit<TestedType, 'listed'>>>;
}

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
