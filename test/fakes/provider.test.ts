// The provider model has provisional days, hours, limits and refusals as the real API has them.
import t from 'tap';
import { firstIncompleteHour } from '../../cli/demo/provider/hours.ts';
import { type KnownSearch, KnownSearches } from '../../cli/demo/provider/known-searches.ts';
import { makeQueries } from '../../cli/demo/provider/made-queries.ts';
import { MadeSearches } from '../../cli/demo/provider/made-searches.ts';
import { readRequest } from '../../cli/demo/provider/request.ts';
import { Site } from '../../cli/demo/provider/site.ts';
import { eachDay } from '../../server/domain/dates.ts';

const DAY = 86_400_000;
/** Noon in California on 2026-03-15: 2026-03-12 is the newest final day. */
const NOW = Date.parse('2026-03-15T19:00:00Z');
const ORIGIN = 'https://shop.example/';
const WEEK = { startDate: '2026-03-01', endDate: '2026-03-31' };
const TOTALS = { dimensions: ['date'], dataState: 'all' };

interface AnswerRow {
  readonly keys?: readonly string[];
  readonly clicks: number;
  readonly impressions: number;
}

const ask = (site: Site, body: object, now = NOW): AnswerRow[] =>
  site.answer(readRequest(body), now).rows.map((row) => JSON.parse(row) as AnswerRow);
const keysOf = (...asked: Parameters<typeof ask>): string[] => ask(...asked).map(({ keys }) => keys!.join(' '));
/** Days and impressions as they are told. */
const daysOf = (...asked: Parameters<typeof ask>): string[] =>
  ask(...asked)
    .map(({ keys, impressions }) => `${keys![0]}: ${impressions}`)
    .sort();

/** A day's searches for one query. */
function one(date: string, query: string | null, more: Partial<KnownSearch> = {}): KnownSearch {
  const result = { page: `${ORIGIN}a`, position: 2, clicks: 1 };
  return { date, query, country: 'gbr', device: 'MOBILE', count: 3, results: [result], ...more };
}

/** A day's searches for so many queries, with clicks of each. */
const queriesOf = (date: string, count: number, clicksOf: (at: number) => number): KnownSearch[] =>
  Array.from({ length: count }, (_, at) =>
    one(date, `q${at}`, { count: 100, results: [{ page: 'p', position: 1, clicks: clicksOf(at) }] }),
  );

t.test('hours of a complete day add up to it, also where clocks change, and change until they are complete', (t) => {
  const queries = makeQueries({ seed: 3, count: 12, origin: ORIGIN, brand: 'acme' });
  const site = new Site(new MadeSearches({ seed: 3, queries }));
  const hourly = { dimensions: ['HOUR'], dataState: 'HOURLY_ALL', aggregationType: 'byProperty' };
  for (const [date, hours] of [
    ['2026-03-08', 23],
    ['2026-10-31', 24],
    ['2026-11-01', 25],
  ] as const) {
    // Two days later: hours are final before their day is.
    const now = Date.parse(`${date}T20:00:00Z`) + 2 * DAY;
    const days = { startDate: date, endDate: date };
    const rows = ask(site, { ...days, ...hourly }, now);
    const [whole] = ask(site, { ...days, dimensions: ['date'], aggregationType: 'byProperty' }, now + 5 * DAY);
    const sum = (name: 'clicks' | 'impressions') => rows.reduce((all, row) => all + row[name], 0);
    const found = [rows.length, sum('clicks'), sum('impressions')];
    t.strictSame(found, [hours, whole!.clicks, whole!.impressions], date);
    t.ok(rows.every(({ clicks, impressions }) => clicks <= impressions));
  }
  const complete = firstIncompleteHour(Date.parse('2026-11-02T20:00Z'), site.options.timetable);
  const at = (instant: string) =>
    ask(site, { startDate: '2026-11-01', endDate: '2026-11-01', ...hourly }, Date.parse(instant))
      .map(({ keys, clicks, impressions }) => [keys![0]!, clicks, impressions] as const)
      .toSorted(([a], [b]) => Date.parse(a) - Date.parse(b));
  const [first, second, last] = ['2026-11-02T20:00Z', '2026-11-03T08:00Z', '2026-11-08T20:00Z'].map(at);
  const untilThen = ([hour]: readonly unknown[]): boolean => Date.parse(String(hour)) < complete;
  t.strictSame(second!.filter(untilThen), first!.filter(untilThen));
  t.notSame(second, first);
  t.strictSame(at('2026-11-05T20:00Z'), last);
  t.end();
});

t.test('what the API refuses', (t) => {
  const site = new Site(new KnownSearches([one('2026-03-01', 'a')]));
  const filtered = (filter: object) => ({ dimensionFilterGroups: [{ filters: [filter] }] });
  const refused: object[] = [
    ...[{ startDate: undefined }, { startDate: '2026-02-30' }, { startDate: '2026-04-03' }, { limit: 3 }],
    ...[{ rowLimit: 25_001 }, { rowLimit: 0 }, { startRow: -1 }, { dimensions: ['hour'] }, { type: 'shopping' }],
    ...[{ dimensions: ['date', 'DATE'] }, { dimensions: ['date', 'searchAppearance'] }],
    { dimensions: ['page'], aggregationType: 'byProperty' },
    ...['query', 'device'].map((dimension) => ({ type: 'discover', dimensions: [dimension] })),
    ...[
      { type: 'googleNews', dimensions: ['query'] },
      { type: 'discover', aggregationType: 'byProperty' },
    ],
    filtered({ dimension: 'date', expression: 'x' }),
    filtered({ dimension: 'query', expression: 'x'.repeat(4097) }),
    filtered({ dimension: 'query', operator: 'includingRegex', expression: '(?=x)' }),
    { aggregationType: 'byProperty', ...filtered({ dimension: 'searchAppearance', expression: 'RECIPE' }) },
  ];
  for (const wrong of refused) {
    const message = JSON.stringify(wrong).slice(0, 200);
    t.throws(() => ask(site, { ...WEEK, ...wrong }), Object.assign(new Error(), { status: 400 }), message);
  }
  t.doesNotThrow(() => ask(site, { ...WEEK, dimensions: ['DATE'], aggregationType: 'BY_PROPERTY', dataState: 'ALL' }));
  t.strictSame(ask(site, { ...WEEK, type: 'image' }), [], 'searches of other kinds are none');
  site.options.types.discover = 1;
  const found = ask(site, { ...WEEK, type: 'discover', dimensions: ['page'] });
  t.ok(found.length > 0 && found.every((row) => !('position' in row)), 'rows of discover have no position');
  t.end();
});

t.test('rows: parts of one order only where clicks differ, and the best of a day that has too many', (t) => {
  const site = new Site(new KnownSearches(queriesOf('2026-03-01', 40, (at) => at % 4)));
  const keys = (startRow: number, rowLimit: number): string[] =>
    keysOf(site, { ...WEEK, dimensions: ['query'], startRow, rowLimit });
  const tie = Array.from({ length: 10 }, (_, at) => `q${4 * at + 2}`);
  t.strictSame([keys(10, 10).sort(), keys(38, 10).length, keys(40, 10)], [tie.sort(), 2, []]);
  const orders = new Set(Array.from({ length: 10 }, () => keys(0, 40).join()));
  t.ok(orders.size > 1, 'ties come in another order each time');

  const days = ['2026-03-09', '2026-03-10', '2026-03-11'];
  const many = new Site(new KnownSearches(days.flatMap((day) => queriesOf(day, 10, (at) => at))), { rowsPerDay: 4 });
  const byDay = { ...WEEK, dimensions: ['date', 'query'] };
  const best = ['q6', 'q7', 'q8', 'q9'].flatMap((query) => days.map((day) => `${day} ${query}`));
  t.strictSame(keysOf(many, byDay).sort(), best.sort());
  t.equal(ask(many, { ...byDay, dimensions: ['query'] }).length, 10, 'three days have room for them');
  const filters = [{ dimension: 'query', operator: 'includingRegex', expression: '^(q0|q1)$' }];
  t.equal(ask(many, { ...byDay, dimensionFilterGroups: [{ filters }] }).length, 6, 'a filter finds what was cut off');
  t.end();
});

t.test('days are Pacific, provisional for a while, then final, and kept for 16 months and two weeks', (t) => {
  const days = eachDay('2026-03-05', '2026-03-09');
  const site = new Site(new KnownSearches(days.map((day) => one(day, 'a'))));
  const all = { ...WEEK, ...TOTALS };
  const metadata = (now: number, more: object = {}) => site.answer(readRequest({ ...all, ...more }), now).metadata;
  // Clocks change in California in the night to 2026-03-08, which has 23 hours.
  const after = Date.parse('2026-03-09T07:00:00Z');
  t.strictSame(metadata(after - 1000), { firstIncompleteDate: '2026-03-06' }, 'it is still the 8th');
  t.strictSame(metadata(after), { firstIncompleteDate: '2026-03-07' });
  const counted = days.map((day) => `${day}: 3`);
  t.strictSame(daysOf(site, all, after), counted.slice(0, 4), 'the new day has nothing yet');
  t.strictSame(daysOf(site, all, after + 4 * 3_600_000), counted);
  for (const dataState of ['final', undefined])
    t.strictSame(daysOf(site, { ...all, dataState }, after), counted.slice(0, 2));
  for (const more of [{ dataState: 'final' }, { dimensions: ['device'] }, { endDate: '2026-03-06' }])
    t.equal(metadata(after, more), undefined, JSON.stringify(more));
  site.options.metadata = 'first_incomplete_date';
  t.strictSame(metadata(after), { first_incomplete_date: '2026-03-07' });
  site.options.metadata = 'none';
  t.equal(metadata(after), undefined);
  const old = ['2024-10-31', '2024-11-01', '2024-11-15'].map((day) => one(day, 'a'));
  const kept = daysOf(new Site(new KnownSearches(old)), { ...TOTALS, startDate: '2020-01-01', endDate: '2026-03-31' });
  t.strictSame(kept, ['2024-11-01: 3', '2024-11-15: 3']);
  t.end();
});

t.test('rows of provisional days vanish, and final days change when they are told to', (t) => {
  const day = '2026-03-14';
  const provisional = [one(day, 'a'), one(day, 'b', { seen: 'provisional' })];
  const source = new KnownSearches([...provisional, one(day, 'c', { seen: 'final', count: 7 })]);
  const site = new Site(source);
  const keys = (now: number): string =>
    keysOf(site, { ...WEEK, ...TOTALS, dimensions: ['query'] }, now)
      .sort()
      .join();
  const later = NOW + 2 * DAY;
  t.strictSame([keys(NOW), keys(later)], ['a,b', 'a,c']);
  t.strictSame(daysOf(site, { ...WEEK, ...TOTALS }, later), [`${day}: 10`]);
  source.replace(day, [one(day, 'd', { count: 4 })]);
  t.strictSame(daysOf(site, { ...WEEK, ...TOTALS }, later), [`${day}: 4`], 'not the sum of before');
  t.end();
});

t.test('made searches are the same whenever they are asked for, and other ones while a day is not final', (t) => {
  const queries = makeQueries({ seed: 3, count: 40, origin: ORIGIN, brand: 'acme' });
  const make = (): MadeSearches => new MadeSearches({ seed: 3, queries, since: '2026-03-02', silent: ['2026-03-05'] });
  const source = make();
  const listed = (...rest: Parameters<MadeSearches['searches']>) => [...source.searches(...rest)];
  const final = listed('2026-03-10', 'final');
  const text = queries[4]!.text!;
  t.strictSame([...make().searches('2026-03-10', 'final')], final);
  const own = final.filter(({ query }) => query === text);
  t.strictSame(listed('2026-03-10', 'final', [text, text, 'never heard of']), own);
  for (const other of ['final', 4] as const) t.notSame(listed('2026-03-10', 3), listed('2026-03-10', other));
  t.strictSame([listed('2026-03-01', 'final'), listed('2026-03-05', 'final')], [[], []], 'too early, and silent');
  source.change('2026-03-10');
  t.notSame(listed('2026-03-10', 'final'), final);
  t.ok(final.every(({ count, results }) => count >= 1 && results.every(({ clicks }) => clicks <= count)));
  t.equal(new Set(queries.map((each) => each.text)).size, 41, 'each query once, and those not told');
  t.end();
});
