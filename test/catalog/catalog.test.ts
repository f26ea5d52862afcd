import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Catalog } from '../../server/catalog/catalog.ts';
import { findAnyProject } from '../../server/catalog/projects.ts';
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
