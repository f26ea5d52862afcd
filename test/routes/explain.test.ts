// An explanation adds up to the change of the property in whole clicks, and says what no row can say.
import t from 'tap';
import { eachDay } from '../../server/domain/dates.ts';
import { connectedWorld } from '../fakes/connected.ts';
import { parseCsv, parseNdjson } from '../formats/read.ts';
import { facts, keyword, makeWorld, NOW, PROJECT, type Row, WORKSPACE, type World } from '../world.ts';

/** The requests of a minute are more than a key may send. */
let time = NOW;
const page = (path: string): string => `https://shop.example/${path}`;

/** Whole numbers below `below` that look random and are always the same. */
let state = 7;
function next(below: number): number {
  state = (state * 48_271) % 2_147_483_647;
  return state % below;
}

/** Clicks, impressions and sum of positions. */
function numbers(shown: number): [number, number, number] {
  const impressions = next(shown);
  return [Math.floor((impressions * next(60)) / 100), impressions, impressions * next(30) + next(impressions + 1)];
}

const DAYS = eachDay('2025-02-10', '2026-03-10');
const KEYWORDS = Array.from({ length: 12 }, (_, index) => `Kw0${String(index).padStart(2, '0')}`);
/** Rows of each day, of which some are left out, but never the first. */
function each(columns: string, names: readonly string[], before: boolean, shown: number, days = DAYS): Row[] {
  const rows = days.flatMap((day) =>
    names
      .filter((_, index) => index === 0 || next(3) > 0)
      .map((name) => [...(before ? [name, day] : [day, name]), ...numbers(shown)] as const),
  );
  return facts(columns, ...rows);
}

const paths = Array.from({ length: 60 }, (_, index) => page(`p${index}`));
const queries = Array.from({ length: 80 }, (_, index) => `shoes ${index} ${index % 7 === 0 ? 'acme' : ''}`);
const LAST = DAYS.slice(-100);
const BUSY = {
  keywords: KEYWORDS.map((id, index) => keyword(id, index < 2 ? ['Same', 'same'][index]! : `query ${index}`)),
  site_daily: each('date device', ['desktop', 'mobile', 'tablet'], false, 400),
  page_daily: each('date url', paths, false, 40, LAST).map((row) => ({ ...row, country: 'gbr' })),
  query_daily: each('date query', queries, false, 20, LAST).map((row) => ({ ...row, country: 'usa' })),
  keyword_daily: each('keyword_id date', KEYWORDS, true, 30, LAST).map((row) => ({ ...row, device: 'mobile' })),
  country_daily: each('date country', ['gbr', 'usa', 'fra', 'deu'], false, 100),
  country_monthly: facts('month country', ['2025-12-01', 'usa', 28, 280, 700], ['2025-12-01', 'gbr', 19, 101, 250]),
  brand_daily: each('date segment', ['brand', 'non_brand'], false, 100),
};
const BY = ['page', 'query', 'keyword', 'device', 'country', 'brand'];

const busy = await makeWorld(t, BUSY, { now: () => (time += 1000) });

t.test('rows in, answer out', async (t) => {
  const { ask } = await makeWorld(t, {
    site_daily: facts(
      'date device',
      ['2026-02-16', 'mobile', 100, 2000, 4000],
      ['2026-02-25', 'mobile', 70, 1500, 4000],
    ),
    page_daily: facts(
      'date url country',
      ['2026-02-16', page('a'), 'gbr', 60, 600, 600],
      ['2026-02-16', page('gone'), 'gbr', 20, 300, 1200],
      ['2026-02-16', page('clicked'), 'gbr', 2, 0, 0],
      ['2026-02-25', page('a'), 'gbr', 40, 500, 1000],
      ['2026-02-25', page('new'), 'gbr', 15, 200, 800],
    ),
  });
  const { status, body } = await ask('/explain?from=2026-02-22&to=2026-02-28&limit=1');
  t.equal(status, 200);
  const { source, events, ...rest } = body;
  t.match(source, { kind: 'bigquery', capped: false, comparison: { kind: 'bigquery', capped: false } });
  t.match(events, [{ from: '2025-05-13' }]);
  t.strictSame(rest, {
    project: { id: 'Proj1', domain: 'shop.example' },
    range: {
      from: '2026-02-22',
      to: '2026-02-28',
      country: null,
      comparison: { from: '2026-02-15', to: '2026-02-21' },
    },
    change: { clicks: { now: 70, base: 100, difference: -30 } },
    usual: null,
    by: 'page',
    // Of the page that both have: -8.99, -8.69 and -2.32.
    parts: { impressions: -9, position: -9, ctr: -2, gained: 15, lost: -20, clicks: null, notAttributed: -5 },
    rows: [
      {
        page: page('a'),
        clicks: { now: 40, base: 60, difference: -20 },
        impressions: { now: 500, base: 600, difference: -100 },
        position: { now: 3, base: 2 },
        parts: { impressions: -9, position: -9, ctr: -2, gained: 0, lost: 0, clicks: null },
      },
    ],
    rest: {
      rows: 2,
      clicks: { now: 15, base: 20, difference: -5 },
      parts: { impressions: 0, position: 0, ctr: 0, gained: 15, lost: -20, clicks: null },
    },
    rankingUpdates: [],
    rankingUpdatesThrough: '2026-02-28',
    notes: [],
    unsafe: [
      { what: 'change', reason: 'missing_days' },
      { what: 'rows', reason: 'missing_days' },
    ],
  });
});

const sumOf = (parts: Readonly<Record<string, number | null>>): number =>
  Object.values(parts).reduce<number>((sum, part) => sum + (part ?? 0), 0);

async function textOf({ app, key }: World, path: string): Promise<string> {
  const url = `/api/v1/projects/Proj1/${path}`;
  return (await app.inject({ url, headers: { authorization: `Bearer ${key}` } })).body;
}

t.test('a sheet adds up to the property', async (t) => {
  for (const by of BY) {
    const path = `explain.csv?by=${by}&period=28d&limit=2`;
    const [columns = [], ...rows] = parseCsv(await textOf(busy, path));
    const { body } = await busy.ask(`/explain?by=${by}&period=28d&limit=2`);
    const sum = (name: string): number => rows.reduce((total, row) => total + Number(row[columns.indexOf(name)]), 0);
    for (const which of ['now', 'base', 'difference']) {
      t.equal(sum(`clicks_${which}`), body.change.clicks[which], `${by}: clicks_${which}`);
    }
    for (const [name, part] of Object.entries(body.parts)) t.equal(sum(`parts_${name}`), part ?? 0, `${by}: ${name}`);
    const key = columns.indexOf(by === 'brand' ? 'segment' : by === 'keyword' ? 'keyword_query' : by);
    t.equal(rows.at(-1)![key], '_not_attributed');
    const names = rows.map((row) => row[key]);
    t.equal(names.includes('_rest'), body.rest.rows > 0 || sumOf(body.rest.parts) !== 0, by);
  }
  const [first] = parseNdjson(await textOf(busy, 'explain.ndjson?by=keyword&limit=1'));
  t.strictSame(Object.keys(first!), [
    'keyword_id',
    'keyword_query',
    ...['now', 'base', 'difference'].map((of) => `clicks_${of}`),
    ...['now', 'base', 'difference'].map((of) => `impressions_${of}`),
    'position_now',
    'position_base',
    ...['impressions', 'position', 'ctr', 'gained', 'lost', 'clicks', 'notAttributed'].map((name) => `parts_${name}`),
  ]);
});

t.test('what is unsafe, and why', async (t) => {
  const unsafe = async (query: string): Promise<string[]> => {
    const found = (await busy.ask(`/explain?${query}`)).body.unsafe as Record<'what' | 'reason', string>[];
    return found.map(({ what, reason }) => `${what} ${reason}`);
  };
  const march = 'from=2026-02-01&to=2026-02-28';
  t.strictSame(await unsafe(march), ['change weekday_mix'], 'the month before has three days more');
  t.strictSame(await unsafe('from=2026-02-11&to=2026-03-10'), ['change provisional']);
  t.strictSame(await unsafe('from=2026-02-08&to=2026-03-07'), [], 'to the last final day');
  t.strictSame(await unsafe(`${march}&compare=2026-02-10..2026-03-09`), ['change provisional']);
  t.strictSame(await unsafe('from=2026-01-21&to=2026-01-30'), ['change weekday_mix']);
  t.strictSame(await unsafe('by=device&from=2025-02-08&to=2025-02-14&compare=2026-02-08..2026-02-14'), [
    'parts provider_event',
    'change missing_days',
    'rows missing_days',
  ]);
  t.strictSame(await unsafe(`${march}&compare=2025-09-01..2025-09-28&by=query`), [
    'parts provider_event',
    'rows missing_days',
  ]);
  t.strictSame(await unsafe('by=country&from=2026-01-03&to=2026-01-09&compare=2025-12-06..2025-12-12'), [
    'rows monthly_spread',
  ]);
  t.strictSame(await unsafe('country=gbr&from=2026-01-01&to=2026-01-14'), ['change monthly_spread', 'change low_base']);
  t.strictSame(await unsafe('by=keyword&period=28d'), ['change provisional']);
  const { parts, rows } = (await busy.ask(`/explain?by=device&${march}&compare=2025-03-01..2025-03-28`)).body;
  t.match(parts, { impressions: null, position: null, ctr: null, clicks: Number });
  t.match(rows[0].parts, { impressions: null, position: null, ctr: null, clicks: Number });
});

t.test('few clicks, and a list at its cap', async (t) => {
  const environment = { ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000' };
  const { ask, google } = await connectedWorld(t, { environment });
  google.pages = Array.from({ length: 25_001 }, (_, index) => ({
    key: `/${index}`,
    clicks: 50_000 - index,
    impressions: 100_000,
    position: 3,
  }));
  const { body } = await ask('/explain?from=2026-02-01&to=2026-02-28');
  t.match(body.source, { kind: 'gsc', capped: true, comparison: { kind: 'gsc' } });
  t.match(body.unsafe, [
    { what: 'change', reason: 'missing_days' },
    { what: 'rows', reason: 'cut_off' },
    { what: 'change', reason: 'weekday_mix' },
    { what: 'change', reason: 'low_base' },
  ]);
});

t.test('notes on days of either range; a new one changes the entity tag', async (t) => {
  const note = (number: number, date: string, more: Row = {}): Row => ({
    id: `5e1f0000-0000-4000-8000-00000000000${number}`,
    workspace_id: 'acme',
    project_id: 'Proj1',
    scope: 'project',
    category: 'content',
    author: 'Team',
    text: `note ${number}`,
    created_at: '2026-03-02T10:00:00Z',
    updated_at: '2026-03-02T10:00:00Z',
    date,
    ...more,
  });
  const world = await makeWorld(t, {
    ...BUSY,
    notes: [
      note(1, '2026-02-01'),
      note(2, '2025-11-01', { end_date: '2025-12-01' }),
      note(3, '2026-01-20'),
      note(4, '2026-03-01'),
    ],
  });
  const path = '/explain?by=device&from=2026-02-01&to=2026-02-28&compare=2025-12-01..2025-12-28';
  const { body, headers } = await world.ask(path);
  t.strictSame(
    body.notes.map(({ text }: Row) => text),
    ['note 2', 'note 1'],
  );
  const authorization = { authorization: `Bearer ${world.key}` };
  const again = () =>
    world.app.inject({
      url: `/api/v1/projects/Proj1${path}`,
      headers: { ...authorization, 'if-none-match': String(headers['etag']) },
    });
  t.equal((await again()).statusCode, 304);
  await world.load({ notes: [note(5, '2026-02-02')] });
  t.equal((await again()).statusCode, 200);
});

t.test('a project without days, and one whose plan begins in the other range', async (t) => {
  const { get, ask } = await makeWorld(t, {
    ...BUSY,
    workspaces: [{ ...WORKSPACE, keyword_history_days: 30 }],
    projects: [PROJECT, { ...PROJECT, id: 'Empty' }],
  });
  for (const by of ['keyword', 'device', 'country', 'brand']) {
    const { body } = await get(`/projects/Empty/explain?by=${by}`);
    const { usual, source, rows, rest, change, unsafe } = body;
    t.match(
      [usual, source, rows, rest.rows, change.clicks],
      [null, null, [], 0, { now: 0, base: 0, difference: 0 }],
      by,
    );
    t.strictSame(unsafe, [
      { what: 'change', reason: 'provisional' },
      { what: 'change', reason: 'missing_days' },
      { what: 'rows', reason: 'missing_days' },
      { what: 'change', reason: 'low_base' },
    ]);
  }
  t.strictSame((await ask('/explain?by=keyword&period=28d')).body.unsafe, [
    { what: 'change', reason: 'provisional' },
    { what: 'rows', reason: 'missing_days' },
  ]);
});

t.test('quality, as in other answers', async (t) => {
  const { quality } = (await busy.ask('/explain?quality=1&period=7d')).body;
  t.match(quality, { daysExpected: 7, daysStored: 7, daysProvisional: 3 });
  t.strictSame(quality, (await busy.ask('/pages?quality=1&period=7d')).body.quality);
  t.equal((await busy.ask('/explain?period=7d')).body.quality, undefined);
});
