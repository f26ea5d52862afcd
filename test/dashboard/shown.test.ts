// What the page makes of a value: numbers, signs, colours, days and texts, each as a table.
import t from 'tap';
import { comparedOf, describeChange, describeUnsafe } from '../../server/dashboard/client/lib/changes.ts';
import {
  addDays,
  CALENDAR_PERIODS,
  comparedRange,
  countDays,
  eachDay,
  formatAgo,
  formatDate,
  formatDateOf,
  formatDay,
  formatMonth,
  formatMonthOfYear,
  formatRange,
  formatShortDay,
  formatSpan,
  isDay,
  periodRange,
  withDates,
} from '../../server/dashboard/client/lib/dates.ts';
import { notAttributedText, signed, unsafeText } from '../../server/dashboard/client/lib/explain.ts';
import {
  describeCondition,
  filterOfRows,
  joinFilters,
  parseFilter,
  writeFilter,
} from '../../server/dashboard/client/lib/filter.ts';
import { byGain, daysOf, gainText, testedText } from '../../server/dashboard/client/lib/findings.ts';
import {
  appearanceName,
  axisMetric,
  exactMetric,
  formatBound,
  formatFinePercent,
  formatMetric,
  formatPoints,
  formatShare,
  formatTimes,
  nameInSentence,
  percentageOf,
  plural,
  ratioOf,
} from '../../server/dashboard/client/lib/format.ts';
import { formatLine, parseLines } from '../../server/dashboard/client/lib/lines.ts';
import { BANDS, bandFilter } from '../../server/dashboard/client/lib/positions.ts';
import { METRICS } from '../../server/dashboard/client/lib/types.ts';
import { markersOf } from '../../server/dashboard/client/parts/markers.ts';
import { pointsOf } from '../../server/dashboard/client/parts/points.ts';

type Values = readonly [clicks: number, impressions: number, ctr: number | null, position: number | null];
const named = ([clicks, impressions, ctr, position]: Values) => ({ clicks, impressions, ctr, position });
/** A row as the API has it beside another range. */
const compared = (now: Values, base: Values, unsafe: Readonly<Record<string, string[]>> = {}) => ({
  ...named(now),
  comparison: named(base),
  change: Object.fromEntries(
    METRICS.map((metric, at) => {
      const [a = null, b = null] = [now[at], base[at]];
      const difference = a === null || b === null ? null : a - b;
      return [metric, { difference, ratio: difference === null || !b ? null : difference / b }];
    }),
  ) as never,
  unsafe: unsafe as never,
});

t.test('a change: more is better, a smaller position is better, and the same is neither', async (t) => {
  const [HIGH, LOW] = [
    [30, 1000, 0.03, 8.04],
    [20, 800, 0.025, 5.46],
  ] as const;
  const all = (now: Values, base: Values, unsafe = {}) =>
    METRICS.map((metric) => {
      const { text, exact, direction, isGood } = describeChange(metric, compared(now, base, unsafe))!;
      return `${text} ${direction} ${isGood === null ? '' : isGood ? 'good' : 'bad'}, ${exact}`;
    });
  t.strictSame(all(HIGH, LOW), [
    '50.0% up good, 20 before',
    '25.0% up good, 800 before',
    '0.5 pt up good, 2.5% before',
    '2.5 up bad, 5.5 before',
  ]);
  t.strictSame(all(LOW, HIGH), [
    '33.3% down bad, 30 before',
    '20.0% down bad, 1,000 before',
    '0.5 pt down bad, 3% before',
    '2.5 down good, 8.0 before',
  ]);
  t.strictSame(all(LOW, LOW), [
    '0.0% same , 20 before',
    '0.0% same , 800 before',
    '0.0 pt same , 2.5% before',
    '0.0 same , 5.5 before',
  ]);
  t.strictSame(all(HIGH, [0, 0, null, null]), [
    '30 up good, 0 before',
    '1,000 up good, 0 before',
    '– same , Nothing to compare with',
    '– same , Nothing to compare with',
  ]);
  t.strictSame(
    all(HIGH, [0, 0, null, null], { impressions: ['missing_days'] }),
    METRICS.map(() => '– same , No data to compare with'),
    'zeros of days that are not stored are no zeros',
  );
  t.equal(describeChange('clicks', named(HIGH)), undefined, 'without a comparison');
  // The shown numbers differ by what is shown: 5.0 and 5.1, not 0.04.
  t.match(all([126, 10_000, 0.0126, 5.05], [124, 10_000, 0.0124, 5.01]).slice(2), [/^0.1 pt up good/, /^0.1 up bad/]);
  t.match(all([124, 10_000, 0.0124, 5.04], [116, 10_000, 0.0116, 5.01]).slice(2), [/^0.0 pt same/, /^0.0 same/]);
  // From ten times as many on, a percentage is no help.
  t.match(all([109, 110, null, null], [10, 10, null, null]).slice(0, 2), [/^990.0% up/, /^11.0× up/]);
});

t.test('a percentage that would mislead is a difference, with each reason once', async (t) => {
  const row = compared([7, 100, 0.07, 1], [2, 90, 0.02, 1]);
  const { difference } = row.change['clicks'] as unknown as { difference: number };
  const change = { ...(row.change as object), clicks: { difference, ratio: null } } as never;
  t.match(describeChange('clicks', { ...row, change }), { text: '5', direction: 'up', isGood: true });
  const everywhere = Object.fromEntries(METRICS.map((metric) => [metric, ['missing_days']]));
  t.strictSame(describeUnsafe({ unsafe: everywhere as never }, { missing_days: '2 days are missing' }), [
    '2 days are missing',
  ]);
  const some = { clicks: ['low_base'], ctr: ['cut_off', 'low_base'], position: [], impressions: [] };
  t.strictSame(describeUnsafe({ unsafe: some as never }, {}), [
    'the compared days have fewer than 10 clicks or impressions (clicks, CTR)',
    'the search engine left out rows on some days (CTR)',
  ]);
  t.strictSame(comparedOf({ comparison: null, change: null, unsafe: null } as never), {});
});

t.test('numbers of each metric, shortened, exact, on an axis and as a limit', async (t) => {
  const table = [
    ['clicks', null, '–', 'No impressions'],
    ['clicks', 0, '0', '0', '0', '0'],
    ['clicks', 3.45, '3', '3.45', '3.45', '3.45'],
    ['clicks', 9999, '9,999', '9,999', '9,999', '9,999'],
    ['clicks', 10_000, '10,000', '10,000', '10K', '10,000'],
    ['clicks', 99_999, '99,999', '99,999', '100K', '99,999'],
    ['impressions', 100_000, '100K', '100,000', '100K', '100,000'],
    ['impressions', 1_234_567, '1.2M', '1,234,567', '1.2M', '1,234,567'],
    ['ctr', null, '–', 'No impressions'],
    ['ctr', 0, '0.0%', '0%', '0%', '0%'],
    ['ctr', 0.0285, '2.9%', '2.85%', '2.85%', '2.85%'],
    ['ctr', 0.02345, '2.3%', '2.35%', '2.35%', '2.35%'],
    ['ctr', 1, '100.0%', '100%', '100%', '100%'],
    ['position', null, '–', 'No impressions'],
    ['position', 1, '1.0', '1.0', '1', '1'],
    ['position', 3.45, '3.5', '3.5', '3.45', '3.45'],
    ['position', 9.949, '9.9', '9.9', '9.949', '9.95'],
  ] as const;
  for (const [metric, value, ...texts] of table) {
    const known = value === null ? [] : [axisMetric(metric, value), formatBound(metric, value)];
    t.strictSame([formatMetric(metric, value), exactMetric(metric, value), ...known], texts, `${metric} ${value}`);
  }
  t.equal(formatMetric('position', undefined), '–');
  t.strictSame([0, 0.0099, 0.01, 0.125, 1].map(formatShare), ['0%', '< 1%', '1%', '13%', '100%']);
  t.strictSame([0, 0.0004, 0.001, 0.125].map(formatPoints), ['0.0 pt', '0.04 pt', '0.1 pt', '12.5 pt']);
  t.strictSame([0.0034, 0.025, 0.02345].map(formatFinePercent), ['0.34%', '2.5%', '2.35%']);
  t.equal(formatTimes(12), '12.0×');
  t.strictSame([ratioOf(2.3), percentageOf(0.023), ratioOf(7), percentageOf(0.07)], [0.023, 2.3, 0.07, 7]);
  t.strictSame(
    [0, 1, 2, 1234].map((count) => plural(count, 'query', 'queries')),
    [...['0 queries', '1 query', '2 queries', '1,234 queries']],
  );
  t.equal(plural(2, 'day'), '2 days');
  t.strictSame(['CTR', 'Position'].map(nameInSentence), ['CTR', 'position']);
  t.equal(appearanceName('PRODUCT_SNIPPETS'), 'Product snippets');
});

t.test('periods up to a day: days, months by the calendar, and at most 486 days', async (t) => {
  for (const [period, to, from] of [
    ['1d', '2026-03-10', '2026-03-10'],
    ['7d', '2026-03-10', '2026-03-04'],
    ['28d', '2026-03-01', '2026-02-02'],
    ['486d', '2026-03-10', '2024-11-10'],
    ['1m', '2026-03-10', '2026-02-11'],
    ['1m', '2026-03-31', '2026-03-01'],
    ['1m', '2026-01-31', '2026-01-01'],
    ['3m', '2026-05-31', '2026-03-01'],
    ['12m', '2024-02-29', '2023-03-01'],
    ['16m', '2026-03-10', '2024-11-11'],
    ['17m', '2026-03-10', '2024-11-10'],
  ] as const) {
    t.strictSame(periodRange(period, to), { from, to }, `${period} to ${to}`);
  }
  const days = ['2026-01-01', '2026-03-31', '2026-12-31', '2024-02-29', '2026-04-01'];
  const ranges = Object.fromEntries(
    Object.entries(CALENDAR_PERIODS).map(([period, { name, range }]) => [
      `${period}: ${name}`,
      days.map((day) => range(day)).map(({ from, to }) => `${from}..${to}`),
    ]),
  );
  const upTo = (...starts: string[]) => starts.map((start, at) => `${start}..${days[at]}`);
  t.strictSame(ranges, {
    'month-to-date: Month to date': upTo('2026-01-01', '2026-03-01', '2026-12-01', '2024-02-01', '2026-04-01'),
    'last-month: Last month': [
      ...['2025-12-01..2025-12-31', '2026-02-01..2026-02-28', '2026-11-01..2026-11-30'],
      ...['2024-01-01..2024-01-31', '2026-03-01..2026-03-31'],
    ],
    'quarter-to-date: Quarter to date': upTo('2026-01-01', '2026-01-01', '2026-10-01', '2024-01-01', '2026-04-01'),
    'last-quarter: Last quarter': [
      ...['2025-10-01..2025-12-31', '2025-10-01..2025-12-31', '2026-07-01..2026-09-30'],
      ...['2023-10-01..2023-12-31', '2026-01-01..2026-03-31'],
    ],
    'year-to-date: Year to date': upTo('2026-01-01', '2026-01-01', '2026-01-01', '2024-01-01', '2026-01-01'),
  });
});

t.test('days that are compared: whole weeks before, whole months before, or a year before', async (t) => {
  const table = {
    '2026-03-01..2026-03-07': ['2026-02-22..2026-02-28', '2025-03-02..2025-03-08'],
    '2026-03-02..2026-03-09': ['2026-02-16..2026-02-23', '2025-03-03..2025-03-10'],
    '2026-03-10..2026-03-10': ['2026-03-03..2026-03-03', '2025-03-11..2025-03-11'],
    '2026-03-01..2026-03-31': ['2026-02-01..2026-02-28', '2025-03-01..2025-03-31'],
    '2024-02-01..2024-02-29': ['2024-01-01..2024-01-31', '2023-02-01..2023-02-28'],
    '2026-01-01..2026-03-31': ['2025-10-01..2025-12-31', '2025-01-01..2025-03-31'],
  };
  for (const [days, expected] of Object.entries(table)) {
    const [from = '', to = ''] = days.split('..');
    const found = ['previous', 'year'].map((compare) => comparedRange({ from, to }, compare));
    t.strictSame(
      found.map((range) => `${range.from}..${range.to}`),
      expected,
      days,
    );
  }
  t.strictSame(
    [addDays('2026-02-28', 1), addDays('2024-02-28', 1), addDays('2026-01-01', -1)],
    [...['2026-03-01', '2024-02-29', '2025-12-31']],
  );
  t.equal(countDays({ from: '2026-02-27', to: '2026-03-01' }), 3);
  t.strictSame(eachDay({ from: '2026-02-27', to: '2026-03-01' }), ['2026-02-27', '2026-02-28', '2026-03-01']);
  t.strictSame(eachDay({ from: '2026-03-02', to: '2026-03-01' }), []);
});

t.test('days and instants as people read them', async (t) => {
  const days = ['2024-02-29', '2026-02-29', '2026-02-30', '2026-13-01', '2026-2-3', '2026-03-10T00', ''];
  t.strictSame(days.filter(isDay), ['2024-02-29']);
  t.strictSame(
    [formatShortDay, formatDay, formatDate, formatMonth, formatMonthOfYear].map((format) => format('2026-03-03')),
    ['Mar 3', 'Tue, Mar 3, 2026', 'Mar 3, 2026', 'Mar', 'Mar 2026'],
  );
  t.equal(formatRange({ from: '2025-12-30', to: '2026-01-02' }), 'Dec 30, 2025\u2009–\u2009Jan 2, 2026');
  t.equal(formatSpan({ from: '2026-03-01', to: '2026-03-04' }), 'Mar 1\u2009–\u20094, 2026');
  t.equal(formatSpan({ from: '2026-03-01', to: null }), 'since Mar 1, 2026');
  t.equal(formatDateOf('2026-03-15T23:59:59Z'), 'Mar 15, 2026');
  t.equal(
    withDates('From 2026-03-01 to 2026-03-04: see /x?a=2026-03-01. On 2026-02-30, no.'),
    'From Mar 1, 2026 to Mar 4, 2026: see /x?a=2026-03-01. On 2026-02-30, no.',
  );
  const now = Date.parse('2026-03-15T12:00:00Z');
  const ago = (seconds: number) => formatAgo(new Date(now - seconds * 1000).toISOString(), now);
  t.strictSame([89, 120, 5399, 5400, 129_599, 129_600, 288_000, -7200].map(ago), [
    ...['this minute', '2 minutes ago', '90 minutes ago', '1 hour ago', '36 hours ago'],
    ...['yesterday', '3 days ago', 'in 2 hours'],
  ]);
});

t.test('a chart has a point for each day, week or month, and gaps where nothing is stored', async (t) => {
  const range = { from: '2026-02-27', to: '2026-03-10', provisionalAfter: '2026-03-08' };
  const daily = ['2026-02-27', '2026-03-01', '2026-03-02', '2026-03-09'].map((date, at) => ({
    ...{ date, clicks: at + 1, impressions: 3, ctr: 0.3333, position: 9, comparison: null, change: null, unsafe: {} },
  }));
  const drawn = (interval: 'day' | 'week' | 'month', metric: 'clicks' | 'ctr' = 'clicks', missing: string[] = []) =>
    pointsOf({ range, daily } as never, { metric, interval, missing: new Set(missing) }).map(
      ({ date, to, value, mark = '' }) => `${date.slice(5)}..${to!.slice(5)} ${value} ${mark}`.trim(),
    );
  t.strictSame(drawn('week'), [...['02-27..03-01 1 partial', '03-02..03-08 3', '03-09..03-10 4 partial']]);
  t.strictSame(drawn('month'), ['02-27..02-28 1 partial', '03-01..03-10 2 partial']);
  t.strictSame(drawn('week', 'clicks', ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-09']), [
    ...['02-27..03-01 null partial', '03-02..03-08 3', '03-09..03-10 4 partial'],
  ]);
  const days = drawn('day', 'clicks', ['2026-03-02']);
  t.equal(days.length, 12);
  t.strictSame(
    [days[0], days[1], days[3], days[9], days[10], days[11]],
    [
      ...['02-27..02-27 1', '02-28..02-28 null', '03-02..03-02 null'],
      ...['03-08..03-08 null', '03-09..03-09 4 provisional', '03-10..03-10 null provisional'],
    ],
  );
  t.equal(drawn('day', 'ctr')[2], '03-01..03-01 0.6666666666666666', 'made of the counts');
  const whole = { from: '2026-02-01', to: '2026-02-28', provisionalAfter: '2026-02-27' };
  const [month] = pointsOf({ range: whole, daily: [] } as never, {
    ...{ metric: 'clicks', interval: 'month', missing: new Set() },
  });
  t.strictSame(month, { date: '2026-02-01', to: '2026-02-28', value: null, mark: 'provisional' });
  t.strictSame(pointsOf(undefined, { metric: 'clicks', interval: 'day', missing: new Set() }), []);
});

t.test('markers: what happened in the range and concerns what is drawn', async (t) => {
  const range = { from: '2026-03-01', to: '2026-03-10' };
  const event = (kind: string, from: string, to: string, device: string | null = null) => ({
    ...{ kind, from, to, device, title: `${kind} ${from.slice(8)}.`, affects: ['impressions'], source: 's' },
  });
  const update = { title: 'Core', from: '2026-03-04', source: 'https://search.example' };
  const subjects = {
    notes: [
      { id: 'n1', date: '2026-03-02', endDate: null, text: 'One' },
      { id: 'n2', date: '2026-02-20', endDate: '2026-03-03', text: 'Two' },
    ],
    alerts: ['2026-02-28', '2026-03-01', '2026-03-10', '2026-03-11', null].map((date, at) => ({
      ...{ id: `a${at}`, date, title: `Alert ${at}` },
    })),
    rankingUpdates: [
      { ...update, to: '2026-03-06' },
      { ...update, to: null },
    ],
    events: [
      event('change', '2026-02-20', '2026-03-01'),
      event('change', '2026-03-10', '2026-03-20'),
      event('change', '2026-02-01', '2026-02-28'),
      event('loss', '2026-02-20', '2026-03-05'),
      event('loss', '2026-03-05', '2026-04-05', 'mobile'),
    ],
  };
  const shown = (device: string, metric = 'impressions', project: string | undefined = 'Proj1') =>
    markersOf(subjects as never, { range, device, project, metric: metric as never }).map(
      ({ kind, from, to, text, href = '' }) => `${kind} ${from.slice(5)}..${to.slice(5)} ${text} ${href}`.trim(),
    );
  const always = (root: string | undefined) => [
    'ranking 03-04..03-06 Core https://search.example',
    'ranking 03-04..03-10 Core, still rolling out https://search.example',
    `alert 03-01..03-01 Alert 1${root ? ` ${root}/alerts?alert=a1` : ''}`,
    `alert 03-10..03-10 Alert 2${root ? ` ${root}/alerts?alert=a2` : ''}`,
    `note 03-02..03-02 One${root ? ` ${root}/notes` : ''}`,
    `note 02-20..03-03 Two${root ? ` ${root}/notes` : ''}`,
  ];
  const ROOT = '/app/p/Proj1';
  const ofAll = [
    'event 02-20..03-01 change 20.',
    'event 03-10..03-20 change 10.',
    'event 03-05..03-05 Last day of: loss 20.',
  ];
  const ofMobile = 'event 03-05..03-05 loss 05. Until Apr 5, 2026.';
  t.strictSame(shown('mobile'), [...ofAll, ofMobile, ...always(ROOT)]);
  t.strictSame(shown('all'), [...ofAll, ofMobile, ...always(ROOT)]);
  t.strictSame(shown('desktop'), [...ofAll, ...always(ROOT)]);
  t.strictSame(shown('all', 'clicks'), always(ROOT), 'a metric that no event affects');
  const shared = markersOf(subjects as never, { range, metric: 'clicks', device: 'all', project: undefined });
  t.strictSame(
    shared.filter(({ href, note }) => note ?? href?.startsWith('/')),
    [],
    'shared pages link to no screen',
  );
  t.strictSame(markersOf(subjects as never, { range: undefined, metric: 'clicks', device: 'all', project: 'P' }), []);
});

t.test('filters: each part as the API reads it, semicolons and colons inside of texts, JSON untouched', async (t) => {
  const text = 'query:contains:a\\;b:c;ctr:lt:0.025;url:not_equals:https://shop.example/;domain:matches:^x';
  const conditions = [
    { field: 'query', op: 'contains', value: 'a;b:c' },
    { field: 'ctr', op: 'lt', value: '0.025' },
    { field: 'url', op: 'not_equals', value: 'https://shop.example/' },
    { field: 'domain', op: 'matches', value: '^x' },
  ];
  t.strictSame(parseFilter(text), conditions);
  t.equal(writeFilter(conditions), text);
  const several = [{ field: 'query', op: 'equals', value: ';a;;b;' }];
  t.equal(writeFilter(several), 'query:equals:\\;a\\;\\;b\\;');
  t.strictSame(parseFilter(writeFilter(several)), several);
  t.strictSame(conditions.map(describeCondition), [
    ...['query contains a;b:c', 'CTR < 2.5%', 'page is not https://shop.example/', 'domain matches regex ^x'],
  ]);
  t.strictSame(
    ['not_contains', 'equals', 'starts_with', 'ends_with', 'lte', 'gte', 'gt', 'eq', 'neq', 'odd'].map((op) =>
      describeCondition({ field: 'clicks', op, value: '5' }),
    ),
    [
      ...['clicks does not contain 5', 'clicks is 5', 'clicks begins with 5', 'clicks ends with 5', 'clicks ≤ 5'],
      ...['clicks ≥ 5', 'clicks > 5', 'clicks = 5', 'clicks ≠ 5', 'clicks odd 5'],
    ],
  );
  t.equal(filterOfRows(text, 'query'), 'query:contains:a\\;b:c;ctr:lt:0.025');
  t.equal(filterOfRows(text, 'url'), 'ctr:lt:0.025;url:not_equals:https://shop.example/');
  const JSON_FILTER = ' {"match":"all"}';
  t.strictSame([parseFilter(JSON_FILTER), parseFilter(' '), parseFilter('nonsense')], [[], [], []]);
  t.equal(filterOfRows(JSON_FILTER, 'url'), JSON_FILTER);
  t.equal(joinFilters('', 'a:eq:1', '', 'b:eq:2'), 'a:eq:1;b:eq:2');
  t.equal(joinFilters('a:eq:1', JSON_FILTER), JSON_FILTER);
  t.strictSame(
    [...BANDS.map(([name]) => name), 'none', '', 'x'].map((name) => bandFilter(name)),
    [
      ...['position:lte:3', 'position:gt:3;position:lte:10', 'position:gt:10;position:lte:20'],
      ...['position:gt:20;position:lte:50', 'position:gt:50', 'impressions:eq:0', '', ''],
    ],
  );
  t.strictSame(
    BANDS.map(([name, label]) => `${name} ${label}`),
    [...['1-3 1–3', '4-10 4–10', '11-20 11–20', '21-50 21–50', '51- 51+']],
  );
});

t.test('lines of a chart in the address: those that are none are left out', async (t) => {
  const text = 'brand\nnon_brand\nquery:walking boots: red\npage:https://shop.example/a\ngroup:Grp01';
  t.strictSame(parseLines(text), [
    { of: 'brand' },
    { of: 'non_brand' },
    { of: 'query', text: 'walking boots: red' },
    { of: 'page', text: 'https://shop.example/a' },
    { of: 'group', text: 'Grp01' },
  ]);
  t.equal(parseLines(text).map(formatLine).join('\n'), text);
  t.strictSame(parseLines('query\npage:\nGroup:x\nkeyword:x\n\n'), []);
});

t.test('explanations and findings in words, worth most first', async (t) => {
  t.strictSame([1234, -3, 0].map(signed), ['+1,234', '−3', '0']);
  t.strictSame(
    (['page', 'query', 'brand', 'keyword', 'device', 'country'] as const).map((by) => notAttributedText(by, -5)),
    [
      'the search engine counts clicks of pages in another way than those of the property',
      'queries that the search engine counts but does not name',
      'queries that the search engine counts but does not name',
      'queries that are not tracked',
      'days of which the devices are not known',
      'days of which the countries are not known',
    ].map((why) => `−5 clicks are not in any row: ${why}.`),
  );
  t.strictSame(
    ['missing_days', 'cut_off', 'weekday_mix', 'low_base', 'provider_event'].map((why) => unsafeText('parts', why)),
    [
      'days of one of the periods are not stored',
      'a list is as long as it may be, so that rows may be missing',
      'the periods have other weekdays',
      'fewer than 20 clicks before',
      'the search engine counted some of the days differently',
    ].map((why) => `The parts may mislead: ${why}.`),
  );
  t.equal(unsafeText('rows', 'x'), 'The rows may mislead: x.');
  const finding = (query: string, clicks: number | null, type = 'rising') =>
    ({ type, query, page: null, gain: clicks === null ? null : { clicks, low: 1, high: 9 } }) as never;
  const list = [finding('none', null), finding('b', 7), finding('less', -2), finding('a', 7), finding('most', 30)];
  t.strictSame(
    byGain(list).map(({ query }) => query),
    ['most', 'b', 'a', 'none', 'less'],
  );
  t.equal(gainText({ clicks: 120, low: -80, high: 1600 } as never), '+120 clicks (−80 to +1,600)');
  const range = { from: '2026-03-01', to: '2026-03-28' };
  t.strictSame(
    ['rising', 'new', 'lost', 'decaying_page'].map((type) => daysOf(finding('x', 1, type), range).from),
    ['2026-03-01', '2026-01-04', '2026-01-04', '2025-09-28'],
  );
  t.equal(daysOf(finding('x', 1, 'decaying_page'), { from: '2025-01-01', to: '2026-03-28' }).from, '2025-01-01');
  const tested = { tested: 130, below05: 0, listed: 2 };
  t.equal(testedText(tested as never), '130 looked at, 2 listed.');
  t.equal(
    testedText({ ...tested, below05: 9 } as never),
    '130 looked at, 2 listed. p under 0.05: 9; chance alone gives about 7.',
  );
  t.match(testedText({ ...tested, reason: 'too_little_data' } as never), /^Not tested: no row has enough/);
});

t.test(
  'what fits to the data without a change: in the judged days, and fewer where the effect may be more',
  async (t) => {
    t.intercept(globalThis, 'location', { value: { pathname: '/app' } });
    const { expectedRange } = await import('../../server/dashboard/client/lib/effect.ts');
    const daily = ['2026-03-01', '2026-03-02', '2026-03-03'].map((date, at) => ({
      date,
      actual: 9,
      expected: 10 * at,
    }));
    const answer = { daily, windows: { before: { from: '2026-03-01' }, after: { from: '2026-03-02' } } };
    const range = (effect: object | null) => expectedRange({ ...answer, effect } as never);
    t.strictSame(range({ ratio: 0.5, low: 0.25, high: 1 }), { low: [null, 7.5, 15], high: [null, 12, 24] });
    t.strictSame(range({ ratio: 0.5, low: null, high: null }), { low: [null, null, null], high: [null, null, null] });
  },
);
