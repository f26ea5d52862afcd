// Every backup is complete and can be restored, copies only new files, and damage never goes unnoticed.
import { cpSync, existsSync, globSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { readLastBackup } from '../../server/catalog/backups.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { command } from '../command.ts';
import { EVERYTHING } from '../load/snapshots.ts';
import { makeDataFolder } from '../process.ts';
import { smallDisk } from '../small-disk.ts';
import { facts, temporaryFolder, writeSnapshot } from '../world.ts';
import { filesIn, served } from './scene.ts';

const everything = writeSnapshot(t, EVERYTHING);

interface Scene {
  readonly dataFolder: string;
  readonly key: string;
  readonly target: string;
  /** Runs a command that succeeds, with `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: reports are compared as a whole or picked from
  readonly json: (...words: readonly string[]) => Promise<any>;
  /** Runs a command that fails; returns what it printed. */
  readonly fails: (...words: readonly string[]) => Promise<string>;
  /** Loads the clicks of a day. */
  readonly load: (day: string, clicks: number) => Promise<void>;
}

async function makeScene(t: Test): Promise<Scene> {
  const { dataFolder, keys } = await makeDataFolder(t, [everything]);
  const settings = { ORDINATE_DATA: dataFolder };
  const json = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await command(settings, ...words, '--json');
    t.equal(code, 0, `${words.join(' ')}: ${stderr}`);
    return JSON.parse(stdout) as unknown;
  };
  const fails = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await command(settings, ...words);
    t.equal(code, 1, words.join(' '));
    t.notMatch(stderr, /^ {4}at /m);
    return stdout + stderr;
  };
  const load = async (day: string, clicks: number) => {
    const rows = { site_daily: facts('date device', [day, 'desktop', clicks, 100, 900]) };
    t.match(await command(settings, 'load', writeSnapshot(t, rows)), { code: 0 });
  };
  return { dataFolder, key: keys[0]!, target: join(temporaryFolder(t), 'target'), json, fails, load };
}

/** Flips a bit in the middle of a file. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(file, bytes);
}

t.test('each backup is complete, only new files are copied, and each can be restored', async (t) => {
  const { dataFolder, key, target, json, fails, load } = await makeScene(t);
  const before = await served(t, dataFolder, key);
  const first = await json('backup', target);
  const manifest = globSync('facts/*/*/*.parquet', { cwd: dataFolder });
  t.match(first, { files: manifest.length, copied: manifest.length, kept: 1, removed: [], warnings: [], linked: 0 });
  const size = (folder: string, files: readonly string[]): number =>
    files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
  const catalogOf = (id: string): string => `catalogs/${id}.sqlite`;
  t.equal(first.bytes, size(target, [catalogOf(first.id), ...manifest]));
  t.equal(first.copiedBytes, first.bytes);
  const index = `indexes/${first.id}.ndjson`;
  t.strictSame(filesIn(target), [catalogOf(first.id), index, 'ordinate-backup.json', ...manifest].sort());

  const second = await json('backup', target);
  t.match(second, { files: manifest.length, copied: 0, kept: 2 });
  t.equal(second.copiedBytes, statSync(join(target, catalogOf(second.id))).size, 'only the catalog is new');
  await load('2026-03-02', 55);
  const third = await json('backup', target, '--quick');
  t.match(third, { files: manifest.length, copied: 1, kept: 3 });
  const after = await served(t, dataFolder, key);
  t.notSame(after, before);

  const listed = await json('backup', 'list', target);
  t.strictSame(
    listed.map(({ id }: { id: string }) => id),
    [first.id, second.id, third.id],
  );
  t.match(listed[2], { time: third.time, projects: 2, files: manifest.length, bytes: third.bytes, damage: null });
  t.match(await json('verify', target), { ok: true, backups: 3, problems: [] });

  const folder = temporaryFolder(t);
  const restored = async (name: string, ...at: readonly string[]) => {
    const data = join(folder, name);
    const report = await json('restore', target, '--data', data, ...at);
    return { report, data, served: await served(t, data, key) };
  };
  const latest = await restored('latest');
  t.match(latest.report, { id: third.id, projects: 2, files: manifest.length, bytes: third.bytes });
  t.strictSame(latest.served, after);
  for (const [at, wanted] of [
    [first.id, before],
    [second.time, before],
    [third.time.slice(0, 10), after],
  ] as const) {
    t.strictSame((await restored(`at ${at.replaceAll(':', '')}`, '--at', at)).served, wanted, at);
  }
  const settings = { ORDINATE_DATA: latest.data };
  t.match(await command(settings, 'verify'), { code: 0, stdout: /All is in order/ });
  t.match(await command(settings, 'load', everything), { code: 0 }, 'loads go on');
  t.match(await command(settings, 'verify'), { code: 0 });
  const long = new Date(Date.parse(first.time) - 1).toISOString();
  t.match(await fails('restore', target, '--data', join(folder, 'x'), '--at', long), /no backup until .*oldest one is/);
  t.match(await fails('restore', target, '--data', join(folder, 'x'), '--at', 'monday'), /'monday' is not a time/);
  t.match(await fails('restore', target, '--data', dataFolder), /is not empty.*move it away/);
  t.match(await fails('restore', folder, '--data', join(folder, 'x')), /There is no backup of Ordinate in/);
  t.notOk(existsSync(join(folder, 'x')));

  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const last = await readLastBackup(catalog);
  t.match(last, { target, files: third.files, bytes: third.bytes, copiedBytes: third.copiedBytes });
  t.ok(last!.finishedAt >= last!.startedAt && Math.abs(last!.finishedAt / 1000 - Date.now()) < 600_000);
});

t.test('what a restored folder must not have: sessions, lists, old revisions', async (t) => {
  const { dataFolder, key, target, json } = await makeScene(t);
  await command(
    { ORDINATE_DATA: dataFolder },
    'members',
    'add',
    '--workspace',
    'acme',
    '--email',
    'ann@acme.example',
    '--role',
    'owner',
  );
  t.match(await command({ ORDINATE_DATA: dataFolder }, 'login', '--workspace', 'acme', '--by', 'ann@acme.example'), {
    code: 0,
  });
  await served(t, dataFolder, key);
  const rows = (folder: string, table: string): number => {
    using db = new DatabaseSync(join(folder, 'catalog.sqlite'));
    return Number(db.prepare(`select count(*) as rows from ${table}`).get()!['rows']);
  };
  const revision = (folder: string): number => {
    using db = new DatabaseSync(join(folder, 'catalog.sqlite'));
    return Number(db.prepare('select min(facts_revision) as value from projects').get()!['value']);
  };
  t.ok(rows(dataFolder, 'lists') > 0 && rows(dataFolder, 'login_links') > 0);
  await json('backup', target);
  const data = join(temporaryFolder(t), 'restored');
  await json('restore', target, '--data', data);
  for (const table of ['lists', 'retired_lists', 'retired_files', 'login_links', 'sessions'])
    t.equal(rows(data, table), 0, table);
  t.equal(rows(data, 'members'), 1);
  t.ok(revision(data) > revision(dataFolder), 'no cached answer is taken for a later one');
});

t.test('the oldest backups go, with the files that no other needs, and nothing else', async (t) => {
  const { dataFolder, key, target, json, fails, load } = await makeScene(t);
  const ids: string[] = [];
  for (const clicks of [1, 2, 3]) {
    await load('2026-03-01', clicks);
    const { id, removed } = await json('backup', target, '--keep', '2');
    t.strictSame(removed, clicks === 3 ? [ids[0]] : []);
    ids.push(id);
  }
  const named = new Set(['ordinate-backup.json']);
  for (const id of ids.slice(1)) {
    named.add(`catalogs/${id}.sqlite`).add(`indexes/${id}.ndjson`);
    for (const [file = ''] of readFileSync(join(target, `indexes/${id}.ndjson`), 'utf8').matchAll(/facts\/[^"]+/g))
      named.add(file);
  }
  t.strictSame(filesIn(target), [...named].sort());
  t.match(await json('verify', target), { ok: true, backups: 2 });

  const own = [
    'notes.txt',
    'facts/site_daily/Proj1/all-0a1b2c3d-0000-4000-8000-000000000001.parquet',
    'catalogs/mine.sqlite',
    'indexes/mine',
  ];
  for (const file of own) writeFileSync(join(target, file), 'mine');
  await load('2026-03-01', 4);
  t.match(await json('backup', target, '--keep', '1'), { kept: 1, removed: [ids[1], ids[2]] });
  for (const file of own) t.ok(existsSync(join(target, file)), `${file} stays`);
  t.match(await json('verify', target), { ok: true, backups: 1 });
  const data = join(temporaryFolder(t), 'restored');
  await json('restore', target, '--data', data);
  t.strictSame(await served(t, data, key), await served(t, dataFolder, key));

  const other = temporaryFolder(t);
  writeFileSync(join(other, 'a file'), '');
  t.match(await fails('backup', other), /has other files/);
  t.strictSame(filesIn(other), ['a file']);
  for (const inside of [dataFolder, join(dataFolder, 'backup'), join(dataFolder, '..')]) {
    t.match(await fails('backup', inside), /overlaps the data folder/);
  }
  t.notOk(existsSync(join(dataFolder, 'backup')));
});

t.test('a damaged backup is named, restores nothing, and is repaired by the next backup', async (t) => {
  const { target, json, fails, load } = await makeScene(t);
  const first = await json('backup', target);
  await load('2026-03-01', 7);
  const second = await json('backup', target);
  const ofBoth = globSync('facts/keyword_daily/Proj1/*', { cwd: target })[0]!;
  const ofSecond = readFileSync(join(target, `indexes/${second.id}.ndjson`), 'utf8').match(
    /facts\/site_daily\/Proj1\/[^"]+/,
  )![0];
  const intact = temporaryFolder(t);
  cpSync(target, intact, { recursive: true });
  const again = (): void => {
    rmSync(target, { recursive: true });
    cpSync(intact, target, { recursive: true });
  };
  const catalog = `catalogs/${first.id}.sqlite`;
  const index = `indexes/${second.id}.ndjson`;
  const cases: [string, string, (file: string) => void, string[]][] = [
    ['a flipped bit', ofBoth, damage, [first.id, second.id]],
    ['a missing file', ofSecond, (file) => rmSync(file), [second.id]],
    ['a cut file', ofBoth, (file) => truncateSync(file, 20), [first.id, second.id]],
    ['a catalog', catalog, damage, [first.id]],
    ['an index', index, damage, [second.id]],
  ];
  for (const [what, file, harm, backups] of cases) {
    again();
    harm(join(target, file));
    const { code, stdout } = await command({}, 'verify', target, '--json');
    t.equal(code, 1, what);
    const { ok, problems } = JSON.parse(stdout) as { ok: boolean; problems: { file: string; backups: string[] }[] };
    t.match({ ok, problems }, { ok: false, problems: [{ file, backups }] });
    t.equal(problems.length, 1, 'and no other');
    t.match(await command({}, 'verify', target), {
      code: 1,
      stdout: new RegExp(`${file}' is damaged: .*${backups.join(', ')}`),
    });
    const folder = join(temporaryFolder(t), 'data');
    t.match(
      await fails('restore', target, '--data', folder, '--at', backups[0]!),
      new RegExp(`Nothing was restored: .*${file}' is damaged`),
    );
    t.notOk(existsSync(folder), 'the folder is as it was');
    if (what === 'an index') continue;
    const next = await json('backup', target);
    if (file.startsWith('facts')) {
      t.ok(next.copied >= 1);
      t.match(await json('verify', target), { ok: true, backups: 3 }, `${what} is repaired`);
    }
  }
  const others = filesIn(target);
  const third = await json('backup', target, '--keep', '1');
  t.match(third, { removed: [], warnings: [/is damaged.*until this file is removed no old backup is/] });
  for (const file of others) t.ok(existsSync(join(target, file)), 'nothing is removed that it may need');
  const listed = await json('backup', 'list', target);
  t.match(listed[1], { id: second.id, time: null, damage: /cut off or its content has changed/ });
  rmSync(join(target, index));
  t.match(await json('backup', target, '--keep', '1'), { removed: [first.id, third.id], kept: 1, warnings: [] });
  t.match(await json('verify', target), { ok: true, backups: 1 });
  for (const name of globSync('indexes/*', { cwd: target })) rmSync(join(target, name));
  const { code, stdout } = await command({}, 'verify', target, '--json');
  t.match(
    { code, ...JSON.parse(stdout) },
    { code: 1, ok: false, backups: 0 },
    'without any backup nothing is in order',
  );
});

t.test(
  'a damaged file is named and left out of a backup, unless the target has it; all others are there',
  async (t) => {
    const { dataFolder, target, json, load } = await makeScene(t);
    const [file = ''] = globSync('facts/site_daily/Proj1/*', { cwd: dataFolder });
    const intact = readFileSync(join(dataFolder, file));
    await json('backup', target);
    const files = filesIn(target);
    damage(join(dataFolder, file));
    const other = join(temporaryFolder(t), 'other');
    for (const link of [[], ['--link']]) {
      const { code, stdout } = await command({ ORDINATE_DATA: dataFolder }, 'backup', other, ...link);
      t.equal(code, 1);
      t.match(stdout, new RegExp(`${file}' is damaged.*It is not in the backup.*\n.*ordinate verify.*\n.*Backed up`));
      t.notOk(existsSync(join(other, file)));
    }
    const others = globSync('facts/*/*/*.parquet', { cwd: dataFolder }).filter((one) => one !== file);
    for (const one of others) t.ok(existsSync(join(other, one)), one);
    t.match(await command({}, 'verify', other), { code: 1, stdout: new RegExp(`has no '${file}' in the backup`) });
    const restored = join(temporaryFolder(t), 'restored');
    t.match(await command({}, 'restore', other, '--data', restored), { code: 0 });
    t.match(await command({ ORDINATE_DATA: restored }, 'verify'), {
      code: 1,
      stdout: new RegExp(`${file}' is damaged`),
    });
    t.match(await json('backup', target), { copied: 0 });
    rmSync(join(dataFolder, file));
    t.match(await json('backup', target), { copied: 0 });
    const missing = await command({ ORDINATE_DATA: dataFolder }, 'backup', other, '--keep', '1', '--json');
    t.equal(missing.code, 1);
    const lost = [{ file: join(dataFolder, file), damage: 'it is missing' }];
    t.match(
      JSON.parse(missing.stdout),
      { lost, removed: [], kept: 3 },
      'an earlier backup may be the last that has it',
    );
    writeFileSync(join(dataFolder, file), intact);
    await load('2026-03-01', 8);
    t.ok(filesIn(target).length > files.length);
    t.match(await json('verify', target), { ok: true });
  },
);

t.test('links are no copies: a later backup without --link makes them', async (t) => {
  const { dataFolder, target, json } = await makeScene(t);
  const files = globSync('facts/*/*/*.parquet', { cwd: dataFolder });
  const isLinked = (): number =>
    files.filter((file) => statSync(join(target, file)).ino === statSync(join(dataFolder, file)).ino).length;
  const first = await json('backup', target, '--link');
  t.match(first, { linked: files.length, copied: 0 });
  t.equal(isLinked(), files.length);
  t.match(await json('backup', target, '--link'), { linked: 0, copied: 0 });
  t.match(await json('backup', target), { linked: 0, copied: files.length });
  t.equal(isLinked(), 0);
  t.match(await json('verify', target), { ok: true, backups: 3 });
  t.match(await json('backup', target, '--link'), { linked: 0, copied: 0 }, 'copies stay copies');
});

t.test('only the owner can read a backup, and one process at a time uses it', async (t) => {
  const { target, json, fails } = await makeScene(t);
  await json('backup', target);
  for (const name of ['.', ...globSync('**/*', { cwd: target })])
    t.equal(statSync(join(target, name)).mode & 0o077, 0, name);
  using db = new DatabaseSync(join(target, 'backup.lock'));
  db.exec('begin exclusive');
  for (const words of [
    ['backup', target],
    ['verify', target],
    ['backup', 'list', target],
  ]) {
    t.match(await fails(...words), /is used by another backup, restore or verify/);
  }
  db.exec('rollback');
  t.match(await fails('backup', target, '--keep', '0').catch(String), /whole number from 1/);
});

t.test('a full disk ends a backup with an explanation and leaves the earlier ones', async (t) => {
  const { target, json, fails, load } = await makeScene(t);
  const disk = smallDisk(t, target, 4);
  if (disk === undefined) {
    t.comment('this user may not mount a disk');
    return;
  }
  await json('backup', target);
  const files = filesIn(target);
  await load('2026-03-01', 9);
  // First less than the new files need, then less than the catalog.
  for (const left of [0, 100_000]) {
    disk.fill(left);
    t.match(
      await fails('backup', target),
      /'.*target' has no room for this backup.*earlier backups are untouched.*--keep/,
    );
    disk.clear();
    t.strictSame(filesIn(target), files, 'nothing is left of it');
    t.match(await json('verify', target), { ok: true, backups: 1 });
  }
  t.match(await json('backup', target), { copied: 1, kept: 2 });
});
