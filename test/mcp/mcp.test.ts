// AI agents can query the data over MCP, read-only, with the rights and limits of their key.
import t, { type Test } from 'tap';
import { createKey } from '../../server/catalog/keys.ts';
import { addDays } from '../../server/domain/dates.ts';
import { facts, keyword, makeWorld, ofProject, PROJECT, type Row, WORKSPACE } from '../world.ts';
import { callTool, connectAgent } from './agent.ts';

// The official client package, over HTTP.

const DAYS = Array.from({ length: 150 }, (_, index) => addDays('2025-10-12', index));
const WORDS = Array.from({ length: 130 }, (_, index) => `word ${String(index).padStart(3, '0')}`);

const world = await makeWorld(t, {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }, { ...WORKSPACE, id: 'gratis', plan: 'free' }],
  projects: [PROJECT, { ...PROJECT, id: 'Other', workspace_id: 'other' }],
  keywords: [
    keyword('kwOne', 'Red shoes'),
    keyword('kwTwo', 'blue; shoes'),
    ...ofProject('Other', [keyword('kwOth', 'x')]),
  ],
  site_daily: facts('date device', ...DAYS.map((date) => [date, 'mobile', 3, 100, 900])),
  keyword_daily: facts('keyword_id date device', ...DAYS.map((date) => ['kwOne', date, 'mobile', 1, 10, 50]), [
    'kwTwo',
    '2026-03-01',
    'desktop',
    5,
    10,
    0,
  ]),
  query_daily: facts(
    'date query country',
    ...WORDS.map((query, index) => ['2026-03-01', query, 'usa', 200 - index, 500, 900]),
    ['2026-03-02', 'falling', 'usa', 10, 100, 200],
    ['2026-02-02', 'falling', 'usa', 40, 100, 400],
    ['2026-02-02', 'gone', 'usa', 70, 300, 400],
  ),
  page_daily: facts('date url country', ['2026-03-01', 'https://shop.example/a', 'usa', 4, 50, 60]),
});
const address = new URL('/mcp', await world.app.listen({ port: 0 }));

const connect = (t: Test, headers: Record<string, string>) => connectAgent(t, address, headers);

const newKey = async (workspace = 'acme'): Promise<string> =>
  (await createKey(world.catalog, { workspace, name: 'agent', by: null, at: 0 })).key;

const client = await connect(t, { authorization: `Bearer ${await newKey()}` });
const call = (name: string, given?: Record<string, unknown>) => callTool(client, name, given);

t.test('the tools, all of them read-only, with the arguments of the API', async (t) => {
  const { tools } = await client.listTools();
  t.strictSame(
    tools.map(({ name }) => name),
    [
      'list_projects',
      'site_performance',
      'surfaces',
      'ai_answers',
      'hours',
      'explain_change',
      'top_rows',
      'keyword_history',
      'breakdowns',
      'changes',
      'findings',
      'query',
      'sitemaps',
      'index_state',
      'alerts_and_notes',
      'effect_of',
    ],
  );
  const known = new Set(['project', 'kind', 'keyword', 'metric']);
  for (const { parameters = [] } of Object.values(
    (await world.app.inject('/openapi.json')).json<{
      paths: Record<string, { get?: { parameters?: { name: string }[] } }>;
    }>().paths,
  ).flatMap(({ get }) => get ?? [])) {
    for (const { name } of parameters) known.add(name);
  }
  for (const { name, description, annotations, inputSchema } of tools) {
    t.match(annotations, { readOnlyHint: true }, name);
    t.ok(description && description.length > 50, name);
    const { properties = {}, required = [] } = inputSchema as { properties?: Record<string, Row>; required?: string[] };
    if (name !== 'list_projects') t.ok(required.includes('project'), name);
    for (const [argument, { description: help }] of Object.entries(properties)) {
      t.ok(known.has(argument), `${name}: ${argument} is a parameter of the API`);
      t.ok(help, `${name}: ${argument} is described`);
    }
  }
  t.match(client.getInstructions(), /list_projects/);
});

t.test('findings: those of the API, with what was tested', async (t) => {
  const { body } = await call('findings', { project: 'Proj1', type: ['lost', 'new'], q: 0.2 });
  const { findings, tested, q, paging } = (await world.get('/projects/Proj1/findings?type=lost&type=new&q=0.2')).body;
  t.match(body, { q, tested, findings, total: paging.total, returned: findings.length, nextOffset: null });
  t.match(await call('findings', { project: 'Proj1', type: 'all' }), {
    isError: true,
    body: { error: { code: 'invalid_request', message: /^type must be/ } },
  });
});

t.test('index_state: all pages, or one of them, as in the API', async (t) => {
  const page = 'https://shop.example/';
  const listed = await call('index_state', { project: 'Proj1', filter: 'verdict:not_equals:PASS' });
  t.match(listed, { body: { reason: /no connection/, paging: { total: 0, limit: 20 }, pages: [] } });
  const { body } = await world.get(`/projects/Proj1/index/history?page=${encodeURIComponent(page)}`);
  t.strictSame((await call('index_state', { project: 'Proj1', page })).body, body);
  const refused = await call('index_state', { project: 'Proj1', page, sort: 'url' });
  t.match(refused, { isError: true, body: { error: { message: /sort does not apply to one page/ } } });
});

t.test('site_performance: as the API answers, at most 100 rows unless more are asked for', async (t) => {
  const asked = { project: 'Proj1', period: '5m', compare: 'previous' };
  const api = (await world.ask('/site?period=5m&compare=previous')).body;
  const weeks = (await world.ask('/site?period=5m&compare=previous&interval=week')).body.daily;
  const { body } = await call('site_performance', asked);
  t.strictSame(body.range, api.range);
  t.strictSame(body.totals, api.totals);
  t.match(body, {
    interval: 'week',
    total: weeks.length,
    returned: weeks.length,
    quality: { finalThrough: '2026-03-07' },
  });
  t.strictSame(body.quality.provisional, { from: '2026-03-08', to: '2026-03-10' });
  t.strictSame(body.daily, weeks);
  const days = (await call('site_performance', { ...asked, interval: 'day' })).body;
  t.match(days, { interval: 'day', total: 150, returned: 100 });
  t.strictSame(days.daily, api.daily.slice(-100));
  const whole = (await call('site_performance', { ...asked, limit: 200 })).body;
  t.match(whole, { interval: 'day', total: 150, returned: 150 });
  t.strictSame(whole.daily, api.daily);
  const settled = (await call('site_performance', { project: 'Proj1', to: '2026-03-01' })).body;
  t.equal(settled.quality.provisional, null);
});

t.test('every answer about a range says how good its data is', async (t) => {
  const asked = { project: 'Proj1', period: '28d' };
  const ofSite = (await world.ask('/site?period=28d&quality=1')).body.quality;
  const ofQueries = (await world.ask('/queries?period=28d&quality=1')).body.quality;
  const ofKeywords = (await world.ask('/keywords?period=28d&quality=1')).body.quality;
  const keyword = (await world.ask('/keywords')).body.keywords[0].id as string;
  for (const [tool, more, { events: _events, ...expected }] of [
    ['site_performance', {}, ofSite],
    ['breakdowns', {}, ofSite],
    ['top_rows', {}, ofQueries],
    ['changes', {}, ofQueries],
    ['keyword_history', { keyword }, ofKeywords],
  ] as const) {
    const { provisional, ...found } = (await call(tool, { ...asked, ...more })).body.quality;
    t.strictSame(found, expected, tool);
    t.strictSame(provisional, { from: '2026-03-08', to: '2026-03-10' }, tool);
  }
  t.ok(ofSite.daysStored > 0);
});

t.test('changes of what the provider counts are named where they lie in the range', async (t) => {
  const { body } = await call('site_performance', { project: 'Proj1' });
  t.match(body.events, [{ affects: ['impressions', 'ctr', 'position'], from: '2025-05-13' }]);
  const before = (await call('site_performance', { project: 'Proj1', to: '2025-05-12' })).body;
  t.strictSame(before.events, []);
});

t.test('top_rows: pages of a list, a filter, other kinds', async (t) => {
  const first = (await call('top_rows', { project: 'Proj1' })).body;
  t.match(first, { total: 131, returned: 25, nextOffset: 25, range: { from: '2026-02-11', to: '2026-03-10' } });
  t.match(first.source, { truncated: false });
  const seen: string[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const { body } = await call('top_rows', { project: 'Proj1', limit: 60, offset });
    seen.push(...body.queries.map(({ query }: { query: string }) => query));
    offset = body.nextOffset;
  }
  t.strictSame(seen, [...WORDS, 'falling']);
  const filter = { match: 'any', conditions: [{ field: 'query', op: 'equals', value: 'word 007' }] };
  const { body } = await call('top_rows', { project: 'Proj1', filter, sort: ['-impressions', 'query'] });
  t.match(body, { total: 1, returned: 1, nextOffset: null, queries: [{ query: 'word 007', clicks: 193 }] });
  const pages = (await call('top_rows', { project: 'Proj1', kind: 'pages' })).body;
  t.match(pages.pages, [{ url: 'https://shop.example/a', clicks: 4 }]);
  const keywords = (await call('top_rows', { project: 'Proj1', kind: 'keywords', device: 'mobile' })).body;
  t.strictSame(
    keywords.keywords.map(({ query }: Row) => query),
    ['Red shoes', 'blue; shoes'],
  );
  t.equal((await call('top_rows', { project: 'Proj1', offset: 500 })).body.nextOffset, null);
});

t.test('keyword_history: by id and by text', async (t) => {
  const { body } = await call('keyword_history', { project: 'Proj1', keyword: 'kwOne', period: '5m', interval: 'day' });
  const api = (await world.ask('/keywords?period=5m&daily=1')).body.keywords;
  const { daily, ...found } = api.find(({ id }: { id: string }) => id === 'kwOne');
  t.strictSame(body.keyword, found);
  t.match(body, { total: 150, returned: 100 });
  t.strictSame(body.daily, daily.slice(-100));
  const byText = (await call('keyword_history', { project: 'Proj1', keyword: 'BLUE; Shoes' })).body;
  t.match(byText, { keyword: { id: 'kwTwo' }, total: 1, daily: [{ date: '2026-03-01', clicks: 5 }] });
  const unknown = await call('keyword_history', { project: 'Proj1', keyword: 'kwOth' });
  t.match(unknown, { isError: true, body: { error: { code: 'not_found', message: /tracks no keyword 'kwOth'/ } } });
});

t.test('changes: what gained, lost and vanished, with the change of the site', async (t) => {
  const asked = { project: 'Proj1', from: '2026-03-01', to: '2026-03-05', compare: '2026-02-01..2026-02-05' };
  const { body } = await call('changes', asked);
  const api = (await world.ask('/site?from=2026-03-01&to=2026-03-05&compare=2026-02-01..2026-02-05')).body;
  t.strictSame(body.site, api.totals);
  t.match(body, {
    range: { from: '2026-03-01', to: '2026-03-05', comparison: { from: '2026-02-01', to: '2026-02-05' } },
    total: 131,
    returned: { gained: 10, lost: 1, vanished: 1 },
  });
  const named = (rows: Row[]) => rows.map(({ query, change_clicks }) => [query, change_clicks]);
  t.strictSame(named(body.gained.slice(0, 2)), [
    ['word 000', 200],
    ['word 001', 199],
  ]);
  t.match(body.gained[0], { unsafe_clicks: ['low_base'], changeRatio_clicks: null }, 'a ratio to nothing misleads');
  t.strictSame(named(body.lost), [['falling', -30]]);
  t.match(body.lost[0], { clicks: 10, comparison_clicks: 40, unsafe_clicks: ['missing_days'] });
  t.strictSame(
    body.vanished.map(({ query, comparison_clicks, clicks }: Row) => [query, comparison_clicks, clicks]),
    [['gone', 70, undefined]],
  );
  const few = (await call('changes', { ...asked, limit: 2, metric: 'position', filter: 'query:equals:falling' })).body;
  t.match(few, { total: 1, returned: { gained: 1, lost: 0 }, gained: [{ query: 'falling', change_position: -2 }] });
  const pages = (await call('changes', { ...asked, kind: 'pages' })).body;
  t.match(pages, { total: 1, gained: [{ url: 'https://shop.example/a', change_clicks: 4 }], vanished: [] });
  const keywords = (await call('changes', { project: 'Proj1', kind: 'keywords', period: '28d', device: 'desktop' }))
    .body;
  t.match(keywords, { gained: [{ query: 'blue; shoes', change_clicks: 5 }], lost: [] });
  t.equal(keywords.range.comparison.to, '2026-02-10', 'as many days just before');
});

t.test('query: a question as JSON, an answer like that of the API, a refusal with the nearest questions', async (t) => {
  const ask = (q: unknown) => call('query', { project: 'Proj1', q });
  const range = { from: '2026-03-01', to: '2026-03-01' };
  const { rows, returned, total, totals, remainder, grain } = (await ask({ range, dimensions: ['query'], limit: 2 }))
    .body;
  t.strictSame([total, returned, grain], [WORDS.length, 2, 'query_daily']);
  t.match(rows, [{ query: 'word 000', clicks: 200 }, { query: 'word 001' }]);
  const question = encodeURIComponent(JSON.stringify({ range, dimensions: ['query'], limit: 2 }));
  const api = (await world.ask(`/query?q=${question}`)).body;
  t.strictSame({ rows, totals, remainder }, { rows: api.rows, totals: api.totals, remainder: api.remainder });
  t.equal((await ask({ range, dimensions: ['query'] })).body.returned, 50);
  t.match((await ask({ dimensions: ['query', 'device'] })).body.error.message, /Nearest questions: keyword by device/);
  t.match((await ask('what?')).body.error.message, /JSON/);
});

t.test('effect_of judges a change, or says why it cannot', async (t) => {
  const { body } = await call('effect_of', { project: 'Proj1', date: '2026-03-01', page: 'https://shop.example/a' });
  const api = (await world.ask('/effects?date=2026-03-01&page=https://shop.example/a')).body;
  const { daily: _, ...answer } = api;
  t.strictSame(body, answer);
  t.ok(body.reasons.length > 0 && body.text.length > 20, body.text);
});

t.test('a wrong call says what would be right', async (t) => {
  const cases: [string, Record<string, unknown>, string, RegExp][] = [
    ['site_performance', {}, 'invalid_request', /^project is missing/],
    [
      'site_performance',
      { project: 'Proj1', perod: '7d' },
      'invalid_request',
      /no argument perod; it has project, from/,
    ],
    ['site_performance', { project: 'Proj1', period: '17m' }, 'invalid_request', /^period must be/],
    ['site_performance', { project: 'Proj1', limit: 500 }, 'invalid_request', /^limit must be/],
    ['site_performance', { project: 'Proj1', format: 'csv' }, 'invalid_request', /no argument format/],
    ['site_performance', { project: 'Other' }, 'not_found', /no such project/],
    ['keyword_history', { project: 'Other', keyword: 'x' }, 'not_found', /no such project/],
    ['top_rows', { project: 'Proj1', kind: 'pages', device: 'mobile' }, 'invalid_request', /^device does not apply/],
    ['top_rows', { project: 'Proj1', filter: 'colour:eq:red' }, 'invalid_request', /^filter: unknown field/],
    ['top_rows', { project: 'Proj1', kind: 'keywords', group: 'Nope1' }, 'not_found', /^group/],
    ['top_rows', { project: 'Proj1', to: '2026-03-15' }, 'invalid_request', /before today/],
    ['alerts_and_notes', { project: 'Proj1', from: '2026-03-02', to: '2026-03-01' }, 'invalid_request', /^from/],
    ['effect_of', { project: 'Proj1', date: '2026-03-02' }, 'invalid_request', /^page is missing/],
  ];
  for (const [name, given, code, message] of cases) {
    t.match(
      await call(name, given),
      { isError: true, body: { error: { code, message } } },
      `${name} ${JSON.stringify(given)}`,
    );
  }
  await t.rejects(client.callTool({ name: 'delete_project', arguments: {} }), /delete_project/);
});

t.test('keys: in Authorization or X-Api-Key, and none is refused', async (t) => {
  const agent = await connect(t, { 'x-api-key': await newKey() });
  t.equal((await callTool(agent, 'list_projects')).body.total, 1);
  await t.rejects(connect(t, {}));
  await t.rejects(connect(t, { 'x-api-key': 'ord_live_x' }));
  await t.rejects(connect(t, { authorization: `Bearer ${await newKey('gratis')}` }));
  const post = (headers: Record<string, string>) =>
    world.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { 'content-type': 'application/json', ...headers },
      payload: '{}',
    });
  const refused = await post({});
  t.match(refused, { statusCode: 401, headers: { 'www-authenticate': 'Bearer', 'cache-control': 'no-store' } });
  t.match(refused.json(), { error: { code: 'unauthorized', message: /X-Api-Key/ } });
  t.equal((await post({ 'x-api-key': await newKey('gratis') })).statusCode, 403);
  const wrong = { 'x-api-key': await newKey(), authorization: 'Bearer ord_live_wrong' };
  t.equal((await post(wrong)).statusCode, 401, 'a wrong key in one place is not made good in the other');
  const api = await world.get('/projects', { 'x-api-key': await newKey() });
  t.equal(api.status, 401, 'the API takes no X-Api-Key');
  t.notMatch(world.log.join(''), /ord_live_[A-Za-z0-9]{32}/, 'no key in the log');
});

t.test('limits are those of the key, shared with the API', async (t) => {
  const key = await newKey();
  const headers = { authorization: `Bearer ${key}` };
  const agent = await connect(t, headers);
  await callTool(agent, 'list_projects');
  const { headers: seen } = await world.get('/projects', headers);
  const spent = 120 - Number(seen['x-ratelimit-remaining']);
  t.ok(spent >= 3, `connecting, a call and a request took ${spent}`);
  for (let count = spent; count < 120; count++) await world.get('/projects', headers);
  await t.rejects(callTool(agent, 'list_projects'), /429|Too many/);
  t.equal((await world.get('/projects', headers)).status, 429);
});

t.test('both versions of the protocol: the one of 2025, and the one without a handshake', async (t) => {
  const key = await newKey();
  const send = async (version: string, method: string, params: object, more: Record<string, string> = {}) => {
    const { statusCode, headers, body } = await world.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: {
        'x-api-key': key,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': version,
        ...more,
      },
      payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const type = String(headers['content-type']);
    const text = type.startsWith('text/event-stream') ? /^data: (.*)$/m.exec(body)?.[1] : body;
    return { statusCode, type, message: JSON.parse(text ?? '') as Row };
  };
  const about = { capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const old = await send('2025-06-18', 'initialize', { protocolVersion: '2025-06-18', ...about });
  t.match(old.message, { result: { protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: false } } } });
  const listed = { name: 'list_projects', arguments: {} };
  t.match((await send('2025-06-18', 'tools/call', listed)).message, { result: { content: [{ type: 'text' }] } });

  const version = '2026-07-28';
  const meta = {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': about.clientInfo,
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
  const named = { 'mcp-method': 'tools/call', 'mcp-name': 'list_projects' };
  const now = await send(version, 'tools/call', { ...listed, ...meta }, named);
  t.match(now, { statusCode: 200, type: /^application\/json/, message: { result: { content: [{ type: 'text' }] } } });
  const listen = { notifications: { toolsListChanged: true }, ...meta };
  const refused = await send(version, 'subscriptions/listen', listen, { 'mcp-method': 'subscriptions/listen' });
  t.match(refused.message, { error: { message: /limit/i } }, 'nobody waits for tools that never change');
});

t.test('what is no message of MCP', async (t) => {
  const headers = { authorization: `Bearer ${await newKey()}`, accept: 'application/json, text/event-stream' };
  const send = (method: 'GET' | 'POST' | 'DELETE' | 'PUT', payload?: string, type = 'application/json') =>
    world.app.inject({
      method,
      url: '/mcp',
      headers: { ...headers, 'content-type': type },
      ...(payload ? { payload } : {}),
    });
  t.equal((await send('GET')).statusCode, 405, 'there are no streams to listen to');
  t.equal((await send('DELETE')).statusCode, 405, 'there are no sessions to end');
  t.equal((await send('PUT')).statusCode, 404);
  t.equal((await send('POST', 'not json')).statusCode, 400);
  const large = await send('POST', JSON.stringify({ text: 'x'.repeat(70_000) }));
  t.match(
    { status: large.statusCode, body: large.json() },
    { status: 400, body: { error: { message: /65536 bytes/ } } },
  );
});
