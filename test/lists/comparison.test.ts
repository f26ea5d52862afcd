// A comparison of two lists uses both lists as stored, and says where one of them may lack rows.
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { connectedWorld } from '../fakes/connected.ts';
import { localOnly } from '../stores.ts';
import { facts, makeWorld, type Row } from '../world.ts';

const FEBRUARY = 'from=2026-02-01&to=2026-02-28';
const JANUARY = '2026-01-01..2026-01-28';

function row(key: string, clicks: number, impressions: number) {
  return { key, clicks, impressions, position: 3 };
}

t.test('lists of the reporting API: both are fetched once and stored', async (t) => {
  const { ask, google } = await connectedWorld(t);
  google.queries = [row('shoes', 20, 400), row('boots', 4, 100), row('gone', 9, 90)];
  await ask('/queries?from=2026-01-01&to=2026-01-28');
  google.queries = [row('shoes', 30, 500), row('boots', 6, 100), row('new', 5, 50)];
  const { status, body } = await ask(`/queries?${FEBRUARY}&compare=${JANUARY}`);
  t.equal(status, 200);
  t.strictSame(body.range, {
    from: '2026-02-01',
    to: '2026-02-28',
    country: null,
    comparison: { from: '2026-01-01', to: '2026-01-28' },
  });
  t.match(body.source, { kind: 'gsc', comparison: { kind: 'gsc', truncated: false, capped: false } });
  t.strictSame(
    body.queries.map(({ query, comparison, change, unsafe }: Record<string, Row>) => [
      query,
      comparison!['clicks'],
      change!['clicks'],
      unsafe,
    ]),
    [
      ['shoes', 20, { difference: 10, ratio: 0.5 }, {}],
      ['boots', 4, { difference: 2, ratio: null }, { clicks: ['low_base'] }],
      [
        'new',
        0,
        { difference: 5, ratio: null },
        { clicks: ['low_base'], impressions: ['low_base'], ctr: ['low_base'], position: ['low_base'] },
      ],
    ],
  );
  t.equal(google.requests.length, 2);
  await ask(`/queries?${FEBRUARY}&compare=previous&limit=1&offset=1`);
  t.equal(google.requests.length, 3, 'only the other range of another comparison');
});

t.test('days that can still change, and days that the API no longer has', async (t) => {
  const { ask, google } = await connectedWorld(t);
  google.pages = [row('/a', 20, 400)];
  const reasons = async (query: string): Promise<readonly string[]> =>
    ((await ask(`/pages?${query}`)).body.pages[0].unsafe as Record<string, readonly string[]>)['clicks'] ?? [];
  t.strictSame(await reasons(`${FEBRUARY}&compare=${JANUARY}`), []);
  t.strictSame(await reasons(`from=2026-03-01&to=2026-03-14&compare=${JANUARY}`), ['provisional', 'different_length']);
  t.strictSame(await reasons(`${FEBRUARY}&compare=2026-03-01..2026-03-14`), ['provisional', 'different_length']);
  t.strictSame(await reasons(`${FEBRUARY}&compare=2024-11-15..2024-12-12`), []);
  t.strictSame(await reasons(`${FEBRUARY}&compare=2024-11-14..2024-12-11`), ['missing_days']);
});

t.test('a row that a list was too short for may have had any numbers', async (t) => {
  const environment = { ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000' };
  const { ask, google } = await connectedWorld(t, { environment });
  google.pages = Array.from({ length: 25_001 }, (_, index) => row(`/${index}`, 50_000 - index, 100_000));
  t.equal((await ask('/pages?from=2026-01-01&to=2026-01-28&limit=1')).body.source.truncated, true);
  google.pages = [row('/0', 60_000, 100_000), row('/other', 50_000, 100_000)];
  const { pages, source } = (await ask(`/pages?${FEBRUARY}&compare=${JANUARY}`)).body;
  t.match(source, { truncated: false, comparison: { truncated: true, capped: true } });
  t.strictSame(pages[0].unsafe, {}, 'the numbers of a listed row are whole');
  t.strictSame(pages[0].change.clicks, { difference: 10_000, ratio: 0.2 });
  t.strictSame(pages[1].unsafe.clicks, ['low_base', 'cut_off']);
});

/** Rows of pages in both ranges: the load is in the clicks of the other one. */
function pagesOf(load: number) {
  const rows = (day: string, clicks: number) =>
    Array.from({ length: 6 }, (_, n) => [day, `https://shop.example/${n}`, 'usa', clicks - n, 1000, 0]);
  return { page_daily: facts('date url country', ...rows('2026-03-01', 50), ...rows('2026-02-24', 100 * load)) };
}

t.test('all pages of a sequence compare the same two lists, although loads replace them', async (t) => {
  const world = await makeWorld(t, pagesOf(1));
  const page = async (offset: number) => {
    const { body } = await world.ask(`/pages?from=2026-03-01&to=2026-03-05&compare=previous&limit=2&offset=${offset}`);
    type Compared = { clicks: number; comparison: { clicks: number } };
    return (body.pages as Compared[]).map(({ clicks, comparison }) => [clicks, comparison.clicks]);
  };
  t.strictSame(await page(0), [
    [50, 100],
    [49, 99],
  ]);
  await world.load(pagesOf(2));
  t.strictSame(await page(2), [
    [48, 98],
    [47, 97],
  ]);
  t.strictSame(await page(0), [
    [50, 200],
    [49, 199],
  ]);
  t.strictSame(await page(4), [
    [46, 96],
    [45, 95],
  ]);
});

t.test('rows stand beside the newest list of the other range, although their own list stays', async (t) => {
  const world = await connectedWorld(t);
  const path = `/pages?${FEBRUARY}&compare=2026-03-01..2026-03-14`;
  for (const clicks of [20, 35]) {
    world.google.pages = [row('/a', clicks, 400)];
    t.match((await world.ask(path)).body.pages, [{ clicks: 20, comparison: { clicks } }]);
    world.clock += 61 * 60_000;
  }
});

t.test('where one of the lists is damaged, it is made again', localOnly, async (t) => {
  const world = await makeWorld(t, pagesOf(1));
  const lists = join(world.dataFolder, 'lists');
  const path = '/pages?from=2026-03-01&to=2026-03-05&compare=previous';
  const before = await world.ask(path);
  const files = readdirSync(lists).filter((file) => file.endsWith('.parquet'));
  t.equal(files.length, 2);
  for (const file of files) {
    writeFileSync(join(lists, file), Buffer.alloc(statSync(join(lists, file)).size));
    // Other rows than those in memory.
    const { status, body } = await world.ask(`${path}&sort=url`);
    t.strictSame([status, body.pages.length], [200, before.body.pages.length]);
    t.strictSame(body.pages[0].comparison, before.body.pages[0].comparison);
  }
});

t.test('lists that were exported as a whole lack no days', async (t) => {
  const period = (from: string, to: string, ...rows: readonly (readonly [string, number])[]) =>
    rows.map(([query, clicks]) => ({
      project_id: 'Proj1',
      first_day: from,
      last_day: to,
      query,
      clicks,
      impressions: 200,
      sum_position: 0,
    }));
  const world = await makeWorld(t, {
    query_period: [
      ...period('2026-01-01', '2026-01-28', ['shoes', 20], ['gone', 30]),
      ...period('2026-02-01', '2026-02-28', ['shoes', 30]),
    ],
  });
  const { body } = await world.ask(`/queries?${FEBRUARY}&compare=${JANUARY}`);
  t.match(body.queries, [{ query: 'shoes', change: { clicks: { difference: 10, ratio: 0.5 } } }]);
  t.strictSame(body.queries[0].unsafe, {});
  const other = await world.ask(`/queries?${FEBRUARY}&compare=previous`);
  t.match([other.status, other.body.error.code], [400, 'invalid_request'], 'a range that no list is of');
});
