// Rows of Bing are read as they are meant, and a property is its own site. Its connection: test/fixtures/lists.txt.
import t from 'tap';
import { readDate, readWeeks } from '../../server/providers/bing/rows.ts';
import { siteOf } from '../../server/providers/bing/sites.ts';
import { ProviderFailure } from '../../server/providers/failures.ts';

t.test('dates are days at their offset, weeks end on one weekday, and unknown positions stay unknown', (t) => {
  for (const [date, day] of [
    ['/Date(1781247600000-0700)/', '2026-06-12'],
    ['/Date(1781222400000)/', '2026-06-12'],
    ['/Date(1781211600000+0300)/', '2026-06-12'],
    // The first day of the calendar is none.
    ['/Date(-62135568000000)/', null],
    ['/Date(-62135596800000+0000)/', null],
  ] as const)
    t.equal(readDate(date), day, date);
  for (const wrong of ['2026-06-12', '/Date()/', 7, null]) t.throws(() => readDate(wrong), ProviderFailure);
  const row = (ms: number, AvgImpressionPosition: number, Clicks = 1) => ({
    ...{ Date: `/Date(${ms})/`, Query: 'shoes', Clicks, Impressions: 10, AvgImpressionPosition },
  });
  const friday = Date.parse('2026-06-12');
  const sums = [2.5, 1, 0.9, 0, -1].flatMap((position) => readWeeks([row(friday, position)], 'query'));
  const week = { day: '2026-06-11', key: { query: 'shoes' }, clicks: 1, impressions: 10 };
  t.strictSame(
    sums,
    [15, 0, null, null, null].map((sumPosition) => ({ ...week, sumPosition })),
  );
  t.throws(() => readWeeks([row(friday, 2), row(friday + 86_400_000, 2)], 'query'), /weekdays/);
  t.throws(() => readWeeks([row(friday, 2, -1)], 'query'), /numbers/);
  t.end();
});

t.test('a property is its own site, or the only one of its domain', (t) => {
  const sites = ['http://a.example/', 'https://a.example/', 'https://www.b.example/', 'https://b.example/'];
  const deep = 'https://a.example/de/';
  t.equal(siteOf(deep, [...sites, deep]), deep);
  for (const [property, site] of [
    ['http://a.example/', 'http://a.example/'],
    ['sc-domain:a.example', 'https://a.example/'],
    ['https://www.a.example/', 'https://a.example/'],
  ] as const)
    t.equal(siteOf(property, sites), site);
  for (const [property, message] of [
    ['sc-domain:b.example', /several verified sites of b\.example/],
    ['sc-domain:c.example', /no verified site of c\.example/],
    [deep, /no verified site https:\/\/a\.example\/de\/.*larger site/],
  ] as const)
    t.throws(() => siteOf(property, sites), message);
  t.end();
});
