// A lost, damaged or older catalog: what is refused before it is repaired, and what is true of each noun after it.
import { cpSync, globSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Command } from 'commander';
import t, { type Test } from 'tap';
import { programFor } from '../../cli/program.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { keepCopy } from '../../server/catalog/store.ts';
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
  /** All records of the journal since then. */
  readonly records: string;
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
  /** What is beside the facts is as new as the catalog, as a server leaves it within a minute. */
  const take = async (name: string): Promise<Copy> => {
    await keepCopy(all.dataFolder);
    return at(copyTo(all.dataFolder, name));
  };
  const before = await take('before');
  await all.begin();
  const then = await take('then');
  const made = await command({ ...all.environment, ORDINATE_DATA: all.dataFolder }, 'backup', backup);
  t.equal(made.code, 0, made.stderr);
  // Records that only the copies of the backup lack go with these.
  const records = join(folder, 'records');
  await all.later(() => cpSync(join(all.dataFolder, 'facts/journal'), records, { recursive: true }));
  await all.end();
  const now = await take('now');
  return {
    ...{ made: all.made, backup, records, folders: { before, then, now } },
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

/** The rows of all tables, whenever they were rebuilt. */
function rowsOf(copy: Copy): Record<string, string[]> {
  using db = new DatabaseSync(pathOf(copy));
  const tables = db.prepare("select name from sqlite_schema where type = 'table'").all();
  // Made of the time.
  const revision = String(db.prepare('select value from revision').get()!['value']);
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      db
        .prepare(`select * from ${String(name)}`)
        .all()
        .map((row) =>
          JSON.stringify(row)
            .replaceAll(revision, 'revision')
            .replace(/"retired_at":\d+/, ''),
        )
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
  const { made, backup, records, copy, folders } = await makeWorldOfAll(t);
  const seen = (of: Copy) => seenOf(of, made);
  const before = await seen(folders.before);
  const then = await seen(folders.then);
  const now = await seen(folders.now);
  for (const { what } of NOUNS) {
    t.notSame(then.get(what), now.get(what), `${what} changed after the copy`);
    t.notSame(before.get(what), then.get(what), `${what} were made before the copy`);
  }
  const wanted = { 'comes back': now, 'as in the copy': then, lost: before, ended: before };
  const asSaid = async (t: Test, of: Copy, loss: 'rebuilt' | 'since' | 'restored'): Promise<void> => {
    const after = await seen(of);
    for (const { what, removed, [loss]: outcome } of NOUNS) {
      const expected =
        outcome === 'stays removed' ? removed!(then.get(what), now.get(what)) : wanted[outcome].get(what);
      t.strictSame(after.get(what), expected, `${what}: ${outcome}`);
    }
  };

  /** Leaves the copies that there were when the backup was made, with the records after them. */
  const withoutLaterCopies = (of: Copy): void => {
    const copies = (copy: Copy): string => join(copy.environment['ORDINATE_DATA']!, 'facts/copies');
    rmSync(copies(of), { recursive: true });
    cpSync(copies(folders.then), copies(of), { recursive: true });
    cpSync(records, join(copies(of), '../journal'), { recursive: true });
  };

  /** Puts a lost catalog and its copies back into a folder that has a later one. */
  const findLater = async (t: Test, of: Copy, lost: Copy): Promise<void> => {
    const data = of.environment['ORDINATE_DATA']!;
    cpSync(join(lost.environment['ORDINATE_DATA']!, 'facts/copies'), join(data, 'facts/copies'), { recursive: true });
    lose(of);
    cpSync(pathOf(lost), pathOf(of));
    t.match(await command(of.environment, 'projects', 'list'), { code: 1, stderr: /older than the facts/ });
    t.match(await command(of.environment, 'rebuild'), { code: 0, stdout: /was rebuilt from the copy of 20/ });
  };

  const revokedAt = async (of: Copy): Promise<unknown> => {
    const { stdout, stderr } = await command(of.environment, 'keys', 'list', '--workspace', 'acme', '--json');
    if (stdout === '') return stderr;
    return JSON.parse(stdout).find(({ id }: { id: string }) => id === made['key kept']).revokedAt;
  };

  const rebuilt = copy('rebuilt');
  await t.test('rebuilt from its last copy', async (t) => {
    lose(rebuilt);
    const { code, stdout, stderr } = await command(rebuilt.environment, 'rebuild');
    t.equal(code, 0, stderr);
    t.match(stdout, /was rebuilt from the copy of 20.*stays so: keys, feeds/s);
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
    const late = copy('found');
    withoutLaterCopies(late);
    lose(late);
    t.equal((await command(late.environment, 'rebuild')).code, 0);
    await findLater(t, late, folders.now);
    await asSaid(t, late, 'since');
  });

  await t.test('rebuilt over an older catalog', async (t) => {
    const older = copy('older');
    putBack(older, backup);
    const { code, stdout, stderr } = await command(older.environment, 'rebuild');
    t.equal(code, 0, stderr);
    t.match(stdout, /was rebuilt from the copy of 20/);
    await asSaid(t, older, 'rebuilt');
  });

  await t.test('rebuilt from a copy that lacks the last changes', async (t) => {
    const late = copy('late');
    withoutLaterCopies(late);
    lose(late);
    const { code, stderr } = await command(late.environment, 'rebuild');
    t.equal(code, 0, stderr);
    await asSaid(t, late, 'since');
    t.match(await command(late.environment, 'verify'), { code: 0 });
  });

  await t.test('rebuilt from an earlier copy where later ones are damaged', async (t) => {
    const spoilt = copy('spoilt');
    const data = spoilt.environment['ORDINATE_DATA']!;
    const copies = globSync('facts/copies/*', { cwd: data }).sort();
    const bytes = readFileSync(join(data, copies.at(-1)!));
    bytes[bytes.length - 100]! ^= 1;
    writeFileSync(join(data, copies.at(-1)!), bytes);
    halve(join(data, copies.at(-2)!));
    lose(spoilt);
    const { code, stdout } = await command(spoilt.environment, 'rebuild');
    t.equal(code, 0);
    t.equal(stdout.match(/is damaged and was left out/g)?.length, 2);
    t.match(await command(spoilt.environment, 'verify'), { code: 0 });
  });

  await t.test('restored from a backup', async (t) => {
    const restored = {
      ...folders.now,
      environment: { ...folders.now.environment, ORDINATE_DATA: join(temporaryFolder(t), 'data') },
    };
    const to = ['--data', restored.environment['ORDINATE_DATA']!];
    const { code, stdout, stderr } = await command(folders.now.environment, 'restore', backup, ...to);
    t.equal(code, 0, stderr);
    t.match(stdout, /What was revoked or removed since then.*stays so/);
    await asSaid(t, restored, 'restored');
    lose(restored);
    t.equal((await command(restored.environment, 'rebuild')).code, 0, 'it has a copy of its own');
    await asSaid(t, restored, 'restored');
    const again = async (used: Copy): Promise<Copy> => {
      const to = { ...used, environment: { ...used.environment, ORDINATE_DATA: join(temporaryFolder(t), 'data') } };
      const words = ['restore', backup, '--data', to.environment['ORDINATE_DATA']!];
      t.match(await command(used.environment, ...words), { code: 0, stdout: /according to .* stays so/ });
      return to;
    };
    const second = await again(restored);
    await asSaid(t, second, 'restored');
    const revoked = await command(second.environment, 'keys', 'revoke', made['key kept']!, '--workspace', 'acme');
    t.equal(revoked.code, 0, revoked.stderr);
    const third = await again(second);
    t.match(await revokedAt(third), /^20/, 'what was revoked in a restored folder stays so in the next');
    await findLater(t, third, folders.now);
    t.match(await revokedAt(third), /^20/);
    const apart = ['--data', join(temporaryFolder(t), 'apart')];
    t.match(
      (await command({ ORDINATE_DATA: join(apart[1]!, '..', 'none') }, 'restore', backup, ...apart)).stdout,
      /Keys, feeds, shared links, members, channels and connections .* are valid again/,
    );
  });

  await t.test('an older catalog is refused by every command until it is rebuilt', async (t) => {
    const older = copy('unrepaired');
    putBack(older, backup);
    const { environment } = older;
    const project = ['--project', 'Proj1'];
    const snapshot = writeSnapshot(t, { site_daily: TABLES['site_daily']! });
    const facts = globSync('facts/**/*', { cwd: environment['ORDINATE_DATA']! }).sort();
    for (const words of [
      ['serve'],
      ['projects', 'list'],
      ['load', snapshot],
      ['notes', 'add', ...project, '--text', 'new'],
      ['keywords', 'archive', ...project, '--query', 'boots'],
      ['projects', 'remove', 'Kept1', '--confirm', 'Kept1'],
      ['keys', 'revoke', made['key kept']!, '--workspace', 'acme'],
      ['backup', join(temporaryFolder(t), 'backup')],
    ]) {
      const { code, stdout, stderr } = await command(environment, ...words);
      t.match(
        { code, said: stdout + stderr },
        { code: 1, said: /older than the facts.*Run 'ordinate rebuild'/s },
        words.join(' '),
      );
    }
    t.strictSame(globSync('facts/**/*', { cwd: environment['ORDINATE_DATA']! }).sort(), facts);
  });

  await t.test(
    'an older catalog is noticed also if nothing was loaded since, and nothing revoked comes back',
    async (t) => {
      const quiet = copy('quiet');
      const kept = join(temporaryFolder(t), CATALOG);
      {
        // All is in the file when nobody has it open.
        using db = new DatabaseSync(pathOf(quiet));
        db.exec('pragma wal_checkpoint(truncate)');
      }
      cpSync(pathOf(quiet), kept);
      const copies = globSync('facts/copies/*', { cwd: quiet.environment['ORDINATE_DATA']! });
      t.equal((await command(quiet.environment, 'keys', 'revoke', made['key kept']!, '--workspace', 'acme')).code, 0);
      cpSync(kept, pathOf(quiet));
      t.match(await revokedAt(quiet), /older than the facts.*Run 'ordinate rebuild'/);
      t.match(await command(quiet.environment, 'rebuild'), { code: 0, stdout: /from the copy of/ });
      t.match(await revokedAt(quiet), /^20/);

      // Where no copy was made since then, as right after a revocation.
      for (const file of globSync('facts/copies/*', { cwd: quiet.environment['ORDINATE_DATA']! })) {
        if (!copies.includes(file)) rmSync(join(quiet.environment['ORDINATE_DATA']!, file));
      }
      lose(quiet);
      cpSync(kept, pathOf(quiet));
      t.match(await revokedAt(quiet), /^20/);
    },
  );
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
