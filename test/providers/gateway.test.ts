// All processes share the request limits and pauses of a provider.
import t from 'tap';
import type { ProviderRun } from '../../server/providers/retries.ts';
import { SearchAnalytics } from '../../server/providers/search-console/search-analytics.ts';
import { PROPERTY, type ProvidersWorld, providersWorld } from '../fakes/providers.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';

const QUERY = { property: PROPERTY, from: '2026-03-01', to: '2026-03-02', dimensions: ['date'] } as const;

/** Failed requests are repeated soon: the first pause is a sixtieth of the wait. */
const LIMITED = { ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '4', ORDINATE_LISTS_WAIT_SECONDS: '6' };

/** One request for data. */
function askWith({ providers, connection }: ProvidersWorld) {
  return (run: ProviderRun) => new SearchAnalytics(connection, providers).page(QUERY, { start: 0, limit: 1 }, run);
}

t.test('requests of all processes count, also those that are repeated; the rest wait', async (t) => {
  const world = await providersWorld(t, LIMITED);
  world.google.rows = [];
  world.google.failure = { how: FAILURES.unavailable, times: 1 };
  await world.run(askWith(world));
  world.google.tokens.clear();
  await world.run(askWith(world));
  t.match(world.log, [
    { requests: 2, retries: 1 },
    { requests: 2, retries: 0 },
  ]);
  const other = await providersWorld(t, LIMITED, world.dataFolder);
  for (const { run, google, ...rest } of [world, other]) {
    const before = google.requests.length;
    const ended = run(askWith({ run, google, ...rest }), { maxTime: 100 });
    await t.rejects(ended, { kind: 'broken', message: 'the fetch took longer than 0.1 s' });
    t.equal(google.requests.length, before);
  }
});

t.test('a pause of one process is that of all; a test of the connection ignores it', async (t) => {
  const world = await providersWorld(t);
  const other = await providersWorld(t, {}, world.dataFolder);
  other.google.rows = [];
  world.google.failure = { how: FAILURES.loadQuota, times: 1 };
  await t.rejects(world.run(askWith(world)), /Quota|quota/);
  const paused = { kind: 'load-quota', message: 'search-console is paused until 2026-03-15T12:15:00.000Z' };
  await t.rejects(other.run(askWith(other)), paused);
  t.equal(other.google.requests.length, 0);
  await other.run(askWith(other), { property: 'sc-domain:other.example' });
  await other.run(askWith(other), { ignoresPauses: true });
  t.equal(other.google.requests.length, 2);
});

t.test('one line in the log for each run, of whatever is fetched', async (t) => {
  const world = await providersWorld(t);
  world.google.rows = [];
  await world.run(askWith(world), { what: 'window', line: { table: 'site_daily' } });
  world.google.failure = { how: FAILURES.forbidden, times: 1 };
  await t.rejects(world.run(askWith(world), { what: 'window', line: { table: 'site_daily' } }));
  const common = { property: PROPERTY, table: 'site_daily', source: 'search-console', requests: 1, retries: 0 };
  t.match(world.log, [
    { ...common, outcome: 'fetched' },
    { ...common, outcome: 'access-lost', rows: 0, reason: /sufficient permission/ },
  ]);
  t.equal(world.log.length, 2);
});

t.test('what nobody waits for is not begun, and nothing is after the end', async (t) => {
  const world = await providersWorld(t);
  await t.rejects(world.run(askWith(world), { demand: () => 'nobody' }), /No caller is waiting/);
  world.google.failure = { how: 'hang', times: 1 };
  const underWay = t.rejects(world.run(askWith(world)), { message: 'the service is stopping' });
  while (world.google.held.size === 0) await new Promise((done) => setTimeout(done, 5));
  world.providers.gateway.stop();
  await underWay;
  await t.rejects(world.run(askWith(world)), { message: 'the service is stopping' });
  t.equal(world.google.requests.length, 1);
});

t.test('what is stopped while it waits for a token or a limit sends nothing, and ends no process', async (t) => {
  const withToken = await providersWorld(t);
  withToken.google.onToken = () => withToken.providers.gateway.stop();
  await t.rejects(withToken.run(askWith(withToken)), { message: 'the service is stopping' });
  t.equal(withToken.google.grants.length, 1);
  const admitted = await providersWorld(t);
  const admit = async (): Promise<void> => admitted.providers.gateway.stop();
  await t.rejects(
    admitted.run((run) => askWith(admitted)({ ...run, admit })),
    { message: 'the service is stopping' },
  );
  t.equal(admitted.google.grants.length, 0);
  // An error that nobody listens to comes after the failure.
  await new Promise((done) => setTimeout(done, 20));
  t.equal(withToken.google.requests.length + admitted.google.requests.length, 0);
});
