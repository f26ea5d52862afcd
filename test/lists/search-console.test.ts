// Lists from the reporting API have every row once, in order, up to the limit and across ties.
import { generateKeyPairSync, verify } from 'node:crypto';
import t, { type Test } from 'tap';
import { connect, connectedWorld, credentialsFile, SECRETS } from '../fakes/connected.ts';
import type { FakeRow } from '../fakes/search-console.ts';
import type { Answer } from '../world.ts';

const FINAL = 'from=2026-02-01&to=2026-02-28';
/** So that lists of many requests wait for nothing. */
const FAST = { environment: { ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000' } };

function row(key: string, clicks: number, impressions: number, position: number, country?: string): FakeRow {
  return { key, clicks, impressions, position, ...(country === undefined ? {} : { country }) };
}

t.test('a page list as the reporting API gives it', async (t) => {
  const { ask, google } = await connectedWorld(t);
  google.pages = [
    row('https://shop.example/b', 3, 40, 2.34567),
    row('https://shop.example/a', 3, 40, 1),
    row('https://shop.example/ä', 3, 41, 7.5),
    row('https://shop.example/none', 0, 0, 0),
    row('https://shop.example/top', 9, 10, 1.05),
  ];
  const { status, body } = await ask(`/pages?${FINAL}`);
  t.equal(status, 200);
  t.strictSame(body.pages, [
    { url: 'https://shop.example/top', clicks: 9, impressions: 10, ctr: 0.9, position: 1.1 },
    { url: 'https://shop.example/ä', clicks: 3, impressions: 41, ctr: 0.0732, position: 7.5 },
    { url: 'https://shop.example/a', clicks: 3, impressions: 40, ctr: 0.075, position: 1 },
    { url: 'https://shop.example/b', clicks: 3, impressions: 40, ctr: 0.075, position: 2.4 },
    { url: 'https://shop.example/none', clicks: 0, impressions: 0, ctr: null, position: null },
  ]);
  t.strictSame(body.source, { kind: 'gsc', fetchedAt: '2026-03-15T12:00:00.000Z', truncated: false, capped: false });
  t.strictSame(google.properties, ['sc-domain:shop.example']);
  t.strictSame(google.requests, [
    {
      startDate: '2026-02-01',
      endDate: '2026-02-28',
      dimensions: ['page'],
      aggregationType: 'byPage',
      type: 'web',
      dataState: 'all',
      rowLimit: 25_000,
      startRow: 0,
    },
  ]);
});

t.test('a query list, with what the project knows of each query', async (t) => {
  const world = await connectedWorld(t);
  await world.load({
    keywords: [{ project_id: 'Proj1', id: 'Kword', query: 'Red Shoes', tracked_since: '2025-01-05' }],
  });
  world.google.queries = [row('red shoes', 1, 10, 3), row('ACME shop', 1, 10, 3)];
  const { body } = await world.ask(`/queries?${FINAL}`);
  t.match(body.queries, [
    { query: 'ACME shop', branded: true, trackedKeywordId: null },
    { query: 'red shoes', branded: false, trackedKeywordId: 'Kword' },
  ]);
  t.match(world.google.requests[0], { dimensions: ['query'], aggregationType: 'byProperty' });
  await world.load({ projects: [{ ...PROJECT_ROW, brand_terms: ['red'] }] });
  const again = await world.ask(`/queries?${FINAL}`);
  t.strictSame(
    again.body.queries.map((query: { branded: boolean }) => query.branded),
    [false, true],
    'a load changes what is said of the rows, and not the list',
  );
  t.equal(world.google.requests.length, 1);
});

const PROJECT_ROW = {
  id: 'Proj1',
  workspace_id: 'acme',
  domain: 'shop.example',
  property: 'sc-domain:shop.example',
  created_at: '2025-01-02T03:04:05Z',
};

t.test('nothing is an empty list; countries filter', async (t) => {
  const { ask, google } = await connectedWorld(t);
  google.pages = [row('/de', 1, 2, 1, 'deu'), row('/us', 1, 2, 1, 'usa')];
  t.strictSame((await ask(`/pages?${FINAL}&country=FRA`)).body.pages, []);
  const { body } = await ask(`/pages?${FINAL}&country=DEU`);
  t.strictSame(
    body.pages.map((page: { url: string }) => page.url),
    ['/de'],
  );
  t.strictSame(google.requests.at(-1)?.['dimensionFilterGroups'], [
    { groupType: 'and', filters: [{ dimension: 'country', operator: 'equals', expression: 'deu' }] },
  ]);
});

t.test("the project's own country filters too", async (t) => {
  const { ask, google } = await connectedWorld(t, { project: { country: 'deu' } });
  google.pages = [row('/de', 1, 2, 1, 'deu'), row('/us', 1, 2, 1, 'usa')];
  const { body } = await ask(`/pages?${FINAL}`);
  t.strictSame([body.range.country, body.paging.total, body.pages[0].url], [null, 1, '/de']);
  const other = await ask(`/pages?${FINAL}&country=usa`);
  t.strictSame([other.status, other.body.pages, other.body.source.kind], [200, [], 'gsc']);
  t.equal(google.requests.length, 1, 'a list that must be empty is not asked for');
});

/** Queries with many ties in random places. */
function tiedQueries(count: number, bands: number): FakeRow[] {
  return Array.from({ length: count }, (_, index) => {
    const clicks = index % bands;
    return row(`query ${index}`, clicks, clicks + (index % 5), 2);
  });
}

async function readAll(t: Test, ask: (path: string) => Promise<Answer>, path: string) {
  const rows: { query: string; clicks: number; impressions: number }[] = [];
  for (let offset = 0, total = 1; offset < total; offset += 25_000) {
    const { status, body } = await ask(`${path}&limit=25000&offset=${offset}`);
    t.equal(status, 200);
    ({ total } = body.paging);
    rows.push(...body.queries);
    t.match(body.source, { truncated: true, capped: true });
  }
  return rows;
}

for (const [offered, bands, most] of [
  [50_001, 5, 3],
  // Each answer brings 25,000 of 60,000 by chance: five are enough, and one asks for more.
  [60_000, 1, 12],
] as const) {
  t.test(
    `${offered} queries with ${bands} numbers of clicks and ties in any order give exactly 50,000 in order, by one fetch`,
    async (t) => {
      const { ask, google, fetches } = await connectedWorld(t, FAST);
      google.queries = tiedQueries(offered, bands);
      const rows = await readAll(t, ask, `/queries?${FINAL}`);
      t.equal(rows.length, 50_000);
      t.equal(new Set(rows.map(({ query }) => query)).size, 50_000);
      const inOrder = rows.every((next, at) => {
        const before = rows[at - 1];
        if (before === undefined || before.clicks > next.clicks) return true;
        if (before.clicks < next.clicks || before.impressions < next.impressions) return false;
        return (
          before.impressions > next.impressions ||
          Buffer.compare(Buffer.from(before.query), Buffer.from(next.query)) < 0
        );
      });
      t.ok(inOrder, 'clicks, impressions, then the bytes of the text');
      t.match(fetches(), [{ outcome: 'fetched', rows: 50_000, truncated: true }]);
      t.ok(google.requests.length <= most, `${google.requests.length} requests`);
    },
  );
}

t.test('exactly 50,000 queries of which the last 30,000 are tied: all of them, and no more', async (t) => {
  const { ask, google } = await connectedWorld(t, FAST);
  google.queries = Array.from({ length: 50_000 }, (_, index) =>
    row(`query ${index}`, Math.max(0, 20_000 - index), 50_000, 2),
  );
  const exact = await ask(`/queries?${FINAL}&limit=1`);
  t.match(exact.body, { source: { truncated: false, capped: true }, paging: { total: 50_000 } });
  t.ok(google.requests.length <= 24, `${google.requests.length} requests`);
  t.strictSame(google.requests.at(-1), { ...google.requests[0], startRow: 50_000, rowLimit: 1 });
  google.queries = [...google.queries, row('one more', 0, 50_000, 2)];
  const more = await ask('/queries?from=2026-02-02&to=2026-02-28&limit=1');
  t.match(more.body, { source: { truncated: true, capped: true }, paging: { total: 50_000 } });
});

t.test('capped without more, and one page more', async (t) => {
  const { ask, google } = await connectedWorld(t);
  google.pages = Array.from({ length: 25_000 }, (_, index) => row(`/${index}`, 1, 1, 1));
  const exact = await ask(`/pages?${FINAL}&limit=1`);
  t.match(exact.body, { source: { truncated: false, capped: true }, paging: { total: 25_000 } });
  google.pages = [...google.pages, row('/more', 1, 1, 1)];
  const more = await ask(`/pages?from=2026-02-02&to=2026-02-28&limit=1`);
  t.match(more.body, { source: { truncated: true, capped: true }, paging: { total: 25_000 } });
  google.pages = google.pages.slice(2);
  const fewer = await ask(`/pages?from=2026-02-03&to=2026-02-28&limit=1`);
  t.match(fewer.body, { source: { truncated: false, capped: false }, paging: { total: 24_999 } });
});

t.test('a token that expired before its time is replaced once', async (t) => {
  const { ask, google } = await connectedWorld(t);
  google.pages = [row('/', 1, 2, 1)];
  t.equal((await ask(`/pages?${FINAL}`)).status, 200);
  google.tokens.clear();
  t.equal((await ask(`/queries?${FINAL}`)).status, 200);
  t.equal(google.grants.length, 2);
  t.equal(google.requests.length, 3);
});

t.test('a service account signs for the token endpoint that is set', async (t) => {
  const world = await connectedWorld(t);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { url: endpoint, tokenUrl: tokenEndpoint } = world.google;
  const credentials = credentialsFile(t, {
    type: 'service_account',
    client_email: 'reader@project.example',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: 'http://127.0.0.1:9/not-this-one',
  });
  await connect(world.catalog, { credentials, endpoint, tokenEndpoint });
  world.google.pages = [row('/', 1, 2, 1)];
  t.equal((await world.ask(`/pages?${FINAL}`)).status, 200);
  const [header = '', claims = '', signature = ''] = (world.google.grants[0]?.get('assertion') ?? '').split('.');
  const signed = verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url'));
  t.ok(signed);
  t.match(JSON.parse(Buffer.from(claims, 'base64url').toString()), {
    iss: 'reader@project.example',
    aud: tokenEndpoint,
    scope: 'https://www.googleapis.com/auth/webmasters.readonly',
  });
});

t.test('credentials that cannot be used are the operator’s mistake', async (t) => {
  const world = await connectedWorld(t);
  const { url: endpoint, tokenUrl: tokenEndpoint } = world.google;
  for (const [credentials, reason] of [
    ['/nowhere/credentials.json', /cannot be read \(ENOENT\)/],
    [credentialsFile(t, { type: 'external_account' }), /must be of the type service_account or authorized_user/],
    [credentialsFile(t, { refresh_token: undefined }), /has no refresh_token/],
    [
      credentialsFile(t, { type: 'service_account', client_email: 'a@b.example', private_key: 'BEGIN PRIVATE KEY' }),
      /private_key that is not a private key/,
    ],
  ] as const) {
    await connect(world.catalog, { credentials, endpoint, tokenEndpoint });
    t.equal((await world.ask(`/pages?${FINAL}`)).status, 503);
    t.match(world.fetches().at(-1), { outcome: 'misconfigured', reason });
  }
  for (const secret of SECRETS) t.notOk(world.log.join('').includes(secret));
});
