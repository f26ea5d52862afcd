// What each failure of the provider is to a client and to the log, as test/fixtures/failures.txt has it.
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { connectedWorld, SECRETS } from '../fakes/connected.ts';
import { FAILURES, type Failure, TOKEN_FAILURES } from '../fakes/search-console-failures.ts';
import { isUpdated, readRecorded, sameAsRecorded } from '../recorded.ts';

const FILE = 'failures.txt';
/** So that what hangs is given up soon. */
const SHORT_WAIT = { ORDINATE_LISTS_WAIT_SECONDS: '3', ORDINATE_PROVIDER_SECONDS: '4' };
const EXPECTED = new Set(readRecorded(FILE).split('\n'));

type Case = readonly [which: 'failure' | 'tokenFailure', name: string, how: Failure];
const CASES: readonly Case[] = [
  ...Object.entries(FAILURES).map(([name, how]): Case => ['failure', name, how]),
  ...Object.entries(TOKEN_FAILURES).map(([name, how]): Case => ['tokenFailure', name, how]),
];

/** Lets requests fail in each of the ways, one after the other. */
async function meaningsOf(t: Test, cases: readonly Case[]): Promise<string[]> {
  const world = await connectedWorld(t, { environment: SHORT_WAIT });
  const found: string[] = [];
  for (const [at, [which, name, how]] of cases.entries()) {
    world.google[which] = { how, times: Number.POSITIVE_INFINITY };
    let told = '';
    // On a busy machine the wait can be over before the failure is there: then once more.
    for (let more = isUpdated ? 1 : 10; more > 0 && (told === '' || !EXPECTED.has(told)); more--) {
      // Long after any pause.
      world.clock += 26 * 3_600_000;
      world.google.tokens.clear();
      const lines = world.fetches().length;
      // Another list each time: the fetch before, whose line is there, may be about to end.
      const { status, headers, body } = await world.ask(`/pages?from=2025-12-${10 + more}&to=2026-01-${10 + at}`);
      // A request that hangs ends just when the client has been told.
      while (world.fetches().length === lines) await sleep(10);
      const { outcome, retries, reason } = world.fetches().at(-1) as Readonly<Record<string, string>>;
      const tried = Number(retries) > 0 ? ', tried again' : '';
      const said = String(reason).replaceAll(/127.0.0.1:\d+/g, 'PROVIDER');
      const { 'retry-after': pause } = headers as Readonly<Record<string, string>>;
      const after = pause === undefined ? '' : `, retry after ${pause}`;
      told = `${name}: ${status} ${body.error.code}${after}: ${body.error.message} | ${outcome}${tried}: ${said}`;
    }
    found.push(told);
    world.google[which] = undefined;
  }
  for (const secret of SECRETS) t.notOk(world.log.join('').includes(secret), `the log has no '${secret}'`);
  return found;
}

t.test('what each failure means', async (t) => {
  // Most of the time is waiting, so several servers wait at once. Each gets some of the slow ones, which stand together.
  const all = await Promise.all(
    Array.from({ length: 6 }, (_, world) =>
      meaningsOf(
        t,
        CASES.filter((_case, at) => at % 6 === world),
      ),
    ),
  );
  const found = CASES.map((_, at) => all[at % 6]![Math.floor(at / 6)]);
  sameAsRecorded(t, FILE, `${found.join('\n')}\n`);
});

t.test('Retry-After is kept', async (t) => {
  const { ask, google } = await connectedWorld(t);
  google.failure = { how: { status: 503, body: 'later', headers: { 'retry-after': '1' } }, times: 1 };
  const started = Date.now();
  t.equal((await ask('/queries?from=2026-02-01&to=2026-02-28')).status, 200);
  t.ok(Date.now() - started >= 1000, 'the pause that the provider asks for');
});
