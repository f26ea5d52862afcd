// The TypeScript client has a typed method for every operation, reads all pages, and retries rejected requests.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { createClient, OrdinateError, type Schemas } from '../client/client.ts';
import { DOCUMENT, PATHS } from '../client/operations.ts';
import { operationsSource, withoutExamples } from '../scripts/client-sources.ts';
import { ROOT, readme } from './readme.ts';
import { facts, keyword, makeWorld, temporaryFolder } from './world.ts';

const names = ['boots', 'caps', 'hats', 'shoes', 'socks'];
const { app, key } = await makeWorld(t, {
  keywords: names.map((name, index) => keyword(`kw00${index}`, `red ${name}`)),
  site_daily: facts('date device', ['2026-03-10', 'mobile', 3, 100, 900]),
  keyword_daily: facts('keyword_id date device', ['kw000', '2026-03-10', 'mobile', 1, 3, 5]),
  query_daily: facts(
    'date query country',
    ...names.map((name, index) => ['2026-03-10', `red ${name}`, 'usa', 9 - index, 10, 5]),
  ),
});

/** What the client sent, and how long it waited, in milliseconds. */
let sent: string[] = [];
let waited: number[] = [];
/** Answers that come before those of the server. */
let before: Response[] = [];

const client = createClient({
  url: 'http://ordinate.example/',
  key,
  fetch: async (address, init) => {
    const url = new URL(address as string);
    sent.push(`${url.pathname}${url.search}`);
    init?.signal?.throwIfAborted();
    const prepared = before.shift();
    if (prepared !== undefined) return prepared;
    const headers = init?.headers as Record<string, string>;
    const { method = 'GET', body } = init ?? {};
    const request = { method: method as 'GET', url: `${url.pathname}${url.search}`, headers };
    const {
      statusCode,
      payload,
      headers: given,
    } = await app.inject({
      ...request,
      ...(body ? { payload: body as string } : {}),
    });
    return new Response(payload, { status: statusCode, headers: given as Record<string, string> });
  },
  wait: async (milliseconds) => {
    waited.push(milliseconds);
  },
});

t.beforeEach(() => {
  sent = [];
  waited = [];
  before = [];
});

const tooMany = (seconds?: string): Response =>
  Response.json(
    { error: { code: 'rate_limited', message: 'Too many requests.' } },
    { status: 429, ...(seconds === undefined ? {} : { headers: { 'retry-after': seconds } }) },
  );

t.test('the generated files are those of the document (`npm run client` writes them)', async (t) => {
  const document = withoutExamples((await app.inject('/openapi.json')).json<object>());
  t.match(operationsSource(document), DOCUMENT, 'client/ is up to date');
  const operations = Object.values(document.paths).flatMap(({ get, post }) => [get, post].filter(Boolean));
  t.equal(Object.keys(PATHS).length, operations.length - 1, 'all but the one that sends a file');
});

t.test('a method for each operation, with typed parameters and answers', async (t) => {
  const { projects } = await client.listProjects();
  t.equal(projects[0]?.id, 'Proj1');
  const site = await client.getSite({ id: 'Proj1', period: '7d', device: 'mobile' });
  const totals: Schemas['Metrics'] = site.totals;
  t.strictSame(totals, { clicks: 3, impressions: 100, ctr: 0.03, position: 10 });
  const { keywords } = await client.listKeywords({ id: 'Proj1', daily: true, filter: 'query:contains:boots' });
  t.strictSame(
    keywords.map(({ query, daily }) => [query, daily?.length]),
    [['red boots', 1]],
  );
  t.strictSame(sent, [
    '/api/v1/projects',
    '/api/v1/projects/Proj1/site?period=7d&device=mobile',
    '/api/v1/projects/Proj1/keywords?daily=true&filter=query%3Acontains%3Aboots',
  ]);
});

t.test('any question, with its parts as fields, and all of its rows', async (t) => {
  const { rows, totals } = await client.postQuery({
    id: 'Proj1',
    range: { from: '2026-03-10', to: '2026-03-10' },
    dimensions: ['query'],
    filters: [['not', ['or', ['equals', 'query', ['red hats']], ['starts_with', 'query', ['red s']]]]],
    metrics: ['clicks'],
    sort: ['-clicks', 'query'],
    limit: 1,
  });
  t.strictSame([rows, totals], [[{ query: 'red boots', clicks: 9 }], { clicks: 17 }]);
  t.strictSame(sent, ['/api/v1/projects/Proj1/query']);
  const all: unknown[] = [];
  const range = { from: '2026-03-10', to: '2026-03-10' };
  for await (const { query } of client.all.postQuery({ id: 'Proj1', range, dimensions: ['query'], limit: 2 }))
    all.push(query);
  t.strictSame(
    all,
    names.map((name) => `red ${name}`),
  );
  t.equal(sent.length, 4);
  await t.rejects(client.postQuery({ id: 'Proj1', dimensions: ['query', 'device'] }), {
    status: 400,
    code: 'invalid_request',
  });
});

t.test('what the types refuse', async (t) => {
  const wrong = [
    // @ts-expect-error an id is needed
    () => client.getSite({ period: '7d' }),
    // @ts-expect-error no such device
    () => client.getSite({ id: 'Proj1', device: 'phone' }),
    // @ts-expect-error the client reads JSON
    () => client.getSite({ id: 'Proj1', format: 'csv' }),
    // @ts-expect-error no pages
    (): unknown => client.all.getSite({ id: 'Proj1' }),
    // @ts-expect-error no such dimension
    () => client.postQuery({ id: 'Proj1', dimensions: ['colour'] }),
    // @ts-expect-error no such operator
    () => client.postQuery({ id: 'Proj1', filters: [['like', 'query', ['a']]] }),
    // @ts-expect-error a filter in a filter needs a list of values
    () => client.postQuery({ id: 'Proj1', filters: [['not', ['equals', 'query', 'a']]] }),
    // @ts-expect-error nothing to sort by
    () => client.postQuery({ id: 'Proj1', sort: ['-colour'] }),
  ];
  t.equal(wrong.length, 8, 'the compiler has seen them');
});

t.test('parts of the path are encoded, and parameters without a value left out', async (t) => {
  await t.rejects(client.getSite({ id: 'a/b?$&', country: undefined as never }), { status: 404, code: 'not_found' });
  t.strictSame(sent, ['/api/v1/projects/a%2Fb%3F%24%26/site']);
});

t.test('all rows of a list, page by page', async (t) => {
  const queries: string[] = [];
  for await (const { query } of client.all.listQueries({ id: 'Proj1', limit: 2 })) queries.push(query);
  t.strictSame(
    queries,
    names.map((name) => `red ${name}`),
  );
  t.strictSame(
    sent.map((address) => /offset=(\d+)/.exec(address)?.[1]),
    ['0', '2', '4'],
  );
  const some: string[] = [];
  for await (const { query } of client.all.listKeywords({ id: 'Proj1', limit: 3, offset: 3 })) some.push(query);
  t.strictSame(some, ['red shoes', 'red socks']);
  for await (const _ of client.all.listKeywords({ id: 'Proj1', filter: 'query:equals:none' })) t.fail('no rows');
});

t.test('a request that is refused for a while is repeated after Retry-After', async (t) => {
  before = [tooMany('7'), Response.json({}, { status: 503 }), tooMany('soon')];
  t.equal((await client.getProject({ id: 'Proj1' })).project.id, 'Proj1');
  t.strictSame(waited, [7000, 2000, 60_000], 'as it says, or longer each time');
  t.equal(sent.length, 4);
});

t.test('it gives up after some tries', async (t) => {
  before = [tooMany('1'), tooMany('1'), tooMany('1'), tooMany('1')];
  await t.rejects(client.listProjects(), { name: 'OrdinateError', status: 429, code: 'rate_limited' });
  t.equal(waited.length, 3);
  before = [tooMany('1')];
  const impatient = createClient({ url: 'http://x.example', key, retries: 0, fetch: async () => tooMany('1') });
  await t.rejects(impatient.listProjects(), { status: 429, code: 'rate_limited' });
});

t.test('errors have the status, code and message of the answer', async (t) => {
  const refused = client.getSite({ id: 'Proj1', period: '17m' });
  await t.rejects(refused, OrdinateError);
  await t.rejects(refused, { status: 400, code: 'invalid_request', message: /^period must be/ });
  await t.rejects(client.listAlerts({ id: 'Nope1' }), { status: 404, code: 'not_found' });
  before = [new Response('<html>Bad gateway</html>', { status: 502 })];
  await t.rejects(client.listProjects(), { status: 502, code: undefined, message: 'The server answered 502.' });
  t.strictSame(waited, [], 'none of them is repeated');
});

t.test("the example of the README and of the package's own", async (t) => {
  const address = await app.listen({ port: 0 });
  for (const text of [readme, readFileSync(join(ROOT, 'client/README.md'), 'utf8')]) {
    const [, example = ''] = /```ts\n(import \{ createClient[\s\S]*?)```/.exec(text) ?? [];
    const program = example
      .replace('ordinate-client', pathToFileURL(join(ROOT, 'client/client.ts')).href)
      .replace('http://127.0.0.1:3000', address)
      .replaceAll('Fw7kd', 'Proj1')
      .replace('\n\n', `\nconst key = '${key}';\n`);
    const file = join(temporaryFolder(t), 'example.ts');
    writeFileSync(file, program);
    const printed = t.capture(console, 'log');
    await import(file);
    t.strictSame(
      printed().map(({ args }): unknown => args),
      names.map((name, index) => [`red ${name}`, 9 - index]),
    );
    printed.restore();
  }
});

t.test('a signal stops a request and the wait before the next', async (t) => {
  await t.rejects(client.listProjects({}, { signal: AbortSignal.abort(new Error('enough')) }), { message: 'enough' });
  const stop = new AbortController();
  let asked = 0;
  const waiting = createClient({
    url: 'http://x.example',
    key,
    fetch: async () => {
      asked++;
      queueMicrotask(() => stop.abort(new Error('no longer')));
      return tooMany('3600');
    },
  });
  await t.rejects(waiting.listProjects({}, { signal: stop.signal }), { message: 'no longer' });
  t.equal(asked, 1);
});
