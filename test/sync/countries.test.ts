// Old days of countries are kept as months: the 20 countries with most clicks by name, and all others as one row.
import t from 'tap';
import { type KnownSearch, KnownSearches } from '../../cli/demo/provider/known-searches.ts';
import { type Day, eachDay } from '../../server/domain/dates.ts';
import { sameAsRecorded } from '../recorded.ts';
import { HOUR, NOW, newWorld, ORIGIN, openApi, PROPERTY, setClock } from './operator-world.ts';

/** 30 countries of a day, with ties of clicks, in which the first by name has the fewest impressions. */
function searchesOf(date: Day): KnownSearch[] {
  return Array.from({ length: 30 }, (_, at): KnownSearch => {
    const country = `c${'abc'[Math.floor(at / 10)]}${'abcdefghij'[at % 10]}`;
    const results = [{ page: ORIGIN, position: 1 + (at % 3), clicks: Math.floor(at / 4) }];
    return { date, query: null, country, device: 'MOBILE', count: 100 + at, results };
  });
}

t.test('months, also after one of their days has changed, and the next month when it is old enough', async (t) => {
  const world = await newWorld(t, { from: '2026-01-20', tracked: [], settings: { ORDINATE_COUNTRY_DAYS: '20' } });
  const days = [...eachDay('2026-01-28', '2026-02-02'), '2026-02-28', '2026-03-01', '2026-03-12'];
  const source = new KnownSearches(days.flatMap(searchesOf));
  world.provider.model.addSite(PROPERTY, source);
  const told: string[] = [];
  const tell = async (name: string): Promise<void> => {
    const rows = (await world.stored('country_monthly')).map(
      ({ month, country, clicks, impressions, sum_position }) =>
        `${String(month)} ${String(country)}: ${Number(clicks)} ${Number(impressions)} ${Number(sum_position)}`,
    );
    const [first] = (await world.stored('country_daily')).map(({ date }) => String(date)).sort();
    const ask = await openApi(t, world, NOW + 480 * HOUR);
    const { body } = await ask(`/projects/${world.project}/breakdowns?from=2026-01-20&to=2026-03-01`);
    const { countryMonthlyThrough } = (body as { range: { countryMonthlyThrough: string } }).range;
    told.push(`== ${name}: days from ${first}, months through ${countryMonthlyThrough}`, ...rows.sort());
  };
  await world.sync();
  // 20 days before 2026-03-15 is in February: January is the last whole month before it.
  await tell('January');

  const [first, ...others] = searchesOf('2026-01-31');
  const more = { ...first!, count: 900, results: [{ ...first!.results[0]!, clicks: 500 }] };
  source.replace('2026-01-31', [more, ...others]);
  await world.ordinate('verify', '--project', world.project, '--days', '60', '--repair');
  await tell('500 clicks more of one country in January');

  setClock(NOW + 480 * HOUR);
  await world.sync();
  await tell('20 days later');
  sameAsRecorded(t, 'sync-countries.txt', `${told.join('\n')}\n`);
});
