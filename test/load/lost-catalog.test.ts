// A lost or outdated catalog is rebuilt from the files beside the facts, and no data is lost silently.
import { cpSync, globSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { listEvaluatedAlerts } from '../../server/catalog/alerts.ts';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { nameCatalogFailure } from '../../server/catalog/failures.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { addDays, countDays, type Day } from '../../server/domain/dates.ts';
import { openJournal } from '../../server/load/journal.ts';
import { loadSnapshot } from '../../server/load/load.ts';
import { journaledTransaction } from '../../server/load/publish.ts';
import { rebuild } from '../../server/maintenance/rebuild.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { factsOf, KEYWORDS, projectUntil, START } from '../alerts/world.ts';
import { command } from '../command.ts';
import { makeDataFolder, startServer } from '../process.ts';
import {
  facts,
  keyword,
  makeWorld,
  ONE_THREAD,
  sharedEngine,
  type Tables,
  temporaryFolder,
  WORKSPACE,
  writeSnapshot,
} from '../world.ts';
import { EVERYTHING } from './snapshots.ts';

const everything = writeSnapshot(t, EVERYTHING);
const FACTS = { site_daily: facts('date device', ['2026-03-02', 'desktop', 5, 100, 900]) };

function removeCatalog(dataFolder: string): void {
  for (const file of globSync(`${dataFolder}/catalog.sqlite*`)) rmSync(file);
}

async function manifestOf(dataFolder: string): Promise<unknown[]> {
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  return await catalog.statements.all('fact-files.all');
}

async function load(
  dataFolder: string,
  tables: Tables,
  options: { replace?: boolean; confirmDelete?: string[] } = {},
): ReturnType<typeof loadSnapshot> {
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const folder = writeSnapshot(t, tables);
  const settings = readSettings({ ...ONE_THREAD, ORDINATE_DATA: dataFolder });
  return await loadSnapshot({ settings, catalog }, { folder, engine: () => sharedEngine(settings), ...options });
}

t.test('a killed server leaves its log behind, which is not taken for that of the rebuilt catalog', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  const settings = { ORDINATE_DATA: dataFolder };
  const manifest = await manifestOf(dataFolder);
  const server = await startServer(t, settings);
  server.child.kill('SIGKILL');
  await server.ended;
  const readable = globSync('**/*', { cwd: dataFolder }).filter(
    (file) => (statSync(join(dataFolder, file)).mode & 0o077) !== 0,
  );
  t.strictSame(readable, [], "nothing is anybody else's to read, whoever wrote it");
  rmSync(join(dataFolder, 'catalog.sqlite'));
  const { code, stdout } = await command(settings, 'rebuild', '--json');
  const whole = { rebuilt: 'catalog', projects: 2, files: manifest.length, restored: [], damaged: [] };
  t.match({ code, ...JSON.parse(stdout) }, { code: 0, ...whole });
  t.strictSame(await manifestOf(dataFolder), manifest);
});

/** The catalog looks for its file once in each turn of the event loop. */
const nextTurn = (): Promise<void> => new Promise((done) => void setImmediate(done));

t.test('a server whose catalog is gone is not ready, answers nothing and writes nothing', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const path = join(world.dataFolder, 'catalog.sqlite');
  const ready = async (): Promise<number> => (await world.app.inject('/readyz')).statusCode;
  t.equal((await world.ask('/site')).status, 200);
  const ways: Record<string, () => void> = {
    removed: () => {},
    replaced: () => cpSync(`${path}.away`, path),
  };
  for (const [what, lose] of Object.entries(ways)) {
    renameSync(path, `${path}.away`);
    lose();
    await nextTurn();
    t.equal(await ready(), 503, what);
    t.match(await world.ask('/site'), { status: 503, body: { error: { code: 'unavailable' } } });
    t.match(world.log.join(''), new RegExp(`catalog\\.sqlite' was ${what}`), 'the log names it');
    t.notMatch((await world.ask('/site')).body.error.message, /sqlite/, 'the client hears no paths');
    await t.rejects(world.catalog.statements.run('revisions.next'), /catalog\.sqlite' was/);
    await t.rejects(
      world.catalog.transaction(async () => {}),
      /catalog\.sqlite' was/,
    );
    await t.rejects(world.load(FACTS), { message: /catalog\.sqlite' was/ });
    renameSync(`${path}.away`, path);
    await nextTurn();
    t.equal(await ready(), 200, 'it goes on with its own catalog');
    t.equal((await world.ask('/site')).status, 200);
  }
  writeFileSync(path, '');
  await nextTurn();
  t.equal(await ready(), 503, 'emptied');
  t.match(await world.ask('/site'), { status: 503 });
  await t.rejects(world.catalog.statements.run('revisions.next'), /catalog\.sqlite' was emptied/);
  await world.catalog.close();
  t.equal(statSync(path).size, 0, 'nor does its end write to it');
});

t.test('failures of the catalog name its file and say what to do', async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  await (await openCatalog(sqliteIn(folder))).close();
  const path = join(folder, 'catalog.sqlite');
  const other = new DatabaseSync(path);
  const writer = new DatabaseSync(path, { timeout: 0 });
  other.exec('begin immediate');
  try {
    writer.exec('begin immediate');
    t.fail('one writer at a time');
  } catch (error) {
    t.match(nameCatalogFailure(error, path), { message: /^The catalog '.*' is locked by another process/, errcode: 5 });
  }
  t.match(nameCatalogFailure(Object.assign(new Error('full'), { errcode: 13 }), path), {
    message: `The catalog '${path}' cannot grow because its disk is full (full). Free some space and try again.`,
  });
  const constraint = new Error('constraint failed');
  t.equal(
    nameCatalogFailure(Object.assign(constraint, { errcode: 19 }), path),
    constraint,
    'others stay what they are',
  );
  writer.close();
  other.close();
});

t.test('a record of the journal that cannot be renamed after its commit counts as committed', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  const records = (): string[] => readdirSync(join(dataFolder, 'facts/journal')).map((name) => name.split('.')[1]!);
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const own = openJournal(sqliteIn(dataFolder));
  const settle = (): Promise<never> => Promise.reject(new Error('a record cannot be renamed'));
  await using lock = (await catalog.locks.takeLoad('all'))!;
  const publications = { begin: (of: Catalog) => own.begin(of), settle, compact: settle };
  t.equal(await journaledTransaction({ catalog, journal: publications, lock }, async () => 'done'), 'done');
  const before = records();
  await own.settle(catalog);
  t.strictSame(
    [before, records()],
    [
      ['checkpoint', 'pending'],
      ['checkpoint', 'change'],
    ],
    'by the next change',
  );
});

t.test('the journal does not grow without end, and a rebuild from its checkpoint loses nothing', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  // So many and so long that two loads need a checkpoint.
  const keywords = Array.from({ length: 200 }, (_, index) =>
    keyword(index.toString(36).padStart(5, '0'), `query ${index} ${'x'.repeat(15_000)}`),
  );
  for (let round = 0; round < 4; round++) await load(dataFolder, { keywords });
  const journal = (): string[] =>
    globSync(`${dataFolder}/facts/journal/*`).map((file) => file.replace(/.*\.(\w+)\.ndjson$/, '$1'));
  t.ok(journal().length <= 3, 'records before a checkpoint are gone');
  const manifest = await manifestOf(dataFolder);
  removeCatalog(dataFolder);
  await rebuild(dataFolder);
  t.strictSame(await manifestOf(dataFolder), manifest);
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const counted = { template: 'rows.all', fills: { table: 'keywords', columns: 'count(*) as count' } };
  t.match(await catalog.statements.get(counted), { count: 200 + 4 });
});

t.test('which alerts come back with the same ids, and which do not', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'data');
  const settings = { ...ONE_THREAD, ORDINATE_DATA: dataFolder };
  const loadUntil = async (first: number, last: number, more: Tables = {}): Promise<void> => {
    const projects = [projectUntil(addDays(START, last))];
    const entities = { workspaces: [WORKSPACE], projects, keywords: KEYWORDS };
    const { code, stderr } = await command(
      settings,
      'load',
      writeSnapshot(t, { ...entities, ...factsOf(first, last), ...more }),
    );
    t.equal(code, 0, stderr);
  };
  /** Type, and the place of the day, by id. */
  const alerts = async (): Promise<Map<string, string>> => {
    await using catalog = await openCatalog(sqliteIn(dataFolder));
    const stored = await listEvaluatedAlerts(catalog, 'Proj1');
    return new Map(stored.map(({ id, type, date }) => [id, `${type} ${countDays(START as Day, date) - 1}`]));
  };
  await loadUntil(0, 97, { site_daily_image: facts('date device', [addDays(START, 40), 'mobile', 3, 50, 80]) });
  await loadUntil(98, 131);
  const before = await alerts();
  t.strictSame([...before.values()].sort(), [
    'keyword_drop 88',
    'keyword_lost 98',
    'surface_stale 55',
    'traffic_drop 93',
    'url_changed 86',
    'url_mismatch 90',
  ]);

  removeCatalog(dataFolder);
  const { code, stdout } = await command(settings, 'rebuild');
  t.match({ code, stdout }, { code: 0, stdout: /lost: .*evaluated alerts/ });
  const operate = readFileSync('docs/operate.md', 'utf8').replaceAll('**', '');
  for (const words of [
    /Alerts come back when a project is evaluated/,
    /under the same ids those whose cause began in the last 42 final days \(34 days for stopped clicks\), those about surfaces without new days, however old, and those that were loaded\./,
    /If an older cause still shows in these days, its alert opens again on a later day, under another id\./,
    /All others are lost: those that had resolved before these days, and those about pages in the index/,
    /members, keys, feeds, shared links, connections, channels, saved views, tags, favourites, dismissed findings, and the limits and retention of workspaces\./,
  ])
    t.match(operate, words);
  t.equal((await alerts()).size, 0);
  const evaluated = await command(settings, 'alerts', 'evaluate', '--json');
  const [{ evaluatedFrom, evaluatedThrough }] = JSON.parse(evaluated.stdout) as [Record<string, Day>];
  t.equal(countDays(evaluatedFrom!, evaluatedThrough!), 42 + 1, 'the last final day, and 42 before it');
  const first = countDays(START as Day, evaluatedFrom!) - 1;
  t.equal(first, 89);
  const after = await alerts();
  const back = [...after].filter(([id]) => before.has(id));
  t.strictSame(
    back.map(([, alert]) => alert).sort(),
    ['keyword_lost 98', 'surface_stale 55', 'traffic_drop 93'],
    'clicks fell on day 90, the keyword was last shown on day 91; the surface had its last day 91 days before',
  );
  for (const [id, alert] of back) t.equal(alert, before.get(id));
  const anew = [...after].filter(([id]) => !before.has(id)).map(([, alert]) => alert);
  t.strictSame(anew.sort(), ['keyword_drop 91', 'url_changed 91', 'url_mismatch 95'], 'these began on days 80 and 85');
});
