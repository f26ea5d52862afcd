// A query that waits for others holds no files, and one that waits for the object store holds up no others.
import t from 'tap';
import { filesOf } from '../../server/catalog/fact-files.ts';
import { openFacts } from '../../server/facts/open-facts.ts';
import { ConcurrencyLimit } from '../../server/runtime/limits.ts';
import type { FileStore, OpenFiles } from '../../server/storage/file-store.ts';
import { openFileStore } from '../../server/storage/open-file-store.ts';
import { until } from '../process.ts';
import { facts, keyword, makeLazyWorld, sharedEngine } from '../world.ts';

/** Files of a store, with how many are held, and a store that may not answer. */
function watched(store: FileStore) {
  const watching = { held: 0, answers: Promise.resolve() };
  const open: FileStore['open'] = async (files) => {
    await watching.answers;
    const opened = await store.open(files);
    watching.held++;
    const release = (): void => {
      watching.held--;
      opened[Symbol.dispose]();
    };
    return { paths: opened.paths, [Symbol.dispose]: release } satisfies OpenFiles;
  };
  return Object.assign(watching, { files: { open } as FileStore });
}

t.test('files of heavy queries', async (t) => {
  const range = { from: '2026-03-01', to: '2026-03-02' };
  const { catalog, settings } = await makeLazyWorld(t, {
    keywords: [keyword('Kw001', 'boots')],
    keyword_daily: facts('keyword_id date device', ['Kw001', '2026-03-01', 'mobile', 3, 9, 0]),
  });
  await using store = await openFileStore(settings);
  const watching = watched(store);
  const heavy = new ConcurrencyLimit(1);
  const reader = await openFacts({
    // Trino has queries of its own, without slots here.
    settings: { ...settings, engine: 'duckdb' },
    engine: await sharedEngine(settings),
    files: watching.files,
    heavy,
  });
  const files = await filesOf(catalog, 'Proj1', 'keyword_daily', range);
  const { signal } = new AbortController();
  const clicks = async (): Promise<number[]> => [
    ...(await reader.keywordDays({ files, range, signal }, 'mobile', ['Kw001'], 0)).clicks,
  ];

  t.strictSame(await clicks(), [3, 0], 'while there is a slot');
  t.match(heavy.state, { used: 0 });
  t.equal(watching.held, 0);

  const leave = await heavy.enter(signal);
  const waiting = clicks();
  await until('the query to wait', () => heavy.waiting === 1 || undefined);
  t.equal(watching.held, 0, 'while others have all slots');
  leave();
  t.strictSame(await waiting, [3, 0]);
  t.equal(watching.held, 0);

  const answering = Promise.withResolvers<void>();
  watching.answers = answering.promise;
  const fetching = clicks();
  await new Promise(setImmediate);
  t.match(heavy.state, { used: 0, waiting: 0 }, 'a store that does not answer takes no slot');
  answering.resolve();
  t.strictSame(await fetching, [3, 0]);
});
