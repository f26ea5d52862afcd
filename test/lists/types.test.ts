// Pages and queries of a search type come from the provider, for themselves.
// What a type lacks: test/fixtures/lists.txt.
import t from 'tap';
import { type AnalyticsRequest, readRequest } from '../../cli/demo/provider/request.ts';
import { readArrow } from '../formats/read.ts';
import { callTool, connectAgent } from '../mcp/agent.ts';
import { syncWorld } from '../sync/sync-world.ts';
import type { Row } from '../world.ts';

const RANGE = 'from=2026-03-02&to=2026-03-08';
const COMPARED = `${RANGE}&compare=previous`;

const world = await syncWorld(t, { tracked: 2, from: '2026-02-20', archive: 'none' });
Object.assign(world.site.options.types, { image: 0.7, discover: 0.9 });
await world.sync();

const byText = (a: Row, b: Row): number => (String(a['text']) < String(b['text']) ? -1 : 1);

/** The rows of the model by their key. */
function told(type: AnalyticsRequest['type'], dimension: 'page' | 'query'): Row[] {
  const days = { startDate: '2026-03-02', endDate: '2026-03-08' };
  const aggregationType = dimension === 'page' || type === 'discover' ? 'auto' : 'byProperty';
  const body = { ...days, dimensions: [dimension], aggregationType, type, dataState: 'all', rowLimit: 25_000 };
  const { rows } = world.site.answer(readRequest(body), world.clock);
  return rows
    .map((row) => JSON.parse(row) as Row & { keys: string[] })
    .map(({ keys, clicks, impressions }) => ({ text: keys[0], clicks, impressions }))
    .sort(byText);
}

const listed = (rows: readonly Row[]): Row[] =>
  rows.map(({ url, query, clicks, impressions }) => ({ text: url ?? query, clicks, impressions })).sort(byText);

async function csvOf(path: string) {
  const headers = { authorization: `Bearer ${world.key}` };
  return (await world.served()).inject({ url: `/api/v1/projects/Proj1${path}`, headers });
}

t.test('lists of images beside those of web; pages of discover have no positions', async (t) => {
  for (const [kind, type, dimension] of [
    ['pages', 'web', 'page'],
    ['pages', 'image', 'page'],
    ['pages', 'discover', 'page'],
    ['queries', 'web', 'query'],
    ['queries', 'image', 'query'],
  ] as const) {
    const { body } = await world.ask(`/${kind}?${RANGE}&type=${type}`);
    t.match(body.range, { type: type === 'web' ? undefined : type, country: null });
    t.strictSame(listed(body[kind]), told(type, dimension), `${kind} of ${type}`);
  }
  t.strictSame((await world.ask(`/pages?${RANGE}`)).body, (await world.ask(`/pages?${RANGE}&type=web`)).body);
  for (const page of (await world.ask(`/pages?${COMPARED}&type=discover`)).body.pages as Row[]) {
    t.match(page, { position: null, comparison: { position: null }, change: { position: { difference: null } } });
    t.notOk('position' in (page['unsafe'] as Row));
  }
  const { rows } = readArrow((await csvOf(`/pages.arrow?${COMPARED}&type=discover`)).rawPayload);
  for (const row of rows) t.match(row, { position: null, sum_position: null, comparison_sum_position: null });
});

t.test('agents get what changed in a type', async (t) => {
  const address = new URL('/mcp', await (await world.served()).listen({ port: 0 }));
  const client = await connectAgent(t, address, { authorization: `Bearer ${world.key}` });
  const asked = { project: 'Proj1', kind: 'pages', from: '2026-03-02', to: '2026-03-08', limit: 100 };
  for (const type of ['image', 'web']) {
    const { pages } = (await world.ask(`/pages?${COMPARED}&type=${type}`)).body as {
      pages: { change: { clicks: { difference: number } } }[];
    };
    const { body } = await callTool(client, 'changes', { ...asked, type });
    t.equal(body.gained.length, pages.filter(({ change }) => change.clicks.difference > 0).length, type);
    const { totals } = (await world.ask(`/site?${COMPARED}&type=${type}`)).body;
    t.match(body.site, { clicks: totals.clicks, comparison: { clicks: totals.comparison.clicks } });
    t.equal(body.range.type, type === 'web' ? undefined : type);
  }
  for (const wrong of [{ metric: 'position' }, { kind: 'queries' }, { kind: 'keywords' }, { device: 'mobile' }]) {
    const refused = await callTool(client, 'changes', { ...asked, type: 'discover', ...wrong });
    t.match(refused, { isError: true }, JSON.stringify(wrong));
  }
});

t.test('a change of another type is explained by rows of that type alone', async (t) => {
  for (const [type, kinds] of [
    ['image', ['page', 'query', 'device', 'country']],
    ['discover', ['page', 'country']],
  ] as const) {
    const { clicks: now, comparison } = (await world.ask(`/site?${COMPARED}&type=${type}`)).body.totals;
    const base = comparison.clicks;
    for (const by of kinds) {
      const { body } = await world.ask(`/explain?${COMPARED}&type=${type}&by=${by}&limit=3`);
      t.match(body, { range: { type, country: null }, change: { clicks: { now, base, difference: now - base } } });
      const parts = Object.values(body.parts as Record<string, number | null>);
      const sum = parts.reduce<number>((all, part) => all + (part ?? 0), 0);
      t.equal(sum, body.change.clicks.difference, 'the parts add up');
      t.strictSame(body.events, [], 'events are of web search');
      const isPositioned = type === 'image' && (by === 'page' || by === 'query');
      t.equal(body.parts.position !== null, isPositioned, 'positions are a part where the type has them');
      t.equal(body.rows[0].position.now === null, type === 'discover');
      t.equal((await csvOf(`/explain.csv?${COMPARED}&type=${type}&by=${by}`)).statusCode, 200);
    }
  }
});
