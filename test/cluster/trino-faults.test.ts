// A lost Trino machine causes 503 and not wrong answers, and abandoned queries are cancelled.
import t from 'tap';
import { filesOf } from '../../server/catalog/fact-files.ts';
import { StoredFacts } from '../../server/facts/stored-facts.ts';
import { EVERY_ROW } from '../../server/facts/sums.ts';
import { TrinoClient } from '../../server/facts/trino/client.ts';
import { until } from '../process.ts';
import { facts } from '../world.ts';
import { Bucket } from './servers/object-store.ts';
import { askTrino, missingForTrino, storageOfTests, Trino } from './servers/trino.ts';
import { skip, trinoWorld } from './trino-world.ts';

const { ORDINATE_TEST_TRINO } = process.env;
const { signal } = new AbortController();

/** It would take days, on one machine of the cluster. */
const ENDLESS = `select count(*) from unnest(sequence(1, 10000)) as a(n)
  cross join unnest(sequence(1, 10000)) as b(n) cross join unnest(sequence(1, 10000)) as c(n)
  where a.n * b.n * c.n % 7 = `;

/** Runs it, with a number by which it is found again. */
function runEndless(client: TrinoClient, number: number, given = signal) {
  const run = async () => {
    for await (const page of client.pages(`${ENDLESS}${number}`, given)) t.fail(`it has rows: ${page.rows.length}`);
  };
  const ended = run().then(
    () => undefined,
    (error: unknown) => error,
  );
  return { ended };
}

/** The state of the query with a number, and the machines that work for it. */
async function stateOf(
  url: string,
  number: number,
): Promise<{ state: string; error: unknown; nodes: string[] } | undefined> {
  const found = await askTrino(
    url,
    `select q.state, q.error_code, array_agg(distinct t.node_id) from system.runtime.queries q
     left join system.runtime.tasks t on t.query_id = q.query_id and t.state = 'RUNNING'
     where q.query like '%% 7 = ${number}' and q.source = 'ordinate' group by 1, 2`,
  );
  const [row] = found as [string, unknown, (string | null)[]][];
  return row && { state: row[0], error: row[1], nodes: row[2].filter((node) => node !== null) };
}

t.test('a query whose client has gone is cancelled', { skip }, async (t) => {
  const number = 100_000 + Math.floor(Math.random() * 1e9);
  const gone = new AbortController();
  const { ended } = runEndless(new TrinoClient(ORDINATE_TEST_TRINO!), number, gone.signal);
  const running = async () => ((await stateOf(ORDINATE_TEST_TRINO!, number))?.state === 'RUNNING' ? true : undefined);
  await until('the query to run', running);
  gone.abort(new Error('gone'));
  t.match(await ended, { message: 'gone' });
  const state = await until('its end', async () => {
    const now = await stateOf(ORDINATE_TEST_TRINO!, number);
    return now?.state === 'FAILED' ? now : undefined;
  });
  t.match(state, { error: 'USER_CANCELED' });
});

t.test(
  'a machine of Trino that dies is 503, and others go on',
  { skip: skip || missingForTrino() || false },
  async (t) => {
    const metastore = await Bucket.create(t, process.env['ORDINATE_TEST_S3']!);
    const trino = await Trino.start({ storage: storageOfTests(metastore.name), workers: 2 });
    t.teardown(() => trino.stop());
    const tables = { site_daily: facts('date device', ['2026-03-09', 'mobile', 1, 10, 20]) };
    const { world, reader, address } = await trinoWorld(t, tables, { trino: trino.url });
    const refuse = (): Promise<never> => Promise.reject(new Error('not asked'));
    const local = { maxFiles: 1, rows: refuse, numbers: refuse, check: refuse, pageNumbers: refuse };
    const stored = new StoredFacts(local, () => reader);
    const range = { from: '2026-03-01', to: '2026-03-31' };
    const query = { files: await filesOf(world.catalog, 'Proj1', 'site_daily', range), range, signal };
    const sums = { ...query, table: 'site_daily', by: ['device'], test: EVERY_ROW } as const;
    const devices = async () => (await stored.sums(sums)).rows;
    const totals = [{ names: ['mobile'], measures: { clicks: 1, impressions: 10, sumPosition: 20 } }];
    t.strictSame(await devices(), totals);

    const number = 100_000;
    const { ended } = runEndless(new TrinoClient(address), number);
    const worker = await until('a worker that computes', async () => {
      const nodes = (await stateOf(trino.url, number))?.nodes ?? [];
      return nodes.find((node) => node !== '0');
    });
    await trino.kill(Number(worker));
    const failure = await ended;
    t.match(failure, { code: 'unavailable', status: 503, reason: 'trino', retryAfter: 60 });
    t.match(failure, { message: /a machine of the query engine ended or did not answer/ });
    const again = await until('the other worker alone', () => devices().catch(() => undefined));
    t.strictSame(again, totals, 'the other worker answers');

    const { ended: endedToo } = runEndless(new TrinoClient(address), number + 1);
    await until('the query to run', async () => (await stateOf(trino.url, number + 1))?.nodes.length || undefined);
    await trino.kill(0);
    t.match(await endedToo, { code: 'unavailable', reason: 'trino' }, 'without its coordinator');
    await t.rejects(devices(), {
      code: 'unavailable',
      reason: 'trino',
    });
  },
);
