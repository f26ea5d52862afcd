// A PostgreSQL catalog that is dropped, emptied or put back from an older dump: what is refused, and what is true then.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { NOUNS, TABLES } from '../catalog/nouns.ts';
import { type Copy, makeAll, seenOf } from '../catalog/scene.ts';
import { command } from '../command.ts';
import { temporaryFolder, writeSnapshot } from '../world.ts';
import { newDatabase, query, skip } from './databases.ts';
import { program } from './servers/postgres.ts';

/** A dump of a database, and the data folder beside it. */
interface Dump {
  readonly file: string;
  readonly dataFolder: string;
}

async function makeWorldOfAll(t: Test) {
  const folder = temporaryFolder(t);
  const catalogUrl = await newDatabase(t);
  const all = await makeAll(t, { ORDINATE_CATALOG: catalogUrl });
  const dump = (name: string): Dump => {
    const file = join(folder, `${name}.dump`);
    execFileSync(program('pg_dump'), ['--format=custom', `--file=${file}`, catalogUrl]);
    cpSync(all.dataFolder, join(folder, name), { recursive: true });
    return { file, dataFolder: join(folder, name) };
  };
  const before = dump('before');
  await all.begin();
  const then = dump('then');
  const backup = join(folder, 'backup');
  const backedUp = await command({ ...all.environment, ORDINATE_DATA: all.dataFolder }, 'backup', backup);
  t.equal(backedUp.code, 0, backedUp.stderr);
  await all.later();
  await all.end();
  const now = dump('now');
  /** Puts a dump back into a new database, beside a copy of a data folder. */
  const putBack = async (catalog: Dump, { dataFolder: from }: Dump = catalog): Promise<Copy> => {
    const dataFolder = join(temporaryFolder(t), 'data');
    cpSync(from, dataFolder, { recursive: true });
    const url = await newDatabase(t);
    execFileSync(program('pg_restore'), ['--no-owner', `--dbname=${url}`, catalog.file]);
    return { environment: { ...all.environment, ORDINATE_CATALOG: url, ORDINATE_DATA: dataFolder }, at: all.at() };
  };
  return { made: all.made, backup, dumps: { before, then, now }, putBack };
}

t.test('what is true of each noun after a loss', { skip }, async (t) => {
  const { made, backup, dumps, putBack } = await makeWorldOfAll(t);
  const before = await seenOf(await putBack(dumps.before), made);
  const then = await seenOf(await putBack(dumps.then), made);
  const now = await seenOf(await putBack(dumps.now), made);
  for (const { what } of NOUNS) t.notSame(then.get(what), now.get(what), `${what} changed after the dump`);

  await t.test('an older dump is as it was, and the facts with it: no copy tells that it is older', async (t) => {
    const older = await putBack(dumps.then, dumps.now);
    const seen = await seenOf(older, made);
    for (const { what } of NOUNS) t.strictSame(seen.get(what), then.get(what), what);
    t.match(await command(older.environment, 'rebuild'), { code: 1, stderr: /no copy to make it from.*pg_restore/ });
    const unknown = { code: 1, stdout: /is unknown to the catalog/ };
    t.match(await command(older.environment, 'verify'), unknown, 'but newer facts do');
  });

  await t.test('a backup is restored into a folder', async (t) => {
    const dataFolder = join(temporaryFolder(t), 'data');
    const { environment, at } = await putBack(dumps.now);
    const { ORDINATE_CATALOG: _, ...own } = environment;
    t.equal((await command(own, 'restore', backup, '--data', dataFolder)).code, 0);
    const seen = await seenOf({ environment: { ...own, ORDINATE_DATA: dataFolder }, at }, made);
    for (const { what, restored } of NOUNS) {
      const wanted = restored === 'lost' || restored === 'ended' ? before : then;
      t.strictSame(seen.get(what), wanted.get(what), `${what}, without a record of revocations`);
    }
  });

  const loaded = writeSnapshot(t, { site_daily: TABLES['site_daily']! });
  const target = join(temporaryFolder(t), 'backup');
  const edits = [
    ['load', loaded],
    ['notes', 'add', '--project', 'Proj1', '--text', 'new'],
    ['backup', target],
    ['verify'],
    ['keys', 'list', '--workspace', 'acme'],
  ];
  const looks = [
    ['projects', 'list'],
    ['workspaces', 'list'],
  ];
  const factsOf = ({ environment }: Copy) => globSync('facts/**/*', { cwd: environment['ORDINATE_DATA']! }).sort();

  await t.test('beside facts, no catalog is begun anew in a database whose schema was dropped', async (t) => {
    const lost = await putBack(dumps.now);
    const facts = factsOf(lost);
    await query(lost.environment['ORDINATE_CATALOG']!, 'drop schema public cascade; create schema public');
    const said = /There is no catalog in the database.*contains facts; nothing was changed.*pg_restore/;
    for (const words of [...edits, ...looks, ['serve']]) {
      t.match(await command(lost.environment, ...words), { code: 1, stderr: said }, words[0]!);
    }
    t.strictSame(factsOf(lost), facts);
    t.strictSame(
      await query(lost.environment['ORDINATE_CATALOG']!, "select 1 from pg_tables where schemaname = 'public'"),
      [],
    );
  });

  await t.test('a database without rows is like a new one, but loads beside facts are refused', async (t) => {
    const lost = await putBack(dumps.now);
    const facts = factsOf(lost);
    const url = lost.environment['ORDINATE_CATALOG']!;
    const tables = await query<{ name: string }>(
      url,
      "select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'catalog_version'",
    );
    await query(url, `truncate ${tables.map(({ name }) => `"${name}"`).join()}`);
    for (const words of [['load', loaded], ['verify']]) {
      const refused = { code: 1, stderr: /The catalog has lost its rows.*Restore it from a backup/ };
      t.match(await command(lost.environment, ...words), refused, words[0]!);
    }
    t.match(await command(lost.environment, 'backup', target), { code: 1, stderr: /nothing was copied/ });
    for (const words of looks) t.match(await command(lost.environment, ...words), { stderr: '' }, 'as in a new one');
    t.strictSame(factsOf(lost), facts);
  });
});
