// Old days of countries are kept as months: the 20 countries with most clicks by name, and all others as one row.
import t from 'tap';
import { type KnownSearch, KnownSearches } from '../../cli/demo/provider/known-searches.ts';
import { type Day, eachDay, monthOf } from '../../server/domain/dates.ts';
import { HOUR, NOW, newWorld, ORIGIN, openApi, PROPERTY, setClock } from './operator-world.ts';

/** 30 countries of a day, with ties of clicks, in which the first by name has the fewest impressions. */
function searchesOf(date: Day): KnownSearch[] {
  return Array.from({ length: 30 }, (_, at): KnownSearch => {
    const country = `c${'abc'[Math.floor(at / 10)]}${'abcdefghij'[at % 10]}`;
    const results = [{ page: ORIGIN, position: 1 + (at % 3), clicks: Math.floor(at / 4) }];
    return { date, query: null, country, device: 'MOBILE', count: 100 + at, results };
  });
}

type Sums = [country: string, clicks: number, impressions: number, position: number];

/** The rows of a month, as texts. */
function monthRows(source: KnownSearches, days: readonly Day[]): string[] {
  const sums = new Map<string, Sums>();
  for (const { country, count, results } of days.flatMap((day) => [...source.searches(day, 'final')])) {
    const { clicks, position } = results[0]!;
    const [, ...before] = sums.get(country) ?? [country, 0, 0, 0];
    sums.set(country, [country, before[0] + clicks, before[1] + count, before[2] + (position - 1) * count]);
  }
  const ranked = [...sums.values()].sort((a, b) => b[1] - a[1] || b[2] - a[2]);
  const other = ranked
    .splice(20)
    .reduce<Sums>(
      (all, [, ...more]) => ['other', all[1] + more[0], all[2] + more[1], all[3] + more[2]],
      ['other', 0, 0, 0],
    );
  return [...ranked, other].map((row) => [`${monthOf(days[0]!)}-01`, ...row].join(' ')).sort();
}

t.test('months, also after one of their days has changed, and the next month when it is old enough', async (t) => {
  const world = await newWorld(t, { from: '2026-01-20', tracked: [], settings: { ORDINATE_COUNTRY_DAYS: '20' } });
  const source = new KnownSearches(
    [...eachDay('2026-01-28', '2026-02-02'), '2026-02-28', '2026-03-01', '2026-03-12'].flatMap(searchesOf),
  );
  world.provider.model.addSite(PROPERTY, source);
  const holds = async (name: string, months: readonly (readonly Day[])[], through: Day, firstDay: Day) => {
    const monthly = (await world.stored('country_monthly')).map(
      ({ month, country, clicks, impressions, sum_position }) =>
        [month, country, clicks, impressions, sum_position].join(' '),
    );
    t.strictSame(monthly.sort(), months.flatMap((days) => monthRows(source, days)).sort(), name);
    t.equal((await world.stored('country_daily')).map(({ date }) => String(date)).sort()[0], firstDay, name);
    const ask = await openApi(t, world, NOW + 480 * HOUR);
    const { body } = await ask(`/projects/${world.project}/breakdowns?from=2026-01-20&to=2026-03-01`);
    t.match(body, { range: { countryMonthlyThrough: through } }, name);
  };
  await world.sync();
  // 20 days before 2026-03-15 is in February: January is the last whole month before it.
  const january = eachDay('2026-01-28', '2026-01-31');
  await holds('January', [january], '2026-01-31', '2026-02-01');

  const [first, ...others] = searchesOf('2026-01-31');
  source.replace('2026-01-31', [
    { ...first!, count: 900, results: [{ ...first!.results[0]!, clicks: 500 }] },
    ...others,
  ]);
  await world.ordinate('verify', '--project', world.project, '--days', '60', '--repair');
  await holds('a day of January has changed', [january], '2026-01-31', '2026-02-01');

  setClock(NOW + 480 * HOUR);
  await world.sync();
  const february = ['2026-02-01', '2026-02-02', '2026-02-28'];
  await holds('20 days later', [january, february], '2026-02-28', '2026-03-01');
});
