// A load is published as a whole or not at all, whatever kills it.
import { appendFileSync, cpSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { isFactFileKept } from '../../server/catalog/fact-files.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { loadSnapshot } from '../../server/load/load.ts';
import { rebuild } from '../../server/maintenance/rebuild.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { command } from '../command.ts';
import { serveHere } from '../fakes/second-server.ts';
import { isNight } from '../night.ts';
import { writeParquet } from '../parquet.ts';
import { makeDataFolder, run, type Server, start, startServer } from '../process.ts';
import { smallDisk } from '../small-disk.ts';
import { localOnly } from '../stores.ts';
import { keyword, makeLazyWorld, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { places, problemsOf } from './snapshots.ts';

const DAYS = "(select unnest(generate_series(date '2025-12-01', date '2026-03-10', interval 1 day))::date as date)";

/**
 * A snapshot of 100 days that takes a moment to load. Its number is in every row: `version` clicks a day on each of
 * three devices, three times that in one country, and in the names of the project and its keyword.
 */
async function makeVersion(version: number, queriesADay: number): Promise<string> {
  const folder = writeSnapshot(t, {
    workspaces: [WORKSPACE],
    projects: [{ ...PROJECT, domain: `v${version}.example` }],
    keywords: [keyword('Kw001', `keyword ${version}`)],
  });
  const measures = (clicks: number): string => `${clicks} as clicks, ${clicks * 10} as impressions, 0 as sum_position`;
  const tables: Record<string, string> = {
    site_daily: `select 'Proj1' as project_id, date, device, ${measures(version)}
      from ${DAYS}, (select unnest(['desktop', 'mobile', 'tablet']) as device)`,
    country_daily: `select 'Proj1' as project_id, date, 'usa' as country, ${measures(3 * version)} from ${DAYS}`,
    brand_daily: `select 'Proj1' as project_id, date, 'brand' as segment, ${measures(version)} from ${DAYS}`,
    keyword_daily: `select 'Proj1' as project_id, 'Kw001' as keyword_id, date, 'desktop' as device, ${measures(version)}
      from ${DAYS}`,
    query_daily: `select 'Proj1' as project_id, date, 'query ' || number as query, 'usa' as country, ${measures(version)}
      from ${DAYS}, range(${queriesADay}) numbers (number)`,
  };
  for (const [table, select] of Object.entries(tables)) await writeParquet(join(folder, `${table}.parquet`), select);
  return folder;
}

/** With its catalog lost, a copy of the data folder comes to the same manifest. */
async function rebuiltAsItWas(t: Test, dataFolder: string, what: string): Promise<void> {
  const copy = join(temporaryFolder(t), 'copy');
  cpSync(dataFolder, copy, { recursive: true, filter: (path) => !/catalog\.sqlite|load\.lock|staging/.test(path) });
  const manifestOf = async (folder: string): Promise<string[]> => {
    await using catalog = await openCatalog(sqliteIn(folder));
    return (await catalog.statements.all<{ file: string }>('fact-files.all')).map(({ file }) => file);
  };
  const isCutOff = globSync(`${copy}/facts/journal/*.pending.*`).length > 0;
  const { damaged } = await rebuild(copy);
  t.strictSame(damaged, [], `${what}: all files of the rebuilt catalog are there`);
  // Killed about its commit, a load may be taken for committed: all that it wrote is there.
  if (!isCutOff)
    t.strictSame(await manifestOf(copy), await manifestOf(dataFolder), `${what}: the rebuilt catalog is the lost one`);
}

const versions = new Map<string, Promise<string>>();

/** The folder of a version; made once for all tests. */
function versionOf(version: number, queriesADay: number): Promise<string> {
  const name = `${version} ${queriesADay}`;
  const folder = versions.get(name) ?? makeVersion(version, queriesADay);
  versions.set(name, folder);
  return folder;
}

const ASKED = ['/projects', '/projects/Proj1/site?period=486d', '/projects/Proj1/breakdowns?period=486d'];
const KEYWORDS = '/projects/Proj1/keywords?period=486d&daily=1';

/** What a server says, as one text. */
async function answersOf(server: Pick<Server, 'get'>, key: string, paths = [...ASKED, KEYWORDS]): Promise<string> {
  const answers = await Promise.all(paths.map((path) => server.get(path, key)));
  return JSON.stringify(answers.map(({ status, body }) => ({ status, body })));
}

/** The files below a data folder that are neither current nor kept for running requests, and what was staged. */
async function leftovers(dataFolder: string): Promise<string[]> {
  const catalog = await openCatalog(sqliteIn(dataFolder));
  try {
    const onDisk = globSync(`${dataFolder}/{facts/**/*.parquet,facts/journal/*.pending.*,staging}`).map((path) =>
      relative(dataFolder, path),
    );
    const isKept = await Promise.all(onDisk.map((file) => isFactFileKept(catalog, file, 0)));
    return onDisk.filter((_, at) => !isKept[at]);
  } finally {
    await catalog.close();
  }
}

t.test('loads that are killed leave the old state or the new one, and the next load works', localOnly, async (t) => {
  const folders = [await versionOf(1, 40), await versionOf(2, 40)];
  const { dataFolder, keys } = await makeDataFolder(t, [folders[1]!], { keys: 4 });
  const settings = { ORDINATE_DATA: dataFolder };
  const server = await serveHere(t, settings);
  const answers: string[] = [];
  answers[1] = await answersOf(server, keys[0]!);
  let started = performance.now();
  t.match(await run(t, settings, 'load', folders[0]!), { code: 0 });
  let duration = performance.now() - started;
  answers[0] = await answersOf(server, keys[0]!);
  t.not(answers[0], answers[1]);

  const MOMENTS = isNight ? 4 : 1;
  let current = 0;
  for (let moment = 0; moment < MOMENTS; moment++) {
    const share = 0.25 + ((moment + Math.random()) / MOMENTS) * 0.75;
    const next = 1 - current;
    started = performance.now();
    const load = start(t, settings, 'load', folders[next]!);
    await Promise.race([sleep(share * duration), load.ended]);
    load.child.kill('SIGKILL');
    const { code } = await load.ended;
    if (code !== null) duration = Math.min(duration, performance.now() - started);
    const now = await answersOf(server, keys[moment % 4]!);
    const what = `killed after ${share.toFixed(3)} of a load (${code === null ? 'amid it' : 'it had ended'})`;
    t.ok(now === answers[current] || now === answers[next], what);
    if (now === answers[next]) current = next;
    await rebuiltAsItWas(t, dataFolder, what);
  }

  // What a killed process leaves behind, made sure of.
  mkdirSync(join(dataFolder, 'staging', 'site_daily'), { recursive: true });
  writeFileSync(join(dataFolder, 'staging', 'site_daily', 'data.parquet'), 'x');
  const unpublished = 'facts/site_daily/Proj1/2026-01-x.parquet';
  writeFileSync(join(dataFolder, unpublished), 'x');
  // The last line is cut as it may be.
  // What the last killed load has written there stays.
  appendFileSync(join(dataFolder, 'staging', 'planned-files'), `\n${unpublished}\nfacts/site_da`);
  t.match(await command(settings, 'load', folders[1 - current]!), { code: 0, stderr: '' });
  t.equal(await answersOf(server, keys[0]!), answers[1 - current]);
  t.strictSame(await leftovers(dataFolder), [], 'nothing of the killed loads is left');
});

t.test('two loads at once: one after the other, and both are whole', localOnly, async (t) => {
  const folders = [await versionOf(1, 5), await versionOf(2, 5)];
  const { dataFolder, keys } = await makeDataFolder(t, [await versionOf(3, 5)]);
  const settings = { ORDINATE_DATA: dataFolder };
  const both = await Promise.all(folders.map((folder) => run(t, settings, 'load', folder, '--json')));
  for (const { code, stdout } of both) {
    t.equal(code, 0);
    t.match(JSON.parse(stdout), { loaded: true, tables: { site_daily: { rows: 100 * 3 } } });
  }
  const server = await serveHere(t, settings);
  const { body } = await server.get('/projects/Proj1/breakdowns?period=100d', keys[0]!);
  const version = Number(/v(\d)/.exec(body.project.domain as string)?.[1]);
  t.ok(version === 1 || version === 2);
  t.match(body.countries, [{ country: 'usa', clicks: 100 * 3 * version }]);
  t.strictSame(await leftovers(dataFolder), []);
});

t.test('readers see all of a load or nothing, and the new state as soon as it has ended', async (t) => {
  const { dataFolder, keys } = await makeDataFolder(t, [await versionOf(1, 40)], { keys: 20 });
  const next = await versionOf(2, 40);
  const settings = { ORDINATE_DATA: dataFolder };
  const server = await serveHere(t, settings);
  const listed = await server.get('/projects/Proj1/queries?period=100d&limit=1', keys[0]!);
  t.match(listed.body.queries, [{ clicks: 100 }]);

  const seen: number[] = [];
  let asked = 0;
  const look = async (): Promise<number> => {
    const key = keys[asked++ % keys.length]!;
    const newest = Math.max(0, ...seen);
    const { status, body } = await server.get('/projects/Proj1/breakdowns?period=100d', key);
    if (status !== 200) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
    const version = Number(/v(\d)/.exec(body.project.domain as string)?.[1]);
    const clicksOf = (rows: { clicks: number }[]): number[] => rows.map(({ clicks }) => clicks);
    const { devices, countries, brand } = body;
    const clicks = [...clicksOf(devices), ...clicksOf(countries), ...clicksOf([brand.brand, brand.anonymous])];
    const whole = [1, 1, 1, 3, 1, 2].map((share) => share * 100 * version);
    if (clicks.join() !== whole.join()) throw new Error(`version ${version} answers ${clicks.join()}`);
    if (version < newest) throw new Error('the old state came back');
    seen.push(version);
    return version;
  };
  t.equal(await look(), 1);
  const load = start(t, settings, 'load', next);
  let isOver = false;
  void load.ended.then(() => {
    isOver = true;
  });
  const readers = Array.from({ length: 3 }, async () => {
    // Fewer than the keys may ask in a minute, however long the load takes.
    while (!isOver && asked < 2000) {
      await look();
      await sleep(20);
    }
  });
  t.match(await load.ended, { code: 0 });
  t.equal(await look(), 2, 'the first answer after a load has the new state');
  await Promise.all(readers);
  const { body } = await server.get('/projects/Proj1/keywords?period=100d', keys[1]!);
  t.strictSame(body.keywords, [
    { ...keywordAnswer, query: 'keyword 2', metrics: { clicks: 200, impressions: 2000, ctr: 0.1, position: 1 } },
  ]);
  const relisted = await server.get('/projects/Proj1/queries?period=100d&limit=1', keys[0]!);
  t.match(relisted.body.queries, [{ clicks: 200 }], 'lists are computed again');
});

const keywordAnswer = {
  id: 'Kw001',
  source: 'import',
  trackedSince: '2025-01-05T00:00:00.000Z',
  intent: 'unclassified',
  groupIds: [],
};

t.test(
  'a load that is refused leaves no files and says why, whether or not it could have been written',
  localOnly,
  async (t) => {
    const world = await makeLazyWorld(t, { keywords: [keyword('Kw001', 'shoes')] });
    const folder = join(world.dataFolder, 'facts');
    const files = () => globSync(`${folder}/**/*.parquet`);
    const loaded = files();
    const day = {
      project_id: 'Proj1',
      date: '2026-03-01',
      device: 'desktop',
      clicks: 1,
      impressions: 2,
      sum_position: 3,
    };
    const right = { site_daily: [day] };
    const wrong = { ...right, keyword_daily: [{ ...day, keyword_id: 'Nope1' }] };
    t.strictSame(places(await problemsOf(world.load(wrong))), ['keyword_daily.keyword_id']);
    t.strictSame(files(), loaded, 'what was written beside its checks is removed');

    const blocked = join(folder, 'site_daily', 'Proj1');
    rmSync(blocked, { recursive: true, force: true });
    mkdirSync(dirname(blocked), { recursive: true });
    writeFileSync(blocked, 'no folder');
    t.strictSame(places(await problemsOf(world.load(wrong))), ['keyword_daily.keyword_id'], 'problems come first');
    await t.rejects(world.load(right), { code: /^E(EXIST|NOTDIR)$/ }, 'a failure is told without problems');
    rmSync(blocked);
    t.match((await world.ask('/site?period=12m')).body.totals, { clicks: 0 });
    await world.load(right);
  },
);

t.test('a full disk is told in words, nothing is lost, and the next load works', localOnly, async (t) => {
  const folder = join(temporaryFolder(t), 'disk');
  const disk = smallDisk(t, folder, 12);
  if (disk === undefined) {
    t.pass('not run', { skip: 'a small disk cannot be mounted here; that takes Linux and its root' });
    return;
  }
  const small = await versionOf(1, 5);
  const { keys } = await makeDataFolder(t, [small], { folder });
  const key = keys[0]!;
  const settings = { ORDINATE_DATA: folder };
  const server = await startServer(t, settings);
  const before = await answersOf(server, key, ASKED);

  // Little is left, so that little fills it.
  writeFileSync(join(folder, 'ballast'), Buffer.alloc(7_000_000));
  const large = await makeVersion(2, 5);
  await writeParquet(
    join(large, 'page_daily.parquet'),
    `select 'Proj1' as project_id, date, 'https://shop.example/' || concat_ws('-', uuid(), uuid(), uuid(), uuid()) as url, 'usa' as country,
      1 as clicks, 1 as impressions, 0 as sum_position from ${DAYS}, range(300)`,
  );
  const full = await command(settings, 'load', large);
  t.equal(full.code, 1);
  t.match(full.stderr, /^The disk that holds '.*disk' is full/);
  t.notMatch(full.stderr, /^ {4}at /m, 'no stack trace');
  t.equal(await answersOf(server, key, ASKED), before);
  t.strictSame(await leftovers(folder), []);

  // Full at the last moment, when the catalog is written.
  const catalog = await openCatalog(sqliteIn(folder));
  const report = (step: string): void => {
    if (step === 'publishing') disk.fill();
  };
  const more = await versionOf(3, 5);
  const load = () => loadSnapshot({ settings: readSettings(settings), catalog }, { folder: more, report });
  try {
    await t.rejects(load(), { message: /^The disk that holds '.*disk' is full/ });
  } finally {
    await catalog.close();
  }
  t.equal(await answersOf(server, key, ASKED), before);
  disk.clear();

  t.match(await command(settings, 'load', more), { code: 0 });
  t.match((await server.get('/projects', key)).body.projects, [{ domain: 'v3.example' }]);
  disk.resize(200);
  t.match(await command(settings, 'load', large), { code: 0 });
  t.match((await server.get('/projects', key)).body.projects, [{ domain: 'v2.example' }]);
  t.strictSame(await leftovers(folder), []);
});
