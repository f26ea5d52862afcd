// A finished load survives a power failure, and replaced files stay until no request reads them.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { command } from '../command.ts';
import { run } from '../process.ts';
import { facts, keyword, PROJECT, type Tables, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';

const ENTITIES: Tables = { workspaces: [WORKSPACE], projects: [PROJECT], keywords: [keyword('Kw001', 'a')] };
const FACTS: Tables = {
  ...ENTITIES,
  site_daily: facts('date device', ['2026-03-01', 'desktop', 3, 100, 900]),
  keyword_daily: facts('keyword_id date device', ['Kw001', '2026-03-01', 'desktop', 2, 10, 15]),
};

async function manifestOf(dataFolder: string): Promise<string[]> {
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  return (await catalog.statements.all<{ file: string }>('fact-files.all')).map(({ file }) => join(dataFolder, file));
}

/** What the first command on a folder says, and nothing else. */
const QUIET = /^(Created the data folder .+\n)?$/;

async function load(t: Test, dataFolder: string, tables: Tables): Promise<void> {
  t.match(await command({ ORDINATE_DATA: dataFolder }, 'load', writeSnapshot(t, tables)), { code: 0, stderr: QUIET });
}

t.test('all that a load wrote is on the disk before its commit, and the commit is durable itself', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'data');
  const trace = join(temporaryFolder(t), 'trace');
  const tracer = new URL('../fakes/trace-disk.ts', import.meta.url);
  const traced = { ORDINATE_DATA: dataFolder, DISK_TRACE: trace, NODE_OPTIONS: `--import ${tracer.href}` };
  t.match(await run(t, traced, 'load', writeSnapshot(t, FACTS)), { code: 0, stderr: QUIET });
  const lines = readFileSync(trace, 'utf8').trimEnd().split('\n');
  const catalog = join(dataFolder, 'catalog.sqlite');
  const record = lines.findIndex((line) => /^sync .*\.pending\.ndjson$/.test(line));
  t.ok(record >= 0, 'the record in the journal is on the disk');
  // What comes later are alerts.
  const published = lines.indexOf(`commit ${catalog} 2`, record);
  t.ok(published > 0, 'it commits with synchronous = full');
  // What the usage database has may be lost.
  t.notOk(lines.some((line) => line.startsWith(`commit ${catalog}`) && !line.endsWith(' 2')));

  const before = new Set(lines.slice(0, published));
  const files = await manifestOf(dataFolder);
  t.equal(files.length, 5, 'two tables and three rollups');
  for (const file of files) {
    t.ok(before.has(`sync ${file}`), `${file} is on the disk before the commit`);
    for (let folder = dirname(file); folder !== dataFolder; folder = dirname(folder)) {
      const synced = lines.lastIndexOf(`sync ${folder}`, published);
      t.ok(synced > lines.indexOf(`sync ${file}`), `the names in ${folder} too, after their files`);
    }
  }
  t.ok(before.has(`sync ${dataFolder}`));
  const journal = join(dataFolder, 'facts', 'journal');
  t.ok(lines.lastIndexOf(`sync ${journal}`, published) > record, 'and its name');
  const renamed = lines.findIndex((line) => line.startsWith('rename') && line.endsWith('.change.ndjson'));
  t.ok(renamed > published && lines.indexOf(`sync ${journal}`, renamed) > 0, 'it counts as committed after the commit');
});

t.test('files that a load replaced stay for the requests that still read them, and go after an hour', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'data');
  await load(t, dataFolder, FACTS);
  const replaced = await manifestOf(dataFolder);
  await load(t, dataFolder, FACTS);
  await load(t, dataFolder, ENTITIES);
  t.ok(
    replaced.every((file) => existsSync(file)),
    'two loads later they are there',
  );

  const later = (seconds: number): void => {
    using db = new DatabaseSync(join(dataFolder, 'catalog.sqlite'));
    db.exec(`update retired_files set retired_at = (unixepoch() - ${seconds}) * 1000000`);
  };
  later(3600);
  await load(t, dataFolder, ENTITIES);
  t.ok(
    replaced.every((file) => existsSync(file)),
    'for as long as the longest request',
  );
  later(2 * 3600);
  await load(t, dataFolder, ENTITIES);
  t.notOk(replaced.some((file) => existsSync(file)));
  t.ok((await manifestOf(dataFolder)).every((file) => existsSync(file)));
});
