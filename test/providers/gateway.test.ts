// All processes share the limits and pauses of a provider, and leave what it refused alone for the required time.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { ProviderPause } from '../../server/catalog/connections.ts';
import { nextPacificMidnight, pacificDayOf } from '../../server/domain/dates.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import { BING_PACING } from '../../server/providers/bing/failures.ts';
import { ProviderFailure } from '../../server/providers/failures.ts';
import { GOOGLE_PACING } from '../../server/providers/google/pacing.ts';
import { nextPause } from '../../server/providers/pauses.ts';
import type { ProviderRun } from '../../server/providers/retries.ts';
import { SearchAnalytics } from '../../server/providers/search-console/search-analytics.ts';
import { PROPERTY, type ProvidersWorld, providersWorld } from '../fakes/providers.ts';
import { startReceiver } from '../fakes/receiver.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { serve } from '../fakes/serve.ts';
import { withoutPauses } from '../fakes/without-pauses.ts';

const MINUTE = 60_000;
const QUERY = { property: PROPERTY, from: '2026-03-01', to: '2026-03-02', dimensions: ['date'] } as const;
const OTHER = { property: 'sc-domain:other.example' };
/** Failed requests are repeated soon: the first pause is a sixtieth of the wait. */
const LIMITED = { ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '4', ORDINATE_LISTS_WAIT_SECONDS: '6' };

/** One request for data. */
function askWith({ providers, connection }: ProvidersWorld) {
  return (run: ProviderRun) => new SearchAnalytics(connection, providers).page(QUERY, { start: 0, limit: 1 }, run);
}

/** Two processes of one data folder, with a clock that is moved. */
async function twoProcesses(t: Test) {
  const clock = { now: 0 };
  const first = await providersWorld(t, {}, undefined, () => clock.now);
  const second = await providersWorld(t, {}, first.dataFolder, () => clock.now);
  /** What both are answered at an instant, and how many requests are sent; the first may be refused. */
  const askBoth = async (at: string, how?: keyof typeof FAILURES): Promise<string> => {
    clock.now = Date.parse(at);
    const before = first.google.requests.length + second.google.requests.length;
    if (how !== undefined) first.google.failure = { how: FAILURES[how], times: 1 };
    const told: string[] = [];
    for (const world of [first, second]) {
      const kind = (error: ProviderFailure): string => error.kind;
      told.push(await world.run(askWith(world)).then(() => 'given', kind));
    }
    return `${told.join(' ')}, ${first.google.requests.length + second.google.requests.length - before} sent`;
  };
  return { clock, first, second, askBoth };
}

t.test('a pause of one process is that of all, and of its property alone', async (t) => {
  const { askBoth, first } = await twoProcesses(t);
  for (const [at, how, told] of [
    ['2026-03-15T12:00:00Z', 'loadQuota', 'load-quota load-quota, 1 sent'],
    ['2026-03-15T12:14:59Z', undefined, 'load-quota load-quota, 0 sent'],
    ['2026-03-15T12:15:00Z', undefined, 'given given, 2 sent'],
    // The second time of a day until midnight at the provider.
    ['2026-03-15T18:00:00Z', 'loadQuota', 'load-quota load-quota, 1 sent'],
    ['2026-03-16T06:59:59Z', undefined, 'load-quota load-quota, 0 sent'],
    ['2026-03-16T07:00:00Z', undefined, 'given given, 2 sent'],
    ['2026-03-16T08:00:00Z', 'loadQuota', 'load-quota load-quota, 1 sent'],
    ['2026-03-16T08:15:00Z', undefined, 'given given, 2 sent'],
    ['2026-03-16T09:00:00Z', 'tooMany', 'rate-limit rate-limit, 1 sent'],
    ['2026-03-16T09:00:59Z', undefined, 'rate-limit rate-limit, 0 sent'],
    ['2026-03-16T09:01:00Z', 'rateQuota', 'rate-limit rate-limit, 1 sent'],
  ] as const)
    t.equal(await askBoth(at, how), told, at);
  t.ok(await first.run(askWith(first), OTHER), 'other properties are read all the while');
  t.ok(await first.run(askWith(first), { ignoresPauses: true }), 'and a test of the connection ignores it');
});

t.test('a run that is under way asks nothing more once another process has been refused', async (t) => {
  const { clock, first, second } = await twoProcesses(t);
  clock.now = Date.parse('2026-03-15T12:00:00Z');
  const ended = first.run(async (run) => {
    await askWith(first)(run);
    second.google.failure = { how: FAILURES.loadQuota, times: 1 };
    await t.rejects(second.run(askWith(second)), { message: /quota/ });
    await askWith(first)(run);
  });
  await t.rejects(ended, { kind: 'load-quota', message: 'search-console is paused until 2026-03-15T12:15:00.000Z' });
  t.equal(first.google.requests.length, 1);
});

t.test('the rule of pauses', (t) => {
  const now = Date.parse('2026-11-21T20:00:00Z');
  const [today, yesterday] = ['2026-11-21', '2026-11-20'];
  const rest = (reason: ProviderPause['reason'], minutes: number, loadRefusedOn: string | null = null) =>
    ({ until: toMicroseconds(now + minutes * MINUTE), reason, loadRefusedOn }) as const;
  const [load, rate, broken] = (['load-quota', 'rate-limit', 'broken'] as const).map(
    (kind) => new ProviderFailure(kind, ''),
  );
  const asked = (minutes: number) => new ProviderFailure('rate-limit', '', { retryAfter: minutes * MINUTE });
  for (const [before, failure, next, afterPassing = 0, pacing = GOOGLE_PACING] of [
    [undefined, load, rest('load-quota', 15, today)],
    // Asked before the pause began.
    [rest('load-quota', 5, today), load, undefined],
    [rest('load-quota', 5, today), rate, undefined],
    [rest('rate-limit', 0.5), rate, undefined],
    // The longer one goes first.
    [rest('rate-limit', 1), load, rest('load-quota', 15, today)],
    [rest('load-quota', -1, today), load, rest('load-quota', 12 * 60, today)],
    [rest('rate-limit', -1, today), load, rest('load-quota', 12 * 60, today)],
    [rest('load-quota', -1, yesterday), load, rest('load-quota', 15, today)],
    [undefined, rate, rest('rate-limit', 1)],
    [rest('load-quota', -1, today), rate, rest('rate-limit', 1, today)],
    [undefined, asked(0.1), rest('rate-limit', 1)],
    [undefined, asked(10), rest('rate-limit', 10)],
    [undefined, asked(100), rest('rate-limit', 15)],
    [undefined, broken, undefined],
    [undefined, broken, rest('broken', 2), 2 * MINUTE],
    [undefined, new ProviderFailure('access-lost', ''), undefined, 2 * MINUTE],
    // Another provider has pauses and days of its own.
    [undefined, rate, rest('rate-limit', 10), 0, BING_PACING],
    [rest('load-quota', -1, today), load, rest('load-quota', 4 * 60, today), 0, BING_PACING],
  ] as [ProviderPause | undefined, ProviderFailure, ProviderPause | undefined, number?, typeof GOOGLE_PACING?][])
    t.strictSame(nextPause(before, failure, { now, afterPassing, pacing }), next, `${failure.kind} ${before?.reason}`);
  fc.assert(
    fc.property(fc.integer({ min: Date.parse('2024-01-01'), max: Date.parse('2030-01-01') }), (instant) => {
      const end = nextPacificMidnight(instant);
      const [day, last, next] = [instant, end - 1, end].map(pacificDayOf);
      return end > instant && last === day && next! > day!;
    }),
  );
  t.end();
});

t.test('requests of all processes count, also those that are repeated; the rest wait', async (t) => {
  const world = await providersWorld(t, LIMITED);
  world.google.failure = { how: FAILURES.unavailable, times: 1 };
  await world.run(askWith(world));
  world.google.tokens.clear();
  await world.run(askWith(world));
  t.match(world.log, [
    { requests: 2, retries: 1 },
    { requests: 2, retries: 0 },
  ]);
  const other = await providersWorld(t, LIMITED, world.dataFolder);
  for (const one of [world, other]) {
    const before = one.google.requests.length;
    const message = 'the fetch took longer than 0.1 s';
    await t.rejects(one.run(askWith(one), { maxTime: 100 }), { kind: 'broken', message });
    t.equal(one.google.requests.length, before);
  }
});

t.test('one line in the log for each run, of whatever is fetched', async (t) => {
  const world = await providersWorld(t);
  const job = { what: 'window', line: { table: 'site_daily' } };
  await world.run(askWith(world), job);
  world.google.failure = { how: FAILURES.forbidden, times: 1 };
  await t.rejects(world.run(askWith(world), job));
  const common = { property: PROPERTY, table: 'site_daily', source: 'search-console', requests: 1, retries: 0 };
  t.match(world.log, [
    { ...common, outcome: 'fetched' },
    { ...common, outcome: 'access-lost', rows: 0, reason: /sufficient permission/ },
  ]);
  t.equal(world.log.length, 2);
});

t.test('what nobody waits for is not begun, and nothing is after the end', async (t) => {
  const world = await providersWorld(t);
  const stopping = { message: 'the service is stopping' };
  await t.rejects(world.run(askWith(world), { demand: () => 'nobody' }), /No caller is waiting/);
  world.google.failure = { how: 'hang', times: 1 };
  const underWay = t.rejects(world.run(askWith(world)), stopping);
  while (world.google.held.size === 0) await new Promise((done) => setTimeout(done, 5));
  world.providers.gateway.stop();
  await underWay;
  await t.rejects(world.run(askWith(world)), stopping);
  t.equal(world.google.requests.length, 1);
  // What is stopped while it waits for a token or a limit sends nothing, and ends no process.
  const withToken = await providersWorld(t);
  withToken.google.onToken = () => withToken.providers.gateway.stop();
  await t.rejects(withToken.run(askWith(withToken)), stopping);
  const admitted = await providersWorld(t);
  const admit = async (): Promise<void> => admitted.providers.gateway.stop();
  await t.rejects(
    admitted.run((run) => askWith(admitted)({ ...run, admit })),
    stopping,
  );
  // An error that nobody listens to comes after the failure.
  await new Promise((done) => setTimeout(done, 20));
  const sent = [withToken, admitted].map(({ google }) => [google.grants.length, google.requests.length]);
  t.strictSame(sent, [
    [1, 0],
    [0, 0],
  ]);
});

t.test('a redirect is not followed, and nobody else gets the token', async (t) => {
  withoutPauses(t);
  const { providers, connection, run } = await providersWorld(t);
  const elsewhere = await startReceiver(t);
  const origin = await serve(t, (request, response) => {
    response.writeHead(307, { location: elsewhere.origin + request.url }).end();
  });
  for (const where of [{ endpoint: origin }, { tokenEndpoint: `${origin}/token` }]) {
    const world = { providers, connection: { ...connection, ...where } } as ProvidersWorld;
    await t.rejects(run(askWith(world)), { kind: 'broken', message: /^status 307/ }, Object.keys(where).join());
  }
  t.strictSame(elsewhere.received, []);
});
