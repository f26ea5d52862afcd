import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Catalog, OpenCatalog } from '../../server/catalog/catalog.ts';
import { removeRows, upsertRows } from '../../server/catalog/entity-rows.ts';
import { KeyUse, readKeyUses } from '../../server/catalog/key-use.ts';
import { listKeys } from '../../server/catalog/keys.ts';
import { openCatalog, sqliteIn } from '../../server/catalog/open-catalog.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { findAnyProject } from '../../server/catalog/projects.ts';
import { changePause, findPause } from '../../server/catalog/provider-pauses.ts';
import { addMember, createWorkspace, findWorkspace, listWorkspaces } from '../../server/catalog/workspaces.ts';
import { sqlNames, sqlText } from '../../server/runtime/sql.ts';
import { temporaryFolder } from '../world.ts';

async function openNew(t: Test): Promise<OpenCatalog> {
  const catalog = await openCatalog(sqliteIn(temporaryFolder(t)));
  t.teardown(() => catalog.close());
  return catalog;
}

const workspace = (id: string) => ({ id, name: id, plan: 'team', keywordHistoryDays: 30 });
const idsOf = async (catalog: Catalog): Promise<string> =>
  (await listWorkspaces(catalog)).map(({ id }) => id).join(' ');

t.test('what a transaction writes is seen by nobody before its commit, and at once after it', async (t) => {
  const catalog = await openNew(t);
  const before = catalog.version();
  await catalog.transaction(async (own) => {
    await createWorkspace(own, workspace('a'));
    await nextTurn();
    t.equal(await idsOf(own), 'a');
    t.equal(await idsOf(catalog), '');
    t.equal(await catalog.snapshot(idsOf), '', 'snapshots of others go on');
    t.equal(catalog.version(), before);
    await createWorkspace(own, workspace('b'));
  });
  t.equal(await idsOf(catalog), 'a b');
  t.equal(await catalog.snapshot(idsOf), 'a b');
  t.not(catalog.version(), before, 'caches hear of it in the same turn');
});

t.test('a commit is heard of before anything else of this process runs', async (t) => {
  const catalog = await openNew(t);
  const before = catalog.version();
  const seen: boolean[] = [];
  // Asked at every step of the queue of promises in which the commit is.
  const asking = (async () => {
    while (seen.at(-1) !== true) {
      const isThere = (await idsOf(catalog)) !== '';
      seen.push(isThere);
      if (isThere) t.not(catalog.version(), before);
    }
  })();
  await Promise.all([asking, createWorkspace(catalog, workspace('a'))]);
  const after = catalog.version();
  await addMember(catalog, 'a', 'ann@a.example', 'owner');
  t.not(catalog.version(), after, 'of single writes, too');
});

t.test('a transaction that fails leaves nothing', async (t) => {
  const catalog = await openNew(t);
  const failing = catalog.transaction(async (own) => {
    await createWorkspace(own, workspace('a'));
    await nextTurn();
    throw new Error('failed');
  });
  await t.rejects(failing, { message: 'failed' });
  t.equal(await idsOf(catalog), '');
  await createWorkspace(catalog, workspace('b'));
  t.equal(await idsOf(catalog), 'b', 'its lock is gone');
});

t.test('what goes on after its transaction or snapshot writes and reads nothing', async (t) => {
  const catalog = await openNew(t);
  let late: Catalog | undefined;
  const { promise: failed, resolve } = Promise.withResolvers<void>();
  const lingering = (async () => {
    await failed;
    await createWorkspace(late!, workspace('late'));
  })();
  const failing = catalog.transaction(async (own) => {
    late = own;
    throw new Error('failed');
  });
  await t.rejects(failing, { message: 'failed' });
  await catalog.transaction(async (own) => {
    await createWorkspace(own, workspace('next'));
    resolve();
    await t.rejects(lingering, { message: /has ended/ });
  });
  t.equal(await idsOf(catalog), 'next');
  const table = { table: 'workspaces', columns: ['id', 'name', 'plan', 'keyword_history_days'], key: ['id'] };
  const many = Array.from({ length: 5000 }, (_, n) => ({ id: `${n}`, name: '', plan: '', keyword_history_days: 1 }));
  let writing: Promise<unknown> | undefined;
  const ending = catalog.transaction(async (own) => {
    writing = t.rejects(upsertRows(own, table, many));
    await nextTurn();
  });
  await ending;
  await catalog.transaction(async () => writing);
  t.ok((await listWorkspaces(catalog)).length < many.length, 'nothing is added to the next one');
  await t.rejects(
    catalog.snapshot(async (own) => createWorkspace(own, workspace('c'))),
    { message: /read-only/ },
  );
});

t.test('many rows are written all or not, and those that change something are told', async (t) => {
  const catalog = await openNew(t);
  const table = { table: 'workspaces', columns: ['id', 'name', 'plan', 'keyword_history_days'], key: ['id'] };
  const row = (id: string, name: string | null = id) => ({ id, name, plan: 'team', keyword_history_days: 30 });
  await upsertRows(catalog, table, [row('a'), row('b')]);
  const changed = await upsertRows(catalog, table, [row('a'), row('b', 'other'), row('c')]);
  t.strictSame(changed, [row('b', 'other'), row('c')]);
  await t.rejects(upsertRows(catalog, table, [row('d'), row('e', null)]), /NOT NULL/);
  t.equal(await idsOf(catalog), 'a b c');
  t.strictSame(await removeRows(catalog, table, [{ id: 'a' }, { id: 'z' }]), [{ id: 'a' }]);
  t.equal(await idsOf(catalog), 'b c');
});

t.test('transactions and writes of one process wait for each other without holding it up', async (t) => {
  const catalog = await openNew(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = catalog.transaction(async (own) => {
    await createWorkspace(own, workspace('a'));
    await promise;
  });
  const second = createWorkspace(catalog, workspace('b'));
  const pause = { until: 1, reason: 'broken', loadRefusedOn: null } as const;
  const third = changePause(catalog, 'bigquery', 'a', () => pause);
  await nextTurn();
  resolve();
  await Promise.all([first, second, third]);
  t.equal(await idsOf(catalog), 'a b');
  t.strictSame({ ...(await findPause(catalog, 'bigquery', 'a')) }, pause);
});

t.test('a snapshot is one state, whatever is committed meanwhile', async (t) => {
  const catalog = await openNew(t);
  const seen = await catalog.snapshot(async (own) => {
    const states = [await idsOf(own)];
    await createWorkspace(catalog, workspace('a'));
    await nextTurn();
    states.push(await idsOf(own), await own.snapshot(idsOf), await idsOf(catalog));
    return states;
  });
  t.strictSame(seen, ['', '', '', 'a']);
  t.equal(await catalog.snapshot(idsOf), 'a', 'the next one is a later state');
  await t.rejects(
    catalog.snapshot(async () => {
      throw new Error('failed');
    }),
    { message: 'failed' },
  );
  const many = Array.from({ length: 40 }, () =>
    catalog.snapshot(async (own) => {
      await nextTurn();
      return idsOf(own);
    }),
  );
  t.strictSame(new Set(await Promise.all(many)), new Set(['a']), 'more than run at once');
});

t.test('a snapshot may outlive the catalog that it came from', async (t) => {
  const catalog = await openNew(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  const reading = catalog.snapshot(async (own) => {
    await promise;
    return idsOf(own);
  });
  await nextTurn();
  await catalog.close();
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
  const catalog = await openCatalog(sqliteIn(folder));
  t.teardown(() => catalog.close());
  t.match(await findAnyProject(catalog, 'Proj1'), { factsRevision: 7, entitiesRevision: 7, trackedKeywords: 2 });
  t.match(await findWorkspace(catalog, 'acme'), { keywordHistoryDays: 30 });
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
    await using catalog = await openCatalog(sqliteIn(folder));
    const usage = openUsage(sqliteIn(folder), (error) => t.error(error));
    t.teardown(() => usage.close());
    const uses = async (): Promise<unknown> =>
      Object.fromEntries((await listKeys(catalog, usage, 'acme')).map(({ id, lastUsedAt }) => [id, lastUsedAt]));
    t.strictSame(await uses(), { again: 1000, before: 2000, never: null });
    const keyUse = new KeyUse(usage);
    keyUse.note('again', 5);
    await keyUse.flush();
    t.strictSame(await uses(), { again: 5000, before: 2000, never: null });
  },
);

t.test('a use of a key that cannot be written is written with the next one', async (t) => {
  const folder = temporaryFolder(t);
  const failures: unknown[] = [];
  const usage = openUsage(sqliteIn(folder), (error) => failures.push(error));
  t.teardown(() => usage.close());
  const keyUse = new KeyUse(usage);
  const other = new DatabaseSync(join(folder, 'usage.sqlite'));
  other.exec('begin immediate');
  keyUse.note('a', 1);
  await keyUse.flush();
  other.close();
  t.equal(failures.length, 1);
  t.strictSame([...(await readKeyUses(usage))], []);
  keyUse.note('b', 2);
  await keyUse.flush();
  t.strictSame(
    [...(await readKeyUses(usage))],
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
  await using catalog = await openCatalog(sqliteIn(folder));
  const { ino } = statSync(join(folder, 'catalog.sqlite'));
  const held = (): string[] =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .filter((line) => line.includes(`:${ino} `));
  await catalog.check();
  t.equal(held().length, 1, 'others may not take the catalog for unused');
  await catalog.snapshot(listWorkspaces);
  t.equal(held().length, 1);
});
