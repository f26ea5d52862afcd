// Pages and queries of a search type come from the provider, for themselves, and lack what the type lacks.
import t from 'tap';
import { type AnalyticsRequest, readRequest } from '../../cli/demo/provider/request.ts';
import { connectionsOf } from '../../server/catalog/connections.ts';
import { callTool, connectAgent } from '../mcp/agent.ts';
import { type SyncWorld, syncWorld } from '../sync/sync-world.ts';
import { facts, makeWorld, PROJECT, type Row, refusedFor } from '../world.ts';

const RANGE = 'from=2026-03-02&to=2026-03-08';
const COMPARED = `${RANGE}&compare=previous`;

const world = await syncWorld(t, { tracked: 2, from: '2026-02-20', archive: 'none' });
Object.assign(world.site.options.types, { image: 0.7, discover: 0.9 });
await world.sync();

/** The rows of the model by their key. */
function told({ site, clock }: SyncWorld, type: AnalyticsRequest['type'], dimension: 'page' | 'query'): Row[] {
  const days = { startDate: '2026-03-02', endDate: '2026-03-08' };
  const aggregationType = dimension === 'page' || type === 'discover' ? 'auto' : 'byProperty';
  const body = { ...days, dimensions: [dimension], aggregationType, type, dataState: 'all', rowLimit: 25_000 };
  const rows = site.answer(readRequest(body), clock).rows.map((row) => JSON.parse(row) as Row & { keys: string[] });
  return rows.map(({ keys, clicks, impressions }) => ({ text: keys[0], clicks, impressions })).sort(byText);
}

const byText = (a: Row, b: Row): number => (String(a['text']) < String(b['text']) ? -1 : 1);
const listed = (rows: readonly Row[]): Row[] =>
  rows.map(({ url, query, clicks, impressions }) => ({ text: url ?? query, clicks, impressions })).sort(byText);

t.test('lists of images beside those of web', async (t) => {
  for (const [kind, dimension] of [
    ['pages', 'page'],
    ['queries', 'query'],
  ] as const) {
    const { status, body: web } = await world.ask(`/${kind}?${RANGE}`);
    t.equal(status, 200, JSON.stringify(web.error));
    const image = (await world.ask(`/${kind}?${RANGE}&type=image`)).body;
    t.match(image.range, { type: 'image', country: null });
    t.strictSame(listed(image[kind]), told(world, 'image', dimension));
    t.strictSame(listed(web[kind]), told(world, 'web', dimension), 'stored apart');
    t.ok(image[kind].length > 2 && image[kind][0].clicks < web[kind][0].clicks);
    t.strictSame((await world.ask(`/${kind}?${RANGE}&type=web`)).body, web);
  }
});

t.test('agents get what changed in a type, and what it lacks is refused', async (t) => {
  const address = new URL('/mcp', await (await world.served()).listen({ port: 0 }));
  const client = await connectAgent(t, address, { authorization: `Bearer ${world.key}` });
  const asked = { project: 'Proj1', kind: 'pages', from: '2026-03-02', to: '2026-03-08', limit: 100 };
  for (const type of ['image', 'web']) {
    const { pages } = (await world.ask(`/pages?${COMPARED}&type=${type}`)).body as { pages: Row[] };
    const changeOf = (page: Row): number => (page['change'] as { clicks: { difference: number } }).clicks.difference;
    const { body } = await callTool(client, 'changes', { ...asked, type });
    t.equal(body.gained.length, pages.filter((page) => changeOf(page) > 0).length, type);
    const { totals } = (await world.ask(`/site?${COMPARED}&type=${type}`)).body;
    t.match(body.site, { clicks: totals.clicks, comparison: { clicks: totals.comparison.clicks } });
    t.equal(body.range.type, type === 'web' ? undefined : type);
  }
  for (const wrong of [{ metric: 'position' }, { kind: 'queries' }, { kind: 'keywords' }, { device: 'mobile' }]) {
    const refused = await callTool(client, 'changes', { ...asked, type: 'discover', ...wrong });
    t.match(refused, { isError: true }, JSON.stringify(wrong));
  }
});

t.test('discover has pages without positions, and no queries', async (t) => {
  const { pages } = (await world.ask(`/pages?${COMPARED}&type=discover`)).body as { pages: Row[] };
  t.strictSame(listed(pages), told(world, 'discover', 'page'));
  for (const page of pages) {
    t.match(page, { position: null, comparison: { position: null }, change: { position: { difference: null } } });
    t.notOk('position' in (page['unsafe'] as Row));
  }
  const url = `/api/v1/projects/Proj1/pages.csv?${RANGE}&type=discover`;
  const csv = await (await world.served()).inject({ url, headers: { authorization: `Bearer ${world.key}` } });
  for (const line of csv.payload.trim().split('\r\n').slice(1)) t.match(line, /,$/);
  for (const path of [
    `/queries?${RANGE}&type=discover`,
    `/pages?${RANGE}&type=googleNews&sort=position`,
    `/pages?${RANGE}&type=discover&filter=position:gt:3`,
  ]) {
    refusedFor(t, await world.ask(path), 'type', path);
  }
});

t.test('a change of another type is explained by rows of that type alone', async (t) => {
  interface Totals {
    readonly clicks: number;
    readonly comparison: { readonly clicks: number };
  }
  const totals = async (of: string): Promise<Totals> => {
    const { body } = await world.ask(`/site?${COMPARED}&type=${of}`);
    return body.totals as Totals;
  };
  for (const [type, kinds] of [
    ['image', ['page', 'query', 'device', 'country']],
    ['discover', ['page', 'country']],
  ] as const) {
    const { clicks, comparison } = await totals(type);
    for (const by of kinds) {
      const { status, body } = await world.ask(`/explain?${COMPARED}&type=${type}&by=${by}&limit=3`);
      t.equal(status, 200, `${type} by ${by}`);
      t.match(body.range, { type, country: null });
      t.match(body.change.clicks, { now: clicks, base: comparison.clicks, difference: clicks - comparison.clicks });
      const parts = Object.values(body.parts as Record<string, number | null>);
      t.equal(
        parts.reduce<number>((sum, part) => sum + (part ?? 0), 0),
        body.change.clicks.difference,
        'the parts add up',
      );
      t.ok(body.rows.length > 0, 'it has rows');
      t.strictSame(body.events, [], 'events are of web search');
      const isPositioned = type === 'image' && (by === 'page' || by === 'query');
      t.equal(body.parts.position !== null, isPositioned, 'positions are a part where the type has them');
      t.equal(body.rows[0].position.now === null, type === 'discover');
      const flat = { url: `/api/v1/projects/Proj1/explain.csv?${COMPARED}&type=${type}&by=${by}` };
      const csv = await (await world.served()).inject({ ...flat, headers: { authorization: `Bearer ${world.key}` } });
      t.equal(csv.statusCode, 200);
    }
  }
  const { clicks } = await totals('image');
  const web = await world.ask(`/explain?${COMPARED}&by=page`);
  t.equal(web.status, 200, JSON.stringify(web.body.error));
  t.not(web.body.change.clicks.now, clicks, 'web has its own');
  for (const path of ['image&by=keyword', 'news&by=brand', 'discover&by=device', 'discover&by=query', 'podcast'])
    refusedFor(t, await world.ask(`/explain?${COMPARED}&type=${path}`), 'type', path);
});

t.test('without a provider that has them, lists of other types are not there, and the reason is given', async (t) => {
  const loaded = await makeWorld(t, {
    projects: [PROJECT],
    site_daily: facts('date device', ['2026-03-02', 'mobile', 1, 10, 0]),
    page_daily: facts('url date country', ['https://shop.example/a', '2026-03-02', 'usa', 1, 10, 0]),
  });
  t.strictSame(await connectionsOf(loaded.catalog, 'Proj1'), []);
  t.equal((await loaded.ask(`/pages?${RANGE}`)).status, 200);
  const { status, body } = await loaded.ask(`/pages?${RANGE}&type=image`);
  t.equal(status, 503);
  t.match(body.error.message, /no source of pages of type image/);
});
