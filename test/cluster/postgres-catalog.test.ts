// A catalog in PostgreSQL has the same guarantees as one in SQLite, with the same transactions and locks.
import t, { type Test } from 'tap';
import type { Catalog, OpenCatalog } from '../../server/catalog/catalog.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { createWorkspace, findWorkspace, listWorkspaces } from '../../server/catalog/workspaces.ts';
import { idsOf, testCatalog, workspace } from '../catalog/conformance.ts';
import { temporaryFolder } from '../world.ts';
import { newDatabase, query, skip } from './databases.ts';

async function openTwo(t: Test): Promise<[OpenCatalog, OpenCatalog, url: string]> {
  const catalogUrl = await newDatabase(t);
  const open = async (): Promise<OpenCatalog> => {
    const catalog = await openCatalog({ dataFolder: temporaryFolder(t), catalogUrl });
    t.teardown(() => catalog.close());
    return catalog;
  };
  return [await open(), await open(), catalogUrl];
}

t.test('a catalog in PostgreSQL does what every catalog does', { skip }, async (t) => {
  testCatalog(t, async (t) => (await openTwo(t))[0]);
});

t.test('a commit is seen by all that have the catalog open', { skip }, async (t) => {
  const [one, two] = await openTwo(t);
  const before = await two.version();
  await createWorkspace(one, workspace('a'));
  t.not(await two.version(), before);
  t.equal(await idsOf(two), 'a');
  const after = await two.version();
  await one.transaction(listWorkspaces);
  t.equal(await two.version(), after, 'a transaction that changes nothing is no new version');
});

t.test(
  'transactions of several processes run one after the other, shared ones beside each other',
  { skip },
  async (t) => {
    const [one, two] = await openTwo(t);
    // Each reads how many there are and adds one of that number: as if alone, no number comes twice.
    const add = (catalog: OpenCatalog) =>
      catalog.transaction(async (tx) => createWorkspace(tx, workspace(`w${(await listWorkspaces(tx)).length}`)));
    await Promise.all(Array.from({ length: 20 }, (_, index) => add(index % 2 === 0 ? one : two)));
    t.equal((await listWorkspaces(one)).length, 20);

    const { promise: both, resolve } = Promise.withResolvers<void>();
    let inside = 0;
    const publish = async (catalog: OpenCatalog, id: string): Promise<void> => {
      await using lock = await catalog.locks.takeLoad('projects');
      t.ok(await lock!.takeProjects([id]));
      await catalog.transaction(async (tx) => {
        await createWorkspace(tx, workspace(id));
        if (++inside === 2) resolve();
        await both;
      }, lock);
    };
    await Promise.all([publish(one, 'x'), publish(two, 'y')]);
    t.match(await idsOf(one), /x y/);
  },
);

t.test('locks of names and of loads exclude each other, also within a process', { skip }, async (t) => {
  const [one, two] = await openTwo(t);
  {
    await using _lock = (await one.locks.take('list'))!;
    t.strictSame([await one.locks.take('list'), await two.locks.take('list')], [undefined, undefined]);
    await using other = await two.locks.take('another');
    t.ok(other);
  }
  await using free = await two.locks.take('list');
  t.ok(free);
  const whole = (await one.locks.takeLoad('all'))!;
  t.equal(await two.locks.takeLoad('all'), undefined);
  t.equal(await two.locks.takeLoad('projects'), undefined);
  t.equal(await one.locks.takeLoad('projects'), undefined, 'nor in the same process');
  t.ok(whole.isForAll);
  await whole.release();
  const first = (await one.locks.takeLoad('projects'))!;
  const second = (await two.locks.takeLoad('projects'))!;
  t.equal(await two.locks.takeLoad('all'), undefined, 'while any load runs');
  t.equal(await first.takeProjects(['a', 'b']), true);
  t.equal(await second.takeProjects(['c', 'b']), false);
  t.equal(await first.takeProjects(['c']), true, 'none was taken');
  await first.plan('facts/site_daily/a/all-1.parquet');
  await second.plan('facts/site_daily/d/all-2.parquet');
  const [ofFirst, ofSecond] = ['facts/site_daily/a/all-1.parquet', 'facts/site_daily/d/all-2.parquet'].map((file) => ({
    file,
    isAgain: false,
  }));
  t.strictSame(await first.plans(1000), [ofFirst], 'not those of a load that runs');
  await first.release();
  t.equal(await second.takeProjects(['b']), true);
  const found = await second.plans(1000);
  t.strictSame(new Set(found), new Set([ofFirst, ofSecond]));
  await second.settlePlans(found, [ofFirst!], 2000);
  t.strictSame(await second.plans(1999), []);
  const again = [{ ...ofFirst, isAgain: true }];
  t.strictSame(await second.plans(2000), again, 'what may have arrived since is found once more');
  await second.settlePlans(await second.plans(2000), [], 0);
  t.strictSame(await second.plans(3000), []);
  await second.release();
});

t.test('a publication whose lock is lost commits nothing', { skip }, async (t) => {
  const catalogUrl = await newDatabase(t);
  await using catalog = await openCatalog({ dataFolder: temporaryFolder(t), catalogUrl });
  const lock = (await catalog.locks.takeLoad('projects'))!;
  await t.rejects(
    catalog.transaction(async (tx) => {
      await createWorkspace(tx, workspace('a'));
      await query(
        catalogUrl,
        // Locks are of all databases of the server, which other tests share.
        `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()
          and database = (select oid from pg_database where datname = current_database())`,
      );
    }, lock),
    { name: 'CatalogFailure', resource: 'database-unreachable' },
  );
  t.equal(await idsOf(catalog), '');
  t.ok(await catalog.locks.takeLoad('all'), 'its lock is gone');
});

t.test(
  'one read of the version serves all that came before it was sent or in the same turn, and the rest of their turn',
  { skip },
  async (t) => {
    const [catalog] = await openTwo(t);
    catalog.prefetchVersion();
    const sent = catalog.version();
    t.equal(catalog.version(), sent, 'nothing can have arrived since it was sent');
    await new Promise(setImmediate);
    const [next, same] = [catalog.version(), catalog.version()];
    t.not(next, sent, 'it may have been read before this call');
    t.equal(next, same);
    const version = await sent;
    t.equal(catalog.version(), version, 'no further read for those that waited');
    t.equal(await next, version);
    await new Promise(setImmediate);
    t.ok(catalog.version() instanceof Promise, 'what comes later is asked again');
  },
);

t.test('a cached snapshot asks for what it read before only after a commit, of any process', { skip }, async (t) => {
  const [one, two, url] = await openTwo(t);
  await createWorkspace(one, workspace('a'));
  const name = async (): Promise<string | undefined> =>
    two.cachedSnapshot(async (snapshot) => (await findWorkspace(snapshot, 'a'))?.name);
  t.equal(await name(), 'a');
  // By hand, so that the version stays.
  await query(url, "update workspaces set name = 'changed'");
  t.equal(await name(), 'a');
  await t.rejects(
    two.cachedSnapshot(async (snapshot) => Object.assign((await findWorkspace(snapshot, 'a'))!, { name: 'spoiled' })),
    { name: 'TypeError' },
    'what others read too',
  );
  await createWorkspace(one, workspace('b'));
  t.equal(await name(), 'changed');
  t.equal(await two.cachedSnapshot(idsOf), 'a b');
});

t.test('what a cached snapshot reads is of one version, whoever commits between its reads', { skip }, async (t) => {
  const [one, two] = await openTwo(t);
  await createWorkspace(one, workspace('a'));
  await two.cachedSnapshot(idsOf);
  for (const [index, reads] of [
    // Of the first, only one is in memory, of the second none, and the third has its own snapshot before the commit.
    (snapshot: Catalog) => idsOf(snapshot),
    async () => {},
    (snapshot: Catalog) => findWorkspace(snapshot, 'other'),
  ].entries()) {
    const id = `w${index}`;
    let times = 0;
    const seen = await two.cachedSnapshot(async (snapshot) => {
      await reads(snapshot);
      if (times++ === 0) await createWorkspace(one, workspace(id));
      const [found, ids] = await Promise.all([findWorkspace(snapshot, id), idsOf(snapshot)]);
      return { found: found !== undefined, listed: ids.includes(id) };
    });
    t.equal(seen.found, seen.listed, `${index}: the same state`);
    t.equal(times, index === 2 ? 1 : 2, 'read again unless all was of the state before');
  }
  const many = Array.from({ length: 30 }, async (_, number) => {
    if (number % 3 === 0) await createWorkspace(number % 2 === 0 ? one : two, workspace(`m${number}`));
    return two.cachedSnapshot(async (snapshot) => {
      const ids = (await idsOf(snapshot)).split(' ');
      const found = await Promise.all(ids.map((id) => findWorkspace(snapshot, id)));
      const none = await findWorkspace(snapshot, `m${number}`);
      return found.every(Boolean) && ids.includes(`m${number}`) === (none !== undefined);
    });
  });
  t.ok((await Promise.all(many)).every(Boolean));
});

t.test('a cached snapshot fails with the database, and not after it is back', { skip }, async (t) => {
  const [one, two, url] = await openTwo(t);
  const database = new URL(url).pathname.slice(1);
  await createWorkspace(one, workspace('a'));
  await t.rejects(
    two.cachedSnapshot(async (snapshot) => {
      await idsOf(snapshot);
      await query(
        url,
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
        [database],
      );
      return findWorkspace(snapshot, 'a');
    }),
    { name: 'CatalogFailure', resource: 'database-unreachable' },
  );
  t.match(await two.cachedSnapshot((snapshot) => findWorkspace(snapshot, 'a')), { id: 'a' });
  // Nobody waits for the end of a snapshot.
  while (two.connections!.used > 0) await new Promise(setImmediate);
});

t.test('a transaction that would wait for the one it is in is an error', { skip }, async (t) => {
  const [one, two] = await openTwo(t);
  const write = (tx: Catalog) => tx.statements.run('revisions.set_publication', { number: 7, id: 'x' });
  await t.rejects(
    one.transaction(async (tx) => {
      await write(tx);
      await write(one);
    }),
    /part of a transaction that is open: write to its own catalog/,
  );
  const other = one.transaction(async () => {
    // Of others, it waits.
    await Promise.all([two.statements.get('revisions.publication'), one.statements.get('revisions.publication')]);
  });
  await Promise.all([other, one.transaction(write), two.transaction(write)]);
  await one.transaction(async (tx) => void (await tx.transaction(write)));
  t.match(await two.statements.get('revisions.publication'), { number: 7 });
});
