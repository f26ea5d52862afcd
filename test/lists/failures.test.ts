// Each provider failure is reported with its cause, and retried or paused as the provider requires.
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { connectedWorld, SECRETS } from '../fakes/connected.ts';
import { FAILURES, type Failure, TOKEN_FAILURES } from '../fakes/search-console-failures.ts';

const FINAL = 'from=2026-02-01&to=2026-02-28';
const ROW = { key: '/', clicks: 1, impressions: 2, position: 1 };

/** What each failure is to the client, to the log, and whether it is worth another try. */
const MEANINGS: Record<keyof typeof FAILURES, Meaning> = {
  forbidden: [409, 'access-lost', false],
  insufficientPermissions: [409, 'access-lost', false],
  notFound: [409, 'access-lost', false],
  unauthorized: [409, 'access-lost', false],
  loadQuota: [503, 'load-quota', false],
  rateQuota: [503, 'rate-limit', false],
  tooMany: [503, 'rate-limit', false],
  tooManyPlain: [503, 'rate-limit', false],
  tooManyForLong: [503, 'rate-limit', false],
  quotaInDetails: [503, 'rate-limit', false],
  quotaInWords: [503, 'load-quota', false],
  quotaAs429: [503, 'load-quota', false],
  disabled: [503, 'misconfigured', false],
  pageFor403: [503, 'broken', false],
  pageFor404: [503, 'broken', false],
  badRequest: [503, 'broken', false],
  serverError: [503, 'broken', true],
  pageFor502: [503, 'broken', true],
  unavailable: [503, 'broken', true],
  pageFor200: [503, 'broken', true],
  brokenJson: [503, 'broken', true],
  emptyBody: [503, 'broken', true],
  rowWithoutKey: [503, 'broken', true],
  reset: [503, 'broken', true],
  hang: [503, 'broken', false],
  drip: [503, 'broken', false],
  flood: [503, 'broken', false],
  bomb: [503, 'broken', false],
};

const TOKEN_MEANINGS: Record<keyof typeof TOKEN_FAILURES, Meaning> = {
  expiredGrant: [409, 'access-lost', false],
  wrongClient: [503, 'misconfigured', false],
  tokenServerError: [503, 'broken', true],
  tokenReset: [503, 'broken', true],
  tokenHang: [503, 'broken', false],
};

/** So that what hangs is given up soon. */
const SHORT_WAIT = { ORDINATE_LISTS_WAIT_SECONDS: '3', ORDINATE_PROVIDER_SECONDS: '4' };

type Meaning = readonly [status: number, outcome: string, retried: boolean];

/** Lets requests fail in each of the ways, one after the other. */
async function checkMeanings(
  t: Test,
  which: 'failure' | 'tokenFailure',
  failures: readonly (readonly [name: string, how: Failure, meaning: Meaning])[],
): Promise<string> {
  const world = await connectedWorld(t, { environment: SHORT_WAIT });
  for (const [at, [name, how, [status, outcome, retried]]] of failures.entries()) {
    world.google[which] = { how, times: Number.POSITIVE_INFINITY };
    // On a busy machine the wait can be over before the failure is there: then once more.
    for (let more = 20; more > 0; more--) {
      // Long after any pause.
      world.clock += 3_600_000;
      world.google.tokens.clear();
      const lines = world.fetches().length;
      // Another list each time: the fetch before, whose line is there, may be about to end.
      const answer = await world.ask(`/pages?from=2025-12-${10 + more}&to=2026-01-${10 + at}`);
      // A request that hangs ends just when the client has been told.
      while (world.fetches().length === lines) await sleep(10);
      const line = world.fetches().at(-1);
      const wasTried = Number(line?.['retries']) > 0;
      const isLate = /still being fetched/.test(answer.body.error?.message) && answer.status !== status;
      if (more > 1 && (isLate || wasTried !== retried)) continue;
      t.equal(answer.status, status, name);
      t.equal(answer.body.error.code, status === 409 ? 'google_access_lost' : 'unavailable', name);
      t.equal(answer.headers['retry-after'], status === 409 ? undefined : '60', name);
      t.notMatch(answer.body.error.message, /\d{3}|quotaExceeded|sufficient|sc-domain|html/i, `${name}: no detail`);
      t.match(line, { outcome, property: 'sc-domain:shop.example', list: 'pages', source: 'search-console' }, name);
      t.equal(wasTried, retried, `${name}: ${retried ? 'tried again' : 'not tried again'}`);
      break;
    }
  }
  return world.log.join('');
}

t.test('what each failure means', async (t) => {
  const data = Object.entries(FAILURES).map(
    ([name, how]) => [name, how, MEANINGS[name as keyof typeof FAILURES]] as const,
  );
  const tokens = Object.entries(TOKEN_FAILURES).map(
    ([name, how]) => [name, how, TOKEN_MEANINGS[name as keyof typeof TOKEN_FAILURES]] as const,
  );
  // Most of the time is waiting, so several servers wait at once. Each gets some of the slow ones, which stand together.
  const WORLDS = 5;
  const logs = await Promise.all([
    ...Array.from({ length: WORLDS }, (_, world) =>
      checkMeanings(
        t,
        'failure',
        data.filter((_failure, index) => index % WORLDS === world),
      ),
    ),
    checkMeanings(t, 'tokenFailure', tokens),
  ]);
  const log = logs.join('');
  for (const secret of SECRETS) t.notOk(log.includes(secret), `the log has no '${secret}'`);
  t.match(log, /has not been used in project/, 'the log has what the operator must know');
});

t.test('after a load quota the property is left alone for 15 minutes', async (t) => {
  const world = await connectedWorld(t);
  world.google.pages = [ROW];
  world.google.failure = { how: FAILURES.loadQuota, times: 1 };
  t.equal((await world.ask(`/pages?${FINAL}`)).status, 503);
  t.equal((await world.ask(`/queries?${FINAL}`)).status, 503);
  world.clock += 14 * 60_000;
  t.equal((await world.ask(`/pages?${FINAL}`)).status, 503);
  t.equal(world.google.requests.length, 1);
  world.clock += 2 * 60_000;
  t.equal((await world.ask(`/pages?${FINAL}`)).status, 200);
});

t.test('after too many requests the property is left alone for a minute', async (t) => {
  const world = await connectedWorld(t);
  world.google.pages = [ROW];
  world.google.failure = { how: FAILURES.tooMany, times: 1 };
  for (const seconds of [0, 59]) {
    world.clock += seconds * 1000;
    t.equal((await world.ask(`/pages?${FINAL}`)).status, 503);
  }
  t.equal(world.google.requests.length, 1);
  world.clock += 1000;
  t.equal((await world.ask(`/pages?${FINAL}`)).status, 200);
});

t.test('passing failures are tried again, and Retry-After is kept', async (t) => {
  const { ask, google, fetches } = await connectedWorld(t);
  google.pages = [ROW];
  google.failure = { how: FAILURES.unavailable, times: 2 };
  t.equal((await ask(`/pages?${FINAL}`)).status, 200);
  t.match(fetches(), [{ outcome: 'fetched', requests: 3, retries: 2, rows: 1 }]);
  google.failure = { how: { status: 503, body: 'later', headers: { 'retry-after': '1' } }, times: 1 };
  const started = Date.now();
  t.equal((await ask(`/queries?${FINAL}`)).status, 200);
  t.ok(Date.now() - started >= 1000, 'the pause that the provider asks for');
});

t.test('names decide nothing: a property or dataset may be called what it likes', async (t) => {
  const refused = (property: string, message: string, reason = 'forbidden'): Failure => ({
    status: 403,
    body: { error: { code: 403, message: message.replace('*', property), errors: [{ reason, domain: 'global' }] } },
  });
  const permission = "User does not have sufficient permission for site '*'. See also: https://support.example/quota.";
  for (const [property, how, status, outcome] of [
    ['sc-domain:importquotas.example', refused('sc-domain:importquotas.example', permission), 409, 'access-lost'],
    ['sc-domain:importquotas.example', refused('sc-domain:importquotas.example', 'Forbidden: *'), 409, 'access-lost'],
    ['sc-domain:quota.example', refused('quota.example', 'Refused for *'), 409, 'access-lost'],
    ['https://rate.example/quota/', refused('https%3A%2F%2Frate.example%2Fquota%2F', 'No: *'), 409, 'access-lost'],
    [
      'https://it.example/SERVICE_DISABLED/',
      refused('https://it.example/SERVICE_DISABLED/', 'No: *'),
      409,
      'access-lost',
    ],
    ['sc-domain:quota.example', refused('quota.example', 'Quota exceeded for *'), 503, 'load-quota'],
    [
      'sc-domain:shop.example',
      refused('shop.example', 'Not permitted: quota', 'insufficientPermissions'),
      409,
      'access-lost',
    ],
    ['sc-domain:forbidden.example', refused('forbidden.example', 'No access to *', 'quotaExceeded'), 503, 'load-quota'],
  ] as const) {
    const world = await connectedWorld(t, { project: { property } });
    world.google.failure = { how, times: 1 };
    t.equal((await world.ask(`/pages?${FINAL}`)).status, status, JSON.stringify(how));
    t.match(world.fetches().at(-1), { outcome, property });
    await world.app.close();
  }
});
