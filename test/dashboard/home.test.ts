// The list of projects shows what is open in all of them, their sum, and those with a tag or a mark of the member.
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { createKey } from '../../server/catalog/keys.ts';
import { createSession } from '../../server/catalog/sessions.ts';
import { addDays } from '../../server/domain/dates.ts';
import { facts, NOW, type Row } from '../world.ts';
import { audited, eachRole, makeTeam } from './team.ts';

const LAST = '2026-03-10';
const alert = (project_id: string, more: Row = {}): Row => ({
  id: randomUUID(),
  project_id,
  type: 'traffic_drop',
  kind: 'Traffic drop',
  severity: 'warning',
  title: `Clicks of ${project_id} fell`,
  body: 'They fell.',
  date: LAST,
  keyword_id: null,
  url: null,
  created_at: `${LAST}T00:00:00Z`,
  resolved_at: null,
  ...more,
});
const site = (project_id: string, clicks: number, before: number): Row[] =>
  facts('date device', [addDays(LAST, -7), 'mobile', before, 100, 100], [LAST, 'mobile', clicks, 200, 600]).map(
    (row) => ({ ...row, project_id }),
  );
const world = await makeTeam(t, {
  site_daily: [...site('Proj1', 30, 20), ...site('Proj2', 10, 20), ...site('Other', 99, 99)],
  alerts: [
    alert('Proj1', { created_at: '2026-03-01T00:00:00Z' }),
    alert('Proj2'),
    alert('Proj2', { resolved_at: `${LAST}T01:00:00Z` }),
    alert('Other'),
  ],
});
const { send, catalog, app } = world;
const RANGE = `from=${addDays(LAST, -6)}&to=${LAST}&compare=previous`;

t.test('open alerts of all projects, the newest first, and what is new since the last visit', async (t) => {
  const { body } = await send('key', 'GET', '/home?since=2026-03-05T00:00:00Z');
  t.strictSame(
    body.alerts.map(({ project, title }: { project: string; title: string }) => [project, title]),
    [
      ['Proj2', 'Clicks of Proj2 fell'],
      ['Proj1', 'Clicks of Proj1 fell'],
    ],
  );
  t.strictSame(body.counts, [
    { project: 'Proj1', open: 1, fresh: 0 },
    { project: 'Proj2', open: 1, fresh: 2 },
  ]);
  t.match(await send('key', 'GET', '/home?since=yesterday'), { status: 400, message: /^since must be/ });
});

t.test('tags are set by owners and admins, marks by each member', async (t) => {
  await eachRole(t, send, { allowed: ['owner', 'admin'], status: 200 }, async () => [
    'PUT',
    '/projects/Proj1/tags',
    { tags: [' retail ', 'retail', 'uk'] },
  ]);
  t.strictSame((await send('member', 'GET', '/home')).body.tags, [
    { project: 'Proj1', tag: 'retail' },
    { project: 'Proj1', tag: 'uk' },
  ]);
  t.match(await audited(catalog, 'project.tagged'), [{ subject: 'Proj1', details: { tags: ['retail', 'uk'] } }, {}]);
  for (const tags of [[''], ['x'.repeat(41)], Array.from({ length: 21 }, (_, index) => `tag ${index}`)]) {
    t.match(await send('owner', 'PUT', '/projects/Proj1/tags', { tags }), { status: 400, message: /^'tags' must/ });
  }
  for (const _ of [1, 2]) t.equal((await send('member', 'PUT', '/projects/Proj2/favourite')).status, 204);
  t.equal((await send('key', 'PUT', '/projects/Proj2/favourite')).status, 403);
  t.strictSame((await send('member', 'GET', '/home')).body.favourites, ['Proj2']);
  t.strictSame((await send('owner', 'GET', '/home')).body.favourites, [], 'those of others are not shown');
});

t.test('numbers of some projects, and their sum', async (t) => {
  const ids = async (query: string): Promise<string[]> => {
    const { body } = await send('member', 'GET', `/portfolio-of?${RANGE}&sort=domain${query}`);
    return (body.projects as { id: string }[]).map(({ id }) => id);
  };
  t.strictSame(await ids(''), ['Proj1', 'Proj2']);
  t.strictSame(await ids('&tag=retail'), ['Proj1']);
  t.strictSame(await ids('&favourites=1'), ['Proj2']);
  t.strictSame(await ids('&favourites=1&tag=uk'), []);
  t.strictSame(await ids('&tag=nothing'), []);
  const { body } = await send('member', 'GET', `/portfolio-totals?${RANGE}`);
  t.match(body, {
    projects: 2,
    totals: { clicks: 40, impressions: 400, position: 4, comparison: { clicks: 40, impressions: 200, position: 2 } },
  });
  t.match((await send('member', 'GET', `/portfolio-totals?${RANGE}&tag=retail`)).body, {
    projects: 1,
    totals: { clicks: 30, change: { clicks: { difference: 10 } } },
  });
  t.match(await send('member', 'GET', '/portfolio-totals?from=never'), { status: 400 });
});

t.test('favourites come before the others, page by page, with their days', async (t) => {
  type Body = { paging: object; projects: { id: string; daily?: { clicks: number }[] }[] };
  const page = async (who: 'member' | 'owner', query: string): Promise<Body> =>
    (await send(who, 'GET', `/portfolio-by-favourites?${RANGE}&sort=domain${query}`)).body as Body;
  const ids = ({ projects }: Body): string[] => projects.map(({ id }) => id);
  const all = await page('member', '&daily=1');
  t.strictSame(ids(all), ['Proj2', 'Proj1'], 'the one that the member has marked, then the order that was asked for');
  t.strictSame(
    all.projects.map(({ daily }) => daily!.at(-1)!.clicks),
    [10, 30],
  );
  t.strictSame(ids(await page('owner', '')), ['Proj1', 'Proj2'], 'others have marks of their own');
  const second = await page('member', '&limit=1&offset=1');
  t.strictSame([ids(second), second.paging], [['Proj1'], { total: 2, limit: 1, offset: 1 }]);
  t.strictSame(ids(await page('member', '&tag=retail')), ['Proj1']);
  t.strictSame(ids(await page('member', '&offset=9&daily=1')), []);
  const headers = { 'sec-fetch-site': 'same-origin', host: 'localhost', cookie: world.cookies.get('member')! };
  const csv = await app.inject({ url: `/app/api/portfolio-of.csv?${RANGE}&favourites=1`, headers });
  t.match(csv.body.split('\r\n'), [/^id,domain/, /^Proj2,/, '']);
});

t.test('a key that reads some projects sees nothing of the others', async (t) => {
  const made = { workspace: 'acme', by: null, at: NOW * 1000 };
  const { id: keyId } = await createKey(catalog, { ...made, name: 'one', projects: ['Proj1'], expiresAt: null });
  const { token } = await createSession(catalog, { ...made, who: { keyId, email: null } });
  // biome-ignore lint/suspicious/noExplicitAny: answers are picked from
  const get = async (path: string): Promise<any> => {
    const headers = { 'sec-fetch-site': 'same-origin', host: 'localhost', cookie: `ordinate=${token}` };
    return JSON.parse((await app.inject({ url: `/app/api${path}`, headers })).body) as unknown;
  };
  const home = await get('/home');
  t.strictSame(
    home.alerts.map(({ project }: { project: string }) => project),
    ['Proj1'],
  );
  t.notMatch(JSON.stringify(home), 'Proj2');
  t.match(await get(`/portfolio-totals?${RANGE}`), { projects: 1 });
  t.equal((await get(`/portfolio-of?${RANGE}&tag=nothing`)).projects.length, 0);
});
