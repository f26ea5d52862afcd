import { TIMETABLE } from '../../../cli/demo/provider/days.ts';
import { MadeSearches, type QueryPlan } from '../../../cli/demo/provider/made-searches.ts';
import { oracle } from '../../../cli/demo/provider/oracle.ts';
import { Site } from '../../../cli/demo/provider/site.ts';
import { projectOf, propertyOf, type Row, WORKSPACES } from '../../tables.ts';
import type { Host } from '../host.ts';
import { type SearchEngine, searchConsoleOf } from '../modules/search-console.ts';
import type { SimulatedProcess } from '../process.ts';
import { compareWithFresh, Server, Tags } from '../server.ts';
import { CONNECTION, type Template, template } from '../template.ts';
import type { Run, World } from '../world.ts';
import { startWorker } from './worker.ts';

const MINUTE = 60_000;
/** The first day that is synced, so that a window is small. */
const FIRST_DAY = '2026-03-10';
/** Projects by id; the first has data at the provider. */
const PROJECTS = ['Proj1', 'Proj2', 'Proj3', 'Proj4', 'Proj5'];
/** So long that a request takes half of them. */
const QUERIES = Array.from({ length: 8 }, (_, index) => `query ${index} ${'with a very long text '.repeat(30)}`.trim());

/**
 * Background jobs of two processes sync projects from a search engine that fails, is silent, and is late, while a server
 * answers. What is stored in the end is what the search engine has; one silent property holds up no other; a run ends when
 * nothing is due; no answer differs under one tag; and each project is synced once the faults are over.
 */
export const sync: World = {
  name: 'sync',
  hasCatalog: true,
  async run(run) {
    const { simulation } = run;
    const random = simulation.random.fork('sync');
    const prepared = await prepare(run);
    const { keys } = prepared;
    const machine = run.machine('machine');
    const dataFolder = await run.data(machine, prepared);
    const isCatalogDistant = random.chance(0.5);
    const sites = new Map(PROJECTS.map((id, index) => [propertyOf(id), siteOf(index)]));
    const engine: SearchEngine = {
      sites,
      random: random.fork('provider'),
      failures: random.pick([0, 0.02, 0.1]),
      latency: random.pick([
        [20, 40],
        [20, 600],
      ] as const),
      silent: new Set(),
      outage: undefined,
      onRequest: () => {},
      onAnswered: () => {},
    };
    const silent = random.pick(PROJECTS.slice(1));
    if (simulation.decide('a silent property', random, 0.4)) engine.silent.add(propertyOf(silent));
    const packages = (process: Host) => searchConsoleOf(process, engine);
    const options = { machine, dataFolder, key: keys[0], isCatalogDistant, packages };
    const tags = new Tags();
    const server = new Server(run, tags, { name: 'server', ...options });
    const start = (name: string): SimulatedProcess => {
      const worker = startWorker(run, { name, ...options });
      worker.disturbLease = (lease) => {
        if (!isHealed && simulation.decide('failure of a lease', random, 0.04))
          throw new Error(`The lease of ${lease} cannot be stored.`);
      };
      return worker;
    };
    let isHealed = false;
    const workers = ['a', 'b'].map((name) => ({ name, number: 1, process: start(`${name}1`) }));
    const reader = server.process.product;
    const settings = reader.readSettings({ ORDINATE_DATA: dataFolder, ...run.environment });
    const catalog = await run.wait(reader.openCatalog(settings, { create: false }));

    const range = 'from=2026-03-12&to=2026-03-13&compare=previous';
    const paths = [
      '/site',
      `/site?${range}`,
      '/keywords?daily=1',
      `/keywords?${range}&quality=1`,
      '/breakdowns',
      '/projects',
    ];
    const ask = async (): Promise<void> => {
      for (;;) {
        await server.get(random.pick(paths));
        // Hours may go by until all is synced.
        await simulation.operation(server.process, 'pause', () => {}, isHealed ? [5000, 60_000] : [500, 6000]);
      }
    };
    void ask().catch((error: unknown) => simulation.violate(`a request fails: ${String(error)}`));

    /** Tracks a query without searches: its days are fetched, and nothing is stored for them. */
    const track = async (): Promise<void> => {
      await reader.addKeywords(
        { settings, catalog },
        { project: 'Proj1', queries: ['unheard of'], source: 'manual' },
        { by: 'simulation', at: simulation.now * 1000 },
      );
      await reader.putSyncProject(catalog, 'Proj1', {
        ...(await reader.readSyncProject(catalog, 'Proj1')),
        nextRunAt: null,
      });
    };
    simulation.schedule(undefined, random.whole(40, 100) * 1000, 'track', () => {
      if (simulation.choose('track a keyword'))
        run.follow(server.process, 'tracking a keyword', track()).catch(() => {});
    });
    const disturb = (): void => {
      if (isHealed) return;
      simulation.schedule(undefined, random.whole(2000, 40_000), 'trouble', disturb);
      const one = random.pick(workers);
      if (simulation.decide('kill', random, 0.15)) {
        one.process.kill();
        one.number++;
        one.process = start(`${one.name}${one.number}`);
      }
      if (simulation.decide('full disk', random, 0.2)) {
        machine.isFull = true;
        simulation.schedule(undefined, random.whole(500, 5000), 'room', () => {
          machine.isFull = false;
        });
      }
    };
    simulation.schedule(undefined, 3000, 'trouble', disturb);
    // Requests of one kind fail for so long that all retries do.
    simulation.schedule(undefined, random.whole(0, 6000), 'outage', () => {
      if (!simulation.decide('outage of one kind of requests', random, 0.7)) return;
      engine.outage = random.pick(['"query"', '"query","device"', '"page"', '"searchAppearance"', '"country"']);
      simulation.schedule(undefined, random.whole(30_000, 3 * MINUTE), 'outage ends', () => {
        engine.outage = undefined;
      });
    });
    await simulation.run({ until: simulation.now + 4 * MINUTE });
    isHealed = true;
    machine.isFull = false;
    engine.failures = 0;
    engine.outage = undefined;
    const isSynced = async (id: string): Promise<boolean> => isDone(await reader.readSyncProject(catalog, id));
    // A project that failed is due again after a quarter of an hour, then after pauses that double.
    const waiting = new Set(PROJECTS.filter((id) => !engine.silent.has(propertyOf(id))));
    const look = async (): Promise<void> => {
      for (const id of [...waiting]) if (await isSynced(id)) waiting.delete(id);
      if (waiting.size > 0) simulation.schedule(undefined, MINUTE, 'look', () => void look());
    };
    void look();
    await simulation.run({ until: simulation.now + 8 * 60 * MINUTE, isDone: () => waiting.size === 0 });
    if (waiting.size > 0)
      simulation.violate(`${[...waiting].join(', ')}: not synced, eight hours after all faults were over`);
    // Nothing is due any more; a property that never answers keeps its run.
    if (engine.silent.size === 0) await simulation.run({ until: simulation.now + 30 * MINUTE });
    for (const { process } of engine.silent.size === 0 ? workers : []) {
      const began = process.runs.get('sync-projects') ?? simulation.now;
      if (began < simulation.now - 20 * MINUTE) simulation.violate(`${process.name}: a sync of nothing does not end`);
    }
    if (simulation.violations.length > 0) return;
    const last = simulation.violations.length === 0 ? new Server(run, tags, { name: 'fresh', ...options }) : server;
    for (const { process } of workers) process.kill();
    await compareWithFresh(run, server, last, paths);
    await compare(run, server, sites.get(propertyOf('Proj1'))!);
  },
};

/** Whether all tables of a project are in. */
function isDone({ lastSuccessAt, lastError }: { lastSuccessAt: number | null; lastError: string | null }): boolean {
  return lastSuccessAt !== null && lastError === null;
}

/** Compares what the server answers with what the search engine has. */
async function compare(run: Run, server: Server, site: Site): Promise<void> {
  const { simulation } = run;
  const range = { from: FIRST_DAY, to: '2026-03-14' };
  const keywords = QUERIES.map((query, index) => ({ id: `key0${index}`, query }));
  const expected = oracle(site, { id: 'Proj1', brandTerms: ['acme'], keywords }, { ...range, now: simulation.now });
  const sumOf = (rows: readonly Row[]): string =>
    JSON.stringify(['clicks', 'impressions'].map((name) => rows.reduce((sum, row) => sum + (row[name] as number), 0)));
  const [site1, keywords1] = await run.wait(
    Promise.all([
      server.get(`/site?from=${range.from}&to=${range.to}`),
      server.get(`/keywords?from=${range.from}&to=${range.to}`),
    ]),
  );
  const metrics = (keywords1.body as { keywords: { metrics: Row }[] }).keywords.map((keyword) => keyword.metrics);
  const pairs: readonly [string, readonly Row[], readonly Row[]][] = [
    ['site', [(site1.body as { totals: Row }).totals], expected.site_daily],
    ['keywords', metrics, expected.keyword_daily],
  ];
  for (const [name, found, wanted] of pairs) {
    if (sumOf(found) !== sumOf(wanted))
      simulation.violate(`${name}: stored ${sumOf(found)}, at the provider ${sumOf(wanted)}`);
  }
}

function siteOf(index: number): Site {
  const plans =
    index === 0
      ? QUERIES.map(
          (text, number): QueryPlan => ({
            text,
            page: `https://proj1.example/${number}`,
            volume: 20,
            position: 4,
            countries: [['usa', 1]],
          }),
        )
      : [];
  const searches = new MadeSearches({ seed: 1, queries: plans, since: FIRST_DAY });
  return new Site(searches, {
    timetable: { ...TIMETABLE, stageHours: 10_000 },
  });
}

function prepare(run: Run): Promise<Template> {
  const projects = PROJECTS.map((id) => projectOf(id, { brand_terms: ['acme'] }));
  const keywords = PROJECTS.slice(0, 2).flatMap((project_id) =>
    QUERIES.map((query, index) => ({ project_id, id: `key0${index}`, query, tracked_since: '2025-01-05T00:00:00Z' })),
  );
  const tables = { workspaces: WORKSPACES, projects, keywords };
  return template(run, 'sync', tables, async ({ setConnection, putSyncProject, NEVER_SYNCED }, catalog) => {
    for (const id of PROJECTS) {
      await setConnection(catalog, id, CONNECTION, 0);
      await putSyncProject(catalog, id, { ...NEVER_SYNCED, firstDay: FIRST_DAY });
    }
  });
}
