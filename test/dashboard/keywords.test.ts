// Owners and admins track, archive and tag queries in the browser: checked, audited, visible at once.
import t from 'tap';
import { command } from '../command.ts';
import { keyword } from '../world.ts';
import { audited, eachRole, makeTeam } from './team.ts';

const KEYWORDS = '/projects/Proj1/keywords';
const ROWS = { keywords: [keyword('Kw001', 'shoes'), keyword('Kw002', 'boots', { archived: true })] };

t.test('queries: added once each, archived, tracked again, each visible at once and audited', async (t) => {
  const { send, read, catalog } = await makeTeam(t, ROWS);
  const tracked = async () =>
    (await read(KEYWORDS)).body.keywords.map(({ query }: { query: string }) => query) as string[];
  const added = await send('admin', 'POST', KEYWORDS, { queries: [' red hats ', 'SHOES', 'Red Hats'], tags: ['hats'] });
  t.match(added, { status: 201, body: { added: [{ query: 'red hats' }], skipped: ['SHOES', 'Red Hats'] } });
  t.strictSame(await tracked(), ['red hats', 'shoes']);
  const { id } = added.body.added[0];
  const path = `${KEYWORDS}/${id}`;
  t.match((await send('owner', 'GET', path)).body.keyword, { query: 'red hats', tags: ['hats'], targetUrl: null });

  const targetUrl = 'https://shop.example/hats';
  const changed = await send('owner', 'PATCH', path, { archived: true, tags: ['a', ' b ', 'a'], targetUrl });
  t.strictSame(changed.body.keyword, { id, query: 'red hats', archived: true, tags: ['a', 'b'], targetUrl });
  t.strictSame(await tracked(), ['shoes']);
  t.match(await send('owner', 'PATCH', path, { archived: false, tags: [], targetUrl: null }), {
    ...{ status: 200, body: { keyword: { archived: false, tags: [], targetUrl: null } } },
  });
  t.strictSame(await tracked(), ['red hats', 'shoes']);
  t.strictSame((await send('owner', 'POST', KEYWORDS, { queries: ['shoes'] })).body, { added: [], skipped: ['shoes'] });

  t.strictSame(await audited(catalog, 'keyword.added'), [
    { actor: 'admin@acme.example', subject: 'Proj1', details: { keywords: [id] } },
  ]);
  t.match(await audited(catalog, 'keyword.changed'), [
    { actor: 'owner@acme.example', subject: id, details: { project: 'Proj1', archived: false, targetUrl: null } },
    { details: { archived: true, targetUrl } },
  ]);
});

t.test('an archived query that another keyword tracks by now stays archived', async (t) => {
  const { send } = await makeTeam(t, ROWS);
  const [{ id }] = (await send('owner', 'POST', KEYWORDS, { queries: ['Boots'] })).body.added;
  t.match(await send('owner', 'PATCH', `${KEYWORDS}/Kw002`, { archived: false }), {
    ...{ status: 409, code: 'conflict', message: /already tracks 'boots'/ },
  });
  await send('owner', 'PATCH', `${KEYWORDS}/${id}`, { archived: true });
  t.equal((await send('owner', 'PATCH', `${KEYWORDS}/Kw002`, { archived: false })).status, 200);
});

t.test('who may, and what is wrong', async (t) => {
  const { send } = await makeTeam(t, ROWS);
  const managers = ['owner', 'admin'] as const;
  await eachRole(t, send, { allowed: managers, status: 201 }, async () => ['POST', KEYWORDS, { queries: ['hats'] }]);
  await eachRole(t, send, { allowed: managers, status: 200 }, async () => ['PATCH', `${KEYWORDS}/Kw001`, { tags: [] }]);
  t.equal(
    (await send('key', 'PATCH', `${KEYWORDS}/Gone1`, {})).status,
    404,
    'what does not exist comes before the role',
  );
  t.equal((await send('owner', 'PATCH', '/projects/Proj2/keywords/Kw001', {})).status, 404, 'of another project');
  for (const [body, message] of [
    [{}, /queries must be sent/],
    [{ queries: 'shoes' }, /'queries' must be array/],
    [{ queries: [' '] }, /'queries' must have at least one query/],
    [{ queries: ['a\nb'] }, /'queries': Query 1 cannot be tracked/],
    [{ queries: ['a', '\ud800'] }, /'queries': Query 2 cannot be tracked/],
    [{ queries: ['a'.repeat(1001)] }, /at most 1000 characters/],
    [{ queries: ['a'], tags: [''] }, /'tags' must be at most 20 lines/],
    [{ queries: ['a'], tags: Array.from({ length: 21 }, (_, at) => `${at}`) }, /'tags' must be at most 20 lines/],
    [{ queries: ['a'], query: 'b' }, /'query' is not a field of this request; its fields are queries, tags/],
  ] as const) {
    t.match(await send('owner', 'POST', KEYWORDS, body), { status: 400, code: 'invalid_request', message });
  }
  for (const [body, message] of [
    [{ archived: 'yes' }, /'archived' must be boolean/],
    [{ targetUrl: 'shop.example' }, /'targetUrl' must be an address/],
    [{ targetUrl: 'javascript:alert(1)' }, /'targetUrl' must be an address/],
    [{ query: 'b' }, /'query' is not a field/],
  ] as const) {
    t.match(await send('owner', 'PATCH', `${KEYWORDS}/Kw001`, body), { status: 400, code: 'invalid_request', message });
  }
});

t.test('by command audited too, and kept by a rebuild', async (t) => {
  const { send, catalog, dataFolder } = await makeTeam(t, ROWS);
  const run = (...words: string[]) => command({ ORDINATE_DATA: dataFolder }, ...words);
  await send('owner', 'PATCH', `${KEYWORDS}/Kw001`, { tags: ['a'], targetUrl: 'https://shop.example/a' });
  t.match(await run('keywords', 'add', '--project', 'Proj1', '--query', 'hats'), { code: 0, stderr: '' });
  t.match(await run('keywords', 'archive', '--project', 'Proj1', '--query', 'hats'), { code: 0 });
  t.match(await audited(catalog, 'keyword.added'), [{ actor: /^command line/, subject: 'Proj1' }]);
  t.match(await audited(catalog, 'keyword.changed'), [{ details: { archived: true } }, {}]);
  t.match(await run('rebuild'), { code: 0 });
  t.match((await send('owner', 'GET', `${KEYWORDS}/Kw001`)).body.keyword, {
    ...{ tags: ['a'], targetUrl: 'https://shop.example/a' },
  });
});

t.test('archived queries are listed, and tracked again with their days', async (t) => {
  const { send } = await makeTeam(t, {
    keywords: [keyword('Kw001', 'boots'), { ...keyword('Kw002', 'tents'), archived: true }],
  });
  const path = '/projects/Proj1/archived-keywords';
  const archived = async () => (await send('key', 'GET', path)).body as { keywords: unknown[] };
  t.match(await archived(), { keywords: [{ id: 'Kw002', query: 'tents' }], hasMore: false });
  t.equal((await send('other', 'GET', path)).status, 404);
  const again = { archived: false };
  t.equal((await send('admin', 'PATCH', '/projects/Proj1/keywords/Kw002', again)).status, 200);
  t.strictSame((await archived()).keywords, []);
  t.equal((await send('key', 'GET', '/projects/Proj1/keywords')).body.paging.total, 2);
});
