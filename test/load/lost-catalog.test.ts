// A lost or outdated catalog is rebuilt from the files beside the facts, and no data is lost silently.
import { cpSync, globSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { listEvaluatedAlerts } from '../../server/catalog/evaluations.ts';
import { nameCatalogFailure } from '../../server/catalog/failures.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { addDays, countDays, type Day } from '../../server/domain/dates.ts';
import { openJournal } from '../../server/load/journal.ts';
import { loadSnapshot } from '../../server/load/load.ts';
import { journaledTransaction } from '../../server/load/publish.ts';
import { ENTITIES } from '../../server/load/tables.ts';
import { KEPT_TABLES, rebuild } from '../../server/maintenance/rebuild.ts';
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

/** A row of a table about a project: every column is filled, apart from choices that another one excludes. */
function filledRow(db: DatabaseSync, table: string, project: string): Record<string, string | number | null> {
  const number = Number(project.slice(-1));
  const known: Record<string, string | number | null> = {
    ...{ workspace_id: 'acme', project_id: project, key_id: `keys ${project}`, channel_id: `channels ${project}` },
    ...{ id: table === 'audit' ? number : `${table} ${project}`, grant_id: `grants ${project}`, dataset: null },
    ...{ role: 'owner', severity: 'info', min_severity: 'info', state: table === 'channels' ? 'on' : '{}' },
    ...{ kind: table === 'connections' ? 'bing' : 'webhook', archive: 'none', counts: '{}' },
  };
  const columns = db.prepare(`pragma table_info(${table})`).all() as { name: string; type: string }[];
  const filled = ({ name, type }: { name: string; type: string }): string | number | null =>
    name in known ? known[name]! : /int/i.test(type) ? 1 : `${name} ${project}`;
  return Object.fromEntries(columns.map((column) => [column.name, filled(column)]));
}

t.test('what the journal does not have comes from an older catalog, or is named as lost', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  const path = join(dataFolder, 'catalog.sqlite');
  const rowsOf = (): Record<string, unknown[]> => {
    using db = new DatabaseSync(path);
    const rows = (table: string) =>
      db
        .prepare(`select * from ${table}`)
        .all()
        .map((row) => JSON.stringify(row));
    return Object.fromEntries(KEPT_TABLES.map(({ table }) => [table, rows(table).sort()]));
  };
  {
    using db = new DatabaseSync(path);
    for (const { table } of KEPT_TABLES) {
      db.exec(`delete from ${table}`);
      for (const project of ['Proj1', 'Proj2']) {
        const row = filledRow(db, table, project);
        const names = Object.keys(row);
        const values = names.map(() => '?').join();
        db.prepare(`insert into ${table} (${names.join()}) values (${values})`).run(...Object.values(row));
      }
    }
    db.exec("update workspaces set requests_per_minute = 7, keep_days = 400 where id = 'acme'");
  }
  const before = rowsOf();
  const older = join(temporaryFolder(t), 'older.sqlite');
  cpSync(path, older);
  const projects = EVERYTHING['projects']!.filter(({ id }) => id === 'Proj1');
  await load(dataFolder, { projects }, { replace: true, confirmDelete: ['Proj2'] });
  removeCatalog(dataFolder);
  cpSync(older, path);
  t.match(await rebuild(dataFolder), { rebuilt: 'catalog', lost: [], projects: 1 });
  const ofProject = /"(?:project_id":"|channel_id":"channels )Proj2"/;
  const kept = Object.entries(before).map(([table, rows]) => [
    table,
    rows.filter((row) => !ofProject.test(String(row))),
  ]);
  t.strictSame(rowsOf(), Object.fromEntries(kept));
  const limits = await command({ ORDINATE_DATA: dataFolder }, 'workspaces', 'list', '--json');
  t.match(JSON.parse(limits.stdout), [{ id: 'acme', requestsPerMinute: 7, keepDays: 400 }]);
  removeCatalog(dataFolder);
  const { code, stdout } = await command({ ORDINATE_DATA: dataFolder }, 'rebuild');
  t.equal(code, 0);
  t.match(stdout, /so lost: members, keys, .*saved views, .*evaluated alerts/);
  t.strictSame(Object.values(rowsOf()).flat(), []);
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

/** Tables of the catalog that are neither in the journal nor taken from an older catalog, and why. */
const LEFT: Readonly<Record<string, string>> = {
  'made of the journal': 'bulk_export_days fact_files keyword_gaps loaded_tables publication removed_parts',
  'found out again': 'sync_projects sync_days sync_keywords provider_pauses sitemaps last_backup store_identity',
  'read again': 'ranking_updates ranking_feed',
  'kept for a while to save work': 'lists list_totals retired_lists retired_files revision submissions',
  'would let people in again who were turned away since': 'sessions login_links connect_attempts invitations',
  'would be sent twice': 'deliveries',
  "SQLite's own": 'sqlite_sequence',
};

t.test('each table of the catalog is in the journal, taken from an older catalog, or left for a reason', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  using db = new DatabaseSync(join(dataFolder, 'catalog.sqlite'));
  const tables = db
    .prepare("select name from sqlite_schema where type = 'table'")
    .all()
    .map(({ name }) => String(name));
  const known = [
    ...ENTITIES.map(({ name }) => name),
    ...KEPT_TABLES.map(({ table }) => table),
    ...Object.values(LEFT).flatMap((names) => names.split(' ')),
  ];
  t.strictSame(tables.sort(), known.sort());
});
