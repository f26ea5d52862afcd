// Behind a balancer, nodes answer what they answer without one, and are taken out while they can answer nothing.
import t from 'tap';
import { run, startServer, until } from '../process.ts';
import { facts, PROJECT, WORKSPACE, writeSnapshot } from '../world.ts';
import { makeCluster, skip as skipCluster } from './nodes.ts';
import { noBalancer, startBalancer } from './servers/balancer.ts';
import { type Fault, FaultyProxy } from './servers/faulty-proxy.ts';
import { hasPostgres, Postgres } from './servers/postgres.ts';

const skip = skipCluster || noBalancer || (hasPostgres ? false : 'PostgreSQL is not installed');
const CACHED = '/api/v1/projects/Proj1/site?from=2026-03-09&to=2026-03-09';
const COLD = '/api/v1/projects/Proj1/breakdowns?from=2026-03-09&to=2026-03-09';
const TABLES = {
  workspaces: [WORKSPACE],
  projects: [PROJECT],
  site_daily: facts('date device', ['2026-03-09', 'mobile', 1, 10, 20]),
  country_daily: facts('date country', ['2026-03-09', 'usa', 1, 10, 20]),
};
interface Condition {
  readonly status: number;
  readonly is: string;
  readonly files: string | undefined;
}

/** More than the checks after which a balancer takes a node out, over two nodes. */
const CHECKS = 12;

t.test('a store that fails in each way, and a database that is gone', { skip }, async (t) => {
  const postgres = await Postgres.start('pass-word-of-tests');
  t.teardown(() => postgres.remove());
  const { node } = await makeCluster(t, { server: postgres.url });
  const proxy = await FaultyProxy.start(t, process.env['ORDINATE_TEST_S3']!);
  const nodes = [1, 2].map(() => node({ ORDINATE_STORAGE_ENDPOINT: proxy.url }));
  // Elsewhere, because a load leaves its files in the cache.
  t.match(await run(t, node(), 'load', writeSnapshot(t, TABLES), '--accept-implausible'), { code: 0 });
  const made = await run(t, nodes[0]!, 'keys', 'create', '--workspace', 'acme', '--name', 'test', '--json');
  const { key } = JSON.parse(made.stdout) as { key: string };
  const servers = await Promise.all(nodes.map((settings) => startServer(t, settings)));
  const balancer = await startBalancer(
    t,
    servers.map(({ address }) => address),
  );
  const ask = async (path: string, address = balancer) => {
    const response = await fetch(address + path, { headers: { authorization: `Bearer ${key}` } });
    const text = await response.text();
    return { status: response.status, text };
  };
  const conditions = () =>
    Promise.all(
      servers.map(async ({ address }) => {
        const response = await fetch(`${address}/readyz`);
        const body = (await response.json()) as { status: string; components: Record<string, string> };
        return { status: response.status, is: body.status, files: body.components['files'] };
      }),
    );
  for (const { address } of servers) t.equal((await ask(CACHED, address)).status, 200);
  t.match(await conditions(), [
    { status: 200, is: 'ok', files: 'ok' },
    { status: 200, is: 'ok', files: 'ok' },
  ]);

  const states: Record<Fault, string> = { error: 'away', cut: 'away', wrong: 'damaged', silent: 'away', held: 'away' };
  for (const fault of ['error', 'cut', 'wrong', 'silent'] as const) {
    proxy.fault = (method) => (method === 'GET' ? fault : undefined);
    // A check that was running meets the fault before.
    const isSeen = ({ status, is, files }: Condition): boolean =>
      status === 200 && is === 'degraded' && files === states[fault];
    await until(`${fault}: degraded`, async () => (await conditions()).every(isSeen) || undefined);
    const before = proxy.requests.length;
    await until(
      'checks of the balancer',
      () => proxy.requests.length > before + (fault === 'silent' ? 2 : CHECKS) || undefined,
    );
    const cached = await Promise.all(Array.from({ length: 8 }, () => ask(CACHED)));
    t.strictSame([...new Set(cached.map(({ status }) => status))], [200], `${fault}: all through the balancer`);
    if (fault === 'silent') continue;
    const cold = await ask(COLD);
    t.match(
      cold,
      { status: fault === 'wrong' ? 500 : 503, text: /"error":\{"code":/ },
      'and what is not cached is refused by a node',
    );
  }
  proxy.fault = () => undefined;
  await until('the store again', async () => (await conditions()).every(({ is }) => is === 'ok') || undefined);
  t.equal((await ask(COLD)).status, 200);

  await postgres.stop();
  t.match(await conditions().catch(String), [{ status: 503 }, { status: 503 }]);
  await until(
    'the balancer to take them out',
    async () => /No server is available/.test((await ask(CACHED)).text) || undefined,
  );
  await postgres.start();
  await until('the nodes again', async () => (await ask(CACHED)).status === 200 || undefined);
});
