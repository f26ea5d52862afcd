import { AsyncLocalStorage } from 'node:async_hooks';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import tap, { type Test } from 'tap';
import { buildApp, type Dependencies } from '../server/app.ts';
import type { OpenCatalog } from '../server/catalog/catalog.ts';
import { openCatalog } from '../server/catalog/open-catalog.ts';
import { Engine } from '../server/facts/duckdb/engine.ts';
import { loadSnapshot } from '../server/load/load.ts';
import type { ServerMetrics, ServerMetricsOptions } from '../server/metrics/server-metrics.ts';
import { createKey } from '../server/operations/keys.ts';
import { readSettings, type Settings } from '../server/settings/settings.ts';
import { isLocal, makeStores } from './stores.ts';

export type Row = Readonly<Record<string, unknown>>;
/** Rows of a snapshot by table. */
export type Tables = Readonly<Record<string, readonly Row[]>>;

/** The day and time of tests. */
export const NOW = Date.parse('2026-03-15T12:00:00Z');

export const WORKSPACE: Row = { id: 'acme', name: 'Acme', plan: 'team', keyword_history_days: 486 };

/** A project whose data is synced to 2026-03-10 and final to 2026-03-07. */
export const PROJECT: Row = {
  id: 'Proj1',
  workspace_id: 'acme',
  domain: 'shop.example',
  property: 'sc-domain:shop.example',
  brand_terms: ['acme'],
  last_synced_at: '2026-03-11T04:05:06.789Z',
  synced_through: '2026-03-10',
  provisional_after: '2026-03-07',
  created_at: '2025-01-02T03:04:05Z',
};

/** A keyword of the project, tracked since the start of 2025. */
export function keyword(id: string, query: string, more: Row = {}): Row {
  return { project_id: 'Proj1', id, query, tracked_since: '2025-01-05T00:00:00Z', ...more };
}

/** Rows of facts: `clicks impressions sum_position` behind the key columns. */
export function facts(columns: string, ...rows: readonly (readonly unknown[])[]): Row[] {
  const names = ['project_id', ...columns.split(' '), 'clicks', 'impressions', 'sum_position'];
  return rows.map((values) => Object.fromEntries(['Proj1', ...values].map((value, index) => [names[index]!, value])));
}

/** The same rows for another project. */
export function ofProject(id: string, rows: readonly Row[]): Row[] {
  return rows.map((row) => ({ ...row, project_id: id }));
}

/** A folder that is removed when the test ends. */
export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'ordinate-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a snapshot of ndjson files; returns its folder. */
export function writeSnapshot(t: Test, tables: Tables): string {
  const folder = temporaryFolder(t);
  for (const [table, rows] of Object.entries(tables)) {
    writeFileSync(join(folder, `${table}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
  return folder;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: answers are compared as a whole or picked from
  readonly body: any;
}

/** A world whose server is built at its first request. */
export interface LazyWorld {
  /** The server. */
  readonly served: () => Promise<FastifyInstance>;
  readonly catalog: OpenCatalog;
  readonly settings: Settings;
  readonly dataFolder: string;
  /** A key of the workspace `acme`. */
  readonly key: string;
  /** Lines of the server's log. */
  readonly log: string[];
  /** Sends a request to the API, with the world's key unless other headers are given. `path` is below the API's root. */
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  /** Sends a request about the project `Proj1`. */
  readonly ask: (path: string) => Promise<Answer>;
  /** The text of the metrics, in worlds that are `measured`. */
  readonly scrape: () => Promise<string>;
  /** Loads more rows. */
  readonly load: (
    tables: Tables,
    options?: { replace?: boolean; confirmDelete?: string[]; source?: string },
  ) => ReturnType<typeof loadSnapshot>;
}

export interface World extends LazyWorld {
  readonly app: FastifyInstance;
}

/** For a few rows, more threads of DuckDB are only waited for. */
export const ONE_THREAD: Readonly<NodeJS.ProcessEnv> = { ORDINATE_THREADS: '1' };

/** The program of a statement's process, which a run of all tests compiles once (scripts/test-program.ts). */
const { TEST_CAGE } = process.env;
const STATEMENTS = TEST_CAGE === undefined ? {} : { program: TEST_CAGE };

/** Engines of this process, by their settings. */
const engines = new Map<string, Promise<Engine>>();
const openEngine = Engine.open.bind(Engine);

/**
 * The engine of all worlds, loads and, but for the first of a kind, commands of this process: opening one takes longer than
 * most requests of tests. It may read every temporary folder; processes have engines of their own, with their own folders only.
 */
export function sharedEngine({ memoryLimit, threads }: Pick<Settings, 'memoryLimit' | 'threads'>): Promise<Engine> {
  const what = JSON.stringify({ memoryLimit, threads });
  const engine = engines.get(what) ?? openShared({ memoryLimit, threads });
  engines.set(what, engine);
  return engine;
}

/** Whoever is lent it does not close it. */
async function openShared(limits: Pick<Settings, 'memoryLimit' | 'threads'>): Promise<Engine> {
  const engine = await openEngine({ ...limits, temporaryFolder: temporaryFolder(tap), folders: [tmpdir()] });
  const close = engine.close.bind(engine);
  tap.teardown(close);
  return Object.assign(engine, { close: async () => {} });
}

const isLent = new AsyncLocalStorage<true>();
Engine.open = (options) => (isLent.getStore() ? sharedEngine(options) : openEngine(options));

/** Kinds of work that had engines of their own, and so showed what they read and write. */
const kinds = new Set<string>();

/** Lends the shared engine to work that opens one, unless it is the first of its kind. */
export function lendEngine<T>(kind: string, work: () => T): T {
  if (kinds.has(kind)) return isLent.run(true, work);
  kinds.add(kind);
  return work();
}

/** Data folders as loads of this process left them, by what was loaded. */
const loaded = new Map<string, Promise<string>>();

/** A catalog without rows: its schema takes longer to make than some rows to load. */
let emptyCatalog: Promise<string> | undefined;

async function makeEmptyCatalog(): Promise<string> {
  const dataFolder = temporaryFolder(tap);
  await (await openCatalog(readSettings({ ORDINATE_DATA: dataFolder }))).close();
  return dataFolder;
}

/** Puts an empty catalog into a data folder. */
export async function addEmptyCatalog(dataFolder: string): Promise<void> {
  emptyCatalog ??= makeEmptyCatalog();
  cpSync(await emptyCatalog, dataFolder, { recursive: true });
}

async function loadOnce(settings: Settings, tables: Tables, now: () => number): Promise<string> {
  // It must outlive the first test that needs it.
  const dataFolder = temporaryFolder(tap);
  await addEmptyCatalog(dataFolder);
  await loadTables(tap, { ...settings, dataFolder }, tables, now);
  return dataFolder;
}

/** Loads rows with a catalog of its own: only a closed one is whole in its one file. */
async function loadTables(t: Test, settings: Settings, tables: Tables, now: () => number): Promise<void> {
  await using catalog = await openCatalog(settings);
  const folder = writeSnapshot(t, tables);
  // Tests choose numbers that are easy to add up, not plausible ones.
  const how = { folder, acceptImplausible: true, engine: () => sharedEngine(settings) };
  await loadSnapshot({ settings, catalog, now }, how);
}

/** Fills a data folder with the real loader, or copies the result of an earlier load of the same rows. */
async function fill(t: Test, settings: Settings, tables: Tables, now: () => number): Promise<void> {
  if (!isLocal) return loadTables(t, settings, tables, now);
  const what = JSON.stringify([settings.storage, tables]);
  const outcome = loaded.get(what) ?? loadOnce(settings, tables, now);
  loaded.set(what, outcome);
  cpSync(await outcome, settings.dataFolder, { recursive: true });
}

/** Not loaded by other worlds, as by a server without metrics. */
async function openMetrics(options: ServerMetricsOptions): Promise<ServerMetrics> {
  const { ServerMetrics } = await import('../server/metrics/server-metrics.ts');
  return new ServerMetrics(options);
}

type WorldOptions = Pick<Dependencies, 'limits' | 'statements'> & {
  now?: number | (() => number);
  environment?: NodeJS.ProcessEnv;
  measured?: boolean;
  /** In place of a temporary one. */
  folder?: string | undefined;
};

/** A server with the rows of `tables`; `WORKSPACE` and `PROJECT` are the defaults for their tables. */
export async function makeWorld(t: Test, tables: Tables = {}, options: WorldOptions = {}): Promise<World> {
  const world = await makeLazyWorld(t, tables, options);
  return { ...world, app: await world.served() };
}

/** Like `makeWorld`, for tests that may ask the server nothing: building one takes as long as loading a few rows. */
export async function makeLazyWorld(t: Test, tables: Tables = {}, options: WorldOptions = {}): Promise<LazyWorld> {
  const { now = NOW, environment, measured = false, statements, folder = temporaryFolder(t), ...appOptions } = options;
  const dataFolder = join(folder, 'data');
  mkdirSync(dataFolder);
  const settings = readSettings({
    ORDINATE_LOG_LEVEL: 'info',
    ...ONE_THREAD,
    ...environment,
    ...(await makeStores(t, dataFolder)),
    ORDINATE_DATA: dataFolder,
  });
  const clock = typeof now === 'number' ? () => now : now;
  // Rows of a world of later days are not of the future.
  const loadedAt = (): number => Math.max(Date.now(), clock());
  await fill(t, settings, { workspaces: [WORKSPACE], projects: [PROJECT], ...tables }, loadedAt);
  const opened = new AsyncDisposableStack();
  t.teardown(() => opened.disposeAsync());
  const catalog = opened.adopt(await openCatalog(settings), (it) => it.close());
  // The server has its temporary files there, and looks whether it can write to it.
  mkdirSync(join(dataFolder, 'temporary'));
  const engine = await sharedEngine(settings);
  const load: World['load'] = (more, how = {}) => {
    const folder = writeSnapshot(t, more);
    return loadSnapshot(
      { settings, catalog, now: loadedAt },
      { folder, acceptImplausible: true, engine: async () => engine, ...how },
    );
  };
  const log: string[] = [];
  const logStream = { write: (line: string) => void log.push(line) };
  const metrics = measured ? await openMetrics({ settings, catalog, now: clock }) : undefined;
  opened.defer(async () => metrics?.close());
  let building: Promise<FastifyInstance> | undefined;
  const served = (): Promise<FastifyInstance> => {
    const parts = { settings, catalog, engine, logStream, now: clock, metrics };
    building ??= buildApp({ ...parts, ...appOptions, statements: { ...STATEMENTS, ...statements } });
    return building;
  };
  opened.defer(async () => (await building)?.close());
  const { key } = await createKey(catalog, { workspace: 'acme', name: 'test', at: 0 });
  const get: World['get'] = async (path, headers = { authorization: `Bearer ${key}` }) => {
    const response = await (await served()).inject({ method: 'GET', url: `/api/v1${path}`, headers });
    return { status: response.statusCode, headers: response.headers, body: JSON.parse(response.body) as unknown };
  };
  return {
    served,
    catalog,
    settings,
    dataFolder,
    key,
    log,
    get,
    scrape: () => metrics!.text(),
    ask: (path) => get(`/projects/Proj1${path}`),
    load,
  };
}
