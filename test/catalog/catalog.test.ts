// The catalog keeps working through failed copies, failed writes and upgrades from older versions.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import type { OpenCatalog } from '../../server/catalog/catalog.ts';
import { KeyUse, listKeys, readKeyUses } from '../../server/catalog/keys.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { stopChanges } from '../../server/catalog/sqlite/catalog-file.ts';
import { listWorkspaces } from '../../server/catalog/workspaces.ts';
import { temporaryFolder } from '../world.ts';
import { testCatalog } from './conformance.ts';

async function openNew(t: Test): Promise<OpenCatalog> {
  const catalog = await openCatalog(sqliteIn(temporaryFolder(t)));
  t.teardown(() => catalog.close());
  return catalog;
}

testCatalog(t, openNew);

t.test('a catalog that cannot be copied takes changes again, and those begun before are waited for', async (t) => {
  const folder = temporaryFolder(t);
  await using catalog = await openCatalog(sqliteIn(folder));
  using other = new DatabaseSync(join(folder, 'catalog.sqlite'));
  other.exec('begin immediate');
  t.throws(() => stopChanges(folder, 'elsewhere', { timeout: 0 }), /is locked by another process/);
  other.exec('rollback');
  await catalog.statements.run('revisions.next');
  const undo = stopChanges(folder, 'elsewhere');
  await t.rejects(catalog.statements.run('revisions.next'), /was copied to elsewhere and takes no more changes/);
  undo();
  await catalog.statements.run('revisions.next');
});

t.test(
  'the last use of keys that an older version stored in the catalog is shown until they are used again',
  async (t) => {
    const folder = temporaryFolder(t);
    await using catalog = await openCatalog(sqliteIn(folder));
    const db = new DatabaseSync(join(folder, 'catalog.sqlite'));
    db.exec("insert into workspaces (id, name, plan, keyword_history_days) values ('acme', 'Acme', 'team', 30)");
    const insert = db.prepare(`insert into keys (id, workspace_id, name, prefix, hash, created_at, last_used_before)
      values (?, 'acme', ?, 'ord_live_abcd', ?, 0, ?)`);
    for (const [id, usedAt] of Object.entries({ again: 1000, before: 2000, never: null }))
      insert.run(id, id, id, usedAt);
    db.close();
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
