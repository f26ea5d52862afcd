import { Counter, Gauge, type Registry } from 'prom-client';

/** The slots of a concurrency limit. */
interface SlotsState {
  readonly limit: number;
  readonly used: number;
  readonly waiting: number;
}

interface CacheState {
  readonly entries: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

/** The state of a server that metrics show. Reading it is cheap. */
export interface ServerState {
  /** Concurrency limits by purpose. */
  readonly places: Readonly<Record<string, () => SlotsState>>;
  readonly caches: Readonly<Record<string, () => CacheState>>;
  /** Requests that wait for the rate limits of providers, and slow work that waits for a slot. */
  readonly provider: () => { readonly slow: number; readonly waitingForRate: number };
  /** Bytes of the query engine in memory, and on disk. */
  readonly engineMemory: () => Promise<{ readonly memory: number; readonly spilled: number }>;
  /** The states of components, by name. */
  readonly components: () => Readonly<Record<string, 'ok' | 'away' | 'damaged' | 'unknown'>>;
  /** Whether Redis is unavailable, and how many requests were counted in memory instead. */
  readonly limits: () => { readonly isAway: boolean; readonly inMemory: number };
}

/** Adds gauges and counters that read the state of a server when they are collected. */
export function watchState(
  registry: Registry,
  { places, caches, provider, engineMemory, components, limits }: ServerState,
): void {
  const registers = [registry];
  const gauge = (name: string, help: string, collect: (this: Gauge) => void | Promise<void>, ...labelNames: string[]) =>
    new Gauge({ name: `ordinate_${name}`, help, labelNames, registers, collect });
  for (const [of, help] of Object.entries(PLACES)) {
    const name = of === 'waiting' ? 'places_waiting' : of === 'used' ? 'places_used' : 'places';
    gauge(
      name,
      help,
      function collect() {
        for (const [gate, state] of Object.entries(places)) this.set({ gate }, state()[of as keyof SlotsState]);
      },
      'gate',
    );
  }
  for (const [of, help] of Object.entries({ entries: 'Entries of a cache.', bytes: 'Bytes in a cache.' })) {
    gauge(
      `cache_${of}`,
      help,
      function collect() {
        for (const [cache, state] of Object.entries(caches)) this.set({ cache }, state()[of as keyof CacheState]);
      },
      'cache',
    );
  }
  for (const [of, help] of Object.entries({ hits: 'Cache hits.', misses: 'Cache misses.' })) {
    new Counter({
      name: `ordinate_cache_${of}_total`,
      help,
      labelNames: ['cache'],
      registers,
      collect() {
        this.reset();
        for (const [cache, state] of Object.entries(caches)) this.inc({ cache }, state()[of as keyof CacheState]);
      },
    });
  }
  gauge('provider_slow_runs', 'Slow runs with a provider that gave their place to others.', function collect() {
    this.set(provider().slow);
  });
  gauge('provider_requests_waiting', 'Requests that wait for the rate limits of providers.', function collect() {
    this.set(provider().waitingForRate);
  });
  gauge(
    'component_up',
    'Whether a component that /readyz names works: 1 or 0. Left out while it cannot be checked.',
    function collect() {
      this.reset();
      for (const [component, state] of Object.entries(components())) {
        if (state !== 'unknown') this.set({ component }, state === 'ok' ? 1 : 0);
      }
    },
    'component',
  );
  gauge(
    'limits_redis_away',
    'Whether limits are counted in memory, because Redis does not count: 1 or 0.',
    function collect() {
      this.set(limits().isAway ? 1 : 0);
    },
  );
  new Counter({
    name: 'ordinate_limits_in_memory_total',
    help: 'Requests counted in memory, because Redis was unavailable.',
    registers,
    collect() {
      this.reset();
      this.inc(limits().inMemory);
    },
  });
  gauge(
    'duckdb_bytes',
    'Memory of DuckDB in the server, and what it has spilled to disk.',
    async function collect() {
      const { memory, spilled } = await engineMemory();
      this.set({ where: 'memory' }, memory);
      this.set({ where: 'disk' }, spilled);
    },
    'where',
  );
}

const PLACES = {
  limit: 'Places: how much work of a kind may run at once.',
  used: 'Places in use.',
  waiting: 'Work that waits for a place.',
};
