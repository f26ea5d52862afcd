// The statistics of the alert rules equal the formulas by which they are defined.
import fc from 'fast-check';
import t from 'tap';
import { KEYWORD_CHECKS } from '../../server/alerts/keyword-checks.ts';
import { keywordDrop } from '../../server/alerts/keyword-drop.ts';
import { keywordLost, lastShown, mayBeLost } from '../../server/alerts/keyword-lost.ts';
import { countTowardsEnd, countTowardsOpening, newState, open } from '../../server/alerts/lifecycle.ts';
import { trafficDrop, trafficRises } from '../../server/alerts/traffic-drop.ts';
import { calendarOf, keywordFacts, runningSums, times } from './facts.ts';
import {
  referenceDrop,
  referenceLost,
  referenceTraffic,
  referenceUrlChanged,
  referenceUrlMismatch,
} from './reference.ts';

const RUNS = { numRuns: 3000 };
const SIZE = (length: number) => ({ minLength: length, maxLength: length });
/** From 0 up to 1. Not `fc.double`, whose values are mostly close to 0. */
const share = fc.nat(999).map((value) => value / 1000);

t.test('a drop of traffic is what its formula says', (t) => {
  const site = fc.record({
    clicks: fc.constantFrom(0.5, 3, 5.5, 30, 400),
    scatter: fc.constantFrom(0, 0.1, 0.5, 1),
    weekend: fc.constantFrom(0, 0.4, 1),
    last: fc.double({ min: 0.2, max: 1, noNaN: true }),
    dice: fc.array(share, SIZE(63)),
    holiday: fc.nat(56),
  });
  const seen = { opens: 0, isCritical: 0, quiet: 0 };
  fc.assert(
    fc.property(site, ({ clicks, scatter, weekend, last, dice, holiday }) => {
      const days = dice.map((die, day) => {
        const mean = clicks * (day % 7 > 4 ? weekend : 1) * (day >= 56 ? last : 1);
        return day === holiday ? 0 : Math.round(mean * (1 + scatter * (2 * die - 1)));
      });
      const expected = referenceTraffic(days);
      const { z, ...found } = trafficDrop(days);
      if (expected.opens) seen[expected.isCritical ? 'isCritical' : 'opens']++;
      else seen.quiet++;
      const { z: expectedZ, ...others } = expected;
      return JSON.stringify(found) === JSON.stringify(others) && Math.abs(z - expectedZ) < 1e-9;
    }),
    RUNS,
  );
  for (const [what, count] of Object.entries(seen)) t.ok(count > 100, `${what}: ${count}`);
  t.end();
});

t.test('half of what was usual is critical only when it is also improbable', (t) => {
  const few = trafficDrop([...times(56, 6), ...times(7, 3)]);
  t.match(few, { clicks: 21, usual: 42, opens: true, isCritical: false });
  t.equal(trafficRises(few, 42), false);
  t.equal(trafficRises(trafficDrop([...times(56, 6), ...times(7, 1)]), 42), true);
  t.end();
});

t.test('a drop of a keyword is what its formula says', (t) => {
  const keyword = fc.record({
    impressions: fc.constantFrom(1.5, 2.9, 3.5, 12),
    position: fc.double({ min: 1, max: 34, noNaN: true }),
    scatter: fc.constantFrom(0, 0.02, 0.05, 0.15),
    worse: fc.double({ min: 1.1, max: 2.2, noNaN: true }),
    // Some weeks have other numbers of impressions.
    weeks: fc.array(fc.constantFrom(0, 0.3, 1, 1, 1, 1), SIZE(9)),
    dice: fc.array(share, SIZE(63 + 9)),
  });
  const seen = { opens: 0, quiet: 0 };
  fc.assert(
    fc.property(keyword, ({ impressions, position, scatter, worse, weeks, dice }) => {
      const days = Array.from({ length: 63 }, (_, day) => {
        const week = Math.floor(day / 7);
        const shown = Math.floor(impressions * weeks[week]! + dice[day]!);
        const own = position * (1 + scatter * (2 * dice[63 + week]! - 1)) * (week === 8 ? worse : 1);
        return { impressions: shown, position: own };
      });
      const sums = {
        impressions: runningSums(days.map((day) => day.impressions)),
        positions: runningSums(days.map((day) => day.impressions * (day.position - 1))),
      };
      const expected = referenceDrop(days);
      seen[expected ? 'opens' : 'quiet']++;
      return keywordDrop(sums, 62).opens === expected;
    }),
    { numRuns: 6000 },
  );
  for (const [what, count] of Object.entries(seen)) t.ok(count > 500, `${what}: ${count}`);
  t.end();
});

t.test('a lost keyword is what its formula says', (t) => {
  const keyword = fc.record({
    days: fc.integer({ min: 50, max: 75 }),
    isShown: fc.constantFrom(0.35, 0.5, 0.7, 0.95),
    // Of the last weeks, where that is another one.
    isShownLater: fc.constantFrom(0.3, 0.5, 0.95),
    impressions: fc.constantFrom(1, 1, 2, 9),
    position: fc.integer({ min: 24, max: 32 }),
    silent: fc.integer({ min: 4, max: 64 }),
    dice: fc.array(share, SIZE(75)),
  });
  const seen = { opens: 0, quiet: 0 };
  fc.assert(
    fc.property(keyword, ({ days: length, isShown, isShownLater, impressions, position, silent, dice }) => {
      const shown = Array.from({ length }, (_, day) => dice[day]! < (day >= length - 28 ? isShownLater : isShown));
      const days = [...shown, ...times(silent, false)].map((is) => ({ impressions: is ? impressions : 0, position }));
      const sums = {
        impressions: runningSums(days.map((day) => day.impressions)),
        positions: runningSums(days.map((day) => day.impressions * (day.position - 1))),
      };
      const day = days.length - 1;
      const last = lastShown(sums, day);
      const expected = referenceLost(days);
      seen[expected ? 'opens' : 'quiet']++;
      const found = last >= 55 && keywordLost(sums, day, last).opens;
      return found === expected && (!expected || mayBeLost(sums, day));
    }),
    { numRuns: 6000 },
  );
  for (const [what, count] of Object.entries(seen)) t.ok(count > 300, `${what}: ${count}`);
  t.end();
});

t.test('a changed and an unexpected page are what their formulas say', (t) => {
  const urls = ['a', 'b'];
  const keyword = fc.record({
    before: fc.constantFrom(0.5, 1, 3),
    after: fc.constantFrom(0.5, 1, 3),
    share: fc.constantFrom(0.1, 0.35, 0.4, 0.45, 0.9),
    shareAfter: fc.constantFrom(0.1, 0.35, 0.4, 0.45, 0.9),
    changes: fc.integer({ min: 26, max: 30 }),
    dice: fc.array(share, SIZE(70)),
  });
  const seen = { changed: 0, unexpected: 0 };
  const [, , changed, mismatch] = KEYWORD_CHECKS;
  fc.assert(
    fc.property(keyword, ({ before, after, changes, dice, ...shares }) => {
      const pages = Array.from({ length: 35 }, (_, day) => {
        const isAfter = day >= changes;
        const shown = Math.floor((isAfter ? after : before) + dice[day]!);
        const first = Math.floor(shown * (isAfter ? shares.shareAfter : shares.share) + dice[35 + day]!);
        return { a: Math.min(shown, first), b: Math.max(0, shown - first) };
      });
      const facts = keywordFacts([{ days: times(35, null), pages, target: urls[0]! }]);
      const spot = { facts, calendar: calendarOf(35), keyword: 0, day: 34 };
      const expected = [referenceUrlChanged(pages), referenceUrlMismatch(pages.slice(28), urls[0]!)];
      if (expected[0]) seen.changed++;
      if (expected[1]) seen.unexpected++;
      return changed!.holds(spot) === expected[0] && mismatch!.holds(spot) === expected[1];
    }),
    { numRuns: 4000 },
  );
  for (const [what, count] of Object.entries(seen)) t.ok(count > 40, `${what}: ${count}`);
  t.end();
});

t.test('running means one after the other', (t) => {
  const holds = [true, false, true, true];
  const state = newState<null>();
  t.same(
    holds.map((each) => countTowardsOpening({ opensAfter: 2 }, state, each)),
    [false, false, false, true],
  );
  const lifecycle = { opensAfter: 2, resolvesAfter: 3, expiresAfter: 20 };
  open(state, 100, null);
  const back = [true, true, undefined, true, true, false, true, true, true];
  t.same(
    back.map((each, day) => countTowardsEnd(lifecycle, state.open!, 101 + day, each)),
    [...times(8, undefined), 'back'],
  );
  const later = newState<null>();
  open(later, 100, null);
  t.same(
    [119, 120].map((day) => countTowardsEnd(lifecycle, later.open!, day, undefined)),
    [undefined, 'expired'],
  );
  t.end();
});
