// Ratios across changes of what the provider counts are marked as unsafe to compare, and clicks are not.
import fc from 'fast-check';
import t from 'tap';
import { addDays, eachDay, parseDay } from '../../server/domain/dates.ts';
import {
  eventsBetween,
  eventsOf,
  PROVIDER_EVENTS,
  unseenEvents,
  WATCHED_DAYS,
} from '../../server/domain/provider-events.ts';

const range = (from: string, to: string) => ({ from, to });

t.test('every event has days, and where it is described', (t) => {
  const all = (['web', 'discover', 'bulkExport', 'appearances'] as const).flatMap((of) => eventsOf(of));
  t.ok(all.length > PROVIDER_EVENTS.length);
  for (const { title, from, to, announcedOn, source, affects } of all) {
    t.match(title, /\.$/);
    t.equal(parseDay(from), from);
    t.equal(parseDay(to), to);
    t.ok(from <= to, title);
    if (announcedOn !== null) t.equal(parseDay(announcedOn), announcedOn);
    t.equal(new URL(source).protocol, 'https:');
    t.ok(affects.length > 0);
  }
  t.notOk(
    PROVIDER_EVENTS.some(({ affects }) => affects.includes('clicks')),
    'no event has changed clicks of web search yet',
  );
  t.strictSame(
    PROVIDER_EVENTS.map(({ from }) => from),
    PROVIDER_EVENTS.map(({ from }) => from).sort(),
  );
  t.end();
});

t.test('ratios across an edge of the over-counted span are unsafe', (t) => {
  const [overcount] = PROVIDER_EVENTS;
  const before = range('2025-04-01', '2025-05-12');
  const within = range('2025-10-01', '2026-03-31');
  const after = range('2026-04-28', '2026-05-25');
  const unsafe = (a: typeof before, b: typeof before, device: 'desktop' | 'mobile' | null = 'mobile') =>
    (['clicks', 'impressions', 'ctr', 'position'] as const).map((metric) =>
      eventsBetween(metric, [a, b], device, PROVIDER_EVENTS).includes(overcount!),
    );
  t.strictSame(unsafe(before, within), [false, true, true, true]);
  t.strictSame(unsafe(within, after), [false, true, true, true]);
  t.strictSame(unsafe(before, range('2025-05-12', '2025-05-13')), [false, true, true, true], 'its first day');
  t.strictSame(unsafe(after, range('2026-04-27', '2026-04-28')), [false, true, true, true], 'its last day');
  t.strictSame(unsafe(before, range('2025-04-01', '2026-05-25')), [false, true, true, true], 'all of it');
  t.strictSame(unsafe(before, after), [false, false, false, false], 'both sides are counted alike');
  for (const one of [before, within, after]) t.strictSame(unsafe(one, one), [false, false, false, false]);
  t.end();
});

t.test('the removal of long result pages concerns desktop, and nobody knows its day', (t) => {
  const summer = range('2025-07-01', '2025-08-31');
  const september = range('2025-09-11', '2025-09-20');
  const early = range('2025-09-01', '2025-09-09');
  const autumn = range('2025-09-15', '2025-11-30');
  const between = (a: typeof summer, b: typeof summer, device: 'desktop' | 'mobile' | null) =>
    eventsBetween('impressions', [a, b], device, PROVIDER_EVENTS).length;
  t.equal(between(summer, autumn, 'desktop'), 1);
  t.equal(between(summer, autumn, null), 1, 'all devices have desktop in them');
  t.equal(between(early, autumn, 'desktop'), 1, 'the days just before and after it');
  t.equal(between(summer, early, 'desktop'), 0);
  t.equal(between(summer, autumn, 'mobile'), 0);
  t.equal(between(september, september, 'desktop'), 1);
  t.equal(between(autumn, autumn, 'desktop'), 0);
  t.end();
});

t.test(
  'days within a roll-out cannot be compared with any, and those before and after AI Mode not with each other',
  (t) => {
    const starts = (a: [string, string], b: [string, string]) =>
      eventsBetween('impressions', [range(...a), range(...b)], 'mobile', PROVIDER_EVENTS).map(({ from }) => from);
    t.strictSame(starts(['2026-04-05', '2026-04-08'], ['2026-04-12', '2026-04-15']), ['2026-04-03']);
    t.strictSame(starts(['2026-03-05', '2026-03-08'], ['2026-04-12', '2026-04-15']), ['2026-04-03']);
    t.strictSame(starts(['2026-03-05', '2026-03-08'], ['2026-03-12', '2026-03-15']), []);
    t.strictSame(starts(['2025-06-01', '2025-06-15'], ['2025-06-18', '2025-07-02']), ['2025-06-16']);
    t.strictSame(starts(['2025-06-18', '2025-06-30'], ['2025-07-01', '2025-07-13']), []);
    t.end();
  },
);

t.test('the order of the ranges does not matter, and clicks are always safe', (t) => {
  const anyRange = fc
    .record({ start: fc.integer({ min: 0, max: 900 }), days: fc.integer({ min: 0, max: 300 }) })
    .map(({ start, days }) => range(addDays('2024-06-01', start), addDays('2024-06-01', start + days)));
  fc.assert(
    fc.property(anyRange, anyRange, (a, b) => {
      const one = eventsBetween('impressions', [a, b], null, PROVIDER_EVENTS);
      const other = eventsBetween('impressions', [b, a], null, PROVIDER_EVENTS);
      return (
        one.length === other.length &&
        one.every((event) => other.includes(event)) &&
        eventsBetween('clicks', [a, b], null, PROVIDER_EVENTS).length === 0
      );
    }),
  );
  t.end();
});

t.test('a property shows the end of pages with 100 results if desktop lost a fifth, and not if it only varies', (t) => {
  const days = eachDay(WATCHED_DAYS.from, WATCHED_DAYS.to);
  const noise = (percent: number) =>
    fc.array(fc.integer({ min: -percent * 10, max: percent * 10 }), { minLength: days.length, maxLength: days.length });
  const unseenWith = (desktop: readonly number[], mobile: readonly number[], fall: number): number => {
    const rows = (of: readonly number[], lost: number) =>
      days.map((date, at) => {
        const kept = date < '2025-09-10' ? 1 : 1 - lost;
        const impressions = Math.round(2000 * kept * (1 + of[at]! / 1000));
        return { date, clicks: 0, impressions, sumPosition: impressions * 9 };
      });
    const all = rows(mobile, 0).map((row, at) => ({
      ...row,
      impressions: row.impressions + rows(desktop, fall)[at]!.impressions,
    }));
    return unseenEvents(rows(desktop, fall), all).size;
  };
  const shown = fc.property(
    noise(5),
    noise(5),
    fc.double({ min: 0.2, max: 1, noNaN: true }),
    (a, b, fall) => unseenWith(a, b, fall) === 0,
  );
  const varies = fc.property(noise(2), noise(2), (a, b) => unseenWith(a, b, 0) === 1);
  fc.assert(shown, { numRuns: 50 });
  fc.assert(varies, { numRuns: 50 });
  t.end();
});
