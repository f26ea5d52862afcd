import type { Test } from 'tap';
import { makeQueries } from '../../cli/demo/provider/made-queries.ts';
import { MadeSearches } from '../../cli/demo/provider/made-searches.ts';
import { type OracleRange, oracle, type SyncedTable } from '../../cli/demo/provider/oracle.ts';
import { readRequest } from '../../cli/demo/provider/request.ts';
import type { SearchSource } from '../../cli/demo/provider/searches.ts';
import { Site } from '../../cli/demo/provider/site.ts';
import { type Archive, connectionsOf } from '../../server/catalog/connections.ts';
import { listKeywords } from '../../server/catalog/keywords.ts';
import { filesOf, type StoredTable } from '../../server/catalog/manifest.ts';
import { findAnyProject, type Project } from '../../server/catalog/projects.ts';
import { NEVER_SYNCED, putSyncProject } from '../../server/catalog/sync-projects.ts';
import { addDays, type Day, monthsEarlier, pacificDayOf } from '../../server/domain/dates.ts';
import { isoInstantOrNull } from '../../server/domain/instants.ts';
import { EVERY_DAY } from '../../server/domain/range.ts';
import { hasDevices, hasQueries, type SearchType } from '../../server/domain/search-types.ts';
import { openFileStore } from '../../server/storage/open-file-store.ts';
import { syncProject } from '../../server/sync/run.ts';
import type { SyncOptions, SyncResult, SyncStores } from '../../server/sync/run-options.ts';
import { KEYWORD_TABLES, tablesOf } from '../../server/sync/tables.ts';
import { withSync } from '../../server/sync/with-sync.ts';
import { connect } from '../fakes/connected.ts';
import { fakeProvider } from '../fakes/provider.ts';
import { duckdb, quoted } from '../parquet.ts';
import { keyword, lendEngine, makeLazyWorld, PROJECT, type Row, type Tables } from '../world.ts';

const PROPERTY = 'sc-domain:shop.example';
/** Noon in California, so that no test depends on the hour unless it says so. */
const START = Date.parse('2026-03-15T19:00:00Z');

/** What `syncWorld` makes; its `clock`, in milliseconds, is moved. */
export type SyncWorld = Awaited<ReturnType<typeof syncWorld>>;

/** The oldest day that is asked for. */
function oldestDay(now: number): Day {
  return addDays(monthsEarlier(pacificDayOf(now), 16), -14);
}

/**
 * A server with a project that is connected to the model of the provider and was never synced.
 * @param from the oldest day that is wanted, so that a test need not wait for 16 months; null for all of them
 */
export async function syncWorld(
  t: Test,
  {
    since = '2026-01-10',
    from = '2026-02-12',
    tracked = 6,
    project = {},
    environment = {},
    archive = 'none',
    clock,
    source,
    tables = {},
  }: {
    archive?: Archive;
    clock?: () => number;
    /** In place of made searches. */
    source?: SearchSource;
    since?: Day;
    from?: Day | null;
    tracked?: number;
    project?: Row;
    environment?: NodeJS.ProcessEnv;
    tables?: Tables;
  } = {},
) {
  const state = { clock: START };
  const now = clock ?? ((): number => state.clock);
  const provider = await fakeProvider(t, { now });
  const plans = makeQueries({ seed: 1, count: 40, origin: 'https://shop.example/', brand: 'acme' });
  const searches = new MadeSearches({ seed: 1, queries: plans, since });
  const site = provider.model.addSite(PROPERTY, source ?? searches);
  provider.give(PROPERTY);
  const queries = plans.flatMap(({ text }) => (text === null ? [] : [text]));
  const keywords = queries
    .slice(0, tracked)
    .map((query, index) => keyword(`kw${String(index).padStart(3, '0')}`, query));
  const world = await makeLazyWorld(
    t,
    {
      projects: [{ ...PROJECT, last_synced_at: null, synced_through: null, provisional_after: null, ...project }],
      ...(keywords.length > 0 ? { keywords } : {}),
      ...tables,
    },
    {
      now,
      environment: {
        ORDINATE_THREADS: '1',
        ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '100000',
        ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
        ...environment,
      },
    },
  );
  const { catalog, settings } = world;
  const { credentials, url: endpoint, tokenUrl: tokenEndpoint } = provider;
  await connect(catalog, { credentials, endpoint, tokenEndpoint, archive });
  if (from !== null) await putSyncProject(catalog, 'Proj1', { ...NEVER_SYNCED, firstDay: from });
  const lines: Readonly<Record<string, unknown>>[] = [];
  const keep = (line: unknown): void => void lines.push(line as Record<string, unknown>);
  const log = { info: keep, warn: keep, error: keep };
  const { signal } = new AbortController();
  const withStores = <T>(work: (stores: SyncStores) => Promise<T>): Promise<T> =>
    lendEngine('sync', () => withSync({ settings, catalog, log, now, signal }, work));
  const readProject = async (): Promise<Project> => (await findAnyProject(catalog, 'Proj1'))!;
  return Object.assign(state, {
    ...world,
    provider,
    site,
    searches,
    queries,
    lines,
    withStores,
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
      const asked = await listKeywords(catalog, 'Proj1');
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
    dimensions: hasDevices(type) && by === 'date' ? [by, 'device'] : [by],
    dataState: by === 'hour' ? 'hourly_all' : 'all',
    aggregationType: hasQueries(type) ? 'byProperty' : 'auto',
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

/** Whether the stored facts of each table that the connection wants are those of the oracle, in any order. */
export async function sameFacts(t: Test, world: SyncWorld): Promise<void> {
  const expected = await world.expected();
  const archive = (await connectionsOf(world.catalog, 'Proj1'))[0]!.archive;
  const hasKeywords = (await listKeywords(world.catalog, 'Proj1')).length > 0;
  for (const table of tablesOf(archive)) {
    const sorted = (rows: readonly Row[]): string[] =>
      rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();
    t.strictSame(sorted(await world.stored(table)), sorted(expected[table]), table);
    if (hasKeywords || !KEYWORD_TABLES.includes(table))
      t.ok(expected[table].length > 0, `${table} has rows to compare`);
  }
}
