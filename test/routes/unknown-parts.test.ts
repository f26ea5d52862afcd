// Days of which only the whole is known have no devices, countries and brand split, in no answer.
import t from 'tap';
import { facts, makeWorld } from '../world.ts';

const question = (from: string, dimension: string): string =>
  `/query?q=${encodeURIComponent(JSON.stringify({ range: { from, to: '2026-03-03' }, dimensions: [dimension] }))}`;

t.test('days without devices count for all devices, and no device or country is told of them', async (t) => {
  const { ask, load } = await makeWorld(t, {
    site_daily: facts(
      'date device',
      ['2026-03-01', 'unknown', 5, 50, 100],
      ['2026-03-02', 'mobile', 2, 10, 10],
      ['2026-03-05', 'unknown', 1, 10, 10],
    ),
  });
  const both = '/site?from=2026-03-01&to=2026-03-02';
  const second = '/site?from=2026-03-02&to=2026-03-02';
  const clicks = async (path: string): Promise<unknown> => {
    const { status, body } = await ask(path);
    return status === 200
      ? [body.totals.clicks, ...body.daily.map((day: { clicks: number }) => day.clicks)]
      : body.error.message;
  };
  const unknown = (name: string, value: string, what: string): string =>
    `${name}, not '${value}': the ${what} of 1 day of the range are not known (2026-03-01).`;
  t.strictSame(await clicks(both), [7, 5, 2]);
  t.match(await clicks(`${both}&device=mobile`), unknown('device must be all', 'mobile', 'devices').slice(0, 60));
  t.strictSame(await clicks(`${second}&device=mobile`), [2, 2]);
  t.strictSame(await clicks(`${second}&device=tablet`), [0, 0]);
  t.match(await clicks(`${both}&country=usa`), unknown('country must be left out', 'usa', 'countries').slice(0, 66));
  t.strictSame(await clicks(`${second}&country=usa`), [0, 0], 'a day that is known to have none');
  t.strictSame((await ask('/breakdowns?from=2026-03-01&to=2026-03-02')).body.devices, [
    { device: 'mobile', clicks: 2, impressions: 10, ctr: 0.2, position: 2 },
  ]);
  await load({ country_daily: facts('date country', ['2026-03-01', 'deu', 5, 50, 100]) });
  t.strictSame(await clicks(`${both}&country=usa`), [0, 0, 0]);
  for (const country of ['usa', 'deu'])
    t.match(
      await clicks(`/site?from=2026-03-01&to=2026-03-05&country=${country}`),
      /the countries of 1 day of .*2026-03-05/,
    );
  await load({ site_daily: facts('date device', ['2026-03-01', 'desktop', 5, 50, 100]) });
  t.strictSame(await clicks(`${both}&device=desktop`), [5, 5, 0]);
});

t.test('days without a brand split have none', async (t) => {
  const days = ['2026-03-01', '2026-03-02', '2026-03-03'];
  const { ask, get } = await makeWorld(t, {
    site_daily: facts('date device', ...days.map((day) => [day, 'mobile', 30, 300, 0])),
    brand_daily: facts(
      'date segment',
      ['2026-03-01', 'unknown', 20, 200, 0],
      ...days.slice(1).flatMap((day) => [
        [day, 'brand', 12, 120, 0],
        [day, 'non_brand', 15, 150, 0],
      ]),
    ),
  });
  const compared = async (day: string, other: string) => {
    const { body } = await ask(`/breakdowns?from=${day}&to=${day}&compare=${other}..${other}`);
    type Part = { comparison: { clicks: number }; unsafe: { clicks?: string[] } };
    const { brand, nonBrand, anonymous } = body.brand as Record<string, Part>;
    return [brand!.comparison.clicks, brand!.unsafe.clicks, nonBrand!.unsafe.clicks, anonymous!.unsafe.clicks];
  };
  const lacks = ['low_base', 'missing_days'];
  t.strictSame(await compared('2026-03-03', '2026-03-02'), [12, undefined, undefined, ['low_base']]);
  t.strictSame(await compared('2026-03-02', '2026-03-01'), [0, lacks, lacks, lacks]);
  for (const [from, brand, coverage] of [
    ['2026-03-01', undefined, { clicks: null, impressions: null }],
    ['2026-03-02', { clicks: 24, impressions: 240, ctr: 0.1, position: 1 }, { clicks: 0.9, impressions: 0.9 }],
  ] as const) {
    const range = `from=${from}&to=2026-03-03`;
    t.strictSame((await ask(`/breakdowns?${range}`)).body.brand?.brand, brand);
    t.strictSame((await ask(`/site?${range}&quality=1`)).body.quality.queryCoverage, coverage);
    const { projects } = (await get(`/portfolio?${range}&quality=1`)).body;
    t.strictSame(projects[0].quality.queryCoverage, coverage, 'in the portfolio');
  }
  t.match(await ask(question('2026-03-01', 'brand')), {
    status: 400,
    body: { error: { message: /^range: the brand of 2026-03-01 is not known/ } },
  });
  t.match((await ask(question('2026-03-02', 'brand'))).body.rows, [
    { brand: 'non_brand', clicks: 30 },
    { brand: 'brand', clicks: 24 },
  ]);
});
