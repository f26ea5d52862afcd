import { performance } from 'node:perf_hooks';
import { returnMemory } from './external-memory.ts';

/** How often to look, in milliseconds. */
const LOOK_EVERY = 10_000;
/** A process is idle while its event loop works for a smaller share of the time. */
const IDLE = 0.02;
/** Looks between two collections, ten minutes: a request that arrives meanwhile waits. */
const LOOKS_BETWEEN = 60;

/**
 * Returns memory to the system when a process has become idle: V8 keeps what it once took for young objects, after the start
 * more than 30 MB, until a collection under want of memory.
 */
export class IdleMemory {
  readonly #collect: () => void;
  #hasWorked = true;
  #looks = LOOKS_BETWEEN;

  constructor(collect = returnMemory) {
    this.#collect = collect;
  }

  /** @param utilization of the event loop since the last look, from 0 to 1. Returns whether memory was returned. */
  look(utilization: number): boolean {
    this.#looks++;
    if (utilization >= IDLE) this.#hasWorked = true;
    else if (this.#hasWorked && this.#looks > LOOKS_BETWEEN) {
      this.#collect();
      this.#hasWorked = false;
      this.#looks = 0;
      return true;
    }
    return false;
  }
}

/** Looks at this process from now on. Returns a function that ends it. */
export function watchIdleMemory(): () => void {
  const memory = new IdleMemory();
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before);
    memory.look(utilization);
    // The collection itself is no work.
    before = performance.eventLoopUtilization();
  }, LOOK_EVERY).unref();
  return () => clearInterval(timer);
}
