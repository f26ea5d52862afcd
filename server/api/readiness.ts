import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Catalog, OpenCatalog } from '../catalog/catalog.ts';
import { findSmallFactFile } from '../catalog/fact-files.ts';
import { checkSecretsKey } from '../catalog/secrets.ts';
import { WrongStore } from '../catalog/store.ts';
import { KnownError } from '../domain/errors.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { KeyFile } from '../runtime/secrets.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import type { FileStore } from '../storage/file-store.ts';
import { findShortage } from '../storage/free-space.ts';

/** The parts of the service that are checked. */
export interface Parts {
  readonly catalog: OpenCatalog;
  readonly engine: Engine;
  readonly files: FileStore;
  readonly dataFolder: string;
  /** Bytes that must be free on the disk of the data folder. */
  readonly minFree: number;
  readonly keyFile: KeyFile;
  /** Undefined if limits are not counted in Redis. */
  readonly redis?: { readonly state: { readonly isAway: boolean } } | undefined;
  /** Undefined without Trino. */
  readonly trino?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
}

/** `unknown`: it cannot be checked while another component is away. `damaged`: it answers with wrong content. */
type State = 'ok' | 'away' | 'damaged' | 'unknown';

/** Components by name. */
export type Components = Readonly<Record<string, State>>;

export interface Condition {
  /** `degraded`: what needs a component that is not `ok` is refused; the rest is answered. */
  readonly status: 'ok' | 'degraded';
  readonly components: Components;
  /** What is wrong, for operators; without addresses. */
  readonly problems: readonly string[];
}

interface Check {
  readonly name: string;
  /** Said if it fails for an unknown reason. */
  readonly problem: string;
  /** Without it nothing can be answered, or other nodes answer what this one cannot. */
  readonly isNeeded?: boolean;
  /** It reads the catalog first, so it waits for its check, and is unknown without it. */
  readonly isAfterCatalog?: boolean;
  readonly work: (signal: AbortSignal) => unknown;
}

interface Found {
  readonly state: State;
  readonly problem?: string;
  readonly cause?: unknown;
  /** The node is set up in another way than others. */
  readonly isMistaken?: boolean;
}

/** Max wait for a needed component, in milliseconds. */
const NEEDED_TIMEOUT = 10_000;
/** Max wait for another component, in milliseconds: balancers take a node out that does not answer their checks. */
const OTHER_TIMEOUT = 2000;
/** Max age of states for metrics before they are checked again, in milliseconds. */
const FRESH = 15_000;

/** Checks the components of the service. See docs/decisions/readiness.md. */
export class Health {
  readonly #parts: Parts;
  /** Checks that have not ended, so that a component that hangs is asked once. */
  readonly #running = new Map<string, Promise<Found>>();
  #last: { readonly components: Components; readonly at: number } | undefined;
  #isRefreshing = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Checks all components. Throws `unavailable` with the first problem if the node is not ready. */
  async check(): Promise<Condition> {
    const { redis, now } = this.#parts;
    const checks = this.#checks();
    const found = new Map(
      await Promise.all(checks.map(async (check) => [check.name, await this.#find(check)] as const)),
    );
    if (redis !== undefined)
      found.set('redis', redis.state.isAway ? { state: 'away', problem: REDIS } : { state: 'ok' });
    const components = Object.fromEntries([...found].map(([name, { state }]) => [name, state]));
    this.#report(components, found);
    this.#last = { components, at: now() };
    const failed = checks.find(
      ({ name, isNeeded }) => (isNeeded && found.get(name)!.state !== 'ok') || found.get(name)!.isMistaken,
    );
    if (failed !== undefined) {
      const { problem, cause } = found.get(failed.name)!;
      throw new KnownError('unavailable', `The service is not ready: ${problem}.`, {
        retryAfter: 60,
        reason: 'not-ready',
        cause,
        details: { components },
      });
    }
    const problems = [...found.values()].flatMap(({ problem }) => problem ?? []);
    return { status: problems.length > 0 ? 'degraded' : 'ok', components, problems };
  }

  /**
   * The components as they were found last, without waiting for any; undefined before the first check has ended. Begins a
   * check if that was a while ago.
   */
  get last(): Components | undefined {
    if (!this.#isRefreshing && this.#parts.now() - (this.#last?.at ?? Number.NEGATIVE_INFINITY) > FRESH) {
      this.#isRefreshing = true;
      void this.check()
        .catch(() => {})
        .finally(() => {
          this.#isRefreshing = false;
        });
    }
    return this.#last?.components;
  }

  /** In the order in which their problems are named. */
  #checks(): Check[] {
    const { catalog, engine, files, dataFolder, minFree, keyFile, trino } = this.#parts;
    return [
      this.#catalogCheck,
      {
        name: 'secretsKey',
        problem: 'its file of keys (ORDINATE_SECRETS_KEY_FILE) cannot be used',
        isNeeded: true,
        isAfterCatalog: true,
        work: () => checkSecretsKey(catalog, keyFile),
      },
      {
        name: 'engine',
        problem: 'its query engine does not answer',
        work: (signal) => engine.query('facts/ping', {}, signal),
      },
      { name: 'dataFolder', problem: 'its data folder cannot be written', work: () => tryWriting(dataFolder) },
      {
        name: 'files',
        problem: 'its fact files cannot be opened',
        isAfterCatalog: true,
        work: () => readFacts(catalog, files),
      },
      {
        name: 'disk',
        problem: 'the free space of its disk is not known',
        work: async () => {
          const shortage = await findShortage(dataFolder, minFree);
          if (shortage !== undefined) throw new Problem(shortage);
        },
      },
      ...(trino === undefined ? [] : [{ name: 'trino', problem: 'Trino does not answer', work: trino }]),
    ];
  }

  get #catalogCheck(): Check {
    const { catalog } = this.#parts;
    return {
      name: 'catalog',
      problem: 'its catalog does not answer',
      isNeeded: true,
      work: async () => {
        // First, because it has the shorter timeout.
        await catalog.version();
        await catalog.check();
      },
    };
  }

  async #find(check: Check): Promise<Found> {
    const { name, isNeeded = false, isAfterCatalog = false } = check;
    // Before its own time begins: the catalog has more of it.
    if (isAfterCatalog && (await this.#find(this.#catalogCheck)).state !== 'ok') return { state: 'unknown' };
    let running = this.#running.get(name);
    if (running === undefined) {
      running = run(check).finally(() => this.#running.delete(name));
      this.#running.set(name, running);
    }
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), isNeeded ? NEEDED_TIMEOUT : OTHER_TIMEOUT);
    const ended = Promise.withResolvers<Found>();
    const cause = new Error(`The component '${name}' did not answer in time.`);
    late.signal.addEventListener('abort', () => ended.resolve({ state: 'away', problem: check.problem, cause }));
    try {
      return await Promise.race([running, ended.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Logs components whose state has changed. */
  #report(components: Components, found: ReadonlyMap<string, Found>): void {
    const { log } = this.#parts;
    for (const [component, state] of Object.entries(components)) {
      const before = this.#last?.components[component] ?? 'ok';
      if (state === before || state === 'unknown') continue;
      if (state === 'ok') log.info({ component }, 'a component works again');
      else log.warn({ component, state, err: found.get(component)?.cause }, 'a component does not work');
    }
  }
}

const REDIS = 'Redis does not count requests';
const WRONG_STORE = 'its store of files (ORDINATE_STORAGE) is not the one of its catalog';

/** A failure with a message for clients. */
class Problem extends Error {}

async function run({ problem, work }: Check): Promise<Found> {
  try {
    await work(AbortSignal.timeout(NEEDED_TIMEOUT));
    return { state: 'ok' };
  } catch (cause) {
    if (cause instanceof WrongStore) return { state: 'away', problem: WRONG_STORE, cause, isMistaken: true };
    if (cause instanceof DamagedFile) return { state: 'damaged', problem: 'its fact files are damaged', cause };
    return { state: 'away', problem: describeProblem(cause) ?? problem, cause };
  }
}

/** A message for known failures; undefined for others. */
function describeProblem(cause: unknown): string | undefined {
  if (cause instanceof Problem) return cause.message;
  if (!(cause instanceof KnownError)) return undefined;
  if (cause.reason === 'newer-version') return 'its data is used by a newer version of the service';
  return cause.reason === 'catalog-lost' ? 'it has lost its catalog' : undefined;
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

/** Reads a small file of the manifest and compares it: a lost volume, lost permissions or a store that cuts affect all. */
async function readFacts(catalog: Catalog, files: FileStore): Promise<void> {
  const stored = await findSmallFactFile(catalog);
  if (stored === undefined) return;
  const { file } = stored;
  await files.reach(file);
  const damage = await files.damageOf(stored, { deep: true });
  if (damage !== undefined) throw new DamagedFile(files.addressOf(file), file, damage);
}
