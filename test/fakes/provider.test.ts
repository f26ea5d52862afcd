// The provider model has provisional days, hours, limits and refusals as the real API has them.
import assert from 'node:assert/strict';
import t from 'tap';
import { ApiError } from '../../cli/demo/provider/errors.ts';
import { firstIncompleteHour } from '../../cli/demo/provider/hours.ts';
import { type KnownSearch, KnownSearches } from '../../cli/demo/provider/known-searches.ts';
import { makeQueries } from '../../cli/demo/provider/made-queries.ts';
import { MadeSearches } from '../../cli/demo/provider/made-searches.ts';
import { readRequest } from '../../cli/demo/provider/request.ts';
import { Site } from '../../cli/demo/provider/site.ts';

/** Noon in California on 2026-03-15: 2026-03-12 is the newest final day. */
const NOW = Date.parse('2026-03-15T19:00:00Z');
const DAYS = ['2026-03-09', '2026-03-10', '2026-03-11'];

interface AnswerRow {
  readonly keys?: readonly string[];
  readonly clicks: number;
  readonly impressions: number;
  readonly ctr: number;
  readonly position: number;
}

function ask(site: Site, body: object, now = NOW): AnswerRow[] {
  return site.answer(readRequest(body), now).rows.map((row) => JSON.parse(row) as AnswerRow);
}

t.test('hours of a complete day add up to it, with no more clicks than impressions, also where clocks change', (t) => {
  const queries = makeQueries({ seed: 3, count: 12, origin: 'https://shop.example/', brand: 'acme' });
  const site = new Site(new MadeSearches({ seed: 3, queries }));
  for (const [date, hours] of [
    ['2026-03-08', 23],
    ['2026-10-31', 24],
    ['2026-11-01', 25],
  ] as const) {
    // Two days later: hours are final before their day is.
    const now = Date.parse(`${date}T20:00:00Z`) + 2 * 86_400_000;
    const days = { startDate: date, endDate: date };
    const rows = ask(
      site,
      { ...days, dimensions: ['HOUR'], dataState: 'HOURLY_ALL', aggregationType: 'byProperty' },
      now,
    );
    t.equal(new Set(rows.map(({ keys }) => keys![0])).size, hours, date);
    t.ok(rows.every(({ clicks, impressions }) => clicks <= impressions));
    const later = now + 5 * 86_400_000;
    const [whole] = ask(site, { ...days, dimensions: ['date'], aggregationType: 'byProperty' }, later);
    for (const name of ['clicks', 'impressions'] as const) {
      t.equal(
        rows.reduce((sum, row) => sum + row[name], 0),
        whole![name],
        `${name} of ${date}`,
      );
    }
  }
  t.throws(() => readRequest({ startDate: '2026-03-08', endDate: '2026-03-08', dimensions: ['hour'] }), /HOURLY_ALL/);
  t.end();
});

t.test('hours change until they are complete, and then no more', (t) => {
  const queries = makeQueries({ seed: 3, count: 12, origin: 'https://shop.example/', brand: 'acme' });
  const site = new Site(new MadeSearches({ seed: 3, queries }));
  const date = '2026-11-01';
  const body = { startDate: date, endDate: date, dimensions: ['HOUR'], dataState: 'HOURLY_ALL' };
  const complete = firstIncompleteHour(Date.parse('2026-11-02T20:00Z'), site.options.timetable);
  // Ties come in any order.
  const at = (instant: string) =>
    ask(site, body, Date.parse(instant))
      .map(({ keys, clicks, impressions }) => [keys![0]!, clicks, impressions] as const)
      .toSorted(([a], [b]) => Date.parse(a) - Date.parse(b));
  const [first, second, last] = ['2026-11-02T20:00Z', '2026-11-03T08:00Z', '2026-11-08T20:00Z'].map(at);
  const untilThen = ([hour]: readonly unknown[]): boolean => Date.parse(String(hour)) < complete;
  t.ok(first!.some(untilThen) && !first!.every(untilThen), 'some of them are complete');
  t.strictSame(second!.filter(untilThen), first!.filter(untilThen));
  t.notSame(second, first);
  t.strictSame(at('2026-11-05T20:00Z'), last);
  t.end();
});

t.test('what the API refuses', (t) => {
  const good = { startDate: '2026-03-01', endDate: '2026-03-02' };
  const refused: object[] = [
    {},
    { ...good, startDate: '2026-02-30' },
    { ...good, startDate: '2026-03-03' },
    { ...good, limit: 3 },
    { ...good, rowLimit: 25_001 },
    { ...good, rowLimit: 0 },
    { ...good, startRow: -1 },
    { ...good, dimensions: ['hour'] },
    { ...good, dimensions: ['date', 'DATE'] },
    { ...good, dimensions: ['date', 'searchAppearance'] },
    { ...good, dimensions: ['page'], aggregationType: 'byProperty' },
    { ...good, type: 'discover', dimensions: ['query'] },
    { ...good, type: 'googleNews', dimensions: ['query'] },
    { ...good, type: 'discover', dimensions: ['device'] },
    { ...good, type: 'discover', aggregationType: 'byProperty' },
    { ...good, type: 'shopping' },
    { ...good, dimensionFilterGroups: [{ filters: [{ dimension: 'date', expression: 'x' }] }] },
    { ...good, dimensionFilterGroups: [{ filters: [{ dimension: 'query', expression: 'x'.repeat(4097) }] }] },
    {
      ...good,
      aggregationType: 'byProperty',
      dimensionFilterGroups: [{ filters: [{ dimension: 'searchAppearance', expression: 'RECIPE' }] }],
    },
    {
      ...good,
      dimensionFilterGroups: [{ filters: [{ dimension: 'query', operator: 'includingRegex', expression: '(?=x)' }] }],
    },
  ];
  const site = new Site(new KnownSearches([{ ...one('2026-03-01', 'a'), date: '2026-03-01' }]));
  for (const body of refused) {
    const isRefused = (error: unknown): boolean => error instanceof ApiError && error.status === 400;
    assert.throws(() => ask(site, body), isRefused, JSON.stringify(body).slice(0, 200));
  }
  t.doesNotThrow(() => ask(site, { ...good, dimensions: ['DATE'], aggregationType: 'BY_PROPERTY', dataState: 'ALL' }));
  t.strictSame(ask(site, { ...good, type: 'image' }), [], 'searches of other kinds are none');
  site.options.types.discover = 1;
  const found = ask(site, { ...good, type: 'discover', dimensions: ['page'] });
  t.ok(found.length > 0 && found.every((row) => !('position' in row)), 'rows of discover have no position');
  t.end();
});

/** A day's searches for one query. */
function one(date: string, query: string | null, more: Partial<KnownSearch> = {}): KnownSearch {
  const result = { page: 'https://a.example/', position: 2, clicks: 1 };
  return { date, query, country: 'gbr', device: 'MOBILE', count: 3, results: [result], ...more };
}

t.test('pages of an answer are parts of one order only where clicks differ', (t) => {
  const searches = Array.from({ length: 40 }, (_, number) =>
    one('2026-03-01', `q${number}`, { count: 100, results: [{ page: 'p', position: 1, clicks: number % 4 }] }),
  );
  const site = new Site(new KnownSearches(searches));
  const request = { startDate: '2026-03-01', endDate: '2026-03-01', dimensions: ['query'] };
  const keys = (start: number, limit: number): string[] =>
    ask(site, { ...request, startRow: start, rowLimit: limit }).map((row) => row.keys![0]!);
  t.strictSame(
    keys(10, 10).sort(),
    searches
      .filter((_, n) => n % 4 === 2)
      .map(({ query }) => String(query))
      .sort(),
    'a tie',
  );
  const orders = new Set(Array.from({ length: 10 }, () => keys(0, 40).join()));
  t.ok(orders.size > 1, 'ties come in another order each time');
  t.equal(keys(38, 10).length, 2);
  t.strictSame(keys(40, 10), []);
  t.end();
});

t.test('a day has no more rows than are given, and these are the best', (t) => {
  const searches = DAYS.flatMap((day) =>
    Array.from({ length: 10 }, (_, number) =>
      one(day, `q${number}`, { count: 10, results: [{ page: 'p', position: 1, clicks: number }] }),
    ),
  );
  const site = new Site(new KnownSearches(searches), { rowsPerDay: 4 });
  const request = { startDate: DAYS[0], endDate: DAYS[2], dimensions: ['date', 'query'] };
  const best = ['q6', 'q7', 'q8', 'q9'].flatMap((query) => DAYS.map((day) => `${day} ${query}`));
  t.strictSame(
    ask(site, request)
      .map(({ keys }) => keys!.join(' '))
      .sort(),
    best.sort(),
  );
  t.equal(ask(site, { ...request, dimensions: ['query'] }).length, 10, 'three days have room for them');
  const filters = [{ dimension: 'query', operator: 'includingRegex', expression: '^(q0|q1)$' }];
  const filtered = ask(site, { ...request, dimensionFilterGroups: [{ filters }] });
  t.equal(filtered.length, 6, 'a filter finds what was cut off');
  t.end();
});

const totals = { dimensions: ['date'], dataState: 'all' };

/** Days and impressions as they are told. */
function daysOf(site: Site, body: object, now: number): Record<string, number> {
  const days = ask(site, body, now).map(({ keys, impressions }): [string, number] => [keys![0]!, impressions]);
  return Object.fromEntries(days.sort(([a], [b]) => (a < b ? -1 : 1)));
}

t.test('days are Pacific, provisional for a while, then final', (t) => {
  const days = ['2026-03-05', '2026-03-06', '2026-03-07', '2026-03-08', '2026-03-09'];
  const site = new Site(new KnownSearches(days.map((day) => one(day, 'a'))));
  const week = { startDate: '2026-03-01', endDate: '2026-03-31' };
  const all = { ...week, ...totals };
  const metadata = (now: number, more: object = {}): object | undefined =>
    site.answer(readRequest({ ...all, ...more }), now).metadata;
  // Clocks change in California in the night to 2026-03-08, which has 23 hours.
  const before = Date.parse('2026-03-09T06:59:59Z');
  const after = Date.parse('2026-03-09T07:00:00Z');
  t.strictSame(metadata(before), { firstIncompleteDate: '2026-03-06' }, 'it is still the 8th');
  t.strictSame(metadata(after), { firstIncompleteDate: '2026-03-07' });
  t.strictSame(Object.keys(daysOf(site, all, after)), days.slice(0, 4), 'the new day has nothing yet');
  t.strictSame(Object.keys(daysOf(site, all, after + 4 * 3_600_000)), days);
  t.strictSame(Object.keys(daysOf(site, { ...all, dataState: 'final' }, after)), days.slice(0, 2));
  t.strictSame(Object.keys(daysOf(site, { ...week, dimensions: ['date'] }, after)), days.slice(0, 2), 'final is meant');
  t.equal(metadata(after, { dataState: 'final' }), undefined);
  t.equal(metadata(after, { dimensions: ['device'] }), undefined);
  t.equal(metadata(after, { endDate: '2026-03-06' }), undefined, 'all of it is complete');
  site.options.metadata = 'first_incomplete_date';
  t.strictSame(metadata(after), { first_incomplete_date: '2026-03-07' });
  site.options.metadata = 'none';
  t.equal(metadata(after), undefined);
  t.end();
});

t.test('rows of provisional days vanish, and final days change when they are told to', (t) => {
  const day = '2026-03-14';
  const source = new KnownSearches([
    one(day, 'a'),
    one(day, 'b', { seen: 'provisional' }),
    one(day, 'c', { seen: 'final', count: 7 }),
  ]);
  const site = new Site(source);
  const request = { startDate: day, endDate: day, dimensions: ['query'], dataState: 'all' };
  const keys = (now: number): string[] =>
    ask(site, request, now)
      .map((row) => row.keys![0]!)
      .sort();
  t.strictSame(keys(NOW), ['a', 'b']);
  const later = NOW + 2 * 86_400_000;
  t.strictSame(keys(later), ['a', 'c']);
  const sum = { startDate: day, endDate: day, ...totals };
  t.strictSame(daysOf(site, sum, later), { [day]: 10 });
  source.replace(day, [one(day, 'd', { count: 4 })]);
  t.strictSame(daysOf(site, sum, later), { [day]: 4 }, 'not the sum of before');
  t.end();
});

t.test('days are kept for 16 months and two weeks', (t) => {
  const days = ['2024-10-31', '2024-11-01', '2024-11-15', '2026-03-01'];
  const site = new Site(new KnownSearches(days.map((day) => one(day, 'a'))));
  const request = { startDate: '2020-01-01', endDate: '2026-03-31', ...totals };
  t.strictSame(Object.keys(daysOf(site, request, NOW)), days.slice(1));
  t.end();
});

t.test('made searches are the same whenever they are asked for, and other ones while a day is not final', (t) => {
  const queries = makeQueries({ seed: 3, count: 40, origin: 'https://a.example/', brand: 'acme' });
  const make = (): MadeSearches => new MadeSearches({ seed: 3, queries, since: '2026-03-02', silent: ['2026-03-05'] });
  const [source, again] = [make(), make()];
  const listed = (from: MadeSearches, ...rest: Parameters<MadeSearches['searches']>) => [...from.searches(...rest)];
  const text = queries[4]!.text!;
  t.strictSame(listed(source, '2026-03-10', 'final'), listed(again, '2026-03-10', 'final'));
  t.strictSame(
    listed(source, '2026-03-10', 'final').filter(({ query }) => query === text),
    listed(source, '2026-03-10', 'final', [text, text, 'never heard of']),
  );
  t.notSame(listed(source, '2026-03-10', 3), listed(source, '2026-03-10', 'final'));
  t.notSame(listed(source, '2026-03-10', 3), listed(source, '2026-03-10', 4));
  t.strictSame(listed(source, '2026-03-01', 'final'), [], 'before its first day');
  t.strictSame(listed(source, '2026-03-05', 'final'), [], 'a silent day');
  const before = listed(source, '2026-03-10', 'final');
  source.change('2026-03-10');
  t.notSame(listed(source, '2026-03-10', 'final'), before);
  t.ok(before.every(({ count, results }) => count >= 1 && results.every(({ clicks }) => clicks <= count)));
  t.equal(new Set(queries.map((each) => each.text)).size, 41, 'each query once, and those not told');
  t.end();
});
