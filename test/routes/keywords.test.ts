// Sums of a keyword say which days they lack.
import t from 'tap';
import { putSyncKeywords } from '../../server/catalog/sync-days.ts';
import { eachDay } from '../../server/domain/dates.ts';
import { facts, keyword, makeWorld, type Row, WORKSPACE } from '../world.ts';

const DAYS = eachDay('2026-01-01', '2026-03-10');
/** Two keywords with 10 clicks of 100 impressions on each day. */
const TABLES = {
  keywords: [keyword('Keyw1', 'boots'), keyword('Keyw2', 'shoes')],
  site_daily: facts('date device', ...DAYS.map((day) => [day, 'mobile', 50, 500, 900])),
  keyword_daily: facts(
    'date keyword_id device',
    ...DAYS.flatMap((day) => ['Keyw1', 'Keyw2'].map((id) => [day, id, 'mobile', 10, 100, 200])),
  ),
};
const SHORT = { ...TABLES, workspaces: [{ ...WORKSPACE, keyword_history_days: 28 }] };

type Keywords = readonly { readonly id: string; readonly daily: readonly Row[]; readonly unsafe: Row }[];

const LACKS = ['missing_days'];
const ALL_LACK = { clicks: LACKS, impressions: LACKS, ctr: LACKS, position: LACKS };

t.test('days of the compared range that are not fetched yet of a keyword are missing there', async (t) => {
  const world = await makeWorld(t, TABLES);
  await world.catalog.transaction((tx) =>
    putSyncKeywords(tx, 'Proj1', [
      { id: 'Keyw1', query: 'boots', from: '2026-02-01', to: '2026-03-10' },
      { id: 'Keyw2', query: 'shoes', from: '2026-02-20', to: '2026-03-10' },
    ]),
  );
  const unsafe = async (days: string) => {
    const { keywords } = (await world.ask(`/keywords?from=2026-03-01&to=2026-03-07&compare=${days}`)).body;
    return (keywords as Keywords).map((one) => [one.id, one.unsafe]);
  };
  t.strictSame(await unsafe('2026-02-15..2026-02-21'), [
    ['Keyw1', {}],
    ['Keyw2', ALL_LACK],
  ]);
  t.strictSame(await unsafe('2026-02-20..2026-02-26'), [
    ['Keyw1', {}],
    ['Keyw2', {}],
  ]);
});

t.test('weeks of a keyword lack the days that the keyword lacks, as its totals do', async (t) => {
  const world = await makeWorld(t, TABLES);
  await world.catalog.transaction((tx) =>
    putSyncKeywords(tx, 'Proj1', [
      { id: 'Keyw1', query: 'boots', from: '2026-01-01', to: '2026-03-10' },
      { id: 'Keyw2', query: 'shoes', from: '2026-02-12', to: '2026-03-10' },
    ]),
  );
  const weeks = async (days: string) => {
    const { keywords } = (await world.ask(`/keywords?${days}&daily=1&interval=week`)).body;
    return (keywords as Keywords).map(({ daily }) => daily.map(({ date, unsafe }) => [date, unsafe]));
  };
  const [first, second, third] = ['2026-02-09', '2026-02-16', '2026-02-23'];
  t.strictSame(
    await weeks(`from=${second}&to=2026-03-01&compare=${first}..2026-02-22`),
    [
      [
        [second, {}],
        [third, {}],
      ],
      [
        [second, ALL_LACK],
        [third, {}],
      ],
    ],
    'only the week that is compared with some that are missing',
  );
  t.strictSame(
    await weeks(`from=${first}&to=2026-02-15&compare=${second}..2026-02-22`),
    [[[first, {}]], [[first, ALL_LACK]]],
    'and the week that lacks some itself',
  );
});

t.test('days of the compared range before the keyword history are missing, and not read', async (t) => {
  const { ask } = await makeWorld(t, SHORT);
  const { range, keywords } = (
    await ask('/keywords?from=2026-03-01&to=2026-03-07&compare=2026-02-09..2026-02-15&daily=1&limit=1')
  ).body as { range: Row; keywords: Keywords };
  t.strictSame(range['comparison'], { from: '2026-02-11', to: '2026-02-15', clamped: true });
  const [{ unsafe, daily }] = keywords as [Keywords[number]];
  t.strictSame(unsafe, ALL_LACK);
  t.strictSame(
    daily.map(({ date, comparison, unsafe: reasons }) => [
      date,
      (comparison as Row)['clicks'],
      'clicks' in (reasons as Row),
    ]),
    [
      ['2026-03-01', 0, true],
      ['2026-03-02', 0, true],
      ['2026-03-03', 10, false],
      ['2026-03-04', 10, false],
      ['2026-03-05', 10, false],
      ['2026-03-06', 10, false],
      ['2026-03-07', 10, false],
    ],
  );
});

t.test('a week that is not over has as many days as are synced', async (t) => {
  const { ask } = await makeWorld(t, TABLES);
  const { keywords } = (await ask('/keywords?from=2026-03-02&to=2026-03-14&daily=1&interval=week&limit=1')).body;
  t.strictSame(
    (keywords as Keywords)[0]!.daily.map(({ date, days, clicks }) => [date, days, clicks]),
    [
      ['2026-03-02', 7, 70],
      ['2026-03-09', 2, 20],
    ],
  );
});

t.test('days of more keywords than are read at once are each those of its own keyword, once', async (t) => {
  const ids = Array.from({ length: 300 }, (_, at) => `K${1000 + at}`);
  const day = (at: number) => DAYS[at % DAYS.length]!;
  const { ask } = await makeWorld(t, {
    keywords: ids.map((id) => keyword(id, `query ${id}`)),
    site_daily: facts('date device', ...DAYS.map((date) => [date, 'mobile', 5000, 50_000, 0])),
    keyword_daily: facts('date keyword_id device', ...ids.map((id, at) => [day(at), id, 'mobile', at, 1000, 0])),
  });
  const { keywords } = (await ask('/keywords?period=240d&daily=1&limit=300&compare=previous')).body;
  t.strictSame(
    (keywords as Keywords).map(({ id, daily }) => [id, daily.map(({ date, clicks }) => [date, clicks])]),
    ids.map((id, at) => [id, [[day(at), at]]]),
  );
});

t.test(
  'a change of desktop results makes sums over desktop unsafe, and over all devices, not those over mobile',
  async (t) => {
    const days = eachDay('2025-09-01', '2025-09-21');
    const { ask } = await makeWorld(t, {
      keywords: [keyword('Keyw1', 'boots')],
      keyword_daily: facts(
        'date keyword_id device',
        ...days.flatMap((day) => ['desktop', 'mobile'].map((device) => [day, 'Keyw1', device, 10, 100, 200])),
      ),
    });
    const changed = async (device: string) => {
      const asked = `/keywords?from=2025-09-15&to=2025-09-21&compare=2025-09-01..2025-09-07&device=${device}`;
      const [{ unsafe }] = (await ask(asked)).body.keywords as [Keywords[number]];
      return Object.entries(unsafe).flatMap(([metric, reasons]) =>
        (reasons as string[]).includes('provider_event') ? [metric] : [],
      );
    };
    const eventsFor = async (device: string) => {
      const { quality } = (await ask(`/keywords?from=2025-09-08&to=2025-09-14&quality=1&device=${device}`)).body;
      return (quality.events as Row[]).filter((event) => event['device'] === 'desktop').length;
    };
    t.strictSame([await eventsFor('mobile'), await eventsFor('desktop'), await eventsFor('all')], [0, 1, 1]);
    t.strictSame(await changed('mobile'), []);
    t.strictSame(await changed('desktop'), ['impressions', 'ctr', 'position']);
    t.strictSame(await changed('all'), ['impressions', 'ctr', 'position']);
  },
);

t.test('an explanation counts nothing before the keyword history, and says so', async (t) => {
  const { ask } = await makeWorld(t, SHORT);
  const explain = async (days: string) => {
    const { rows, unsafe } = (await ask(`/explain?${days}&by=keyword`)).body as Record<'rows' | 'unsafe', Row[]>;
    t.ok(unsafe.some(({ what, reason }) => what === 'rows' && reason === 'missing_days'));
    return rows.map(({ clicks }) => clicks);
  };
  t.strictSame(await explain('from=2026-01-15&to=2026-01-28'), []);
  const isNew = { now: 140, base: 0, difference: 140 };
  t.strictSame(await explain('from=2026-02-11&to=2026-02-24&compare=2026-01-15..2026-01-28'), [isNew, isNew]);
  const isPartly = { now: 100, base: 60, difference: 40 };
  t.strictSame(await explain('from=2026-02-20&to=2026-03-01&compare=2026-02-07..2026-02-16'), [isPartly, isPartly]);
});
