import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Catalog, OpenCatalog } from '../catalog/catalog.ts';
import { findAnyFactFile } from '../catalog/fact-files.ts';
import { KnownError } from '../domain/errors.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { FileStore } from '../storage/file-store.ts';
import { findShortage } from '../storage/free-space.ts';

/** What the service needs to be ready, and other components. */
export interface Readiness {
  readonly catalog: OpenCatalog;
  readonly engine: Engine;
  readonly files: FileStore;
  readonly dataFolder: string;
  /** Bytes that must be free on the disk of the data folder. */
  readonly minFree: number;
  /** Undefined if limits are not counted in Redis. */
  readonly redis?: { readonly state: { readonly isAway: boolean } } | undefined;
  /** Undefined without Trino. */
  readonly trino?:
    | {
        readonly check: (signal: AbortSignal) => Promise<void>;
        /** Whether no other engine can run its queries. */
        readonly isNeeded: boolean;
      }
    | undefined;
}

/** `unknown`: it cannot be checked while another component is away. */
type State = 'ok' | 'away' | 'unknown';

/** Components by name. The service is ready without Redis, and without Trino if another engine can replace it. */
export type Components = Readonly<Record<string, State>>;

/** How long a component may take to answer, in milliseconds. */
const TIMEOUT = 10_000;

/** Checks all components. Throws `unavailable` with the first problem if the service cannot answer or write. */
export async function checkReadiness(
  { catalog, engine, files, dataFolder, minFree, redis, trino }: Readiness,
  client: AbortSignal,
): Promise<Components> {
  const signal = AbortSignal.any([client, AbortSignal.timeout(TIMEOUT)]);
  const checks = new Checks(signal);
  const catalogAnswers = checks.need('catalog', 'its catalog does not answer', async () => {
    // First, because it has the shorter timeout.
    await catalog.version();
    await catalog.check();
  });
  await Promise.all([
    catalogAnswers,
    // First, because it recreates the folder of temporary files if it was removed.
    checks.need('engine', 'its query engine does not answer', () => engine.query('facts/ping', {}, signal)),
    checks.need('dataFolder', 'its data folder cannot be written', () => tryWriting(dataFolder)),
    catalogAnswers.then((isThere) =>
      isThere
        ? checks.need('files', 'its fact files cannot be opened', () => openFacts(catalog, files))
        : checks.skip('files'),
    ),
    checks.need('disk', 'the free space of its disk is not known', async () => {
      const shortage = await findShortage(dataFolder, minFree);
      if (shortage !== undefined) throw new Shortage(shortage);
    }),
    trino && checks.ask('trino', 'Trino does not answer', trino),
  ]);
  if (redis !== undefined) checks.components['redis'] = redis.state.isAway ? 'away' : 'ok';
  return checks.end();
}

/** Too little free space; the message is for clients. */
class Shortage extends Error {}

/** A message for known failures; undefined for others. */
function describeProblem(cause: unknown): string | undefined {
  if (cause instanceof Shortage) return cause.message;
  if (!(cause instanceof KnownError)) return undefined;
  if (cause.reason === 'newer-version') return 'its data is used by a newer version of the service';
  return cause.reason === 'catalog-lost' ? 'it has lost its catalog' : undefined;
}

/** The components in the order in which their problems are named. */
const ORDER = ['catalog', 'engine', 'dataFolder', 'files', 'disk', 'trino'];

class Checks {
  readonly components: Record<string, State> = {};
  readonly #problems = new Map<string, { readonly problem: string; readonly cause: unknown }>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Checks a component that the service needs to be ready; false if it is away. */
  need(name: string, problem: string, work: () => unknown): Promise<boolean> {
    return this.ask(name, problem, { check: async () => void (await work()), isNeeded: true });
  }

  async ask(name: string, problem: string, { check, isNeeded }: NonNullable<Readiness['trino']>): Promise<boolean> {
    // In the order of the checks, not of their results.
    this.components[name] = 'unknown';
    try {
      await within(check(this.#signal), this.#signal);
      this.components[name] = 'ok';
      return true;
    } catch (cause) {
      this.components[name] = 'away';
      if (isNeeded) this.#problems.set(name, { problem: describeProblem(cause) ?? problem, cause });
      return false;
    }
  }

  skip(name: string): false {
    this.components[name] = 'unknown';
    return false;
  }

  end(): Components {
    const first = ORDER.find((name) => this.#problems.has(name));
    if (first === undefined) return this.components;
    const { problem, cause } = this.#problems.get(first)!;
    throw new KnownError('unavailable', `The service is not ready: ${problem}.`, {
      retryAfter: 60,
      reason: 'not-ready',
      cause,
      details: { components: this.components },
    });
  }
}

/** Rejects when the signal is aborted. */
async function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const fail = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', fail, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, late]);
  } finally {
    signal.removeEventListener('abort', fail);
  }
}

/** Writes to the folder of temporary files: DuckDB spills data there. */
async function tryWriting(dataFolder: string): Promise<void> {
  const file = join(dataFolder, 'temporary', `writable-${process.pid}`);
  try {
    // A full disk still takes an empty file.
    await writeFile(file, 'ready');
  } finally {
    await rm(file, { force: true });
  }
}

/** Opens any one file of the manifest: a lost volume or lost permissions affect all of them. */
async function openFacts(catalog: Catalog, files: FileStore): Promise<void> {
  const name = await findAnyFactFile(catalog);
  if (name !== undefined) await files.reach(name);
}
