// After a provider refuses a request, all processes leave the property alone for the required time.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { ProviderPause } from '../../server/catalog/provider-pauses.ts';
import { nextPacificMidnight, pacificDayOf } from '../../server/domain/dates.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import { BING_PACING } from '../../server/providers/bing/failures.ts';
import { ProviderFailure } from '../../server/providers/failures.ts';
import { GOOGLE_PACING } from '../../server/providers/google/pacing.ts';
import { nextPause } from '../../server/providers/pauses.ts';
import type { ProviderRun } from '../../server/providers/retries.ts';
import { SearchAnalytics } from '../../server/providers/search-console/search-analytics.ts';
import { PROPERTY, type ProvidersWorld, providersWorld } from '../fakes/providers.ts';
import { FAILURES, type Failure } from '../fakes/search-console-failures.ts';

const MINUTE = 60_000;
const QUERY = { property: PROPERTY, from: '2026-03-01', to: '2026-03-02', dimensions: ['date'] } as const;

function askWith({ providers, connection }: ProvidersWorld) {
  return (run: ProviderRun) => new SearchAnalytics(connection, providers).page(QUERY, { start: 0, limit: 1 }, run);
}

/** Two processes of one data folder, with a clock that is moved. */
async function twoProcesses(t: Test, start: string) {
  const clock = { now: Date.parse(start) };
  const first = await providersWorld(t, {}, undefined, () => clock.now);
  const second = await providersWorld(t, {}, first.dataFolder, () => clock.now);
  for (const { google } of [first, second]) google.rows = [];
  /** What both are answered at an instant: 'given', or why not. */
  const askBoth = async (at: string, how?: Failure): Promise<string[]> => {
    clock.now = Date.parse(at);
    if (how !== undefined) first.google.failure = { how, times: 1 };
    const answers: string[] = [];
    for (const world of [first, second]) {
      answers.push(
        await world.run(askWith(world)).then(
          () => 'given',
          (error: ProviderFailure) => error.kind,
        ),
      );
    }
    return answers;
  };
  const requests = () => first.google.requests.length + second.google.requests.length;
  return { clock, first, second, askBoth, requests };
}

t.test('too much load: 15 minutes, the second time until Pacific midnight, for all processes', async (t) => {
  const { askBoth, requests } = await twoProcesses(t, '2026-03-15T12:00:00Z');
  const refused = ['load-quota', 'load-quota'];
  const given = ['given', 'given'];
  t.strictSame(await askBoth('2026-03-15T12:00:00Z', FAILURES.loadQuota), refused);
  t.strictSame(await askBoth('2026-03-15T12:14:59Z'), refused);
  t.equal(requests(), 1, 'nobody asks during a pause');
  t.strictSame(await askBoth('2026-03-15T12:15:00Z'), given);
  t.strictSame(await askBoth('2026-03-15T18:00:00Z', FAILURES.loadQuota), refused);
  t.strictSame(await askBoth('2026-03-15T18:30:00Z'), refused);
  t.strictSame(await askBoth('2026-03-16T06:59:59Z'), refused);
  t.equal(requests(), 4);
  t.strictSame(await askBoth('2026-03-16T07:00:00Z'), given, 'midnight at the provider');
  t.strictSame(await askBoth('2026-03-16T08:00:00Z', FAILURES.loadQuota), refused);
  t.strictSame(await askBoth('2026-03-16T08:15:00Z'), given, 'the first time of another day');
});

t.test('too many requests: a minute, for all processes, and nothing is asked again within', async (t) => {
  const { askBoth, requests, first, clock } = await twoProcesses(t, '2026-03-15T12:00:00Z');
  const refused = ['rate-limit', 'rate-limit'];
  for (const how of [FAILURES.tooMany, FAILURES.rateQuota]) {
    const at = clock.now + MINUTE;
    const before = requests();
    t.strictSame(await askBoth(new Date(at).toISOString(), how), refused);
    t.strictSame(await askBoth(new Date(at + MINUTE - 1).toISOString()), refused);
    t.equal(requests() - before, 1);
    t.strictSame(await askBoth(new Date(at + MINUTE).toISOString()), ['given', 'given']);
  }
  const ended = first.run(askWith(first), { property: 'sc-domain:other.example' });
  t.ok(await ended, 'other properties are read all the while');
});

t.test('a run that is under way asks nothing more once another process has been refused', async (t) => {
  const { first, second } = await twoProcesses(t, '2026-03-15T12:00:00Z');
  const ended = first.run(async (run) => {
    await askWith(first)(run);
    second.google.failure = { how: FAILURES.loadQuota, times: 1 };
    await t.rejects(second.run(askWith(second)), { message: /quota/ });
    await askWith(first)(run);
  });
  await t.rejects(ended, { kind: 'load-quota', message: /paused until 2026-03-15T12:15/ });
  t.equal(first.google.requests.length, 1);
});

t.test('the rule', (t) => {
  const now = Date.parse('2026-11-21T20:00:00Z');
  const at = (minutes: number) => toMicroseconds(now + minutes * MINUTE);
  const rest = (reason: ProviderPause['reason'], minutes: number, loadRefusedOn: string | null = null) =>
    ({ until: at(minutes), reason, loadRefusedOn }) as const;
  const next = (before: ProviderPause | undefined, failure: ProviderFailure, afterPassing = 0) =>
    nextPause(before, failure, { now, afterPassing, pacing: GOOGLE_PACING });
  const load = new ProviderFailure('load-quota', '');
  const rate = new ProviderFailure('rate-limit', '');
  t.strictSame(next(undefined, load), rest('load-quota', 15, '2026-11-21'));
  t.strictSame(next(rest('load-quota', 5, '2026-11-21'), load), undefined, 'asked before the pause began');
  t.strictSame(next(rest('load-quota', 5, '2026-11-21'), rate), undefined);
  t.strictSame(next(rest('rate-limit', 1), load), rest('load-quota', 15, '2026-11-21'), 'the longer one goes first');
  t.strictSame(next(rest('load-quota', -1, '2026-11-21'), load), rest('load-quota', 12 * 60, '2026-11-21'));
  t.strictSame(next(rest('rate-limit', -1, '2026-11-21'), load), rest('load-quota', 12 * 60, '2026-11-21'));
  t.strictSame(next(rest('load-quota', -1, '2026-11-20'), load), rest('load-quota', 15, '2026-11-21'));
  t.strictSame(next(undefined, rate), rest('rate-limit', 1));
  t.strictSame(next(rest('load-quota', -1, '2026-11-21'), rate), rest('rate-limit', 1, '2026-11-21'));
  t.strictSame(next(rest('rate-limit', 0.5), rate), undefined, 'not prolonged by what was asked before');
  const asked = (minutes: number) => new ProviderFailure('rate-limit', '', { retryAfter: minutes * MINUTE });
  t.strictSame(next(undefined, asked(0.1)), rest('rate-limit', 1));
  t.strictSame(next(undefined, asked(10)), rest('rate-limit', 10));
  t.strictSame(next(undefined, asked(100)), rest('rate-limit', 15));
  const broken = new ProviderFailure('broken', '');
  t.strictSame(next(undefined, broken), undefined);
  t.strictSame(next(undefined, broken, 2 * MINUTE), rest('broken', 2));
  t.strictSame(next(undefined, new ProviderFailure('access-lost', ''), 2 * MINUTE), undefined);
  // Another provider has pauses and days of its own.
  const ofBing = (before: ProviderPause | undefined, failure: ProviderFailure) =>
    nextPause(before, failure, { now, afterPassing: 0, pacing: BING_PACING });
  t.strictSame(ofBing(undefined, rate), rest('rate-limit', 10));
  t.strictSame(ofBing(rest('load-quota', -1, '2026-11-21'), load), rest('load-quota', 4 * 60, '2026-11-21'));
  t.end();
});

t.test('a Pacific day ends at its midnight, also where clocks change', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: Date.parse('2024-01-01'), max: Date.parse('2030-01-01') }), (instant) => {
      const end = nextPacificMidnight(instant);
      return (
        end > instant && pacificDayOf(end - 1) === pacificDayOf(instant) && pacificDayOf(end) > pacificDayOf(instant)
      );
    }),
  );
  t.equal(nextPacificMidnight(Date.parse('2026-03-08T09:00:00Z')), Date.parse('2026-03-09T07:00:00Z'), '23 hours');
  t.equal(nextPacificMidnight(Date.parse('2026-11-01T08:00:00Z')), Date.parse('2026-11-02T08:00:00Z'), '25 hours');
  t.end();
});
