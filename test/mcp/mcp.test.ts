// AI agents can query the data over MCP, read-only, with the rights and limits of their key.
import t, { type Test } from 'tap';
import { createKey } from '../../server/operations/keys.ts';
import { facts, makeWorld, type Row, WORKSPACE } from '../world.ts';
import { callTool, connectAgent } from './agent.ts';

const world = await makeWorld(t, {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'gratis', plan: 'free' }],
  site_daily: facts('date device', ['2026-03-01', 'mobile', 3, 100, 900]),
});
const address = new URL('/mcp', await world.app.listen({ port: 0 }));

const connect = (t: Test, headers: Record<string, string>) => connectAgent(t, address, headers);

const newKey = async (workspace = 'acme'): Promise<string> =>
  (await createKey(world.catalog, { workspace, name: 'agent', at: 0 })).key;

t.test('the tools, all of them read-only, with the arguments of the API', async (t) => {
  const client = await connect(t, { authorization: `Bearer ${await newKey()}` });
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

t.test('keys: in Authorization or X-Api-Key, and none is refused', async (t) => {
  const agent = await connect(t, { 'x-api-key': await newKey() });
  t.equal((await callTool(agent, 'list_projects')).body.total, 1);
  await t.rejects(connect(t, {}));
  await t.rejects(connect(t, { 'x-api-key': 'ord_live_x' }));
  await t.rejects(connect(t, { authorization: `Bearer ${await newKey('gratis')}` }));
  await t.rejects(agent.callTool({ name: 'delete_project', arguments: {} }), /delete_project/);
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
