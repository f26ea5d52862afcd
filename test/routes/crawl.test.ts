// What Bing's crawler found is evidence about pages and days, fetched on demand, and no verdict of the index.
import t, { type Test } from 'tap';
import { BING_ERRORS, fakeBing } from '../fakes/bing.ts';
import { connect, connectedWorld } from '../fakes/connected.ts';
import { parseCsv } from '../formats/read.ts';
import { callTool, connectAgent } from '../mcp/agent.ts';
import { refusedFor } from '../world.ts';

const SITE = 'https://www.shop.example/';
const BOOTS = `${SITE}boots?size=9&colour=red`;

async function bingWorld(t: Test) {
  const world = await connectedWorld(t, { project: { property: 'sc-domain:shop.example' } });
  const bing = await fakeBing(t, '2026-03-01');
  bing.sites.push({ url: SITE, isVerified: true });
  bing.crawls.push(
    { url: BOOTS, at: '2026-02-26T23:30:00-08:00', status: 404, size: 512 },
    { url: BOOTS, at: '2026-02-27T08:00:00-08:00', status: 200, size: 2048 },
    { url: SITE, at: '2026-02-27T09:00:00-08:00', status: 301, size: 0 },
  );
  await connect(world.catalog, { kind: 'bing', credentials: bing.keyFile, endpoint: bing.url });
  return Object.assign(world, { bing, methods: () => bing.requests.map(({ method }) => method) });
}

t.test('a page, and the days of the site, each fetched once, without the key in the log', async (t) => {
  const { ask, methods, log, bing } = await bingWorld(t);
  const { status, body } = await ask(`/crawl?page=${encodeURIComponent(BOOTS)}`);
  t.equal(status, 200);
  t.match(body, { engine: 'bing', reason: null, fetchedAt: /^20/ });
  t.strictSame(body.page, {
    url: BOOTS,
    isFolder: false,
    discoveredAt: '2026-02-27T07:30:00.000Z',
    lastCrawlTime: '2026-02-27T16:00:00.000Z',
    httpStatus: 200,
    documentSize: 2048,
  });
  t.notMatch(JSON.stringify(body), 'verdict');
  t.strictSame(body.days, []);
  const site = (await ask('/crawl')).body;
  t.equal(site.page, null);
  t.match(site.days, [
    { date: '2026-02-26', crawledPages: 1, code4xx: 1, code2xx: 0 },
    { date: '2026-02-27', crawledPages: 2, code2xx: 1, code301: 1, otherCodes: 0 },
  ]);
  t.strictSame((await ask(`/crawl?page=${encodeURIComponent(BOOTS)}`)).body, body);
  t.strictSame((await ask('/crawl')).body, site);
  t.strictSame(
    methods(),
    ['GetUserSites', 'GetUrlInfo', 'GetUserSites', 'GetCrawlStats'],
    'what was asked before comes from memory',
  );
  t.notMatch(log.join(''), bing.key);
});

t.test('flat rows: the days, or the page', async (t) => {
  const { app, key } = await bingWorld(t);
  const csv = async (path: string) => {
    const url = `/api/v1/projects/Proj1/${path}`;
    const { payload } = await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
    return parseCsv(payload);
  };
  const counts = 'crawledPages,crawlErrors,inIndex,inLinks,blockedByRobotsTxt,containsMalware';
  t.strictSame(await csv('crawl.csv'), [
    `date,${counts},code2xx,code301,code302,code4xx,code5xx,otherCodes`.split(','),
    '2026-02-26,1,1,2,0,0,0,0,0,0,1,0,0'.split(','),
    '2026-02-27,2,0,2,0,0,0,1,1,0,0,0,0'.split(','),
  ]);
  const [names, ...pages] = await csv(`crawl.csv?page=${encodeURIComponent(BOOTS)}`);
  t.strictSame(names, ['url', 'isFolder', 'discoveredAt', 'lastCrawlTime', 'httpStatus', 'documentSize']);
  t.match(pages, [[BOOTS, 'false', /^2026-02-27T07:30/, /^2026-02-27T16:00/, '200', '2048']]);
  t.strictSame(await csv(`crawl.csv?page=${SITE}nowhere`), [names]);
});

t.test('an unknown page, and a redirect without a size', async (t) => {
  const { ask, methods } = await bingWorld(t);
  t.match((await ask(`/crawl?page=${SITE}nowhere`)).body, { page: null, reason: null, fetchedAt: /^20/ });
  t.match((await ask(`/crawl?page=${SITE}`)).body.page, { httpStatus: 301, documentSize: null });
  const asked = methods().length;
  const others = ['', 'x', 'https://other.example/', 'https://notshop.example/', 'https://shop.example.evil.example/'];
  for (const page of [...others, 'ftp://shop.example/', 'https://shop.example@evil.example/', 'javascript:alert(1)'])
    refusedFor(t, await ask(`/crawl?page=${encodeURIComponent(page)}`), 'page');
  t.equal(methods().length, asked, 'Bing is not asked about other sites');
  const hostile = `${SITE}a'b%00;<script>&apikey=x#\u{1f97e}`;
  t.match((await ask(`/crawl?page=${encodeURIComponent(hostile)}`)).body, { page: null, reason: null });
});

t.test('a failure is a reason, and is asked about again', async (t) => {
  const world = await bingWorld(t);
  const { ask, bing, methods } = world;
  bing.intercept = () => ({ status: 400, body: BING_ERRORS.throttledUser });
  t.match((await ask('/crawl')).body, { page: null, days: [], fetchedAt: null, reason: /rate limit/ });
  bing.intercept = () => undefined;
  const asked = methods().length;
  t.match((await ask('/crawl')).body, { reason: /rate limit/ });
  t.equal(methods().length, asked, 'the key rests');
  world.clock += 601_000;
  bing.intercept = () => ({ status: 400, body: BING_ERRORS.notAuthorized });
  t.match((await ask('/crawl')).body, { fetchedAt: null, reason: /^Bing no longer accepts/ });
});

t.test('without a connection, the reason says what is needed', async (t) => {
  const { ask } = await connectedWorld(t);
  t.match((await ask('/crawl')).body, { page: null, days: [], reason: /connections set --kind bing/ });
});

t.test('agents are answered by the tool about the index', async (t) => {
  const { app, key } = await bingWorld(t);
  const client = await connectAgent(t, new URL('/mcp', await app.listen({ port: 0 })), {
    authorization: `Bearer ${key}`,
  });
  const { body } = await callTool(client, 'index_state', { project: 'Proj1', engine: 'bing', page: BOOTS });
  t.match(body, { engine: 'bing', page: { httpStatus: 200 } });
  const site = await callTool(client, 'index_state', { project: 'Proj1', engine: 'bing' });
  t.match(site.body, { total: 2, returned: 2, days: [{ date: '2026-02-26' }, { date: '2026-02-27' }] });
  const wrong = await callTool(client, 'index_state', { project: 'Proj1', engine: 'bing', sort: 'url' });
  t.match(wrong, { isError: true });
});
