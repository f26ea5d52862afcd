/** Who waits for work: clients have priority over background work; work without demand is not started. */
export type Demand = 'client' | 'background' | 'nobody';

/** No caller was waiting for the work when a slot became free. */
export class NoDemand extends Error {}

export interface SlotsOptions {
  /** Maximum concurrency. */
  readonly all: number;
  /** Maximum concurrency per owner. */
  readonly perOwner: number;
  /** Milliseconds after which work counts as slow and frees its slot. */
  readonly slowAfter: number;
  /** Maximum number of slow work items; above it, the longest is aborted if others wait. */
  readonly slow: number;
}

/** The work was slow, and others waited for a slot. */
export class Displaced extends Error {}

interface Running {
  readonly demand: () => Demand;
  readonly control: AbortController;
}

interface Waiting {
  readonly owner: string;
  readonly demand: () => Demand;
  readonly begin: () => void;
  readonly reject: (reason: Error) => void;
}

/**
 * Slots for work of owners, limited in total and per owner. A free slot goes to clients before background work, then to the
 * owner with the fewest slots, then in order of arrival. Slow work frees its slot, so that an unresponsive provider does not
 * block others; above a limit of slow work, the longest is aborted.
 */
export class Slots {
  readonly #options: SlotsOptions;
  readonly #running = new Map<string, number>();
  #waiting: Waiting[] = [];
  #quick = 0;
  /** In order of start. */
  readonly #slow = new Set<Running>();

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` when a slot is free. Its signal is aborted with `Displaced` if it must end for others. Throws `NoDemand` if
   * no caller is waiting when its turn comes.
   */
  async run<T>(owner: string, demand: () => Demand, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await new Promise<void>((begin, reject) => {
      this.#waiting.push({ owner, demand, begin, reject });
      this.#fill();
    });
    const running: Running = { demand, control: new AbortController() };
    let isSlow = false;
    const timer = setInterval(() => {
      if (this.#slow.size >= this.#options.slow && !this.#displaceOne()) return;
      clearInterval(timer);
      isSlow = true;
      this.#slow.add(running);
      this.#quick--;
      this.#fill();
    }, this.#options.slowAfter).unref();
    try {
      return await work(running.control.signal);
    } finally {
      clearInterval(timer);
      this.#slow.delete(running);
      if (!isSlow) this.#quick--;
      const left = this.#of(owner) - 1;
      if (left === 0) this.#running.delete(owner);
      else this.#running.set(owner, left);
      this.#fill();
    }
  }

  /** Its state, for metrics: slots, work in slots, slow work without one, and waiting work. */
  get state(): { readonly limit: number; readonly used: number; readonly slow: number; readonly waiting: number } {
    return { limit: this.#options.all, used: this.#quick, slow: this.#slow.size, waiting: this.#waiting.length };
  }

  /** Rejects all waiting work. */
  clear(reason: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
  }

  /** Aborts the longest slow work, that of clients last, unless no waiting work could start. Returns whether it did. */
  #displaceOne(): boolean {
    if (!this.#waiting.some(({ owner }) => this.#of(owner) < this.#options.perOwner)) return false;
    const slow = [...this.#slow];
    const longest = slow.find(({ demand }) => demand() !== 'client') ?? slow[0];
    if (longest === undefined) return false;
    this.#slow.delete(longest);
    longest.control.abort(new Displaced('Others waited for a slot.'));
    return true;
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
    for (const { reject } of abandoned) reject(new NoDemand('No caller is waiting for this any more.'));
    return taken;
  }
}
