// A failing or slow object store behind Trino causes 503 and never an answer that lacks rows.
import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { EVERYTHING } from '../load/snapshots.ts';
import { until } from '../process.ts';
import { facts, makeWorld, type Tables, type World } from '../world.ts';
import { type Fault, FaultyProxy } from './servers/faulty-proxy.ts';
import { Bucket } from './servers/object-store.ts';
import { addHiveCatalog, askTrino, storageOfTests } from './servers/trino.ts';
import { skip, type TrinoWorld, trinoWorld } from './trino-world.ts';

const { ORDINATE_TEST_TRINO = '', ORDINATE_TEST_S3 = '' } = process.env;
const RANGE = 'from=2025-12-01&to=2026-03-10';
/** Questions that read files each time, some of them with several queries at once. */
const ASKED = [`/site?${RANGE}&country=usa`, `/breakdowns?${RANGE}`, `/keywords?${RANGE}&daily=1`];

interface Disturbed extends TrinoWorld {
  readonly proxy: FaultyProxy;
}

/** A world whose files Trino reads through a proxy; the server itself reads them from the object store. */
async function disturbedWorld(
  t: Test,
  environment: NodeJS.ProcessEnv = {},
  tables: Tables = EVERYTHING,
): Promise<Disturbed> {
  const proxy = await FaultyProxy.start(t, ORDINATE_TEST_S3);
  const metastore = await Bucket.create(t, ORDINATE_TEST_S3);
  const catalog = metastore.name.replaceAll('-', '_');
  const storage = { ...storageOfTests(metastore.name), endpoint: proxy.url };
  await addHiveCatalog(ORDINATE_TEST_TRINO, catalog, storage);
  t.teardown(() => askTrino(ORDINATE_TEST_TRINO, `drop catalog ${catalog}`));
  const settings = { ORDINATE_ENGINE: 'trino', ORDINATE_CACHE: '0MB', ...environment };
  return { proxy, ...(await trinoWorld(t, tables, { catalog, environment: settings })) };
}

/** Waits until Trino runs nothing that reads the files of a world. */
async function untilIdle({ bucket }: TrinoWorld): Promise<void> {
  const running = `select count(*) from system.runtime.queries q
    left join system.runtime.tasks t on t.query_id = q.query_id and t.state in ('PLANNED', 'RUNNING', 'FLUSHING')
    where q.source = 'ordinate' and q.query like '%//${bucket.name}/%'
      and (q.state not in ('FINISHED', 'FAILED') or t.task_id is not null)`;
  await until('Trino to run nothing', async () => {
    const [row] = await askTrino(ORDINATE_TEST_TRINO, running);
    return row?.[0] === 0 ? true : undefined;
  });
}

const isData = (path: string): boolean => /\/some\/prefix\/facts\/.*\.parquet/.test(path);
const isList = (path: string): boolean => /\?.*list-type=2.*facts/.test(path);

const answer = async ({ ask }: World, path: string) => {
  const { status, body } = await ask(path);
  return { status, body };
};
const answers = (world: World) => Promise.all(ASKED.map((path) => answer(world, path)));

/** Each question is a 503 that says why, without details. */
async function unavailable(t: Test, { world, bucket }: TrinoWorld, path: string, name: string): Promise<void> {
  const { status, headers, body } = await world.ask(path);
  t.strictSame([status, headers['retry-after']], [503, '60'], `${name}: ${path}`);
  const message = 'The answer is not available right now: the query engine cannot read its storage.';
  t.strictSame(body, { error: { code: 'unavailable', message } });
  t.match(world.log.join(''), bucket.name, 'the log has the file');
}

const FAULTS: readonly (readonly [Fault, string, (path: string) => boolean])[] = [
  ['error', 'files', isData],
  ['cut', 'files', isData],
  ['silent', 'files', isData],
  ['error', 'lists of files', isList],
  ['cut', 'lists of files', isList],
];

t.test('an object store that fails while Trino reads it is 503, and again 200 afterwards', { skip }, async (t) => {
  const stored = await disturbedWorld(t);
  const { world, proxy } = stored;
  const expected = await answers(await makeWorld(t, EVERYTHING));
  for (const [fault, what, concerns] of FAULTS) {
    const name = `${fault} for ${what}`;
    proxy.fault = (_method, path) => (concerns(path) ? fault : undefined);
    await Promise.all(ASKED.map((path) => unavailable(t, stored, path, name)));
    await untilIdle(stored);
    proxy.fault = () => undefined;
    t.strictSame(await answers(world), expected, `after ${name}`);
  }
});

t.test('queries for a question that has failed are cancelled', { skip }, async (t) => {
  const stored = await disturbedWorld(t);
  stored.proxy.fault = (_method, path) => {
    if (isList(path) && path.includes('country_daily')) return 'error';
    return isData(path) ? 'silent' : undefined;
  };
  await unavailable(t, stored, `/breakdowns?${RANGE}`, 'error for one table');
  await untilIdle(stored);
  const cancelled = `select count(*) from system.runtime.queries
    where query like '%//${stored.bucket.name}/%/site_daily/%' and error_code = 'USER_CANCELED'`;
  t.not((await askTrino(ORDINATE_TEST_TRINO, cancelled))[0]?.[0], 0);
});

t.test('a slow object store is waited for until the time limit of requests', { skip }, async (t) => {
  const stored = await disturbedWorld(t, { ORDINATE_REQUEST_SECONDS: '3' });
  const { world, proxy } = stored;
  const [path] = ASKED as [string];
  const expected = await answer(await makeWorld(t, EVERYTHING), path);
  proxy.fault = (_method, of) => (isData(of) ? 'silent' : undefined);
  const message = 'The response took too long; request a shorter range or try again later.';
  t.strictSame(await answer(world, path), { status: 503, body: { error: { code: 'unavailable', message } } });
  await untilIdle(stored);
  proxy.fault = () => undefined;
  // A busy machine may take longer than the limit.
  const again = await until('an answer', async () => {
    const found = await answer(world, path);
    return found.status === 503 ? undefined : found;
  });
  t.strictSame(again, expected);
});

/** So many that Trino does not read their file at once. */
const PAGES = facts(
  'url date country',
  ...Array.from({ length: 60_000 }, (_, at) => {
    const name = createHash('sha512').update(String(at)).digest('base64url');
    return [`https://shop.example/${name}`, '2026-03-02', 'usa', 1 + (at % 90), 100 + at, 200 + at];
  }),
);

t.test('an object store that fails in the middle of a file is 503, without a part of its rows', { skip }, async (t) => {
  const tables = { page_daily: PAGES };
  const stored = await disturbedWorld(t, {}, tables);
  const { world, proxy } = stored;
  const local = await makeWorld(t, tables);
  let reads = 0;
  // After the requests for its footer, two the first time. Each of a range of its own: an answer is stored.
  for (const [fault, footers, path] of [
    ['error', 2, '/pages?from=2025-12-01&to=2026-03-10'],
    ['cut', 1, '/pages?from=2025-12-02&to=2026-03-10'],
  ] as const) {
    const expected = await answer(local, path);
    t.equal(expected.status, 200);
    reads = 0;
    proxy.fault = (_method, of) => (isData(of) && reads++ >= footers ? fault : undefined);
    if (fault === 'error') await unavailable(t, stored, path, 'error after the first reads');
    else {
      // Trino may have had all that it needed of an answer that was cut.
      const found = await answer(world, path);
      if (found.status === 200) t.strictSame(found, expected, 'whole all the same');
      else t.equal(found.status, 503, 'cut after the first reads');
    }
    t.ok(reads > footers, 'the file is read in several requests');
    await untilIdle(stored);
    proxy.fault = () => undefined;
    t.strictSame(await answer(world, path), expected);
  }
});
