import fc from 'fast-check';
import t from 'tap';
import { runningSums } from '../../server/alerts/daily-sums.ts';
import { keywordDrop } from '../../server/alerts/keyword-drop.ts';
import { keywordLost, lastShown, mayBeLost } from '../../server/alerts/keyword-lost.ts';
import { trafficDrop, trafficRises } from '../../server/alerts/traffic-drop.ts';
import { times } from './facts.ts';
import { referenceDrop, referenceLost, referenceTraffic } from './reference.ts';

const RUNS = { numRuns: 3000 };
const SIZE = (length: number) => ({ minLength: length, maxLength: length });
/** From 0 up to 1. */
const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

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
