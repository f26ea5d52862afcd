// Retention drops whole months by the setting of each workspace, as if the server never had them.
import t, { type Test } from 'tap';
import { putBulkExportDays, readBulkExportDays } from '../../server/catalog/bulk-export-days.ts';
import { readCrawlDays, storeCrawlDays } from '../../server/catalog/crawl-days.ts';
import { eachKeywordGap, putKeywordGaps } from '../../server/catalog/keyword-gaps.ts';
import { listManifest } from '../../server/catalog/manifest.ts';
import { type ListKey, listStoredLists, putList } from '../../server/catalog/stored-lists.ts';
import { listFetchedKeywords, listSyncDays, putSyncDays, putSyncKeywords } from '../../server/catalog/sync-days.ts';
import { raiseEntityRevisions } from '../../server/catalog/sync-projects.ts';
import type { CrawlDay } from '../../server/domain/crawl.ts';
import { monthOf } from '../../server/domain/dates.ts';
import { keptFrom } from '../../server/domain/retention.ts';
import { pruneFacts } from '../../server/jobs/prune-facts.ts';
import { pruneProject } from '../../server/load/prune.ts';
import { command } from '../command.ts';
import { restoreClock, setClock } from '../fakes/fake-clock.ts';
import { SECOND } from '../load/snapshots.ts';
import { changeCatalog, localOnly } from '../stores.ts';
import { transcripts } from '../transcript.ts';
import {
  facts,
  keyword,
  type LazyWorld,
  makeLazyWorld,
  NOW,
  ofProject,
  PROJECT,
  sharedEngine,
  type Tables,
  WORKSPACE,
} from '../world.ts';

/** With 30 days until 2026-03-15, the month of 2026-02-14. */
const KEPT = '2026-02-01';

const ENTITIES: Tables = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
  projects: [PROJECT, { ...SECOND, workspace_id: 'other' }],
};
const SITE = facts('date device', ['2026-01-31', 'mobile', 1, 2, 3], [KEPT, 'mobile', 4, 5, 6]);
const DAYS: Tables = {
  site_daily: [...SITE, ...ofProject('Proj2', SITE)],
  keywords: [keyword('Kw001', 'a')],
  keyword_daily: facts(
    'keyword_id date device',
    ['Kw001', '2026-01-31', 'mobile', 1, 2, 3],
    ['Kw001', KEPT, 'mobile', 4, 5, 6],
  ),
};
const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

transcripts('retention');

const worldOf = (t: Test, rows: Tables, environment: NodeJS.ProcessEnv = {}): Promise<LazyWorld> => {
  // Commands have the clock of the process.
  setClock(NOW);
  t.teardown(restoreClock);
  // Two seconds for each request: there are more of them than a key may send in a minute.
  let now = NOW;
  return makeLazyWorld(t, { ...ENTITIES, ...rows }, { environment, now: () => (now += 2000) });
};

t.test('the job ends at once when it is stopped while it waits for a load, and has dropped nothing', async (t) => {
  const { settings, catalog } = await worldOf(t, DAYS, { ORDINATE_KEEP_DAYS: '30' });
  const before = await listManifest(catalog);
  const loading = (await catalog.locks.takeLoad('all'))!;
  const stop = new AbortController();
  const report = (step: string): void => {
    if (step === 'waiting for a load to end') stop.abort(new Error('the process ends'));
  };
  const context = { settings, catalog, log: LOG, now: () => NOW, report };
  await t.rejects(pruneFacts.run(context, stop.signal), { message: 'the process ends' });
  await loading.release();
  const free = await catalog.locks.takeLoad('all');
  t.ok(free, 'nor has it taken the lock');
  await free?.release();
  t.strictSame(await listManifest(catalog), before);
});

t.test('the job drops what the setting says, unless a workspace says otherwise', async (t) => {
  const world = await worldOf(t, DAYS, { ORDINATE_KEEP_DAYS: '30' });
  const firstDays = async (): Promise<Record<string, string>> => {
    const rows = (await listManifest(world.catalog)).filter(({ table }) => table === 'site_daily');
    return Object.fromEntries(rows.map(({ project, firstDay }) => [project, firstDay]));
  };
  const { settings, catalog } = world;
  const context = { settings, catalog, log: LOG, now: () => NOW, report: () => {} };
  t.match(await command({ ORDINATE_DATA: world.dataFolder }, 'workspaces', 'set', 'other', '--keep-days', 'all'), {
    code: 0,
    stdout: /keeps all facts/,
  });
  t.strictSame(await pruneFacts.run(context, new AbortController().signal), { projects: 1 });
  t.strictSame(await firstDays(), { Proj1: KEPT, Proj2: '2026-01-31' });
  await command({ ORDINATE_DATA: world.dataFolder }, 'workspaces', 'set', 'other', '--keep-days', 'default');
  t.strictSame(await pruneFacts.run(context, new AbortController().signal), { projects: 1 });
  t.strictSame(await firstDays(), { Proj1: KEPT, Proj2: KEPT });
  t.strictSame(await pruneFacts.run({ ...context, now: () => NOW + 400 * 86_400_000 }, new AbortController().signal), {
    projects: 2,
  });
  t.strictSame(await listManifest(catalog), [], 'all months are older');
  t.match(await command({ ORDINATE_DATA: world.dataFolder }, 'verify'), { code: 0 });
  t.match(await world.ask('/site?period=12m'), { status: 200, body: { totals: { clicks: 0 } } });
});

t.test('all totals go with the last month, also of a project without running totals', localOnly, async (t) => {
  const { settings, catalog } = await worldOf(t, DAYS);
  await changeCatalog(settings, "delete from fact_files where fact_table = 'keyword_running'");
  await pruneProject({ settings, catalog, engine: () => sharedEngine(settings) }, 'Proj1', '2026-03-01');
  t.strictSame(
    (await listManifest(catalog)).map(({ project, table }) => `${project} ${table}`),
    ['Proj2 site_daily'],
  );
});

t.test(
  'store by store: what ends before the limit goes, of this project alone, and answers about it are outdated',
  async (t) => {
    const rows = {
      site_daily: SITE.slice(1),
      page_daily: facts('date url country', [KEPT, 'https://shop.example/a', 'usa', 4, 5, 6]),
      keywords: ['Kw001', 'Kw002', 'Kw003'].map((id) => keyword(id, id)),
    };
    const world = await worldOf(t, {
      workspaces: [WORKSPACE],
      projects: [PROJECT, SECOND],
      ...Object.fromEntries(Object.entries(rows).map(([table, own]) => [table, [...own, ...ofProject('Proj2', own)]])),
    });
    const { settings, catalog } = world;
    const DAY_BEFORE = '2026-01-31';
    const ranges = [
      { from: '2026-01-10', to: DAY_BEFORE },
      { from: '2026-01-10', to: KEPT },
      { from: KEPT, to: '2026-02-10' },
    ];
    const empty = { table: 'site_daily', state: 'empty', final: true, cutOff: true, rows: 0, clicks: 0 } as const;
    const fetched = {
      impressions: 0,
      digest: '',
      compared: 90,
      fetchedAt: 0,
      attempts: 0,
      reason: null,
      nextTry: null,
    };
    const property = (project: string): string => String({ Proj1: PROJECT, Proj2: SECOND }[project]!['property']);
    for (const project of ['Proj1', 'Proj2']) {
      const days = [DAY_BEFORE, KEPT].map((day) => ({ ...empty, ...fetched, day }));
      await putSyncDays(catalog, project, days);
      const keywords = ranges.map((range, index) => ({ id: `Kw00${index + 1}`, query: `Kw00${index + 1}`, ...range }));
      await putSyncKeywords(catalog, project, keywords);
      const crawled = [DAY_BEFORE, KEPT].map(
        (date) => ({ date, crawledPages: 1, crawlErrors: 0 }) as unknown as CrawlDay,
      );
      const how = { keptFrom: null, now: Date.now() * 1000 };
      await storeCrawlDays(catalog, { project, property: property(project) }, crawled, how);
      await catalog.transaction(async (tx) => {
        await putKeywordGaps(
          tx,
          keywords.map(({ id, from, to }) => ({ project, keyword: id, ranges: [{ from, to }] })),
        );
        await putBulkExportDays(tx, { project, table: 'site_daily', ranges: [ranges[0]!, ranges[2]!] });
        await putBulkExportDays(tx, { project, table: 'page_daily', ranges: [ranges[1]!] });
        for (const { from, to } of ranges) {
          const key = {
            project,
            kind: 'pages',
            from,
            to,
            country: '',
            selection: '',
            sourceKey: `property ${project}`,
          };
          const file = `lists/${project}-${from}-${to}.parquet`;
          const list = { file, source: 'gsc', rows: 1, truncated: false, capped: false, final: true };
          await putList(tx, key as ListKey, { ...list, bytes: 9, sha256: '', fetchedAt: 0 });
        }
        await raiseEntityRevisions(tx, [project]);
      });
    }
    /** All that is stored of a project, ranges as texts. */
    const stored = async (project: string) => {
      const gaps = await Array.fromAsync(eachKeywordGap(catalog));
      const text = ({ from, to }: { from: string; to: string }): string => `${from}..${to}`;
      const exported = await readBulkExportDays(catalog, project);
      return {
        syncDays: (await listSyncDays(catalog, project)).map(({ day }) => day),
        fetched: (await listFetchedKeywords(catalog, project)).map((range) => text(range)).sort(),
        gaps: gaps.filter((gap) => gap.project === project).map((gap) => gap.ranges.map(text).join()),
        crawlDays: (await readCrawlDays(catalog, { project, property: property(project) })).map(({ date }) => date),
        exported: [...exported].map(([table, days]) => `${table} ${days.map(text).join()}`),
        lists: (await listStoredLists(catalog, project)).map((list) => text(list)).sort(),
      };
    };
    const path = '/site?from=2026-01-10&to=2026-02-10&quality=1';
    const known = await world.ask(path);
    t.equal(known.body.quality.daysCutOff, 2);
    const other = await stored('Proj2');
    const engine = () => sharedEngine(settings);
    t.equal(await pruneProject({ settings, catalog, engine }, 'Proj1', KEPT), false, 'no facts are dropped');
    t.strictSame(await stored('Proj2'), other, 'another project keeps all');
    t.strictSame(await stored('Proj1'), {
      syncDays: [KEPT],
      fetched: [`${KEPT}..${KEPT}`, `${KEPT}..2026-02-10`],
      gaps: [`${KEPT}..${KEPT}`, `${KEPT}..2026-02-10`],
      crawlDays: [KEPT],
      exported: [`page_daily ${KEPT}..${KEPT}`, `site_daily ${KEPT}..2026-02-10`],
      lists: [`2026-01-10..${KEPT}`, `${KEPT}..2026-02-10`],
    });
    const forgotten = await world.ask(path);
    t.equal(forgotten.body.quality.daysCutOff, 1);
    t.not(forgotten.headers['etag'], known.headers['etag']);
    await pruneProject({ settings, catalog, engine }, 'Proj1', KEPT);
    t.equal((await world.ask(path)).headers['etag'], forgotten.headers['etag'], 'nothing is left to be forgotten');
  },
);

t.test('whole months are kept', async (t) => {
  for (const [days, first] of [
    [1, '2026-03-01'],
    [15, '2026-03-01'],
    [16, '2026-02-01'],
    [486, '2024-11-01'],
  ] as const) {
    t.equal(keptFrom(null, days, NOW), first);
    t.equal(keptFrom(days, 0, NOW), first, 'the number of the workspace comes first');
    t.ok(monthOf(first) <= '2026-03');
  }
  t.equal(keptFrom(null, 0, NOW), null);
  t.equal(keptFrom(0, 30, NOW), null);
});
