import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Test } from 'tap';
import { makeQueries } from '../../cli/demo/provider/made-queries.ts';
import { MadeSearches, type MadeSearchesOptions } from '../../cli/demo/provider/made-searches.ts';
import { type OracleRange, oracle, type SyncedTable } from '../../cli/demo/provider/oracle.ts';
import { readRequest } from '../../cli/demo/provider/request.ts';
import type { SearchSource } from '../../cli/demo/provider/searches.ts';
import { Site } from '../../cli/demo/provider/site.ts';
import { type Archive, connectionsOf } from '../../server/catalog/connections.ts';
import { filesOf } from '../../server/catalog/fact-files.ts';
import { listArchivedKeywords, listKeywords } from '../../server/catalog/keywords.ts';
import { findAnyProject, type Project } from '../../server/catalog/projects.ts';
import { NEVER_SYNCED, putSyncProject } from '../../server/catalog/sync-projects.ts';
import { addDays, type Day, monthsEarlier, pacificDayOf } from '../../server/domain/dates.ts';
import { isoInstantOrNull } from '../../server/domain/instants.ts';
import { EVERY_DAY } from '../../server/domain/range.ts';
import type { Job } from '../../server/jobs/job.ts';
import { type SearchType, SURFACES } from '../../server/model/surfaces.ts';
import type { StoredTable } from '../../server/model/tables.ts';
import type { Settings } from '../../server/settings/settings.ts';
import { openFileStore } from '../../server/storage/open-file-store.ts';
import { syncProject } from '../../server/sync/run.ts';
import type { SyncOptions, SyncResult, SyncStores } from '../../server/sync/run-options.ts';
import { tablesOf } from '../../server/sync/tables.ts';
import { withSync } from '../../server/sync/with-sync.ts';
import { command } from '../command.ts';
import { connect } from '../fakes/connected.ts';
import { restoreClock, setClock } from '../fakes/fake-clock.ts';
import { fakeProvider } from '../fakes/provider.ts';
import { duckdb, quoted } from '../parquet.ts';
import { keyword, lendEngine, makeLazyWorld, PROJECT, type Row, type Tables } from '../world.ts';

export const PROPERTY = 'sc-domain:shop.example';
export const ORIGIN = 'https://shop.example/';
/** Noon in California on 2026-03-15, summer time: 2026-03-12 is the newest final day. */
export const NOW = Date.parse('2026-03-15T19:00:00Z');
/** Letters that an expression must not take for its own. */
const ODD = 'c++ (2.5") | a\\b';

/** Requests are sent without the pauses that are polite to a real provider. */
const QUICK = {
  ORDINATE_THREADS: '1',
  ORDINATE_LISTS_WAIT_SECONDS: '2',
  ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '100000',
  ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
};

/** What is searched for in the worlds of tests. */
export function makeSearches(more: Partial<MadeSearchesOptions> = {}): MadeSearches {
  const made = makeQueries({ seed: 7, count: 24, origin: ORIGIN, brand: 'acme', volume: 60 });
  const odd = { text: ODD, page: `${ORIGIN}c++`, volume: 9, position: 3, countries: [['usa', 1]] as const };
  const abc = { ...odd, text: 'a.c shoes', page: `${ORIGIN}shoes` };
  const axc = { ...odd, text: 'abc shoes', page: `${ORIGIN}shoes` };
  const silent = ['2026-02-24', '2026-03-02'];
  return new MadeSearches({ seed: 7, queries: [...made, odd, abc, axc], since: '2026-02-18', silent, ...more });
}

/** What `syncWorld` makes; its `clock`, in milliseconds, is moved. */
export type SyncWorld = Awaited<ReturnType<typeof syncWorld>>;

export interface SyncWorldOptions {
  readonly archive?: Archive;
  readonly clock?: () => number;
  /** In place of made searches. */
  readonly source?: SearchSource;
  readonly since?: Day;
  readonly silent?: readonly Day[];
  /** The oldest day that is wanted, so that a test need not wait for 16 months; null for all of them. */
  readonly from?: Day | null;
  /** Tracked queries, or how many. */
  readonly tracked?: number | readonly string[];
  readonly project?: Row;
  readonly environment?: NodeJS.ProcessEnv;
  readonly tables?: Tables;
  readonly folder?: string;
}

/** The oldest day that is asked for. */
const oldestDay = (now: number): Day => addDays(monthsEarlier(pacificDayOf(now), 16), -14);

/** A server with a project that is connected to the model of the provider and was never synced. */
export async function syncWorld(
  t: Test,
  {
    since = '2026-01-10',
    silent = [],
    from = '2026-02-12',
    tracked = 6,
    project = {},
    environment = {},
    archive = 'none',
    clock,
    source,
    tables = {},
    folder,
  }: SyncWorldOptions = {},
) {
  let [at, isCommanded] = [NOW, false];
  const now = clock ?? ((): number => at);
  const time = {
    get clock(): number {
      return now();
    },
    /** Commands see it, too. */
    set clock(instant: number) {
      at = instant;
      if (isCommanded) setClock(instant);
    },
  };
  const provider = await fakeProvider(t, { now });
  const unlimited = { load: Number.POSITIVE_INFINITY, perMinute: Number.POSITIVE_INFINITY };
  Object.assign(provider.model.quotas.options, unlimited);
  const searches = makeSearches({ since, silent });
  const site = provider.model.addSite(PROPERTY, source ?? searches);
  provider.give(PROPERTY);
  const queries = searches.queries();
  const keywords = (typeof tracked === 'number' ? queries.slice(0, tracked) : tracked).map((query, index) =>
    keyword(`kw${String(index).padStart(3, '0')}`, query),
  );
  const settingsOf = { ...QUICK, ...environment };
  const world = await makeLazyWorld(
    t,
    {
      projects: [{ ...PROJECT, last_synced_at: null, synced_through: null, provisional_after: null, ...project }],
      ...(keywords.length > 0 ? { keywords } : {}),
      ...tables,
    },
    { now, environment: settingsOf, folder },
  );
  const { catalog, settings, dataFolder } = world;
  const { credentials, url: endpoint, tokenUrl: tokenEndpoint } = provider;
  await connect(catalog, { credentials, endpoint, tokenEndpoint, archive });
  if (from !== null) await putSyncProject(catalog, 'Proj1', { ...NEVER_SYNCED, firstDay: from });
  const lines: Readonly<Record<string, unknown>>[] = [];
  const keep = (line: unknown): void => void lines.push(line as Record<string, unknown>);
  const log = { debug: keep, info: keep, warn: keep, error: keep };
  const { signal } = new AbortController();
  const withStores = <T>(work: (stores: SyncStores) => Promise<T>): Promise<T> =>
    lendEngine('sync', () => withSync({ settings, catalog, log, now, signal }, work));
  const readProject = async (): Promise<Project> => (await findAnyProject(catalog, 'Proj1'))!;
  const ownSettings: NodeJS.ProcessEnv = { ...settingsOf, ORDINATE_DATA: dataFolder };
  /** Runs a command at the time of the world. */
  const run = async (words: readonly string[], more: NodeJS.ProcessEnv = {}) => {
    if (clock === undefined) setClock(at);
    isCommanded = clock === undefined;
    try {
      return await command({ ...ownSettings, ...more }, ...words);
    } finally {
      isCommanded = false;
      restoreClock();
    }
  };
  const done = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(words);
    if (code !== 0) throw new Error(`${words.slice(0, 3).join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  };
  return Object.assign(time, {
    ...world,
    provider,
    site,
    searches,
    queries,
    lines,
    withStores,
    environment: ownSettings,
    run,
    /** Runs a command that must succeed; returns what it printed. */
    done,
    // biome-ignore lint/suspicious/noExplicitAny: statuses are picked from
    status: async (): Promise<any> =>
      (JSON.parse(await done('sync', 'status', '--project', 'Proj1', '--json')) as unknown[])[0],
    /** One run of a background job. */
    job: (job: Job, signal = new AbortController().signal, more: Partial<Settings> = {}) =>
      lendEngine(job.name, () =>
        job.run({ settings: { ...settings, ...more }, catalog, log, now, report: () => {} }, signal),
      ),
    /** Rows of the catalog, also while another process has it. */
    sql: (sql: string): Row[] => {
      using database = new DatabaseSync(join(dataFolder, 'catalog.sqlite'), { readOnly: true, timeout: 5000 });
      return database.prepare(sql).all() as Row[];
    },
    project: readProject,
    /** The project as a snapshot would have it. */
    row: async (): Promise<Row> => {
      const { syncedThrough, provisionalAfter, lastSyncedAt } = await readProject();
      const synced = { synced_through: syncedThrough, provisional_after: provisionalAfter };
      return { ...PROJECT, ...project, ...synced, last_synced_at: isoInstantOrNull(lastSyncedAt) };
    },
    /** One run of the project, as the command does it. */
    sync: (options: Partial<SyncOptions> = {}): Promise<SyncResult> =>
      withStores((stores) => syncProject(stores, 'Proj1', { now, random: () => 0.5, signal, ...options })),
    stored: async (table: StoredTable): Promise<Row[]> => {
      const files = await filesOf(catalog, 'Proj1', table, EVERY_DAY);
      if (files.length === 0) return [];
      await using store = await openFileStore(settings);
      using opened = await store.open(files);
      const paths = opened.paths.map(quoted).join(', ');
      const rows = await duckdb(`select 'Proj1' as project_id, * from read_parquet([${paths}])`);
      return rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            ['clicks', 'impressions', 'sum_position'].includes(name) ? Number(value) : value,
          ]),
        ),
      );
    },
    /** What each table must hold for the days of a range. */
    expected: async (range: Partial<OracleRange> = {}): Promise<Record<SyncedTable, Row[]>> => {
      const { brandTerms, country } = await readProject();
      const archived = await listArchivedKeywords(catalog, 'Proj1', 1000);
      const asked = [...(await listKeywords(catalog, 'Proj1')), ...archived];
      return oracle(
        site,
        { id: 'Proj1', country, brandTerms, keywords: asked },
        { from: from ?? oldestDay(now()), to: pacificDayOf(now()), now: now(), ...range },
      );
    },
  });
}

/** Clicks and impressions by day or hour, as the model of the provider answers them. */
export function modelled(
  { site, clock }: SyncWorld,
  { from, to }: { from: Day; to: Day },
  {
    by = 'date',
    type = 'web',
    country = null,
  }: { by?: 'date' | 'hour'; type?: SearchType; country?: string | null } = {},
): Row[] {
  const filters = country === null ? [] : [{ filters: [{ dimension: 'country', expression: country }] }];
  const body = {
    ...{ startDate: from, endDate: to, type, rowLimit: 25_000, dimensionFilterGroups: filters },
    dimensions: SURFACES[type].hasDevices && by === 'date' ? [by, 'device'] : [by],
    dataState: by === 'hour' ? 'hourly_all' : 'all',
    aggregationType: SURFACES[type].hasQueries ? 'byProperty' : 'auto',
  };
  // Of hours that it has dropped, too.
  const { source, options } = site;
  const whole = new Site(source, { ...options, timetable: { ...options.timetable, hourlyDays: 60 } });
  const rows = whole.answer(readRequest(body), clock).rows.map((row) => JSON.parse(row) as Row & { keys: string[] });
  const groups = [...Map.groupBy(rows, ({ keys }) => keys[0]!)].sort(([a], [b]) => Date.parse(a) - Date.parse(b));
  return groups.map(([key, all]) => {
    const sum = (name: string): number => all.reduce((total, row) => total + Number(row[name]), 0);
    return { [by]: key, clicks: sum('clicks'), impressions: sum('impressions') };
  });
}

/** Connects more projects, to the same property if no other is given. */
export async function addProjects(
  world: SyncWorld,
  ids: readonly string[],
  from: Day,
  properties?: readonly string[],
): Promise<void> {
  const rows = ids.map((id, index) => ({ ...PROJECT, id, property: properties?.[index] ?? PROJECT['property'] }));
  await world.load({ projects: rows.map((row) => ({ ...row, synced_through: null })) });
  const { credentials, url: endpoint, tokenUrl: tokenEndpoint } = world.provider;
  for (const id of ids) {
    await connect(world.catalog, { credentials, endpoint, tokenEndpoint, archive: 'none' }, id);
    await putSyncProject(world.catalog, id, { ...NEVER_SYNCED, firstDay: from });
  }
}

/**
 * Asserts that the tables that the connection wants hold what the provider has, in any order; returns how many rows of which
 * days these are.
 */
export async function holds(t: Test, world: SyncWorld, range: Partial<OracleRange> = {}, name = ''): Promise<string[]> {
  const expected = await world.expected(range);
  const connection = (await connectionsOf(world.catalog, 'Proj1')).find(({ kind }) => kind === 'search-console');
  const counts: string[] = [];
  const known = new Set<string>();
  for (const table of tablesOf(connection!.archive)) {
    const sorted = (rows: readonly Row[]): string[] =>
      rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();
    const [found, wanted] = [sorted(await world.stored(table)), sorted(expected[table])];
    const at = wanted.findIndex((row, place) => row !== found[place]);
    // Whole tables are too long to be read.
    t.strictSame([found.length, found[at]], [wanted.length, wanted[at]], `${name} ${table}`);
    for (const { date } of expected[table]) known.add(String(date));
    if (found.length > 0) counts.push(`${table} ${found.length}`);
  }
  const days = [...known].sort();
  return [`${days[0]} to ${days.at(-1)}: ${counts.join(', ')}`];
}
