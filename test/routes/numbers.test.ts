// Ratios are rounded exactly, halves away from zero, and the days of a month add up to it however large they are.
import t from 'tap';
import { facts, keyword, makeWorld } from '../world.ts';

t.test('ratios just below, at and above a half', async (t) => {
  // Clicks, impressions, sum of positions, and the CTR and position that are shown.
  const NUMBERS = [
    [0, 0, 0, null, null],
    [0, 9, 0, 0, 1],
    [1, 32, 0, 0.0313, 1],
    [1, 20_000, 0, 0.0001, 1],
    [1, 20_001, 0, 0, 1],
    [0, 20, 1, 0, 1.1],
    [0, 20, 3, 0, 1.2],
    [0, 4, 5, 0, 2.3],
    [0, 10_000, 499, 0, 1],
    [0, 10_000, 500, 0, 1.1],
    // Twenty times the last one is beyond the whole numbers that a double has.
    [1, 386_273_093_813_503, 135_195_582_834_726, 0, 1.3],
  ] as const;
  const { ask } = await makeWorld(t, {
    keywords: NUMBERS.map((_, at) => keyword(`Kw0${10 + at}`, `${10 + at}`)),
    keyword_daily: facts(
      'keyword_id date device',
      ...NUMBERS.map(([clicks, impressions, sum], at) => [
        `Kw0${10 + at}`,
        '2026-03-05',
        'mobile',
        clicks,
        impressions,
        sum,
      ]),
    ),
  });
  t.match(
    (await ask('/keywords')).body.keywords,
    NUMBERS.map(([clicks, impressions, , ctr, position]) => ({ metrics: { clicks, impressions, ctr, position } })),
  );
});

t.test('changes of ratios whose products are beyond the whole numbers of a double', async (t) => {
  const { ask } = await makeWorld(t, {
    keywords: [keyword('Kw001', 'red shoes')],
    keyword_daily: facts(
      'keyword_id date device',
      ['Kw001', '2026-03-04', 'mobile', 123_456_789_012, 1_000_000_380_000, 0],
      ['Kw001', '2026-03-05', 'mobile', 123_806_789_145, 1_000_000_380_000, 0],
    ),
  });
  // Exactly 0.00035, a half in either direction.
  for (const [day, other, ctr] of [
    ['2026-03-05', '2026-03-04', { difference: 0.0004, ratio: 0.0028 }],
    ['2026-03-04', '2026-03-05', { difference: -0.0004, ratio: -0.0028 }],
  ] as const) {
    const { body } = await ask(`/keywords?from=${day}&to=${day}&compare=${other}..${other}`);
    t.strictSame(body.keywords[0].change.ctr, ctr, day);
  }
});

t.test('parts of a month', async (t) => {
  const { ask } = await makeWorld(t, {
    site_daily: facts('date device', ['2026-02-01', 'mobile', 1, 1, 0]),
    country_monthly: facts(
      'month country',
      ['2026-02-01', 'usa', 68, 244, 732],
      // A sum without impressions has no position.
      ['2026-02-01', 'deu', 0, 0, 9],
    ),
    country_daily: facts('date country', ['2026-03-01', 'deu', 0, 1, 0]),
  });
  const usa = { ctr: 0.2787, position: 4 };
  for (const [query, totals] of [
    // 21 of 28 days: three quarters, without a fraction.
    ['usa&from=2026-02-01&to=2026-02-21', { clicks: 51, impressions: 183, ...usa }],
    ['usa&from=2026-02-22&to=2026-02-28', { clicks: 17, impressions: 61, ...usa }],
    ['usa&from=2026-02-02&to=2026-02-02', { clicks: 2, impressions: 9, ctr: 0.2222, position: 4 }],
    ['deu&from=2026-02-01&to=2026-02-28', { clicks: 0, impressions: 0, ctr: null, position: null }],
    ['deu&from=2026-02-01&to=2026-03-01', { clicks: 0, impressions: 1, ctr: 0, position: 1 }],
  ] as const)
    t.strictSame((await ask(`/site?country=${query}`)).body.totals, totals, query);
});
