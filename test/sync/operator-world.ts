import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import tap, { type Test } from 'tap';
import { makeQueries } from '../../cli/demo/provider/made-queries.ts';
import { MadeSearches, type MadeSearchesOptions } from '../../cli/demo/provider/made-searches.ts';
import { type OracleProject, oracle, type SyncedTable } from '../../cli/demo/provider/oracle.ts';
import type { Day } from '../../server/domain/dates.ts';
import { command } from '../command.ts';
import { restoreClock, setClock } from '../fakes/fake-clock.ts';
import { type FakeProvider, fakeProvider } from '../fakes/provider.ts';
import { serveHere } from '../fakes/second-server.ts';
import { duckdb, quoted } from '../parquet.ts';
import { type Row, temporaryFolder } from '../world.ts';

/** Noon in California on 2026-03-15, summer time: 2026-03-12 is the newest final day. */
export const NOW = Date.parse('2026-03-15T19:00:00Z');
export const HOUR = 3_600_000;
export const PROPERTY = 'sc-domain:shop.example';
export const BRAND_TERMS = ['acme', 'A.C'];
/** Tracked from the beginning; letters that an expression must not take for its own, and one that nobody searches for. */
const ODD = 'c++ (2.5") | a\\b';
const TRACKED = ['Waterproof Boots', ODD, 'light boots', 'acme warm boots', 'never searched for'];
/** The first day of the world. */
const SINCE = '2026-02-18';
export const ORIGIN = 'https://shop.example/';

export { restoreClock, setClock };

/** Sends the requests of tests without the pauses that are polite to a real provider. */
const QUICK = {
  ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
  ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '100000',
  ORDINATE_LISTS_WAIT_SECONDS: '2',
  ORDINATE_THREADS: '1',
};

/** What was searched for in the world of the tests; the same for all of them. */
export function makeSearches(more: Partial<MadeSearchesOptions> = {}): MadeSearches {
  const made = makeQueries({ seed: 7, count: 24, origin: ORIGIN, brand: 'acme', volume: 60 });
  const odd = { text: ODD, page: `${ORIGIN}c++`, volume: 9, position: 3, countries: [['usa', 1]] as const };
  const abc = { ...odd, text: 'a.c shoes', page: `${ORIGIN}shoes` };
  const axc = { ...odd, text: 'abc shoes', page: `${ORIGIN}shoes` };
  return new MadeSearches({
    seed: 7,
    queries: [...made, odd, abc, axc],
    since: SINCE,
    silent: ['2026-02-24', '2026-03-02'],
    ...more,
  });
}

export type OperatorWorld = ReturnType<typeof openWorld>;

/** The folder of a world that another one made, and how it is named there. */
interface Made {
  readonly dataFolder: string;
  readonly project: string;
  readonly key: string;
}

/** Worlds that were synced in this process, by their options: others begin with a copy. */
const synced = new Map<string, Promise<Made>>();
let provider: Promise<FakeProvider> | undefined;

interface WorldOptions {
  /** Options of `projects create`. */
  readonly create?: readonly string[];
  readonly settings?: NodeJS.ProcessEnv;
  readonly searches?: MadeSearches;
  readonly tracked?: readonly string[];
  /** The oldest day that is wanted, so that a test need not wait for 16 months; null for all of them. */
  readonly from?: Day | null;
  /** In place of a temporary folder. */
  readonly dataFolder?: string;
}

/** A data folder with a connected project that has never been synced. */
export async function newWorld(
  t: Test,
  {
    create = [],
    settings = {},
    searches,
    from = '2026-02-16',
    tracked = TRACKED,
    dataFolder = join(temporaryFolder(t), 'data'),
  }: WorldOptions = {},
): Promise<OperatorWorld> {
  const opened = await openProvider(t, searches);
  const environment = { ...QUICK, ...settings, ORDINATE_DATA: dataFolder };
  const done = (...words: readonly string[]): Promise<string> => mustSucceed(environment, words);
  await done('workspaces', 'create', '--id', 'acme', '--name', 'Acme', '--plan', 'team');
  const printed = await done('keys', 'create', '--workspace', 'acme', '--name', 'tests', '--json');
  const { key } = JSON.parse(printed) as { key: string };
  const terms = BRAND_TERMS.flatMap((term) => ['--brand-term', term]);
  const made = await done(
    'projects',
    'create',
    ...connection(opened),
    ...terms,
    '--archive',
    'none',
    '--json',
    ...create,
  );
  const { id: project } = (JSON.parse(made) as { project: { id: string } }).project;
  const queries = tracked.flatMap((query) => ['--query', query]);
  if (queries.length > 0) await done('keywords', 'add', '--project', project, ...queries);
  if (from !== null) limit(dataFolder, project, from);
  return openWorld({ dataFolder, project, key }, opened, environment);
}

/** Makes a day the oldest one that is wanted. */
export function limit(dataFolder: string, project: string, from: Day): void {
  using database = new DatabaseSync(join(dataFolder, 'catalog.sqlite'));
  database.prepare('insert into sync_projects (project_id, first_day) values (?, ?)').run(project, from);
}

/** A world whose project has been synced at `NOW`: a copy of the one that the first test of a file has synced. */
export async function syncedWorld(t: Test, options: Omit<WorldOptions, 'searches'> = {}): Promise<OperatorWorld> {
  const what = JSON.stringify(options);
  const making = synced.get(what) ?? makeSynced(options);
  synced.set(what, making);
  const made = await making;
  const dataFolder = join(temporaryFolder(t), 'data');
  cpSync(made.dataFolder, dataFolder, { recursive: true });
  const opened = await openProvider(t);
  return openWorld({ ...made, dataFolder }, opened, { ...QUICK, ...options.settings, ORDINATE_DATA: dataFolder });
}

async function makeSynced(options: WorldOptions): Promise<Made> {
  // It outlives the test that is the first to need it.
  const world = await newWorld(tap, options);
  await world.sync();
  return world;
}

/** The one provider of this process, as if nobody had asked it or changed anything, with the clock at `NOW`. */
async function openProvider(t: Test, searches = makeSearches()): Promise<FakeProvider> {
  t.teardown(restoreClock);
  setClock(NOW);
  provider ??= fakeProvider(tap, { now: () => Date.now() });
  const opened = await provider;
  opened.model.addSite(PROPERTY, searches);
  opened.give(PROPERTY);
  opened.account.isRevoked = false;
  opened.model.quotas.reset();
  Object.assign(opened.model.quotas.options, { load: Number.POSITIVE_INFINITY, perMinute: Number.POSITIVE_INFINITY });
  opened.onRequest = () => {};
  opened.latency = 0;
  opened.heal();
  opened.forget();
  return opened;
}

/** Options of `projects create` for the property of the tests. */
export function connection({ credentials, url, tokenUrl }: FakeProvider, property = PROPERTY): string[] {
  const where = ['--credentials', credentials, '--endpoint', url, '--token-endpoint', tokenUrl];
  return ['--workspace', 'acme', '--property', property, ...where];
}

async function mustSucceed(settings: NodeJS.ProcessEnv, words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await command(settings, ...words);
  if (code !== 0) throw new Error(`${words.slice(0, 3).join(' ')} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}

function openWorld(made: Made, opened: FakeProvider, settings: NodeJS.ProcessEnv) {
  const { dataFolder, project } = made;
  const catalog = (sql: string): Row[] => {
    const database = new DatabaseSync(join(dataFolder, 'catalog.sqlite'), { readOnly: true, timeout: 5000 });
    try {
      const statement = database.prepare(sql);
      statement.setAllowUnknownNamedParameters(true);
      return statement.all({ project }) as Row[];
    } finally {
      database.close();
    }
  };
  const done = (...words: readonly string[]): Promise<string> => mustSucceed(settings, words);
  return {
    ...made,
    provider: opened,
    site: opened.model.site(PROPERTY),
    settings,
    /** Rows of the project in the catalog. */
    catalog,
    /** Runs a command that must succeed; returns what it printed. */
    done,
    /** Runs a command over the data folder. */
    ordinate: (...words: readonly string[]) => command(settings, ...words),
    /** `sync`, which must succeed; returns the requests for data that it made. */
    sync: async () => {
      opened.forget();
      await done('sync');
      return opened.asked();
    },
    // biome-ignore lint/suspicious/noExplicitAny: statuses are picked from
    status: async (): Promise<any> =>
      (JSON.parse(await done('sync', 'status', '--project', project, '--json')) as unknown[])[0],
    /** The rows of a fact table, ordered by their keys. */
    stored: async (table: string): Promise<Row[]> => {
      const rows = catalog(`select file from fact_files where project_id = :project and fact_table = '${table}'`);
      if (rows.length === 0) return [];
      const files = rows.map(({ file }) => quoted(join(dataFolder, String(file)))).join();
      const found = await duckdb(`select * from read_parquet([${files}], hive_partitioning = false)`);
      return found.map((row) => inOrder({ ...row, project_id: project })).sort(byText);
    },
    keywords: () =>
      catalog('select id, query from keywords where project_id = :project and archived = 0').map(({ id, query }) => ({
        id: String(id),
        query: String(query),
      })),
  };
}

/** Columns by name and measures as numbers: DuckDB writes large ones as texts. */
function inOrder(row: Row): Row {
  const columns = Object.keys(row).sort();
  const isMeasure = (name: string): boolean => ['clicks', 'impressions', 'sum_position'].includes(name);
  return Object.fromEntries(columns.map((name) => [name, isMeasure(name) ? Number(row[name]) : row[name]]));
}

function byText(a: Row, b: Row): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/** What the tables of a project must hold, as `stored` gives it. */
export function wanted(
  world: OperatorWorld,
  {
    from = '2024-11-01',
    to = '2026-12-31',
    now = Date.now(),
    ...project
  }: Partial<OracleProject> & {
    from?: Day;
    to?: Day;
    now?: number;
  } = {},
): Record<SyncedTable, Row[]> {
  const of = { id: world.project, brandTerms: BRAND_TERMS, keywords: world.keywords(), ...project };
  const tables = oracle(world.site, of, { from, to, now });
  return Object.fromEntries(
    Object.entries(tables).map(([table, rows]) => [table, rows.map(inOrder).sort(byText)]),
  ) as Record<SyncedTable, Row[]>;
}

export const TABLES: readonly SyncedTable[] = [
  'site_daily',
  'country_daily',
  'appearance_daily',
  'brand_daily',
  'keyword_daily',
  'keyword_page_daily',
];

/** All tables but those of all queries and pages hold what the oracle says. */
export async function holdsAll(
  t: Test,
  world: OperatorWorld,
  expected: Readonly<Record<string, readonly Row[]>>,
  name: string,
  tables: readonly SyncedTable[] = TABLES,
): Promise<void> {
  for (const table of tables) {
    const rows = await world.stored(table);
    const differing = firstDifference(rows, expected[table]!);
    t.strictSame(differing, undefined, `${name}: ${table} (${rows.length} rows)`);
  }
}

/** The first row in which two tables differ: whole tables are too long to be read. */
function firstDifference(found: readonly Row[], expected: readonly Row[]): object | undefined {
  const length = Math.max(found.length, expected.length);
  for (let at = 0; at < length; at++) {
    if (JSON.stringify(found[at]) !== JSON.stringify(expected[at])) {
      return { found: found[at], expected: expected[at], rows: [found.length, expected.length] };
    }
  }
  return undefined;
}

/** The server over the data folder of a world, at an instant; asks it with the world's key. */
export async function openApi(t: Test, { key, settings }: OperatorWorld, now: number) {
  const { get } = await serveHere(t, { ORDINATE_LOG_LEVEL: 'silent', ...settings }, () => now);
  return (path: string) => get(path, key);
}
