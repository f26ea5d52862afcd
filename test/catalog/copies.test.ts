// Copies of the catalog beside the facts, and records of revocations: whole, few, and enough to recover a lost catalog.
import { hash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { copyStateInto } from '../../server/catalog/copy.ts';
import { revokeKey } from '../../server/catalog/keys.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { REVOCATIONS } from '../../server/catalog/sqlite/revocations.ts';
import { keepCopy, listCopies, sealCatalog } from '../../server/catalog/store.ts';
import { addMember, createWorkspace, findRole, setKeepDays } from '../../server/catalog/workspaces.ts';
import { sweepBetweenLoads } from '../../server/load/sweep-between-loads.ts';
import { putIndex, readIndexes } from '../../server/maintenance/index-file.ts';
import { rebuild } from '../../server/maintenance/rebuild.ts';
import { openBackup } from '../../server/maintenance/target.ts';
import { createKey } from '../../server/operations/keys.ts';
import { sqlNames } from '../../server/runtime/sql.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { LocalFiles } from '../../server/storage/local-files.ts';
import { command } from '../command.ts';
import { smallDisk } from '../small-disk.ts';
import { localOnly } from '../stores.ts';
import { temporaryFolder } from '../world.ts';

const filesIn = (folder: string): string[] => globSync('facts/{copies,journal}/*', { cwd: folder }).sort();

async function makeCatalog(t: Test, folder = join(temporaryFolder(t), 'data')) {
  const catalog = await openCatalog(sqliteIn(folder));
  t.teardown(() => catalog.close());
  await createWorkspace(catalog, { id: 'acme', name: 'Acme', plan: 'team', keywordHistoryDays: 30 });
  return { folder, catalog };
}

t.test('a copy is made only after changes, beside a writer, of one state', localOnly, async (t) => {
  const { folder, catalog } = await makeCatalog(t);
  await createWorkspace(catalog, { id: 'other', name: 'Other', plan: 'team', keywordHistoryDays: 30 });
  t.ok(await keepCopy(folder));
  t.equal(await keepCopy(folder), undefined, 'nothing has changed');
  let isWriting = true;
  let written = 0;
  const writing = (async () => {
    while (isWriting) {
      await catalog.transaction(async (tx) => {
        for (const id of ['acme', 'other']) await setKeepDays(tx, id, 5000 + (written % 1000));
      });
      written++;
      await nextTurn();
    }
  })();
  for (let copy = 0; copy < 5; copy++) {
    for (const last = written; written === last; ) await nextTurn();
    const { file } = (await keepCopy(folder, { inThread: true }))!;
    const copied = join(temporaryFolder(t), 'copied');
    await using opened = await openCopy(folder, file, copied);
    const rows = await opened.statements.all<{ keepDays: number | null }>('workspaces.all');
    t.equal(new Set(rows.map(({ keepDays }) => keepDays)).size, 1, 'no transaction is cut in two');
  }
  isWriting = false;
  await writing;
  t.equal(listCopies(folder).length, 3, 'the last ones');
});

t.test('an hour after the last change only the newest copy is left', localOnly, async (t) => {
  const { folder, catalog } = await makeCatalog(t);
  const begun = Date.now();
  const minute = 60_000;
  for (const [days, minutes] of [0, 50, 70, 80].entries()) {
    await setKeepDays(catalog, 'acme', 4000 + days);
    t.ok(await keepCopy(folder, { now: () => begun + minutes * minute }));
  }
  const minutesOf = (): number[] => listCopies(folder).map(({ at }) => Math.round((at - begun) / minute));
  t.strictSame(minutesOf(), [80, 70, 50]);
  const journal = join(folder, 'facts/journal');
  const unfinished = join(journal, '000000000009-x.revoked.json.unfinished');
  await revokeKey(catalog, (await createKey(catalog, { workspace: 'acme', name: 'key', at: 1 })).id, 1);
  writeFileSync(unfinished, '');
  const settings = readSettings({ ORDINATE_DATA: folder });
  const sweepAt = async (minutes: number): Promise<string[]> => {
    await sweepBetweenLoads({ settings, catalog }, begun + minutes * minute, AbortSignal.timeout(60_000));
    return globSync('*.revoked.json*', { cwd: journal })
      .map((name) => name.replace(/.*revoked/, 'revoked'))
      .sort();
  };
  t.strictSame(await sweepAt(120), ['revoked.json', 'revoked.json.unfinished']);
  t.strictSame(minutesOf(), [80, 70]);
  t.strictSame(await sweepAt(2 * 1440), ['revoked.json']);
  t.strictSame(minutesOf(), [80]);
  t.strictSame(await sweepAt(399 * 1440), ['revoked.json'], 'as long as somebody may restore a backup');
  t.strictSame(await sweepAt(401 * 1440), []);
});

async function openCopy(folder: string, file: string, to: string) {
  await (await openCatalog(sqliteIn(to))).close();
  writeFileSync(join(to, 'catalog.sqlite'), readFileSync(join(folder, file)));
  return openCatalog(sqliteIn(to));
}

t.test('what was recorded and not committed is revoked when the catalog is opened', localOnly, async (t) => {
  const { folder, catalog } = await makeCatalog(t);
  const at = 1_700_000_000_000_000;
  const revoked = async (from: string): Promise<unknown[]> => {
    await using opened = await openCatalog(sqliteIn(from));
    const keys = await opened.statements.all<{ revokedAt: number | null }>('keys.of_workspace', { workspace: 'acme' });
    return keys.map(({ revokedAt }) => revokedAt);
  };
  const { id } = await createKey(catalog, { workspace: 'acme', name: 'key', at });
  await addMember(catalog, 'acme', 'ann@acme.example', 'member');
  await catalog.close();
  const kept = readFileSync(join(folder, 'catalog.sqlite'));
  {
    await using opened = await openCatalog(sqliteIn(folder));
    await revokeKey(opened, id, at);
    await addMember(opened, 'acme', 'ann@acme.example', 'owner');
    await addMember(opened, 'acme', 'bob@acme.example', 'owner');
  }
  // As if the process had been killed before its commits.
  writeFileSync(join(folder, 'catalog.sqlite'), kept);
  t.strictSame(await revoked(folder), [at]);
  await using opened = await openCatalog(sqliteIn(folder));
  t.equal(await findRole(opened, 'acme', 'bob@acme.example'), undefined, 'nobody is let in');
  t.equal(await findRole(opened, 'acme', 'ann@acme.example'), 'owner', 'the last one counts');
});

t.test('a transaction that fails records nothing', localOnly, async (t) => {
  const { folder, catalog } = await makeCatalog(t);
  const at = 1_700_000_000_000_000;
  const { id } = await createKey(catalog, { workspace: 'acme', name: 'key', at });
  const before = filesIn(folder);
  const failing = catalog.transaction(async (tx) => {
    await revokeKey(tx, id, at);
    throw new Error('stopped');
  });
  await t.rejects(failing, /stopped/);
  await setKeepDays(catalog, 'acme', 4000);
  t.strictSame(filesIn(folder), before);
});

t.test('a commit that fails leaves no record, so that the next start revokes nothing', localOnly, async (t) => {
  const { folder, catalog } = await makeCatalog(t);
  const { id } = await createKey(catalog, { workspace: 'acme', name: 'key', at: 1 });
  const before = filesIn(folder);
  const real = Object.getOwnPropertyDescriptor(DatabaseSync.prototype, 'exec')!;
  const value = function (this: DatabaseSync, sql: string): void {
    if (sql === 'commit') throw new Error('no commit');
    real.value.call(this, sql);
  };
  Object.defineProperty(DatabaseSync.prototype, 'exec', { ...real, value });
  try {
    await t.rejects(revokeKey(catalog, id, 1), /no commit/);
  } finally {
    Object.defineProperty(DatabaseSync.prototype, 'exec', real);
  }
  t.strictSame(filesIn(folder), before);
});

t.test('copies of another catalog are neither added to nor used', localOnly, async (t) => {
  const { folder, catalog } = await makeCatalog(t);
  await keepCopy(folder);
  await catalog.close();
  const other = await makeCatalog(t);
  for (const days of [4000, 4001]) await setKeepDays(other.catalog, 'acme', days);
  await other.catalog.close();
  cpSync(join(other.folder, 'catalog.sqlite'), join(folder, 'catalog.sqlite'));
  const before = filesIn(folder);
  await t.rejects(keepCopy(folder), /has copies of another catalog/);
  await t.rejects(rebuild(folder), /has copies of another catalog/);
  t.strictSame(filesIn(folder), before);
});

t.test('a stored key of a provider that went with its last connection stays so', localOnly, async (t) => {
  const { folder, catalog } = await makeCatalog(t);
  const about = { workspace: 'acme', kind: 'bing', clientId: '', connectedBy: 'ann@acme.example' };
  const unused = { ...about, id: 'unused', connectedAt: 1, endsAt: null, refreshToken: 'sealed' };
  await catalog.statements.run('grants.add', unused);
  await catalog.close();
  const older = readFileSync(join(folder, 'catalog.sqlite'));
  {
    await using opened = await openCatalog(sqliteIn(folder));
    await opened.statements.run('grants.remove_unused');
  }
  writeFileSync(join(folder, 'catalog.sqlite'), older);
  await using opened = await openCatalog(sqliteIn(folder));
  t.strictSame(await opened.statements.all('grants.all', { workspace: null }), []);
});

t.test('a catalog is renamed only when nobody reads its log', localOnly, async (t) => {
  const { folder, catalog } = await makeCatalog(t);
  const files = new LocalFiles(folder);
  const reader = new DatabaseSync(join(folder, 'catalog.sqlite'));
  reader.exec('begin; select * from workspaces');
  reader.prepare('select * from workspaces').all();
  await setKeepDays(catalog, 'acme', 4000);
  await catalog.close();
  await t.rejects(sealCatalog(files, 'catalog.sqlite'), /is read by another process/);
  reader.close();
  await sealCatalog(files, 'catalog.sqlite');
  t.notOk(existsSync(join(folder, 'catalog.sqlite-wal')));
});

t.test('on a full disk no copy is made, none is lost, and nothing else fails for it', localOnly, async (t) => {
  const place = join(temporaryFolder(t), 'disk');
  const disk = smallDisk(t, place, 8);
  if (disk === undefined) {
    t.pass('not run', { skip: 'a small disk cannot be mounted here; that takes Linux and its root' });
    return;
  }
  const { folder, catalog } = await makeCatalog(t, join(place, 'data'));
  await keepCopy(folder);
  await setKeepDays(catalog, 'acme', 4000);
  const before = filesIn(folder);
  disk.fill(100_000);
  await t.rejects(keepCopy(folder), /its disk is full|no space left/i);
  t.strictSame(filesIn(folder), before);
  disk.clear();
  // Others write meanwhile.
  const parts = ['catalog.sqlite', 'catalog.sqlite-wal'].map((name) => statSync(join(folder, name)).size);
  disk.fill(1.5 * parts.reduce((sum, bytes) => sum + bytes));
  await t.rejects(keepCopy(folder), /its disk is full: a copy of the catalog takes \d MB/);
  disk.clear();
  disk.fill(100_000);
  const set = await command({ ORDINATE_DATA: folder }, 'workspaces', 'set', 'acme', '--keep-days', '4100');
  t.match(set, { code: 0, stderr: /^Warning: The catalog could not be copied beside the facts/ });
  disk.clear();
  t.ok(await keepCopy(folder));
  const { id } = await createKey(catalog, { workspace: 'acme', name: 'key', at: 1 });
  await catalog.close();
  const older = readFileSync(join(folder, 'catalog.sqlite'));
  {
    await using opened = await openCatalog(sqliteIn(folder));
    await revokeKey(opened, id, 1);
  }
  writeFileSync(join(folder, 'catalog.sqlite'), older);
  const revokedAt = async (): Promise<unknown> => {
    await using opened = await openCatalog(sqliteIn(folder), { create: false });
    return (await opened.statements.get<{ revokedAt: unknown }>('keys.of_workspace', { workspace: 'acme' }))!.revokedAt;
  };
  disk.fill();
  t.equal(await revokedAt(), null, 'it is only read');
  disk.clear();
  t.equal(await revokedAt(), 1);
});

t.test('every statement that takes somebody their access is recorded', (t) => {
  const ending = sqlNames('catalog')
    .map((name) => name.replace('catalog/', ''))
    .filter((name) =>
      /^(?:keys|feeds|shares|members|channels|grants|connections)\.(?:revoke|replace|remove|remove_unused|change_role|disable)$/.test(
        name,
      ),
    );
  t.strictSame([...ending, 'deliveries.cancel'].sort(), [...REVOCATIONS].sort());
  t.end();
});

t.test('a catalog of 0.2 is an earlier state of the copies that were made of it since', localOnly, async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  cpSync(join(import.meta.dirname, '../fixtures/release-0.2/data'), folder, { recursive: true });
  const path = join(folder, 'catalog.sqlite');
  const older = readFileSync(path);
  const settings = { ORDINATE_DATA: folder };
  const keys = async (data: string): Promise<unknown[]> => {
    const { stdout } = await command({ ORDINATE_DATA: data }, 'keys', 'list', '--workspace', 'acme', '--json');
    return (JSON.parse(stdout) as { revokedAt: string | null }[]).map(({ revokedAt }) => revokedAt);
  };
  const [key] = JSON.parse((await command(settings, 'keys', 'list', '--workspace', 'acme', '--json')).stdout);
  t.equal((await command(settings, 'keys', 'revoke', key.id, '--workspace', 'acme')).code, 0);
  const revoked = await keys(folder);
  t.type(revoked[0], 'string');

  for (const file of globSync(`${path}*`)) rmSync(file);
  writeFileSync(path, older);
  t.match(await command(settings, 'projects', 'list'), { code: 1, stderr: /older than the facts/ });
  t.ok(older.equals(readFileSync(path)), 'it is refused before it is migrated');
  t.match(await command(settings, 'rebuild'), { code: 0, stdout: /was rebuilt from the copy of 20/ });
  t.strictSame(await keys(folder), revoked);

  const before = join(temporaryFolder(t), 'before');
  const backup = join(temporaryFolder(t), 'backup');
  cpSync(join(import.meta.dirname, '../fixtures/release-0.2/data'), before, { recursive: true });
  t.equal((await command({ ORDINATE_DATA: before }, 'backup', backup)).code, 0);
  {
    // As 0.2 made it.
    using target = await openBackup(backup);
    const { indexes } = await readIndexes(target.store);
    const { catalog, ...index } = indexes[0]!;
    writeFileSync(join(backup, catalog.file), older);
    const written = { file: catalog.file, bytes: older.length, sha256: hash('sha256', older) };
    await putIndex(target.store, { ...index, catalog: written });
  }
  for (const [used, stays] of [
    [folder, true],
    [join(temporaryFolder(t), 'none'), false],
    [(await makeCatalog(t)).folder, false],
  ] as const) {
    const data = join(temporaryFolder(t), 'restored');
    const restored = await command({ ORDINATE_DATA: used }, 'restore', backup, '--data', data);
    t.match(restored, { code: 0, stdout: stays ? /stays so/ : /valid again/ }, restored.stderr);
    t.strictSame(await keys(data), stays ? revoked : revoked.map(() => null));
  }
});

t.test('the log that a lost catalog has left is not taken for that of the one that is copied', localOnly, async (t) => {
  const { folder, catalog } = await makeCatalog(t);
  await setKeepDays(catalog, 'acme', 4000);
  const lost = join(temporaryFolder(t), 'lost');
  // All its pages are in its log.
  cpSync(folder, lost, { recursive: true });
  t.ok(statSync(join(lost, 'catalog.sqlite-wal')).size > 0);
  rmSync(join(lost, 'catalog.sqlite'));
  const source = await makeCatalog(t);
  await setKeepDays(source.catalog, 'acme', 5000);
  await copyStateInto(source.catalog, lost, () => {});
  await using copied = await openCatalog(sqliteIn(lost));
  t.match(await copied.statements.all('workspaces.all'), [{ keepDays: 5000 }]);
});

t.test('what refuses a lost catalog says no more than what recovers it', localOnly, async (t) => {
  const { folder, catalog } = await makeCatalog(t);
  mkdirSync(join(folder, 'facts/site_daily/Proj1'), { recursive: true });
  writeFileSync(join(folder, 'facts/site_daily/Proj1/days.parquet'), '');
  await catalog.close();
  const lose = (): void => {
    for (const file of globSync(join(folder, 'catalog.sqlite*'))) rmSync(file);
  };
  const kept = readFileSync(join(folder, 'catalog.sqlite'));
  lose();
  await t.rejects(
    openCatalog(sqliteIn(folder)),
    /nothing was changed\. It has no copy: restore the data folder from a/,
  );
  writeFileSync(join(folder, 'catalog.sqlite'), kept);
  await keepCopy(folder);
  lose();
  await t.rejects(openCatalog(sqliteIn(folder)), /nothing was changed\. Run 'ordinate rebuild' to recover it from/);
});

t.test('a record of a revocation that cannot be read is named where it is needed', localOnly, async (t) => {
  const { folder, catalog } = await makeCatalog(t);
  const { id } = await createKey(catalog, { workspace: 'acme', name: 'key', at: 1 });
  await catalog.close();
  const older = readFileSync(join(folder, 'catalog.sqlite'));
  {
    await using opened = await openCatalog(sqliteIn(folder));
    await revokeKey(opened, id, 1);
    await keepCopy(folder);
    const [record] = globSync(join(folder, 'facts/journal/*.revoked.json'));
    writeFileSync(record!, '{');
    await setKeepDays(opened, 'acme', 4000);
    t.ok(await keepCopy(folder), 'a copy needs none');
  }
  await (await openCatalog(sqliteIn(folder))).close();
  for (const file of globSync(join(folder, 'facts/copies/*'))) rmSync(file);
  writeFileSync(join(folder, 'catalog.sqlite'), older);
  await t.rejects(
    openCatalog(sqliteIn(folder)),
    /The record '.*\.revoked\.json' of what was revoked cannot be read.*Move it away/,
  );
});
