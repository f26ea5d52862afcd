// A traffic alert opens on a lasting, unusual drop only, and resolves when clicks recover or a new level is usual.
import fc from 'fast-check';
import t from 'tap';
import { StoredDays } from '../../server/alerts/daily-sums.ts';
import { trafficDrop } from '../../server/alerts/traffic-drop.ts';
import { TrafficReplay } from '../../server/alerts/traffic-replay.ts';
import { calendarOf, times } from './facts.ts';

function replay(clicks: readonly number[], missing: readonly number[] = []) {
  const calendar = calendarOf(clicks.length, [
    { from: '2026-08-05', to: '2026-08-07', category: 'technical', text: 'The server was moved.', keywordId: null },
    { from: '2026-07-20', to: '2026-08-02', category: 'technical', text: 'Before that week.', keywordId: null },
  ]);
  const stored = new StoredDays(clicks.map((_, day) => !missing.includes(day)));
  const traffic = new TrafficReplay({ clicks: Float64Array.from(clicks), stored }, calendar);
  for (let day = 0; day < clicks.length; day++) traffic.run(day);
  return traffic.alerts.map(({ date, ...alert }) => ({ ...alert, day: calendar.indexOf(date), date }));
}

t.test('the deviation is that of the weeks before, their weekdays and levels', (t) => {
  const quiet = trafficDrop([...times(56, 10), ...times(7, 5)]);
  t.match(quiet, { clicks: 35, usual: 70, opens: true, isCritical: false });
  // Nothing scatters: phi is 1. -35 / sqrt(70 (1 + pi/8) + (0.06 * 70)^2)
  t.equal(quiet.z.toFixed(4), '-3.2619');
  t.match(trafficDrop([...times(56, 10), ...times(7, 4)]), { clicks: 28, opens: true, isCritical: true });
  t.match(
    trafficDrop([...times(56, 4), ...times(7, 0)]),
    { usual: 28, opens: false },
    'too few clicks to say anything',
  );
  // Weekends are expected to be weak.
  const week = [20, 20, 20, 20, 20, 2, 2];
  t.equal(trafficDrop(times(9, week).flat()).z, 0);
  // Clicks that go up and down by half say less.
  const restless = times(28, [5, 15]).flat();
  t.ok(trafficDrop([...restless, ...times(7, 5)]).z > quiet.z);
  t.end();
});

t.test('an alert opens on the second evaluation, rises while it is open, and resolves', (t) => {
  const [alert, ...more] = replay([...times(63, 20), ...times(10, 12), ...times(8, 0), ...times(20, 20)]);
  t.same(more, []);
  // 140 - n * 8 is far enough below 140 from the sixth day on.
  t.match(alert, { day: 63 + 6, severity: 'critical', type: 'traffic_drop', subject: 'site', keywordId: null });
  t.equal(alert!.title, 'Clicks fell 40% below the usual week: 84 against 140');
  t.match(
    alert!.body,
    /84 clicks in the week to 2026-08-09.*140\. Noted \(technical, 2026-08-05 to 2026-08-07\): The server was moved\./,
  );
  t.match(alert!.body, /Critical on 2026-08-14: 60 clicks in the week\./);
  t.equal(alert!.body.match(/Critical on/g)?.length, 1, 'it says so once');
  t.notMatch(alert!.body, /Before that week/);
  // Three evaluations running with at least 126 of 140.
  t.match(alert!.body, /Resolved on 2026-08-29: clicks are back at 100% of the usual week\.$/);
  t.equal(alert!.resolvedOn, '2026-08-29');
  t.end();
});

t.test('what stays is the new level after 28 days', (t) => {
  const alerts = replay([...times(63, 20), ...times(80, 8)]);
  t.equal(alerts.length, 1);
  t.equal(alerts[0]!.date, '2026-08-07');
  t.equal(alerts[0]!.resolvedOn, '2026-09-04');
  t.match(alerts[0]!.body, /Resolved on 2026-09-04: after 28 days this is the new level\.$/);
  t.end();
});

t.test('a missing day silences the rule, and its counter starts again', (t) => {
  const drop = [...times(63, 20), ...times(7, 0)];
  t.equal(replay(drop).length, 1);
  t.same(replay(drop, [10]), [], 'in the weeks before');
  t.same(replay(drop, [66]), [], 'in the last week');
  t.same(
    replay(drop).map(({ day }) => day),
    [66],
  );
  t.same(
    replay(drop.slice(5)).map(({ day }) => day),
    [63],
    'the first opinion is that of the 63rd day',
  );
  t.end();
});

t.test('quiet days open nothing', (t) => {
  const week = fc.array(fc.nat(500), { minLength: 7, maxLength: 7 });
  fc.assert(
    fc.property(
      fc.array(fc.nat(500), { maxLength: 80 }),
      week,
      fc.integer({ min: 9, max: 20 }),
      (before, quiet, weeks) => {
        const clicks = [...before, ...times(weeks, quiet).flat()];
        return replay(clicks).every(({ day }) => day < before.length + 62);
      },
    ),
  );
  t.end();
});

t.test('more clicks, all in proportion, never make a critical drop none', (t) => {
  const site = fc.record({
    days: fc.nat(30).chain((least) => fc.array(fc.integer({ min: least, max: 50 }), { minLength: 56, maxLength: 56 })),
    week: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 7, maxLength: 7 }),
    factor: fc.integer({ min: 2, max: 1000 }),
  });
  let critical = 0;
  fc.assert(
    fc.property(site, ({ days, week, factor }) => {
      const clicks = [...days, ...week];
      if (!trafficDrop(clicks).isCritical) return true;
      critical++;
      return trafficDrop(clicks.map((value) => value * factor)).opens;
    }),
    { numRuns: 1000 },
  );
  t.ok(critical > 100, `${critical} of the sites had a critical drop`);
  t.end();
});
