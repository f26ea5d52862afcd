// The provider model computes the same rows as a plain sum over its searches, with provisional days and limits.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import t from 'tap';
import { ApiError } from '../../cli/demo/provider/errors.ts';
import { literalsOf } from '../../cli/demo/provider/filters.ts';
import { firstIncompleteHour } from '../../cli/demo/provider/hours.ts';
import { type KnownSearch, KnownSearches } from '../../cli/demo/provider/known-searches.ts';
import { makeQueries } from '../../cli/demo/provider/made-queries.ts';
import { MadeSearches } from '../../cli/demo/provider/made-searches.ts';
import { type AnalyticsRequest, type Dimension, readRequest } from '../../cli/demo/provider/request.ts';
import { Site } from '../../cli/demo/provider/site.ts';

/** Noon in California on 2026-03-15: 2026-03-12 is the newest final day. */
const NOW = Date.parse('2026-03-15T19:00:00Z');
const DAYS = ['2026-03-09', '2026-03-10', '2026-03-11'];
const QUERIES = ['boots', 'red boots', 'c++ (guide)', 'acme boots|x', 'straße'];
const PAGES = ['https://a.example/', 'https://a.example/Boots', 'https://a.example/x'];

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

const results = fc
  .uniqueArray(
    fc.record({
      page: fc.constantFrom(...PAGES),
      position: fc.integer({ min: 1, max: 9 }),
      clicks: fc.integer({ min: 0, max: 2 }),
      appearances: fc.uniqueArray(fc.constantFrom('RECIPE', 'REVIEW_SNIPPET'), { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 3, selector: ({ page }) => page },
  )
  .map((list) => list.map((each, index) => ({ ...each, position: each.position + index * 9 })));
const search: fc.Arbitrary<KnownSearch> = fc.record({
  date: fc.constantFrom(...DAYS),
  query: fc.constantFrom(null, ...QUERIES),
  country: fc.constantFrom('gbr', 'usa', 'zzz'),
  device: fc.constantFrom('DESKTOP', 'MOBILE', 'TABLET'),
  count: fc.integer({ min: 2, max: 5 }),
  results,
});
const filter = fc.oneof(
  fc.record({
    dimension: fc.constant('query'),
    operator: fc.constantFrom('equals', 'notEquals', 'contains', 'notContains'),
    expression: fc.constantFrom(...QUERIES, 'BOOTS', 'b', ''),
  }),
  fc.record({
    dimension: fc.constant('query'),
    operator: fc.constantFrom('includingRegex', 'excludingRegex'),
    expression: fc.constantFrom(
      '^(boots|RED boots)$',
      '^(c\\+\\+ \\(guide\\)|acme boots\\|x)$',
      'red|\\+',
      '^r.d',
      '^(?:straße)$',
      '^(b.*)$',
    ),
  }),
  fc.record({
    dimension: fc.constant('page'),
    operator: fc.constantFrom('equals', 'notEquals', 'contains', 'includingRegex', 'excludingRegex'),
    expression: fc.constantFrom('https://a.example/boots', 'x', '/$'),
  }),
  fc.record({
    dimension: fc.constant('country'),
    operator: fc.constantFrom('equals', 'notEquals'),
    expression: fc.constantFrom('GBR', 'zzz'),
  }),
  fc.record({
    dimension: fc.constant('device'),
    operator: fc.constantFrom('equals', 'notEquals'),
    expression: fc.constantFrom('mobile', 'DESKTOP'),
  }),
  fc.record({
    dimension: fc.constant('searchAppearance'),
    operator: fc.constantFrom('equals', 'notEquals', 'contains'),
    expression: fc.constantFrom('RECIPE', 'review'),
  }),
);
const dimensions = fc.oneof(
  { weight: 6, arbitrary: fc.uniqueArray(fc.constantFrom('date', 'query', 'page', 'country', 'device')) },
  { weight: 1, arbitrary: fc.constant(['searchAppearance']) },
);
const body = fc.record({
  startDate: fc.constantFrom(...DAYS.slice(0, 2)),
  endDate: fc.constantFrom(...DAYS.slice(1)),
  dimensions,
  dimensionFilterGroups: fc.array(fc.record({ filters: fc.array(filter, { maxLength: 2 }) }), { maxLength: 2 }),
  aggregationType: fc.constantFrom('auto', 'byProperty', 'byPage'),
});

/** Whether one value passes; by JavaScript's own expressions. */
function holds(operator: string, wanted: string, value: string): boolean {
  const [a, b] = [value.toLowerCase(), wanted.toLowerCase()];
  const is = operator.startsWith('not') || operator === 'excludingRegex' ? (it: boolean) => !it : (it: boolean) => it;
  if (operator.endsWith('Regex')) return is(new RegExp(wanted, 'i').test(value));
  return is(operator.toLowerCase().endsWith('contains') ? a.includes(b) : a === b);
}

/** What a request must answer: every single impression of every page stands alone, and is grouped at the end. */
function bruteForce(searches: readonly KnownSearch[], request: AnalyticsRequest): Map<string, number[]> {
  const named = [...request.dimensions, ...request.filters.map(({ dimension }) => dimension)];
  const isByPage =
    request.aggregation === 'byPage' ||
    (request.aggregation === 'auto' && (named.includes('page') || named.includes('searchAppearance')));
  const sums = new Map<string, number[]>();
  for (const { date, query, country, device, count, results } of searches) {
    if (date < request.from || date > request.to) continue;
    if (query === null && named.includes('query')) continue;
    const clicks = results.reduce((sum, result) => sum + result.clicks, 0);
    const top = results.toSorted((a, b) => a.position - b.position)[0]!;
    const counted = isByPage
      ? results.map((result) => ({ ...result, result }))
      : [{ clicks: Math.min(count, clicks), position: top.position, result: top }];
    for (const { clicks, position, result } of counted) {
      const shown = result.appearances ?? [];
      const values: Record<Dimension, readonly string[]> = {
        date: [date],
        hour: [''],
        query: [query ?? ''],
        page: [result.page],
        country: [country],
        device: [device],
        searchAppearance: shown,
      };
      const isIn = request.filters.every(({ dimension, operator, expression }) => {
        const has = (value: string): boolean => holds(operator, expression, value);
        return operator.startsWith('not') ? values[dimension].every(has) : values[dimension].some(has);
      });
      if (!isIn) continue;
      const rows = request.dimensions.includes('searchAppearance') ? shown : [''];
      for (const appearance of rows) {
        const keys = request.dimensions.map((dimension) =>
          dimension === 'searchAppearance' ? appearance : values[dimension][0],
        );
        const sum = sums.get(JSON.stringify(keys)) ?? [0, 0, 0];
        sums.set(JSON.stringify(keys), [sum[0]! + clicks, sum[1]! + count, sum[2]! + position * count]);
      }
    }
  }
  return sums;
}

t.test('answers equal a naive sum over all searches', (t) => {
  fc.assert(
    fc.property(fc.array(search, { maxLength: 30 }), body, (searches, asked) => {
      fc.pre(asked.startDate <= asked.endDate);
      const named = JSON.stringify(asked);
      fc.pre(asked.aggregationType !== 'byProperty' || !/"page"|"searchAppearance"/.test(named));
      const site = new Site(new KnownSearches(searches));
      const rows = ask(site, asked);
      const wanted = bruteForce(searches, readRequest(asked));
      const got = new Map(
        rows.map(({ keys = [], clicks, impressions, position }) => [
          JSON.stringify(keys),
          [clicks, impressions, Math.round(position * impressions)],
        ]),
      );
      assert.equal(got.size, rows.length, 'each key once');
      assert.deepEqual(got, wanted);
      assert.ok(
        rows.every(({ clicks }, at) => at === 0 || rows[at - 1]!.clicks >= clicks),
        'best first',
      );
      assert.ok(rows.every(({ ctr, clicks, impressions }) => ctr === clicks / impressions));
    }),
    { numRuns: 400 },
  );
  t.end();
});

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

t.test('texts of a list of alternatives are those that RE2 finds', (t) => {
  const text = fc.string({
    unit: fc.constantFrom(...Array.from('ab |.*+?()[]{}^$\\-"\'ß€ 1')),
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), text, (texts, other) => {
      const expression = `^(${texts.map((each) => RE2JS.quote(each)).join('|')})$`;
      const pattern = RE2JS.compile(expression, RE2JS.CASE_INSENSITIVE);
      const only = literalsOf(expression);
      assert.ok(only !== undefined);
      for (const each of [...texts, other]) assert.equal(only.includes(each), pattern.matcher(each).find(), each);
    }),
    { numRuns: 200 },
  );
  for (const none of ['^(a.b)$', '^(a|b', 'a|b', '^(a|(b))$', '^(\\d)$', '(a)$', '^(a)$|^(b)$']) {
    t.equal(literalsOf(none), undefined, none);
  }
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

t.test('rows can come by day', (t) => {
  const searches = DAYS.flatMap((day, at) => [
    one(day, 'a', { results: [{ page: 'p', position: 1, clicks: at }] }),
    one(day, 'b', { results: [{ page: 'p', position: 1, clicks: 3 }] }),
  ]);
  const site = new Site(new KnownSearches(searches), { order: 'date' });
  const rows = ask(site, { startDate: DAYS[0], endDate: DAYS[2], dimensions: ['date', 'query'] });
  t.strictSame(
    rows.map(({ keys }) => keys!.join(' ')),
    DAYS.flatMap((day) => [`${day} b`, `${day} a`]),
  );
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
