// The file cache serves only correct bytes, stays within its size, and repairs itself.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { classifyFailure } from '../../server/domain/failures.ts';
import { DamagedFile } from '../../server/storage/checked-files.ts';
import type { OpenFiles, StoredFile } from '../../server/storage/file-store.ts';
import { FileCache } from '../../server/storage/s3/file-cache.ts';
import { StorageAway } from '../../server/storage/s3/remote-files.ts';
import { S3Store } from '../../server/storage/s3/s3-store.ts';
import { temporaryFolder } from '../world.ts';
import { RemoteInMemory } from './remote-in-memory.ts';

/** The files of the cache, without those that are only held. */
function cached(folder: string): string[] {
  return readdirSync(join(folder, 'files'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function read({ paths }: OpenFiles): string[] {
  return paths.map((path) => readFileSync(path, 'utf8'));
}

async function open(
  t: Test,
  { max = 1000, folder = temporaryFolder(t), remote = new RemoteInMemory(), now = Date.now } = {},
): Promise<{ cache: FileCache; remote: RemoteInMemory; folder: string }> {
  const cache = await FileCache.open({ remote, folder, max, now });
  return { cache, remote, folder };
}

t.test('a file is fetched once, also for concurrent readers, and then read from the disk', async (t) => {
  const { cache, remote, folder } = await open(t);
  const files = ['a', 'b'].map((name) => remote.add(name, `content of ${name}`));
  const all = await Promise.all(Array.from({ length: 5 }, () => cache.hold(files)));
  for (const held of all) t.strictSame(read(held), ['content of a', 'content of b']);
  t.strictSame(remote.fetched, ['a', 'b']);
  for (const held of all) held[Symbol.dispose]();
  using soon = await cache.hold(files);
  t.strictSame(soon.paths, all[0]!.paths, 'the next question reads them by the same links');
  await cache.close();

  const later = await open(t, { folder, remote });
  using held = await later.cache.hold(files);
  t.strictSame(read(held), ['content of a', 'content of b']);
  t.equal(remote.fetched.length, 2, 'it survives the end of the process');
  await later.cache.close();
});

t.test('a cached file that is not what was stored is fetched again', async (t) => {
  const { cache, remote, folder } = await open(t);
  const stored = remote.add('a', 'content of a');
  (await cache.hold([stored]))[Symbol.dispose]();
  const [path = ''] = cached(folder);
  writeFileSync(path, 'CONTENT OF A');
  using held = await cache.hold([stored]);
  t.strictSame(read(held), ['content of a']);
  await cache.close();

  truncateSync(cached(folder)[0]!, 3);
  const later = await open(t, { folder, remote });
  using again = await later.cache.hold([stored]);
  t.strictSame(read(again), ['content of a'], 'also after a power cut');
  t.equal(remote.fetched.length, 3);
  await later.cache.close();
});

t.test('what the store gives is compared: once more where it differs, then it is named', async (t) => {
  const { cache, remote, folder } = await open(t);
  const stored = remote.add('facts/a', 'content of a');
  remote.wrong.push(Buffer.from('content of b'));
  using held = await cache.hold([stored]);
  t.strictSame(read(held), ['content of a'], 'bytes changed on their way');

  const damaged = remote.add('facts/b', 'content of b');
  remote.add('facts/b', 'content of c');
  await t.rejects(cache.hold([stored, damaged]), { message: /'s3:\/\/memory\/facts\/b' is damaged: its SHA-256 is/ });
  remote.files.delete('facts/b');
  const failure = await cache.hold([damaged]).catch((error: unknown) => error);
  t.ok(failure instanceof DamagedFile);
  t.match(failure, { file: 'facts/b', message: /it is missing/ });
  t.equal(cached(folder).length, 1, 'nothing of it stays');
  await cache.close();
});

t.test('while the store is away, what is on the disk is read, and the rest is a 503', async (t) => {
  const { cache, remote } = await open(t);
  const [a, b] = ['a', 'b'].map((name) => remote.add(name, name)) as [StoredFile, StoredFile];
  (await cache.hold([a]))[Symbol.dispose]();
  remote.isAway = true;
  (await cache.hold([a]))[Symbol.dispose]();
  const failure = await cache.hold([a, b]).catch((error: unknown) => error);
  t.ok(failure instanceof StorageAway);
  t.equal(classifyFailure(failure), 'storage-away');
  remote.isAway = false;
  using held = await cache.hold([a, b]);
  t.strictSame(read(held), ['a', 'b'], 'it recovers');
  await cache.close();
});

t.test('on a full disk, files that nothing reads make room', async (t) => {
  const { cache, remote, folder } = await open(t);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => remote.add(name, name)) as [StoredFile, StoredFile, StoredFile];
  (await cache.hold([a]))[Symbol.dispose]();
  using held = await cache.hold([b]);
  remote.diskError = 'ENOSPC';
  using other = await cache.hold([c]);
  t.strictSame([...read(held), ...read(other)], ['b', 'c']);
  t.equal(cached(folder).length, 1);
  await cache.close();
});

t.test('on a full disk, all files that are fetched at once profit from the room that one of them made', async (t) => {
  const { cache, remote } = await open(t);
  (await cache.hold([remote.add('old', 'old')]))[Symbol.dispose]();
  const get = remote.get.bind(remote);
  remote.get = async (...of) => {
    await nextTurn();
    if (cache.has('old')) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    return get(...of);
  };
  const names = ['a', 'b', 'c', 'd', 'e'];
  using held = await cache.hold(names.map((name) => remote.add(name, name)));
  t.strictSame(read(held), names);
  await cache.close();
});

t.test('the file that was used longest ago makes room, whenever it was added', async (t) => {
  let at = 0;
  const now = (): number => at;
  const { cache, remote } = await open(t, { max: 3, now });
  const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((name) => remote.add(name, name)) as StoredFile[];
  const kept = async (file: StoredFile): Promise<string> => {
    at += 3_600_000;
    (await cache.hold([file]))[Symbol.dispose]();
    return ['a', 'b', 'c', 'd', 'e'].filter((name) => cache.has(name)).join('');
  };
  const states = [];
  for (const file of [c!, a!, b!, c!, d!, e!]) states.push(await kept(file));
  t.strictSame(states, ['c', 'ac', 'abc', 'abc', 'bcd', 'cde']);
  await cache.close();
});

t.test('a file larger than the cache is read, and does not stay', async (t) => {
  const { cache, remote, folder } = await open(t, { max: 10 });
  const small = remote.add('small', 'small');
  const large = remote.add('large', 'x'.repeat(100));
  (await cache.hold([small]))[Symbol.dispose]();
  const held = await cache.hold([large]);
  t.strictSame(read(held), ['x'.repeat(100)]);
  t.equal(cached(folder).length, 1, 'nor does it drive out others');
  held[Symbol.dispose]();
  await cache.close();
  t.strictSame(readdirSync(join(folder, 'processes')), [], 'no link is left');
});

t.test('a new file is in the store before it is in the cache', async (t) => {
  const { cache, remote, folder } = await open(t);
  const store = new S3Store(remote, cache, () => cache.close());
  writeFileSync(store.prepare('facts/new'), 'new');
  const stored = await store.seal('facts/new');
  t.equal(remote.files.get('facts/new')?.toString(), 'new');
  using held = await store.open([stored]);
  t.strictSame(read(held), ['new']);
  t.strictSame(remote.fetched, []);
  await store.remove('facts/new');
  t.equal(remote.files.size, 0);
  t.equal(cached(folder).length, 0);

  remote.isAway = true;
  writeFileSync(store.prepare('facts/failed'), 'failed');
  await t.rejects(store.seal('facts/failed'), StorageAway);
  t.notOk(existsSync(store.prepare('facts/failed')));
  writeFileSync(store.prepare('facts/empty'), '');
  await store.remove('facts/empty');
  t.pass('what was never stored is removed without the store');
  remote.isAway = false;
  remote.add('facts/failed', 'the answer was lost');
  await store.remove('facts/failed');
  t.equal(remote.files.size, 0);
  await cache.close();
});

t.test('a lost or damaged index is made again', async (t) => {
  const { cache, remote, folder } = await open(t, { max: 4 });
  const [a, b, c] = ['aa', 'bb', 'cc'].map((name) => remote.add(name, name)) as [StoredFile, StoredFile, StoredFile];
  for (const file of [a, b]) (await cache.hold([file]))[Symbol.dispose]();
  await cache.close();
  writeFileSync(join(folder, 'index.sqlite'), 'no database'.repeat(1000));
  const later = await open(t, { max: 4, folder, remote });
  t.equal(later.cache.bytes, 4);
  (await later.cache.hold([c]))[Symbol.dispose]();
  t.equal(later.cache.bytes, 4, 'one of them made room');
  t.equal(cached(folder).length, 2);
  await later.cache.close();
});

t.test('files that a lost index no longer counts are counted again, whoever notices the loss', async (t) => {
  const { cache, remote, folder } = await open(t);
  const files = ['a', 'b'].map((name) => remote.add(name, `content of ${name}`));
  (await cache.hold(files))[Symbol.dispose]();
  for (const ending of ['', '-wal', '-shm']) rmSync(join(folder, `index.sqlite${ending}`), { force: true });
  cache.newPath('c');
  (await cache.hold(files.slice(0, 1)))[Symbol.dispose]();
  t.equal(cache.bytes, 24);
  await cache.close();
});

t.test('what somebody removes is made again by each process that uses it', async (t) => {
  for (const removed of ['.', 'files', 'processes', 'index.sqlite']) {
    const { cache, remote, folder } = await open(t);
    const other = (await open(t, { folder, remote })).cache;
    const [a, b] = ['a', 'b'].map((name) => remote.add(name, `content of ${name}`)) as [StoredFile, StoredFile];
    const before = await cache.hold([a]);
    rmSync(join(folder, removed), { recursive: true });
    // The first is still being read.
    const held = [await cache.hold([a]), await other.hold([a, b])];
    t.strictSame(held.map(read), [['content of a'], ['content of a', 'content of b']], removed);
    const third = (await open(t, { folder, remote })).cache;
    t.strictSame(held.flatMap(read).length, 3, 'they are not taken for leftovers');
    for (const opened of [before, ...held]) opened[Symbol.dispose]();
    const fetched = remote.fetched.length;
    for (const each of [cache, other, third]) (await each.hold([a, b]))[Symbol.dispose]();
    t.equal(remote.fetched.length, fetched, 'files stay in it again');
    t.strictSame([cache.bytes, other.bytes, third.bytes], [24, 24, 24], 'and are counted by all');
    for (const each of [cache, other, third]) await each.close();
    t.strictSame(readdirSync(join(folder, 'processes')).length, 0);
  }
});

t.test('a folder that is removed during a fetch is made again, or the failure is one of the machine', async (t) => {
  const { cache, remote, folder } = await open(t);
  const stored = remote.add('a', 'content of a');
  const get = remote.get.bind(remote);
  let isRemoved = false;
  remote.get = async (...of) => {
    if (!isRemoved) rmSync(folder, { recursive: true });
    isRemoved = true;
    return get(...of);
  };
  const held = await cache.hold([stored]);
  t.strictSame(read(held), ['content of a']);
  held[Symbol.dispose]();

  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'a file in its place');
  for (const use of [() => cache.hold([stored]), () => cache.check()]) {
    t.equal(classifyFailure(await use().catch((error: unknown) => error)), 'cannot-open');
  }
  rmSync(folder);
  using again = await cache.hold([stored]);
  t.strictSame(read(again), ['content of a']);
  await cache.close();
});

t.test(
  'a reader beside one of a removed folder has a file, even if the index could not be made at first',
  async (t) => {
    const { cache, remote, folder } = await open(t);
    const stored = remote.add('a', 'content of a');
    using _before = await cache.hold([stored]);
    rmSync(folder, { recursive: true });
    mkdirSync(join(folder, 'index.sqlite'), { recursive: true });
    t.equal(classifyFailure(await cache.hold([stored]).catch((error: unknown) => error)), 'cannot-open');
    rmSync(join(folder, 'index.sqlite'), { recursive: true });
    using held = await cache.hold([stored]);
    t.strictSame(read(held), ['content of a']);
    await cache.close();
  },
);

t.test('below a folder that is kept, nothing is made without it', async (t) => {
  const within = join(temporaryFolder(t), 'data');
  const folder = join(within, 'cache');
  const remote = new RemoteInMemory();
  const cache = await FileCache.open({ remote, folder, within, max: 1000 });
  const stored = remote.add('a', 'content of a');
  rmSync(within, { recursive: true });
  t.equal(classifyFailure(await cache.hold([stored]).catch((error: unknown) => error)), 'cannot-open');
  t.notOk(existsSync(within));
  await cache.close();
});

/** What happens to a cache that two processes share. */
interface Step {
  readonly process: 0 | 1;
  readonly action: 'hold' | 'release' | 'drop';
  readonly files: readonly number[];
}

t.test('whatever is read and released, files are right and the cache keeps its size', async (t) => {
  const sizes = [1, 2, 3, 5, 8, 13, 40];
  const step: fc.Arbitrary<Step> = fc.record({
    process: fc.constantFrom(0 as const, 1 as const),
    action: fc.constantFrom('hold' as const, 'hold' as const, 'release' as const, 'drop' as const),
    files: fc.uniqueArray(fc.nat(sizes.length - 1), { minLength: 1, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 0, max: 30 }), async (steps, max) => {
      const remote = new RemoteInMemory();
      const folder = temporaryFolder(t);
      let at = 0;
      const now = (): number => (at += 60_000);
      const caches = [await open(t, { max, folder, remote, now }), await open(t, { max, folder, remote, now })];
      const files = sizes.map((size, index) => remote.add(`f${index}`, String(index).repeat(size)));
      const holding: { held: OpenFiles; expected: string[] }[][] = [[], []];
      for (const { process, action, files: chosen } of steps) {
        const { cache } = caches[process]!;
        if (action === 'hold') {
          const both = chosen.map((index) => files[index]!);
          const held = await Promise.all([cache.hold(both), cache.hold(both.toReversed())]);
          held[1][Symbol.dispose]();
          holding[process]!.push({
            held: held[0],
            expected: both.map(({ file }) => remote.files.get(file)!.toString()),
          });
        }
        if (action === 'release') holding[process]!.shift()?.held[Symbol.dispose]();
        if (action === 'drop') cache.drop(files[chosen[0]!]!.file);
        const bytes = cached(folder).reduce((sum, path) => sum + statSync(path).size, 0);
        if (bytes > max) throw new Error(`the cache takes ${bytes} bytes`);
        if (bytes !== cache.bytes) throw new Error(`the cache counts ${cache.bytes} bytes of ${bytes}`);
        for (const { held, expected } of holding.flat()) {
          if (JSON.stringify(read(held)) !== JSON.stringify(expected)) throw new Error('a held file has changed');
        }
      }
      for (const { held } of holding.flat()) held[Symbol.dispose]();
      for (const { cache } of caches) await cache.close();
    }),
    { numRuns: 40 },
  );
  t.pass('in all of them');
});
