/** Who waits for a piece of work: clients go before background work, and what nobody waits for is not begun. */
export type Demand = 'client' | 'background' | 'nobody';

/** Nobody waited for the work any more when a place became free. */
export class NoDemand extends Error {}

export interface PlacesOptions {
  /** How many may run at a time. */
  readonly all: number;
  /** How many of one owner. */
  readonly perOwner: number;
  /** Work that takes longer than this (milliseconds) gives its place to others and goes on beside them… */
  readonly slowAfter: number;
  /** …as long as there are at most so many of this kind. */
  readonly slow: number;
}

interface Waiting {
  readonly owner: string;
  readonly demand: () => Demand;
  readonly begin: () => void;
  readonly refuse: (reason: Error) => void;
}

/**
 * Places for work on behalf of owners: so many in all and so many for each. A free place goes to a client before
 * background work, then to the owner who has the fewest, then to who came first. Work that only waits for somebody who
 * does not answer does not keep the others out.
 */
export class Places {
  readonly #options: PlacesOptions;
  readonly #running = new Map<string, number>();
  #waiting: Waiting[] = [];
  #quick = 0;
  #slow = 0;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** Runs `work` once there is a place. Throws `NoDemand` when its turn comes and nobody waits for it. */
  async run<T>(owner: string, demand: () => Demand, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin, refuse) => {
      this.#waiting.push({ owner, demand, begin, refuse });
      this.#fill();
    });
    let isSlow = false;
    const timer = setInterval(() => {
      if (this.#slow >= this.#options.slow) return;
      clearInterval(timer);
      isSlow = true;
      this.#slow++;
      this.#quick--;
      this.#fill();
    }, this.#options.slowAfter).unref();
    try {
      return await work();
    } finally {
      clearInterval(timer);
      if (isSlow) this.#slow--;
      else this.#quick--;
      const left = this.#of(owner) - 1;
      if (left === 0) this.#running.delete(owner);
      else this.#running.set(owner, left);
      this.#fill();
    }
  }

  /** Refuses all that wait. */
  clear(reason: Error): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(reason);
  }

  #of(owner: string): number {
    return this.#running.get(owner) ?? 0;
  }

  #fill(): void {
    while (this.#quick < this.#options.all) {
      const next = this.#next();
      if (next === undefined) return;
      this.#quick++;
      this.#running.set(next.owner, this.#of(next.owner) + 1);
      next.begin();
    }
  }

  #next(): Waiting | undefined {
    let best: { waiting: Waiting; rank: number } | undefined;
    const abandoned = new Set<Waiting>();
    for (const waiting of this.#waiting) {
      const demand = waiting.demand();
      const running = this.#of(waiting.owner);
      if (demand === 'nobody') abandoned.add(waiting);
      if (demand === 'nobody' || running >= this.#options.perOwner) continue;
      const rank = running + (demand === 'background' ? this.#options.perOwner : 0);
      if (best === undefined || rank < best.rank) best = { waiting, rank };
    }
    const taken = best?.waiting;
    this.#waiting = this.#waiting.filter((waiting) => waiting !== taken && !abandoned.has(waiting));
    for (const { refuse } of abandoned) refuse(new NoDemand('Nobody waits for this any more.'));
    return taken;
  }
}
