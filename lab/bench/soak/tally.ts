import { Refused } from './http.ts';

/** What became of the requests of one kind. */
export interface Counts {
  readonly kind: string;
  /** Answers that were as they must be. */
  right: number;
  /** 503 with Retry-After, which is documented. */
  refused: number;
  unexpected: number;
}

const SHOWN = 10;

/** Counts what happened, and keeps the first unexpected answers. */
export class Tally {
  readonly #counts = new Map<string, Counts>();
  readonly first: string[] = [];

  /** Runs `work`; never throws for what it finds. */
  async run(kind: string, work: () => Promise<void>): Promise<void> {
    const counts = this.#counts.get(kind) ?? { kind, right: 0, refused: 0, unexpected: 0 };
    this.#counts.set(kind, counts);
    try {
      await work();
      counts.right++;
    } catch (error) {
      if (error instanceof Refused) counts.refused++;
      else {
        counts.unexpected++;
        const { message, cause } = error as Error;
        const why = cause instanceof Error ? ` (${cause.message})` : '';
        if (this.first.length < SHOWN) this.first.push(`${kind}: ${message.slice(0, 1000)}${why}`);
      }
    }
  }

  get rows(): Counts[] {
    return [...this.#counts.values()];
  }

  sum(field: 'right' | 'refused' | 'unexpected'): number {
    return this.rows.reduce((sum, counts) => sum + counts[field], 0);
  }
}
