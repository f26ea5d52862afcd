// A lost, damaged or older catalog: what is refused before it is repaired, and what is true of each noun after it.
import { cpSync, globSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Command } from 'commander';
import t, { type Test } from 'tap';
import { programFor } from '../../cli/program.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { command, wordsOf } from '../command.ts';
import { localOnly } from '../stores.ts';
import { makeWorld, temporaryFolder, writeSnapshot } from '../world.ts';
import { BOOKS, type Made, NOUNS, TABLES } from './nouns.ts';
import { type Copy, makeAll, seenOf } from './scene.ts';

const CATALOG = 'catalog.sqlite';

/** Copies of a data folder: as it began, when a backup was made, and as it was last. */
interface World {
  readonly made: Made;
  readonly backup: string;
  /** An open copy, whose server and commands have their own folder. */
  readonly copy: (name: string) => Copy;
  readonly folders: Readonly<Record<'before' | 'then' | 'now', Copy>>;
}

async function makeWorldOfAll(t: Test): Promise<World> {
  const folder = temporaryFolder(t);
  const backup = join(folder, 'backup');
  const copyTo = (from: string, name: string): string => {
    const to = join(folder, name);
    // Another process makes the index of the log anew.
    cpSync(from, to, { recursive: true, filter: (file) => !file.endsWith('-shm') });
    return to;
  };
  const all = await makeAll(t);
  const at = (dataFolder: string): Copy => ({
    environment: { ...all.environment, ORDINATE_DATA: dataFolder },
    at: all.at(),
  });
  const take = (name: string): Copy => at(copyTo(all.dataFolder, name));
  const before = take('before');
  await all.begin();
  const then = take('then');
  const made = await command({ ...all.environment, ORDINATE_DATA: all.dataFolder }, 'backup', backup);
  t.equal(made.code, 0, made.stderr);
  await all.later();
  await all.end();
  const now = take('now');
  return {
    ...{ made: all.made, backup, folders: { before, then, now } },
    copy: (name) => at(copyTo(now.environment['ORDINATE_DATA']!, name)),
  };
}

const pathOf = ({ environment }: Copy): string => join(environment['ORDINATE_DATA']!, CATALOG);
const lose = (copy: Copy): void => {
  for (const file of globSync(`${pathOf(copy)}*`)) rmSync(file);
};
/** Puts the catalog of the backup into a folder, as the guide says. */
function putBack(copy: Copy, backup: string): void {
  lose(copy);
  cpSync(join(backup, 'catalogs', readdirSync(join(backup, 'catalogs'))[0]!), pathOf(copy));
}
const halve = (path: string): void => truncateSync(path, Math.floor(statSync(path).size / 2));

/** The rows of all tables. A rebuilt catalog is another one than that which was lost. */
function rowsOf(copy: Copy): Record<string, string[]> {
  using db = new DatabaseSync(pathOf(copy));
  const tables = db.prepare("select name from sqlite_schema where type = 'table' and name <> 'store_identity'").all();
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      db
        .prepare(`select * from ${String(name)}`)
        .all()
        .map((row) => JSON.stringify(row))
        .sort(),
    ]),
  );
}

t.test('each table of the catalog belongs to a noun, or keeps the books of others', localOnly, async (t) => {
  const dataFolder = temporaryFolder(t);
  await (await openCatalog(sqliteIn(dataFolder))).close();
  using db = new DatabaseSync(join(dataFolder, CATALOG));
  const tables = db
    .prepare("select name from sqlite_schema where type = 'table'")
    .all()
    .map(({ name }) => String(name));
  const known = new Set([...NOUNS.flatMap((noun) => noun.tables), ...Object.keys(BOOKS)]);
  t.strictSame(tables.sort(), [...known].sort());
});

t.test('what is true of each noun after a loss', localOnly, async (t) => {
  const { made, backup, copy, folders } = await makeWorldOfAll(t);
  const seen = (of: Copy) => seenOf(of, made);
  const before = await seen(folders.before);
  const then = await seen(folders.then);
  const now = await seen(folders.now);
  for (const { what } of NOUNS) {
    t.notSame(then.get(what), now.get(what), `${what} changed after the copy`);
    t.notSame(before.get(what), then.get(what), `${what} were made before the copy`);
  }
  const wanted = { 'comes back': now, 'as in the copy': then, lost: before, ended: before };
  const asSaid = async (t: Test, of: Copy, loss: 'rebuilt' | 'older' | 'restored'): Promise<void> => {
    const after = await seen(of);
    for (const noun of NOUNS) {
      const { what, [loss]: outcome } = noun;
      t.strictSame(after.get(what), wanted[outcome].get(what), `${what}: ${outcome}`);
    }
  };

  const rebuilt = copy('rebuilt');
  await t.test('rebuilt from the journal', async (t) => {
    lose(rebuilt);
    const { code, stdout, stderr } = await command(rebuilt.environment, 'rebuild');
    t.equal(code, 0, stderr);
    t.match(stdout, /so lost: members, keys, /);
    const rows = rowsOf(rebuilt);
    for (const [how, damage] of Object.entries({
      emptied: (path: string) => writeFileSync(path, ''),
      halved: halve,
    })) {
      const damaged = copy(how);
      for (const file of globSync(`${pathOf(damaged)}-*`)) rmSync(file);
      damage(pathOf(damaged));
      if (how === 'halved') {
        t.match(await command(damaged.environment, 'rebuild'), {
          code: 1,
          stderr: /move it away and run 'ordinate rebuild'/,
        });
        lose(damaged);
      }
      t.equal((await command(damaged.environment, 'rebuild')).code, 0);
      t.strictSame(rowsOf(damaged), rows, how);
    }
    await asSaid(t, rebuilt, 'rebuilt');
  });

  await t.test('rebuilt over an older catalog', async (t) => {
    const older = copy('older');
    putBack(older, backup);
    const { code, stdout, stderr } = await command(older.environment, 'rebuild');
    t.equal(code, 0, stderr);
    t.match(stdout, /is that of the older catalog.*Keys that were revoked since are valid again/s);
    await asSaid(t, older, 'older');
  });

  await t.test('restored from a backup', async (t) => {
    const restored = {
      ...folders.now,
      environment: { ...folders.now.environment, ORDINATE_DATA: join(temporaryFolder(t), 'data') },
    };
    const { code, stdout, stderr } = await command(
      {},
      'restore',
      backup,
      '--data',
      restored.environment['ORDINATE_DATA']!,
    );
    t.equal(code, 0, stderr);
    t.match(stdout, /Keys that were revoked since then are valid again/);
    await asSaid(t, restored, 'restored');
    lose(restored);
    t.equal((await command(restored.environment, 'rebuild')).code, 0, 'it has a journal of its own');
    const again = await seen(restored);
    for (const { what } of NOUNS.filter((noun) => noun.rebuilt === 'comes back')) {
      t.strictSame(again.get(what), then.get(what), `${what} come back again`);
    }
  });

  await t.test(
    'an older catalog is read as it was, and not changed by loads and edits before it is rebuilt',
    async (t) => {
      const older = copy('unrepaired');
      putBack(older, backup);
      const { environment } = older;
      const project = ['--project', 'Proj1'];
      const snapshot = writeSnapshot(t, { site_daily: TABLES['site_daily']! });
      const facts = globSync('facts/**/*', { cwd: environment['ORDINATE_DATA']! }).sort();
      for (const words of [
        ['load', snapshot],
        ['notes', 'add', ...project, '--text', 'new'],
        ['keywords', 'add', ...project, '--query', 'new'],
        ['keywords', 'archive', ...project, '--query', 'boots'],
        ['rules', 'remove', made['rule kept']!],
        ['projects', 'set', ...project, '--country', 'fra'],
        ['projects', 'remove', 'Kept1', '--confirm', 'Kept1'],
        ['workspaces', 'remove', 'acme', '--confirm', 'acme'],
      ]) {
        const { code, stdout, stderr } = await command(environment, ...words);
        t.match(
          { code, said: stdout + stderr },
          { code: 1, said: /older than the facts.*Run 'ordinate rebuild'/s },
          words.join(' '),
        );
      }
      t.strictSame(globSync('facts/**/*', { cwd: environment['ORDINATE_DATA']! }).sort(), facts);
      const found = await seen(older);
      for (const { what } of NOUNS) t.strictSame(found.get(what), then.get(what), what);
    },
  );

  await t.test('an older catalog is not noticed if nothing was loaded or edited since', async (t) => {
    const quiet = copy('quiet');
    const id = made['key kept']!;
    const kept = `${pathOf(quiet)}.kept`;
    {
      // All is in the file when nobody has it open.
      using db = new DatabaseSync(pathOf(quiet));
      db.exec('pragma wal_checkpoint(truncate)');
    }
    cpSync(pathOf(quiet), kept);
    t.equal((await command(quiet.environment, 'keys', 'revoke', id, '--workspace', 'acme')).code, 0);
    cpSync(kept, pathOf(quiet));
    t.match(await command(quiet.environment, 'rebuild'), { code: 0, stdout: /The manifest was rebuilt/ });
    const keys = JSON.parse((await command(quiet.environment, 'keys', 'list', '--workspace', 'acme', '--json')).stdout);
    t.match(
      keys.find((key: { id: string }) => key.id === id),
      { revokedAt: null },
    );
  });
});

/** The first example of each command. */
function examplesOf(of: Command): string[] {
  let help = '';
  of.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 100 }).outputHelp();
  const [, first] = /\nExamples:\n {2}ordinate (.*)/.exec(help) ?? [];
  return [...(first === undefined ? [] : [first]), ...of.commands.flatMap(examplesOf)];
}

/** Commands that run until they are stopped. */
const LONG = /^(?:serve|work|demo)\b/;
/** Commands that do not need the catalog, or are told of another place, or ask for a file first. */
const APART =
  /^(?:describe|install-service|properties|trino ddl|backup list|restore|rebuild|(?:projects create|connections set) )/;

t.test(
  'every command refuses a catalog that is missing, empty or cut off, and says what to do',
  localOnly,
  async (t) => {
    const { dataFolder, catalog } = await makeWorld(t, TABLES);
    await catalog.close();
    const examples = examplesOf(await programFor([])).filter((line) => !APART.test(line));
    t.ok(examples.length > 55);
    const losses: Readonly<Record<string, (path: string) => void>> = {
      missing: rmSync,
      empty: (path) => writeFileSync(path, ''),
      corrupt: halve,
    };
    for (const [what, damage] of Object.entries(losses)) {
      const folder = join(temporaryFolder(t), 'data');
      cpSync(dataFolder, folder, { recursive: true });
      damage(join(folder, CATALOG));
      const all = (): string[] => globSync('{catalog*,facts,facts/**/*}', { cwd: folder }).sort();
      const held = all();
      // A server that starts all the same would not end.
      const ordered = examples.toSorted((a, b) => Number(LONG.test(a)) - Number(LONG.test(b)));
      for (const line of ordered) {
        if (LONG.test(line) && !t.passing()) continue;
        const { code, stderr } = await command({ ORDINATE_DATA: folder, ORDINATE_SYNC: 'off' }, ...wordsOf(line));
        const said = new RegExp(`^The catalog '${folder}/${CATALOG}' is ${what}[^]*'ordinate rebuild'`);
        t.match({ code, stderr }, { code: 1, stderr: said }, `${what}: ${line}`);
      }
      t.strictSame(all(), held, 'nothing is begun anew');
    }
  },
);

t.test('a server whose catalog was cut off or written over is not ready, and mixes nothing', localOnly, async (t) => {
  for (const [how, damage] of Object.entries({
    'cut off': halve,
    'written over': (path: string) => writeFileSync(path, readFileSync(path).subarray().fill(1, 4096)),
  })) {
    const { app, ask, dataFolder, load } = await makeWorld(t, TABLES);
    const before = await ask('/site?from=2026-03-01&to=2026-03-02');
    t.equal(before.status, 200);
    damage(join(dataFolder, CATALOG));
    t.equal((await app.inject('/readyz')).statusCode, 503, how);
    const after = await ask('/site?from=2026-03-01&to=2026-03-02');
    if (after.status === 200) t.strictSame(after.body, before.body);
    else t.ok(after.status >= 500, how);
    await t.rejects(load({ site_daily: TABLES['site_daily']! }), how);
  }
});
