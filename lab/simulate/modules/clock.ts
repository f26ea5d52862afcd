import type { Host } from '../host.ts';
import type { Event } from '../simulation.ts';

/** A timer as Node's, on the simulated clock. */
class Timer {
  readonly #start: () => Event;
  #event: Event;

  constructor(start: () => Event) {
    this.#start = start;
    this.#event = start();
  }

  readonly ref = (): this => this;
  readonly unref = (): this => this;
  readonly hasRef = (): boolean => true;

  refresh(): this {
    this.close();
    this.#event = this.#start();
    return this;
  }

  close(): void {
    this.#event.isCancelled = true;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

type Callback = (...given: unknown[]) => void;

/** The clock and timers of a process, which are global names and modules of Node. */
export function clockOf(process: Host) {
  const { simulation } = process;
  const start = (delay: number, label: string, run: () => void) =>
    new Timer(() => simulation.schedule(process, delay, label, run));
  const setTimeout = (run: Callback, delay = 0, ...given: unknown[]): Timer =>
    start(Math.max(1, delay), 'timer', () => run(...given));
  const setImmediate = (run: Callback, ...given: unknown[]): Timer => start(0, 'immediate', () => run(...given));
  const setInterval = (run: Callback, delay = 0, ...given: unknown[]): Timer => {
    const timer: Timer = start(Math.max(1, delay), 'interval', () => {
      run(...given);
      timer.refresh();
    });
    return timer;
  };
  const clear = (timer: unknown): void => {
    if (timer instanceof Timer) timer.close();
  };
  const wait = (make: (run: () => void) => Timer, value: unknown, signal?: AbortSignal): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        timer.close();
        const error = new Error('The operation was aborted', { cause: signal?.reason });
        reject(Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' }));
      };
      const timer = make(() => {
        signal?.removeEventListener('abort', stop);
        resolve(value);
      });
      if (signal?.aborted === true) stop();
      else signal?.addEventListener('abort', stop, { once: true });
    });
  class SimulatedDate extends Date {
    constructor(...given: [] | [number | string]) {
      if (given.length === 0) super(simulation.now);
      else super(...(given as [number]));
    }

    static override now(): number {
      return Math.floor(simulation.now);
    }
  }
  const timeout = (delay: number): AbortSignal => {
    const controller = new AbortController();
    setTimeout(
      () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      delay,
    );
    return controller.signal;
  };
  const random = simulation.random.fork(`random of ${process.name}`);
  return {
    globals: {
      setTimeout,
      setInterval,
      setImmediate,
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
      Date: SimulatedDate,
      Math: Object.create(Math, { random: { value: () => random.next() } }) as Math,
      performance: Object.create(performance, {
        now: { value: () => simulation.now },
        timeOrigin: { value: 0 },
      }) as Performance,
      AbortSignal: new Proxy(AbortSignal, {
        get: (of, name) => (name === 'timeout' ? timeout : (Reflect.get(of, name) as unknown)),
      }),
    },
    promises: {
      setTimeout: (delay = 0, value?: unknown, options: { signal?: AbortSignal } = {}) =>
        wait((run) => setTimeout(run, delay), value, options.signal),
      setImmediate: (value?: unknown, options: { signal?: AbortSignal } = {}) =>
        wait((run) => setImmediate(run), value, options.signal),
    },
  };
}
