// The quality block of an answer counts stored, missing, provisional and cut-off days of its range correctly.
import t from 'tap';
import { putSyncDays } from '../../server/catalog/sync-days.ts';
import { eachDay } from '../../server/domain/dates.ts';
import { PROVIDER_EVENTS } from '../../server/domain/provider-events.ts';
import { syncDay } from '../sync-day.ts';
import { facts, keyword, makeWorld, type Row, refusedFor } from '../world.ts';

const DAYS = eachDay('2026-01-20', '2026-03-10');
const HOLES = ['2026-02-03', '2026-02-20'];
const STORED = DAYS.filter((day) => !HOLES.includes(day));
const site_daily = facts(
  'date device',
  ...STORED.flatMap((day, index) => [
    [day, 'mobile', 10 + (index % 7), 200 + index, 900],
    [day, 'desktop', 3, 50, 100],
  ]),
);
const brand_daily = facts(
  'date segment',
  ...STORED.flatMap((day, index) => [
    [day, 'brand', 2 + (index % 3), 40, 10],
    [day, 'non_brand', 5, 120 + index, 700],
  ]),
);
const world = await makeWorld(t, {
  keywords: [keyword('Kw001', 'acme boots')],
  site_daily,
  brand_daily,
  keyword_daily: facts('keyword_id date device', ...STORED.map((day) => ['Kw001', day, 'mobile', 1, 20, 30])),
  page_daily: facts('date url country', ...STORED.map((day) => [day, 'https://shop.example/', 'gbr', 1, 20, 30])),
  query_daily: facts('date query country', ...STORED.map((day) => [day, 'acme boots', 'gbr', 1, 20, 30])),
});

const PATHS = ['site', 'keywords', 'breakdowns', 'pages', 'queries'];
const RANGE = { from: '2026-02-01', to: '2026-03-10' };

function total(rows: readonly Row[], name: string): number {
  return rows
    .filter(({ date }) => String(date) >= RANGE.from && String(date) <= RANGE.to)
    .reduce((sum, row) => sum + Number(row[name]), 0);
}

t.test('what is stored of a range, on every endpoint that has one', async (t) => {
  const share = (name: string) => Math.round((total(brand_daily, name) / total(site_daily, name)) * 10_000) / 10_000;
  const anonymous = 1 - total(brand_daily, 'clicks') / total(site_daily, 'clicks');
  for (const path of PATHS) {
    const query = `from=${RANGE.from}&to=${RANGE.to}`;
    const { status, body } = await world.ask(`/${path}?${query}&quality=1`);
    t.equal(status, 200, path);
    const { quality, ...rest } = body;
    t.strictSame(
      quality,
      {
        finalThrough: '2026-03-07',
        daysExpected: 38,
        daysStored: 36,
        daysProvisional: 3,
        daysCutOff: 0,
        missing: HOLES.map((day) => ({ from: day, to: day })),
        anonymousClicksShare: Math.round(anonymous * 10_000) / 10_000,
        queryCoverage: { clicks: share('clicks'), impressions: share('impressions') },
        reconciledAt: null,
        events: [PROVIDER_EVENTS[0]],
        rankingUpdates: [],
        rankingUpdatesThrough: '2026-03-10',
      },
      path,
    );
    t.strictSame(rest, (await world.ask(`/${path}?${query}`)).body, 'and nothing else changes');
    t.notOk('quality' in (await world.ask(`/${path}?${query}&quality=0`)).body);
    refusedFor(t, await world.ask(`/${path}?quality=yes`), 'quality');
  }
});

t.test('events are those of the device', async (t) => {
  for (const [device, expected] of [
    ['all', ['2025-05-13', '2025-09-10']],
    ['desktop', ['2025-05-13', '2025-09-10']],
    ['mobile', ['2025-05-13']],
  ] as const) {
    const { body } = await world.ask(`/site?from=2025-09-14&to=2025-09-15&device=${device}&quality=1`);
    t.strictSame(
      (body.quality.events as Row[]).map(({ from }) => from),
      expected,
      device,
    );
  }
});

t.test('what the sync knows of days: empty ones are stored, failed ones are not, others were cut off', async (t) => {
  const other = await makeWorld(t, { site_daily, brand_daily, keywords: [keyword('Kw001', 'acme boots')] });
  await putSyncDays(other.catalog, 'Proj1', [
    syncDay('site_daily', '2026-02-03', { state: 'empty', rows: 0 }),
    syncDay('site_daily', '2026-02-10', { state: 'failed' }),
    syncDay('keyword_daily', '2026-02-11', { cutOff: true }),
    syncDay('keyword_daily', '2026-02-12', { state: 'empty', rows: 0 }),
  ]);
  const quality = async (path: string) =>
    (await other.ask(`/${path}&quality=1`)).body.quality as Record<string, unknown>;
  const february = 'from=2026-02-01&to=2026-02-19';
  t.match(await quality(`site?${february}`), {
    ...{ daysExpected: 19, daysStored: 18, daysCutOff: 0, missing: [{ from: '2026-02-10', to: '2026-02-10' }] },
  });
  const reasons = async (path: string) =>
    (await other.ask(`/${path}`)).body.totals.unsafe as Record<string, readonly string[]>;
  t.strictSame(await reasons('site?from=2026-02-03&to=2026-02-05&compare=2026-01-25..2026-01-27'), {}, 'an empty day');
  t.match(await reasons('site?from=2026-02-09&to=2026-02-11&compare=2026-01-25..2026-01-27'), {
    clicks: ['missing_days'],
  });

  await other.load({
    keyword_daily: facts('keyword_id date device', ...STORED.map((at) => ['Kw001', at, 'mobile', 20, 200, 30])),
  });
  t.match(await quality(`keywords?${february}`), { daysStored: 18, daysCutOff: 1 });
  const { keywords } = (await other.ask('/keywords?from=2026-02-11&to=2026-02-13&compare=2026-01-25..2026-01-27')).body;
  t.match(keywords, [{ unsafe: { clicks: ['cut_off'] } }]);
});

t.test('the header of flat formats leaves out many missing ranges, which proxies would refuse', async (t) => {
  const rows = (days: readonly string[]) => facts('date device', ...days.map((day) => [day, 'mobile', 1, 2, 3]));
  const every = eachDay('2025-11-01', '2026-03-10');
  const holes = (most: number) => rows(every.filter((_, index) => index % 2 === 0 || index > 2 * most));
  for (const [ranges, isShown] of [
    [40, true],
    [41, false],
  ] as const) {
    const other = await makeWorld(t, { site_daily: holes(ranges) });
    const url = '/site?from=2025-11-01&to=2026-03-10&quality=1';
    const { missing } = (await other.ask(url)).body.quality;
    t.equal(missing.length, ranges);
    const { headers } = await other.app.inject({
      url: `/api/v1/projects/Proj1${url.replace('?', '.csv?')}`,
      headers: { authorization: `Bearer ${other.key}` },
    });
    t.equal('missing' in JSON.parse(String(headers['x-quality'])), isShown, `${ranges} ranges`);
  }
});
