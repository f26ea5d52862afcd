import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Catalog } from '../../server/catalog/catalog.ts';
import { KeyUse, readKeyUses } from '../../server/catalog/key-use.ts';
import { listKeys } from '../../server/catalog/keys.ts';
import { findAnyProject } from '../../server/catalog/projects.ts';
import { UsageDatabase } from '../../server/catalog/usage.ts';
import { createWorkspace, findWorkspace, listWorkspaces } from '../../server/catalog/workspaces.ts';
import { sqlNames, sqlText } from '../../server/runtime/sql.ts';
import { temporaryFolder } from '../world.ts';

function openCatalog(t: Test): Catalog {
  const catalog = new Catalog(temporaryFolder(t));
  t.teardown(() => catalog.close());
  return catalog;
}

const workspace = (id: string) => ({ id, name: id, plan: 'team', days: 30 });
const idsOf = (catalog: Catalog): string =>
  listWorkspaces(catalog)
    .map(({ id }) => id)
    .join(' ');

t.test('what a long transaction writes is seen by nobody before its commit, and at once after it', async (t) => {
  const catalog = openCatalog(t);
  const before = catalog.version();
  await catalog.longTransaction(async (own) => {
    own.run('workspace_insert', workspace('a'));
    await nextTurn();
    t.equal(idsOf(own), 'a');
    t.equal(idsOf(catalog), '');
    t.equal(
      catalog.snapshot(() => idsOf(catalog)),
      '',
      'snapshots of others go on',
    );
    t.equal(catalog.version(), before);
    own.run('workspace_insert', workspace('b'));
  });
  t.equal(idsOf(catalog), 'a b');
  t.not(catalog.version(), before, 'caches hear of it in the same turn');
});

t.test('a long transaction that fails leaves nothing', async (t) => {
  const catalog = openCatalog(t);
  const failing = catalog.longTransaction(async (own) => {
    own.run('workspace_insert', workspace('a'));
    await nextTurn();
    throw new Error('failed');
  });
  await t.rejects(failing, { message: 'failed' });
  t.equal(idsOf(catalog), '');
  createWorkspace(catalog, { ...workspace('b'), keywordHistoryDays: 30 });
  t.equal(idsOf(catalog), 'b', 'its lock is gone');
});

t.test('long transactions of one process wait for each other without holding it up', async (t) => {
  const catalog = openCatalog(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = catalog.longTransaction(async (own) => {
    own.run('workspace_insert', workspace('a'));
    await promise;
  });
  const second = catalog.longTransaction(async (own) => void own.run('workspace_insert', workspace('b')));
  await nextTurn();
  resolve();
  await Promise.all([first, second]);
  t.equal(idsOf(catalog), 'a b');
});

t.test('a long snapshot is one state, whatever is committed meanwhile', async (t) => {
  const catalog = openCatalog(t);
  const seen = await catalog.longSnapshot(async (own) => {
    const states = [idsOf(own)];
    createWorkspace(catalog, { ...workspace('a'), keywordHistoryDays: 30 });
    await nextTurn();
    states.push(idsOf(own), idsOf(catalog));
    return states;
  });
  t.strictSame(seen, ['', '', 'a']);
  t.equal(await catalog.longSnapshot(async (own) => idsOf(own)), 'a', 'the next one is a later state');
  await t.rejects(
    catalog.longSnapshot(async () => {
      throw new Error('failed');
    }),
    { message: 'failed' },
  );
  const many = Array.from({ length: 20 }, () =>
    catalog.longSnapshot(async (own) => {
      await nextTurn();
      return idsOf(own);
    }),
  );
  t.strictSame(new Set(await Promise.all(many)), new Set(['a']), 'more than run at once');
});

t.test('a long snapshot may outlive the connection that it came from', async (t) => {
  const catalog = openCatalog(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  const reading = catalog.longSnapshot(async (own) => {
    await promise;
    return idsOf(own);
  });
  await nextTurn();
  catalog.close();
  resolve();
  t.equal(await reading, '');
});

t.test('a catalog of before has its revisions and its tracked keywords counted', async (t) => {
  const folder = temporaryFolder(t);
  const db = new DatabaseSync(join(folder, 'catalog.sqlite'));
  const older = sqlNames('catalog/migrations').slice(0, 4);
  for (const name of older) db.exec(sqlText(name));
  db.exec(`pragma user_version = ${older.length}`);
  db.exec("insert into workspaces values ('acme', 'Acme', 'team', 30)");
  db.exec(`insert into projects (id, workspace_id, domain, property, brand_terms, sync_status, history_backfilling,
    setup_finished, created_at, revision) values ('Proj1', 'acme', 'a', 'a', '[]', 'ok', 0, 1, 0, 7)`);
  for (const [id, archived] of Object.entries({ Kw001: 0, Kw002: 1, Kw003: 0 })) {
    db.prepare("insert into keywords values ('Proj1', ?, ?, 'import', 0, 'unclassified', ?)").run(id, id, archived);
  }
  db.close();
  const catalog = new Catalog(folder);
  t.teardown(() => catalog.close());
  t.match(findAnyProject(catalog, 'Proj1'), { factsRevision: 7, entitiesRevision: 7, trackedKeywords: 2 });
  t.match(findWorkspace(catalog, 'acme'), { keywordHistoryDays: 30 });
});

t.test(
  'the last use of keys that an older version stored in the catalog is shown until they are used again',
  async (t) => {
    const folder = temporaryFolder(t);
    const db = new DatabaseSync(join(folder, 'catalog.sqlite'));
    const older = sqlNames('catalog/migrations').filter((name) => name < 'catalog/migrations/0008');
    for (const name of older) db.exec(sqlText(name));
    db.exec(`pragma user_version = ${older.length}`);
    db.exec("insert into workspaces values ('acme', 'Acme', 'team', 30)");
    const insert = db.prepare("insert into keys values (?, 'acme', ?, 'ord_live_abcd', ?, 0, null, ?, null)");
    for (const [id, usedAt] of Object.entries({ again: 1000, before: 2000, never: null }))
      insert.run(id, id, id, usedAt);
    db.close();
    using catalog = new Catalog(folder);
    const usage = new UsageDatabase(folder, (error) => t.error(error));
    t.teardown(() => usage.close());
    const uses = (): unknown =>
      Object.fromEntries(listKeys(catalog, usage, 'acme').map(({ id, lastUsedAt }) => [id, lastUsedAt]));
    t.strictSame(uses(), { again: 1000, before: 2000, never: null });
    const keyUse = new KeyUse(usage);
    keyUse.note('again', 5);
    keyUse.flush();
    t.strictSame(uses(), { again: 5000, before: 2000, never: null });
  },
);

t.test('a use of a key that cannot be written is written with the next one', async (t) => {
  const folder = temporaryFolder(t);
  const failures: unknown[] = [];
  const usage = new UsageDatabase(folder, (error) => failures.push(error));
  t.teardown(() => usage.close());
  const keyUse = new KeyUse(usage);
  const other = new DatabaseSync(join(folder, 'usage.sqlite'));
  other.exec('begin immediate');
  keyUse.note('a', 1);
  keyUse.flush();
  other.close();
  t.equal(failures.length, 1);
  t.strictSame([...readKeyUses(usage)], []);
  keyUse.note('b', 2);
  keyUse.flush();
  t.strictSame(
    [...readKeyUses(usage)],
    [
      ['a', 1000],
      ['b', 2000],
    ],
  );
});

t.test('further connections of a process leave it the locks of the first one', async (t) => {
  if (process.platform !== 'linux') {
    t.pass('not run', { skip: 'only Linux lists the locks of files' });
    return;
  }
  const folder = temporaryFolder(t);
  using catalog = new Catalog(folder);
  const { ino } = statSync(join(folder, 'catalog.sqlite'));
  const held = (): string[] =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .filter((line) => line.includes(`:${ino} `));
  catalog.get('ping');
  t.equal(held().length, 1, 'others may not take the catalog for unused');
  await catalog.longSnapshot(async (own) => own.get('ping'));
  t.equal(held().length, 1);
});
