import { type ProviderRequest, takeProviderRequest, type Usage } from '../catalog/usage.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Demand } from './slots.ts';

/** Maximum requests in any 60 seconds, by all processes of the catalog, and in any second per property. */
export interface RateLimits {
  readonly perMinute: number;
  readonly perSecond: number;
}

/** An injectable clock. */
export interface Clock {
  /** Milliseconds, the same for all processes of a machine; machines may differ. */
  now(): number;
  /** Calls back after some milliseconds; returns a function that cancels it. */
  wake(after: number, callback: () => void): () => void;
}

const SYSTEM: Clock = {
  now: Date.now,
  wake: (after, callback) => {
    const timer = setTimeout(callback, after);
    return () => clearTimeout(timer);
  },
};

const MINUTE = 60_000;
const SECOND = 1000;
/** The share of a minute's requests for background work; the rest is reserved for clients. */
const BACKGROUND_SHARE = 0.8;
/**
 * Retry interval for a busy database, and the time after which a process applies the limits without it. In milliseconds.
 */
const BUSY_PAUSE = 250;
const MAX_BUSY = 2000;
/** Maximum time between checks, in milliseconds, because a client may join background work. */
const MAX_PAUSE = 1000;

interface Waiting {
  readonly owner: string;
  readonly perSecond: number;
  readonly demand: () => Demand;
  readonly begin: () => void;
}

interface RequestToTake extends Omit<ProviderRequest, 'perMinute'> {
  /** Of the requests per minute. */
  readonly share: number;
}

/**
 * A rolling rate limit for provider requests, shared by all processes through the usage database. If the database is
 * unavailable, each process applies the limits by itself. Clients have priority over background work, then requests run in
 * order of arrival; a property at its limit does not block others.
 */
export class RequestRate {
  readonly #usage: Usage;
  readonly #limits: RateLimits;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  /** Requests of this process in the last minute, oldest first. */
  #sent: { owner: string; at: number }[] = [];
  /** When the database last responded. */
  #answered = Number.NEGATIVE_INFINITY;
  #cancel = (): void => {};
  #isAdmitting = false;
  /** A request has arrived, or time has passed, since the current round started. */
  #isOutdated = false;

  constructor(usage: Usage, limits: RateLimits, clock = SYSTEM) {
    this.#usage = usage;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** How many requests wait, for metrics. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves when a request for `owner` may be sent. Rejects with the signal's reason if it is aborted.
   * @param most requests per second of the owner, if the limit of all is higher
   */
  admit(owner: string, demand: () => Demand, signal: AbortSignal, most = Number.POSITIVE_INFINITY): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const leave = (): void => {
        this.#waiting.delete(waiting);
        if (this.#waiting.size === 0) this.#cancel();
        reject(signal.reason as Error);
      };
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const waiting = { owner, demand, begin, perSecond: Math.min(most, this.#limits.perSecond) };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(waiting);
      void this.#admitDue();
    });
  }

  /** Admits all requests that the limits allow, and schedules the next check. */
  async #admitDue(): Promise<void> {
    this.#isOutdated = true;
    if (this.#isAdmitting) return;
    this.#isAdmitting = true;
    try {
      while (this.#isOutdated) {
        this.#isOutdated = false;
        await this.#admitRound();
      }
    } finally {
      this.#isAdmitting = false;
    }
  }

  async #admitRound(): Promise<void> {
    this.#cancel();
    const at = this.#clock.now();
    let next = at + MAX_PAUSE;
    const refused = new Set<CacheKey>();
    for (const share of [1, BACKGROUND_SHARE]) {
      for (const waiting of this.#waiting) {
        const { owner, demand, begin, perSecond } = waiting;
        const key = cacheKey(owner, share);
        if ((demand() === 'client') !== (share === 1) || refused.has(key)) continue;
        const due = await this.#take({ owner, perSecond, share, at });
        next = Math.min(next, due);
        if (due > at) {
          refused.add(key);
        } else {
          this.#waiting.delete(waiting);
          begin();
        }
      }
    }
    if (this.#waiting.size > 0) this.#cancel = this.#clock.wake(Math.max(1, next - at), () => void this.#admitDue());
  }

  /** Counts a request if the limits allow it now; returns the instant when they do. */
  async #take({ owner, perSecond, share, at }: RequestToTake): Promise<number> {
    const perMinute = Math.max(1, Math.floor(this.#limits.perMinute * share));
    const due = await takeProviderRequest(this.#usage, { owner, at, perMinute, perSecond });
    if (due !== undefined) this.#answered = at;
    else if (at - this.#answered < MAX_BUSY) return at + BUSY_PAUSE;
    // Recorded for the limits without the database.
    this.#sent = this.#sent.filter((request) => request.at > at - MINUTE);
    const allowed = due ?? this.#dueAlone({ owner, perMinute, perSecond, at });
    if (allowed <= at) this.#sent.push({ owner, at });
    return allowed;
  }

  #dueAlone({ owner, perMinute, perSecond, at }: ProviderRequest): number {
    const inAll = this.#sent.at(-perMinute);
    const ofOwner = this.#sent.filter((request) => request.owner === owner).at(-perSecond);
    return Math.max(inAll === undefined ? at : inAll.at + MINUTE, ofOwner === undefined ? at : ofOwner.at + SECOND);
  }
}
