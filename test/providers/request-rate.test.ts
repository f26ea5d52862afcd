// Requests to a provider never exceed its limits, and wait no longer than these require.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { type Clock, type RateLimits, RequestRate } from '../../server/providers/request-rate.ts';
import type { Demand } from '../../server/providers/slots.ts';
import { temporaryFolder } from '../world.ts';

/** A clock that stands until it is moved, and calls back on the way. */
class TestClock implements Clock {
  #at = 1_000_000;
  readonly #alarms = new Set<{ at: number; callback: () => void }>();

  now(): number {
    return this.#at;
  }

  wake(after: number, callback: () => void): () => void {
    const alarm = { at: this.#at + after, callback };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  /** Waits so many milliseconds, with what happens in them. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#at + milliseconds;
    for (;;) {
      await new Promise(setImmediate);
      const [next] = [...this.#alarms].sort((a, b) => a.at - b.at);
      if (next === undefined || next.at > end) break;
      this.#alarms.delete(next);
      this.#at = Math.max(this.#at, next.at);
      next.callback();
    }
    this.#at = end;
    await new Promise(setImmediate);
  }
}

/** Processes of one data folder, or of none that can be written, and when their requests were sent. */
function scene(t: Test, limits: RateLimits, { processes = 1, shared = true, isBusy = false } = {}) {
  const clock = new TestClock();
  const folder = temporaryFolder(t);
  const rates = Array.from({ length: processes }, () => {
    const usage = openUsage(
      sqliteIn(shared ? folder : '/nowhere/at/all'),
      (error) => shared && !isBusy && t.fail(String(error)),
    );
    t.teardown(() => usage.close());
    return new RequestRate(usage, limits, clock);
  });
  const sent: { name: string; owner: string; at: number }[] = [];
  const ask = (name: string, owner = 'a', demand: () => Demand = () => 'client', by = 0, signal = NEVER) =>
    rates[by]!.admit(owner, demand, signal).then(() => void sent.push({ name, owner, at: clock.now() }));
  return { clock, sent, ask, folder };
}

const NEVER = new AbortController().signal;

/** The most requests in any span of so many milliseconds. */
function mostWithin(at: readonly number[], span: number): number {
  return Math.max(0, ...at.map((start) => at.filter((other) => other >= start && other < start + span).length));
}

for (const [name, shared, processes] of [
  ['shared by processes', true, 3],
  ['kept by one process alone, where the database cannot be opened', false, 1],
] as const) {
  t.test(`limits of any 60 seconds in all, and of any second for each property: ${name}`, async (t) => {
    const pauses = fc.array(fc.record({ pause: fc.nat(4000), owner: fc.constantFrom('a', 'b', 'c') }), {
      minLength: 20,
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(pauses, async (requests) => {
        const { clock, sent, ask } = scene(t, { perMinute: 10, perSecond: 2 }, { shared, processes });
        for (const [index, { pause, owner }] of requests.entries()) {
          await clock.pass(pause);
          void ask('', owner, () => 'client', index % processes);
        }
        await clock.pass(600_000);
        const owners = Object.values(Object.groupBy(sent, ({ owner }) => owner));
        return (
          sent.length === requests.length &&
          mostWithin(
            sent.map(({ at }) => at),
            60_000,
          ) <= 10 &&
          owners.every(
            (own = []) =>
              mostWithin(
                own.map(({ at }) => at),
                1000,
              ) <= 2,
          )
        );
      }),
      { numRuns: 15 },
    );
  });

  t.test(`nobody waits longer than the limits ask for: ${name}`, async (t) => {
    const { clock, sent, ask } = scene(t, { perMinute: 3, perSecond: 2 }, { shared });
    const start = clock.now();
    for (const request of ['1', '2', '3', '4']) void ask(request);
    await clock.pass(120_000);
    t.strictSame(
      sent.map(({ at }) => at - start),
      [0, 0, 1000, 60_000],
    );
  });
}

/** The names of what was sent since the last time. */
const namesOf = (sent: { name: string }[]): string =>
  sent
    .splice(0)
    .map(({ name }) => name)
    .join(' ');

t.test('a property at its limit holds up no other; who leaves takes no request away from others', async (t) => {
  const { clock, sent, ask } = scene(t, { perMinute: 100, perSecond: 1 });
  const leaving = new AbortController();
  const leave = (name: string) =>
    t.rejects(
      ask(name, 'a', () => 'client', 0, leaving.signal),
      /gone/,
    );
  void ask('a1');
  const left = leave('left');
  void ask('a2');
  void ask('b1', 'b');
  leaving.abort(new Error('gone'));
  await left;
  await clock.pass(0);
  t.equal(namesOf(sent), 'a1 b1');
  await clock.pass(1000);
  t.equal(namesOf(sent), 'a2');
  await leave('late');
});

t.test('clients before background work, which leaves them a fifth of a minute', async (t) => {
  const { clock, sent, ask } = scene(t, { perMinute: 10, perSecond: 100 });
  let demand: Demand = 'background';
  for (let n = 0; n < 10; n++) void ask('background', 'a', () => 'background');
  await clock.pass(10_000);
  t.equal(namesOf(sent), Array(8).fill('background').join(' '));
  for (let n = 0; n < 3; n++) void ask('client');
  await clock.pass(40_000);
  t.equal(namesOf(sent), 'client client');
  await clock.pass(10_000);
  t.equal(namesOf(sent), 'client background background', 'who came later goes first');
  // Background work that a client joins goes on as that of a client; five were sent in the last minute.
  for (let n = 0; n < 9; n++) void ask('joined', 'a', () => demand);
  await clock.pass(5000);
  const before = namesOf(sent).split(' ').length;
  demand = 'client';
  await clock.pass(1000);
  t.strictSame([before, namesOf(sent)], [3, 'joined joined']);
});

t.test('a database that another process keeps busy is waited for, but not for long', async (t) => {
  const { clock, sent, ask, folder } = scene(t, { perMinute: 3, perSecond: 100 }, { isBusy: true });
  using other = new DatabaseSync(join(folder, 'usage.sqlite'));
  const start = clock.now();
  void ask('before');
  await clock.pass(0);
  other.exec('begin immediate');
  void ask('waits');
  await clock.pass(500);
  t.equal(sent.length, 1, 'nobody has counted it yet');
  other.exec('commit');
  await clock.pass(250);
  t.equal(sent.length, 2);
  other.exec('begin immediate');
  void ask('alone');
  await clock.pass(3000);
  const times = sent.map(({ name, at }) => `${name} ${at - start}`);
  t.strictSame(times, ['before 0', 'waits 750', 'alone 2750']);
  other.exec('commit');
});
