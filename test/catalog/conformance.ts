import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Catalog, OpenCatalog } from '../../server/catalog/catalog.ts';
import { changePause, findPause } from '../../server/catalog/connections.ts';
import { removeRows, upsertRows } from '../../server/catalog/entity-rows.ts';
import { putFactFile } from '../../server/catalog/fact-files.ts';
import { addMember, createWorkspace, listWorkspaces } from '../../server/catalog/workspaces.ts';

export const workspace = (id: string) => ({ id, name: id, plan: 'team', keywordHistoryDays: 30 });
export const idsOf = async (catalog: Catalog): Promise<string> =>
  (await listWorkspaces(catalog)).map(({ id }) => id).join(' ');

/** What every catalog does. @param open opens a new one, and closes it after the test */
export function testCatalog(t: Test, open: (t: Test) => Promise<OpenCatalog>): void {
  t.test('what a transaction writes is seen by nobody before its commit, and at once after it', async (t) => {
    const catalog = await open(t);
    const before = await catalog.version();
    await catalog.transaction(async (tx) => {
      await createWorkspace(tx, workspace('a'));
      await nextTurn();
      t.equal(await idsOf(tx), 'a');
      t.equal(await idsOf(catalog), '');
      t.equal(await catalog.snapshot(idsOf), '', 'snapshots of others go on');
      t.equal(await catalog.version(), before);
      await createWorkspace(tx, workspace('b'));
    });
    t.equal(await idsOf(catalog), 'a b');
    t.equal(await catalog.snapshot(idsOf), 'a b');
    t.not(await catalog.version(), before, 'caches hear of it in the same turn');
  });

  t.test('a commit is heard of before anything else of this process runs', async (t) => {
    const catalog = await open(t);
    const before = await catalog.version();
    const seen: boolean[] = [];
    // Asked at every step of the queue of promises in which the commit is.
    const asking = (async () => {
      while (seen.at(-1) !== true) {
        const isThere = (await idsOf(catalog)) !== '';
        seen.push(isThere);
        if (isThere) t.not(await catalog.version(), before);
      }
    })();
    await Promise.all([asking, createWorkspace(catalog, workspace('a'))]);
    const after = await catalog.version();
    await addMember(catalog, 'a', 'ann@a.example', 'owner');
    t.not(await catalog.version(), after, 'of single writes, too');
  });

  t.test('a statement that fails after it was sent is what its transaction fails with', async (t) => {
    const catalog = await open(t);
    const days = { firstDay: '2026-03-01', lastDay: '2026-03-09' };
    const file = { file: 'f', rows: 1, bytes: 1, sha256: '0', ...days };
    const lost = { project: 'none', table: 'site_daily' as const, part: '2026-03', ...file };
    const rests: ((tx: Catalog) => Promise<unknown>)[] = [
      async () => {},
      listWorkspaces,
      async (tx) => {
        // More than are sent without waiting.
        for (let sent = 0; sent < 1000; sent++) await putFactFile(tx, lost);
      },
    ];
    for (const rest of rests) {
      const failing = catalog.transaction(async (tx) => {
        await createWorkspace(tx, workspace('a'));
        await putFactFile(tx, lost);
        await rest(tx);
      });
      await t.rejects(failing, { message: /foreign key/i });
      t.equal(await idsOf(catalog), '');
    }
    await createWorkspace(catalog, workspace('b'));
    t.equal(await idsOf(catalog), 'b', 'the next one succeeds');
  });

  t.test('a transaction that fails leaves nothing', async (t) => {
    const catalog = await open(t);
    const failing = catalog.transaction(async (tx) => {
      await createWorkspace(tx, workspace('a'));
      await nextTurn();
      throw new Error('failed');
    });
    await t.rejects(failing, { message: 'failed' });
    t.equal(await idsOf(catalog), '');
    await createWorkspace(catalog, workspace('b'));
    t.equal(await idsOf(catalog), 'b', 'its lock is gone');
  });

  t.test('what goes on after its transaction or snapshot writes and reads nothing', async (t) => {
    const catalog = await open(t);
    let late: Catalog | undefined;
    const { promise: failed, resolve } = Promise.withResolvers<void>();
    const lingering = (async () => {
      await failed;
      await createWorkspace(late!, workspace('late'));
    })();
    const failing = catalog.transaction(async (tx) => {
      late = tx;
      throw new Error('failed');
    });
    await t.rejects(failing, { message: 'failed' });
    await catalog.transaction(async (tx) => {
      await createWorkspace(tx, workspace('next'));
      resolve();
      await t.rejects(lingering, { message: /has ended/ });
    });
    t.equal(await idsOf(catalog), 'next');
    const table = { table: 'workspaces', columns: ['id', 'name', 'plan', 'keyword_history_days'], key: ['id'] };
    const many = Array.from({ length: 5000 }, (_, n) => ({ id: `${n}`, name: '', plan: '', keyword_history_days: 1 }));
    let writing: Promise<unknown> | undefined;
    const ending = catalog.transaction(async (tx) => {
      writing = t.rejects(upsertRows(tx, table, many));
      await nextTurn();
    });
    await ending;
    await catalog.transaction(async () => writing);
    t.ok((await listWorkspaces(catalog)).length < many.length, 'nothing is added to the next one');
    await t.rejects(
      catalog.snapshot(async (snapshot) => createWorkspace(snapshot, workspace('c'))),
      { message: /read-only/ },
    );
  });

  t.test('many rows are written all or not, and those that change something are told', async (t) => {
    const catalog = await open(t);
    const table = { table: 'workspaces', columns: ['id', 'name', 'plan', 'keyword_history_days'], key: ['id'] };
    const row = (id: string, name: string | null = id) => ({ id, name, plan: 'team', keyword_history_days: 30 });
    await upsertRows(catalog, table, [row('a'), row('b')]);
    const changed = await upsertRows(catalog, table, [row('a'), row('b', 'other'), row('c')]);
    t.strictSame(changed, [row('b', 'other'), row('c')]);
    await t.rejects(upsertRows(catalog, table, [row('d'), row('e', null)]), /not.null/i);
    t.equal(await idsOf(catalog), 'a b c');
    t.strictSame(await removeRows(catalog, table, [{ id: 'a' }, { id: 'z' }]), [{ id: 'a' }]);
    t.equal(await idsOf(catalog), 'b c');
  });

  t.test('transactions and writes of one process wait for each other without holding it up', async (t) => {
    const catalog = await open(t);
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = catalog.transaction(async (tx) => {
      await createWorkspace(tx, workspace('a'));
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
    const catalog = await open(t);
    const seen = await catalog.snapshot(async (snapshot) => {
      const states = [await idsOf(snapshot)];
      await createWorkspace(catalog, workspace('a'));
      await nextTurn();
      states.push(await idsOf(snapshot), await snapshot.snapshot(idsOf), await idsOf(catalog));
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
      catalog.snapshot(async (snapshot) => {
        await nextTurn();
        return idsOf(snapshot);
      }),
    );
    t.strictSame(new Set(await Promise.all(many)), new Set(['a']), 'more than run at once');
  });

  t.test('a cached snapshot is one state, and the next one has what was committed before it', async (t) => {
    const catalog = await open(t);
    const seen = (own: Catalog) =>
      catalog.cachedSnapshot(async (snapshot) => [await idsOf(snapshot), await idsOf(own)]);
    for (const id of ['a', 'b', 'c']) {
      const before = await catalog.cachedSnapshot(async (snapshot) => {
        const first = await idsOf(snapshot);
        await createWorkspace(catalog, workspace(id)).catch(() => {});
        return [first, await snapshot.cachedSnapshot(idsOf)];
      });
      t.equal(before[0], before[1]);
      t.match(
        await seen(catalog),
        Array.from({ length: 2 }, () => new RegExp(`${id}$`)),
      );
    }
    await t.rejects(
      catalog.cachedSnapshot(async (snapshot) => createWorkspace(snapshot, workspace('d'))),
      { message: /read-only/ },
    );
    await t.rejects(
      catalog.cachedSnapshot(async () => {
        throw new Error('failed');
      }),
      { message: 'failed' },
    );
    t.equal(await idsOf(catalog), 'a b c');
  });

  t.test('a snapshot may outlive the catalog that it came from', async (t) => {
    const catalog = await open(t);
    const { promise, resolve } = Promise.withResolvers<void>();
    const reading = catalog.snapshot(async (snapshot) => {
      await promise;
      return idsOf(snapshot);
    });
    await nextTurn();
    await catalog.close();
    resolve();
    t.equal(await reading, '');
  });
}
