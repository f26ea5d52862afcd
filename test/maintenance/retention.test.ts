// Retention drops whole months by the setting of each workspace, as if the server never had them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { putBulkExportDays, readBulkExportDays } from '../../server/catalog/bulk-export-days.ts';
import { readCrawlDays, storeCrawlDays } from '../../server/catalog/crawl-days.ts';
import { eachKeywordGap, putKeywordGaps } from '../../server/catalog/keyword-gaps.ts';
import { listManifest } from '../../server/catalog/manifest.ts';
import { lastPublication } from '../../server/catalog/publications.ts';
import { type ListKey, listStoredLists, putList } from '../../server/catalog/stored-lists.ts';
import { listFetchedKeywords, listSyncDays, putSyncDays, putSyncKeywords } from '../../server/catalog/sync-days.ts';
import { raiseEntityRevisions } from '../../server/catalog/sync-projects.ts';
import type { CrawlDay } from '../../server/domain/crawl.ts';
import { eachDay, monthOf } from '../../server/domain/dates.ts';
import { keptFrom } from '../../server/domain/retention.ts';
import { pruneFacts } from '../../server/jobs/prune-facts.ts';
import { pruneProject } from '../../server/load/prune.ts';
import { command } from '../command.ts';
import { answersOf, SECOND } from '../load/snapshots.ts';
import { restoreClock, setClock } from '../sync/operator-world.ts';
import {
  keyword,
  type LazyWorld,
  makeLazyWorld,
  NOW,
  ofProject,
  PROJECT,
  type Row,
  sharedEngine,
  type Tables,
  WORKSPACE,
} from '../world.ts';

const DAYS = eachDay('2025-12-20', '2026-03-10');
/** One of them ends on the last day that is dropped, and the next has days of both months. */
const WEEKS = ['2026-01-24', '2026-01-31', '2026-02-07'];
const DEVICES = ['desktop', 'mobile'];
/** With 30 days until 2026-03-15, the month of 2026-02-14. */
const KEPT = '2026-02-01';

/** Rows of all tables; every number differs. */
function tables(): Tables {
  let count = 0;
  const row = (more: Row): Row => {
    count++;
    return { project_id: 'Proj1', clicks: count % 7, impressions: 100 + count, sum_position: 300 + 3 * count, ...more };
  };
  const each = (make: (date: string) => readonly Row[]): Row[] => DAYS.flatMap((date) => make(date).map(row));
  const site = each((date) => DEVICES.map((device) => ({ date, device })));
  const of = (names: readonly string[], column: string, more: Row = {}): Row[] =>
    each((date) => names.map((name) => ({ date, [column]: name, ...more })));
  const period = (first: string, last: string, more: Row): Row => row({ first_day: first, last_day: last, ...more });
  const aiPages = (first: string, last: string, more: Row): Row => ({
    ...{ project_id: 'Proj1', first_day: first, last_day: last, url: 'https://shop.example/a', ...more },
  });
  const periods = [
    ['2026-01-01', '2026-01-31'],
    ['2026-01-20', '2026-02-01'],
    ['2026-01-20', '2026-02-10'],
  ] as const;
  return {
    keywords: [keyword('Kw001', 'a'), keyword('Kw002', 'b')],
    site_daily: [...site, ...ofProject('Proj2', site)],
    keyword_daily: each((date) =>
      // One of them has no rows in the days that are kept.
      ['Kw001', ...(date < '2026-01-15' ? ['Kw002'] : [])].flatMap((id) =>
        DEVICES.map((device) => ({ keyword_id: id, date, device })),
      ),
    ),
    keyword_page_daily: of(['https://shop.example/a', 'https://shop.example/b'], 'url', { keyword_id: 'Kw001' }),
    country_daily: of(['usa', 'deu'], 'country'),
    country_monthly: ['2025-10-01', '2025-11-01'].map((month) => row({ month, country: 'usa' })),
    appearance_daily: of(['PRODUCT_SNIPPETS'], 'appearance'),
    brand_daily: of(['brand', 'non_brand'], 'segment'),
    page_daily: of(['https://shop.example/a'], 'url', { country: 'usa' }),
    query_daily: of(['a', 'b'], 'query', { country: 'usa' }),
    page_period: periods.map(([first, last]) => period(first, last, { url: 'https://shop.example/a' })),
    query_period: periods.map(([first, last]) => period(first, last, { query: 'a' })),
    site_hourly: each((date) => [{ date, hour: `${date}T23:00:00Z` }]),
    ...Object.fromEntries(
      ['image', 'video', 'news', 'discover', 'google_news'].flatMap((type) => [
        [`site_daily_${type}`, of(['mobile'], 'device')],
        [`country_daily_${type}`, of(['usa'], 'country')],
      ]),
    ),
    site_daily_bing: of(['desktop'], 'device'),
    page_weekly_bing: WEEKS.map((week_end) => row({ week_end, url: 'https://shop.example/a' })),
    query_weekly_bing: WEEKS.map((week_end) => row({ week_end, query: 'a' })),
    ai_daily: DAYS.map((date, index) => ({ project_id: 'Proj1', date, ai_impressions: index })),
    citation_daily: DAYS.map((date, index) => ({ project_id: 'Proj1', date, citations: index })),
    ai_page_period: periods.map(([first, last], index) => aiPages(first, last, { ai_impressions: index })),
    citation_page_period: periods.map(([first, last], index) => aiPages(first, last, { citations: index })),
  };
}

const TYPES = ['image', 'video', 'news', 'discover', 'googleNews'];
const ALL = tables();
const ENTITIES: Tables = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
  projects: [PROJECT, { ...SECOND, workspace_id: 'other' }],
};

/** The rows that are kept, as a load would bring them. */
function keptRows(): Tables {
  const isKept = (row: Row): boolean =>
    row['project_id'] !== 'Proj1' ||
    ((row['date'] ?? row['month'] ?? row['week_end'] ?? row['last_day'] ?? KEPT) as string) >= KEPT;
  return Object.fromEntries(Object.entries(ALL).map(([table, rows]) => [table, rows.filter(isKept)]));
}

/** All answers, over all days, those that were dropped, those that are left, and some of both. */
async function everything(world: LazyWorld): Promise<unknown> {
  const ranges = [
    'from=2025-12-01&to=2026-01-31',
    'from=2026-01-10&to=2026-02-20',
    'from=2026-02-01&to=2026-03-05',
    'from=2026-01-20&to=2026-02-10',
  ];
  const answers: Record<string, unknown> = await answersOf(world);
  for (const range of ranges) {
    for (const path of ['site', 'keywords', 'breakdowns', 'pages', 'queries', 'hours', 'surfaces', 'ai']) {
      for (const more of path === 'keywords'
        ? ['', '&device=mobile', '&daily=1']
        : path === 'site'
          ? ['', '&compare=previous&quality=1', '&engine=bing', ...TYPES.map((type) => `&type=${type}`)]
          : ['pages', 'queries'].includes(path)
            ? ['', '&engine=bing']
            : ['']) {
        const { status, body } = await world.ask(`/${path}?${range}${more}`);
        if (body.source) body.source.fetchedAt = null;
        answers[`${path} ${range}${more}`] = { status, body };
      }
    }
  }
  return answers;
}

const worldOf = (t: Test, rows: Tables, environment: NodeJS.ProcessEnv = {}): Promise<LazyWorld> => {
  // Commands have the clock of the process.
  setClock(NOW);
  t.teardown(restoreClock);
  // Two seconds for each request: there are more of them than a key may send in a minute.
  let now = NOW;
  return makeLazyWorld(t, { ...ENTITIES, ...rows }, { environment, now: () => (now += 2000) });
};

t.test('after retention all answers are those of a server that never had the older months', async (t) => {
  const world = await worldOf(t, ALL);
  const settings = { ORDINATE_DATA: world.dataFolder };
  const before = await everything(world);
  const publication = async (): Promise<number> => (await lastPublication(world.catalog)).number;
  const first = await publication();
  t.match(
    await command(settings, 'prune'),
    { code: 0, stdout: /Nothing is older than what is kept/ },
    'by default all is kept',
  );
  t.match(await command(settings, 'workspaces', 'set', 'acme', '--keep-days', '30', '--json'), {
    stdout: /"keepDays": 30/,
  });
  const dry = await command(settings, 'prune', '--dry-run', '--json');
  const report = JSON.parse(dry.stdout) as {
    dropped: boolean;
    projects: { project: string; keptFrom: string; tables: { table: string; firstDay: string; rows: number }[] }[];
  };
  t.match(report, { dropped: false, projects: [{ workspace: 'acme', project: 'Proj1', keptFrom: KEPT }] });
  t.equal(report.projects.length, 1, 'the other workspace keeps all');
  for (const [table, rows] of Object.entries(keptRows())) {
    const dropped = ALL[table]!.length - rows.length;
    if (dropped > 0)
      t.match(
        report.projects[0]!.tables.find((each) => each.table === table),
        { rows: dropped },
        table,
      );
  }
  t.strictSame(await everything(world), before, 'a dry run drops nothing');
  t.equal(await publication(), first);

  const files = (await listManifest(world.catalog)).map(({ file }) => file);
  const answering = everything(world);
  const { stdout, code } = await command(settings, 'prune', '--json');
  t.equal(code, 0);
  t.match(JSON.parse(stdout), { ...report, dropped: true });
  t.equal(await publication(), first + 1, 'one publication');
  await answering;
  const oracle = await everything(await worldOf(t, keptRows()));
  t.strictSame(await everything(world), oracle);
  t.ok(
    files.every((file) => existsSync(join(world.dataFolder, file))),
    'requests may still read the files',
  );
  t.match(await command(settings, 'verify'), { code: 0, stdout: /All is in order/ });
  t.match(await command(settings, 'prune', '--json'), { stdout: /"projects": \[\]/ }, 'nothing is left to drop');
  t.equal(await publication(), first + 1);
  for (const { table, part, firstDay } of (await listManifest(world.catalog)).filter(
    ({ project }) => project === 'Proj1',
  )) {
    t.ok(firstDay >= KEPT || table.endsWith('_period'), `${table} ${part}`);
  }
});

t.test('the job ends at once when it is stopped while it waits for a load, and has dropped nothing', async (t) => {
  const { settings, catalog } = await worldOf(t, ALL, { ORDINATE_KEEP_DAYS: '30' });
  const before = await listManifest(catalog);
  const loading = (await catalog.locks.takeLoad('all'))!;
  const stop = new AbortController();
  const report = (step: string): void => {
    if (step === 'waiting for a load to end') stop.abort(new Error('the process ends'));
  };
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const context = { settings, catalog, log, now: () => NOW, report };
  await t.rejects(pruneFacts.run(context, stop.signal), { message: 'the process ends' });
  await loading.release();
  const free = await catalog.locks.takeLoad('all');
  t.ok(free, 'nor has it taken the lock');
  await free?.release();
  t.strictSame(await listManifest(catalog), before);
});

t.test('the job drops what the setting says, unless a workspace says otherwise', async (t) => {
  const world = await worldOf(t, ALL, { ORDINATE_KEEP_DAYS: '30' });
  const firstDays = async (): Promise<Record<string, string>> => {
    const rows = (await listManifest(world.catalog)).filter(({ table }) => table === 'site_daily');
    return Object.fromEntries(rows.map(({ project, firstDay }) => [project, firstDay]));
  };
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const { settings, catalog } = world;
  const context = { settings, catalog, log, now: () => NOW, report: () => {} };
  t.match(await command({ ORDINATE_DATA: world.dataFolder }, 'workspaces', 'set', 'other', '--keep-days', 'all'), {
    code: 0,
    stdout: /keeps all facts/,
  });
  t.strictSame(await pruneFacts.run(context, new AbortController().signal), { projects: 1 });
  t.strictSame(await firstDays(), { Proj1: KEPT, Proj2: '2025-12-20' });
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

t.test(
  'store by store: what ends before the limit goes, of this project alone, and answers about it are outdated',
  async (t) => {
    const kept = (table: string): readonly Row[] => ALL[table]!.filter(({ date }) => String(date) >= KEPT);
    const site = kept('site_daily').filter((row) => row['project_id'] === 'Proj1');
    const world = await worldOf(t, {
      workspaces: [WORKSPACE],
      projects: [PROJECT, SECOND],
      ...Object.fromEntries(
        [
          ['site_daily', site],
          ['page_daily', kept('page_daily')],
          ['keywords', ['Kw001', 'Kw002', 'Kw003'].map((id) => keyword(id, id))],
        ].map(([table, rows]) => [table, [...(rows as Row[]), ...ofProject('Proj2', rows as Row[])]]),
      ),
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
