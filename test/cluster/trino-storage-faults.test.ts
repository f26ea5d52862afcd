// A failing or slow object store behind Trino causes 503 and never an answer that lacks rows.
import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { EVERYTHING } from '../load/snapshots.ts';
import { until } from '../process.ts';
import { facts, makeWorld, type Tables, type World } from '../world.ts';
import { endpoint } from './nodes.ts';
import { FaultyProxy } from './servers/faulty-proxy.ts';
import { Bucket } from './servers/object-store.ts';
import { addHiveCatalog, askTrino, storageOfTests } from './servers/trino.ts';
import { skip, trinoWorld } from './trino-world.ts';

const { ORDINATE_TEST_TRINO = '' } = process.env;
const RANGE = 'from=2025-12-01&to=2026-03-10';
/** Questions that read files each time, some of them with several queries at once. */
const ASKED = [`/site?${RANGE}&country=usa`, `/breakdowns?${RANGE}`, `/keywords?${RANGE}&daily=1`];
const BROKEN = 'The answer is not available right now: the query engine cannot read its storage.';
const SLOW = 'The response took too long; request a shorter range or try again later.';

const answer = async ({ ask }: World, path: string) => {
  const { status, headers, body } = await ask(path);
  return { status, body, ...(status === 503 && { after: headers['retry-after'] }) };
};
const answers = (world: World) => Promise.all(ASKED.map((path) => answer(world, path)));
const unavailable = (message: string) => ({
  status: 503,
  body: { error: { code: 'unavailable', message } },
  after: '60',
});

/** A world whose files Trino reads through a proxy; the server itself reads them from the object store. */
async function disturbedWorld(t: Test, environment: NodeJS.ProcessEnv = {}, tables: Tables = EVERYTHING) {
  const proxy = await FaultyProxy.start(t, endpoint);
  const metastore = await Bucket.create(t, endpoint);
  const catalog = metastore.name.replaceAll('-', '_');
  await addHiveCatalog(ORDINATE_TEST_TRINO, catalog, { ...storageOfTests(metastore.name), endpoint: proxy.url });
  t.teardown(() => askTrino(ORDINATE_TEST_TRINO, `drop catalog ${catalog}`));
  const settings = { ORDINATE_ENGINE: 'trino', ORDINATE_CACHE: '0MB', ...environment };
  const { world, bucket } = await trinoWorld(t, tables, { catalog, environment: settings });
  const count = async (from: string): Promise<unknown> =>
    (await askTrino(ORDINATE_TEST_TRINO, `select count(*) from ${from}`))[0]?.[0];
  /** Waits until Trino runs nothing that reads the files of the world, which then has no faults. */
  const recover = async (): Promise<void> => {
    const running = `system.runtime.queries q
      left join system.runtime.tasks t on t.query_id = q.query_id and t.state in ('PLANNED', 'RUNNING', 'FLUSHING')
      where q.source = 'ordinate' and q.query like '%//${bucket.name}/%'
        and (q.state not in ('FINISHED', 'FAILED') or t.task_id is not null)`;
    await until('Trino to run nothing', async () => ((await count(running)) === 0 ? true : undefined));
    proxy.fault = () => undefined;
  };
  return { world, bucket, proxy, count, recover, local: await makeWorld(t, tables) };
}

const isData = (path: string): boolean => /\/some\/prefix\/facts\/.*\.parquet/.test(path);
const isList = (path: string): boolean => /\?.*list-type=2.*facts/.test(path);

t.test('an object store that fails while Trino reads it is 503, and again 200 afterwards', { skip }, async (t) => {
  const { world, bucket, proxy, recover, local } = await disturbedWorld(t);
  const expected = await answers(local);
  for (const [fault, concerns] of [
    ['error', isData],
    ['cut', isData],
    ['silent', isData],
    ['error', isList],
    ['cut', isList],
  ] as const) {
    const name = `${fault} for ${concerns.name}`;
    proxy.fault = (_method, path) => (concerns(path) ? fault : undefined);
    t.strictSame(await answers(world), Array(3).fill(unavailable(BROKEN)), name);
    t.match(world.log.splice(0).join(''), bucket.name, 'the log has the file');
    await recover();
    t.strictSame(await answers(world), expected, `after ${name}`);
  }
});

t.test('queries for a question that has failed are cancelled', { skip }, async (t) => {
  const { world, bucket, proxy, count, recover } = await disturbedWorld(t);
  proxy.fault = (_method, path) => {
    if (isList(path) && path.includes('country_daily')) return 'error';
    return isData(path) ? 'silent' : undefined;
  };
  t.strictSame(await answer(world, ASKED[1]!), unavailable(BROKEN), 'error for one table');
  await recover();
  const cancelled = `system.runtime.queries
    where query like '%//${bucket.name}/%/site_daily/%' and error_code = 'USER_CANCELED'`;
  t.not(await count(cancelled), 0);
});

t.test('a slow object store is waited for until the time limit of requests', { skip }, async (t) => {
  const { world, proxy, recover, local } = await disturbedWorld(t, { ORDINATE_REQUEST_SECONDS: '3' });
  proxy.fault = (_method, of) => (isData(of) ? 'silent' : undefined);
  t.match(await answer(world, ASKED[0]!), { status: 503, body: { error: { code: 'unavailable', message: SLOW } } });
  await recover();
  // A busy machine may take longer than the limit.
  const again = await until('an answer', async () => {
    const found = await answer(world, ASKED[0]!);
    return found.status === 503 ? undefined : found;
  });
  t.strictSame(again, await answer(local, ASKED[0]!));
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
  const { world, proxy, recover, local } = await disturbedWorld(t, {}, { page_daily: PAGES });
  // After the requests for its footer, two the first time. Each of a range of its own: an answer is stored.
  for (const [fault, footers, path] of [
    ['error', 2, '/pages?from=2025-12-01&to=2026-03-10'],
    ['cut', 1, '/pages?from=2025-12-02&to=2026-03-10'],
  ] as const) {
    const expected = await answer(local, path);
    t.equal(expected.status, 200);
    let reads = 0;
    proxy.fault = (_method, of) => (isData(of) && reads++ >= footers ? fault : undefined);
    const found = await answer(world, path);
    // Trino may have had all that it needed of an answer that was cut.
    if (fault === 'error') t.strictSame(found, unavailable(BROKEN));
    else if (found.status !== 503) t.strictSame(found, expected, 'whole all the same');
    t.ok(reads > footers, 'the file is read in several requests');
    await recover();
    t.strictSame(await answer(world, path), expected);
  }
});
