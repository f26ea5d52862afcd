// A shared link answers the resources of its screens, as the API does, and nothing else, within a limit of its own.
import { randomBytes, scryptSync } from 'node:crypto';
import t, { type Test } from 'tap';
import { createShare, listShares, SHARE_SCREENS } from '../../server/catalog/keys.ts';
import { facts, keyword } from '../world.ts';
import { makeTeam } from './team.ts';

const RESOURCES = {
  overview: ['site', 'data'],
  breakdowns: ['breakdowns'],
  pages: ['pages', 'page-groups'],
  queries: ['queries'],
  keywords: ['keywords', 'groups'],
  alerts: ['alerts'],
  notes: ['notes'],
} as const;
const ALL = Object.values(RESOURCES).flat();
const DAY = '2026-03-01';
const TABLES = {
  keywords: [keyword('Kw001', 'boots')],
  site_daily: facts('date device', [DAY, 'mobile', 5, 50, 100]),
  country_daily: facts('date country', [DAY, 'gbr', 5, 50, 100]),
  query_daily: facts('query date country', ['boots', DAY, 'gbr', 5, 50, 100]),
  page_daily: facts('url date country', ['https://shop.example/a', DAY, 'gbr', 5, 50, 100]),
};

async function sharedTeam(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const team = await makeTeam(t, TABLES, environment);
  const share = async (body: object): Promise<{ id: string; root: string }> => {
    const { body: answer } = await team.send('owner', 'POST', '/projects/Proj1/shares', body);
    return { id: answer.share.id, root: new URL(answer.url).pathname };
  };
  const get = async (url: string, headers: Record<string, string> = {}) => {
    const response = await team.app.inject({ url, headers: { host: 'localhost', ...headers } });
    return { status: response.statusCode, text: response.body, headers: response.headers };
  };
  const open = (url: string, password: string) =>
    team.app.inject({
      ...{ method: 'POST', url: `${url}/session`, payload: JSON.stringify({ password }) },
      headers: { host: 'localhost', 'content-type': 'application/json' },
    });
  return { ...team, share, get, open };
}

t.test('each screen answers its resources as the API does, and nothing else', async (t) => {
  const { share, get, read } = await sharedTeam(t, { ORDINATE_PUBLIC_URL: 'https://reports.acme.example' });
  const { text: unknown } = await get('/share/ord_share_00000000000000000000000000000000');
  for (const screen of SHARE_SCREENS) {
    const { root } = await share({ screens: [screen] });
    const { headers } = await get(`${root}/api/projects`);
    t.equal(headers['x-share-screens'], screen);
    for (const resource of ALL) {
      const path = `/projects/Proj1/${resource}${/groups|alerts|notes/.test(resource) ? '' : `?from=${DAY}&to=2026-03-02`}`;
      const { status, text } = await get(`${root}/api${path}`);
      const isShown = (RESOURCES[screen] as readonly string[]).includes(resource);
      t.strictSame([status, text.includes('reports.acme.example')], [isShown ? 200 : 404, false], `${screen}: ${path}`);
      if (!isShown) t.equal(text, unknown);
      // Those have less than the API, as the dialogue `hidden-queries` says.
      else if (!['alerts', 'notes', 'data'].includes(resource))
        t.strictSame(JSON.parse(text), (await read(path)).body, resource);
    }
  }
  const { root } = await share({ screens: SHARE_SCREENS });
  for (const path of [
    ...['', '/', '/projects/Proj2/site', '/projects/Other/site', '/projects/Proj1', '/projects/Proj1/snapshot'],
    ...['/portfolio', '/projects.csv', '/projects/Proj1/site.csv', '/projects/Proj1/site?format=csv', '/mcp'],
    ...['/projects/Proj1/alerts/x/chart', '/session', '/projects/Proj1/%73ite/..', '/projects/Proj1/rules'],
    ...['queries-of-page?page=x', 'pages-of-query?query=x', 'days-of-query?query=x'].map(
      (resource) => `/projects/Proj1/${resource}`,
    ),
  ]) {
    const { status, text } = await get(`${root}/api${path}`);
    t.strictSame([status, text], [404, unknown], path);
  }
});

t.test('the log names a share by its id, and has no token', async (t) => {
  const { share, get, log } = await sharedTeam(t);
  const { id, root } = await share({ screens: ['overview'] });
  await get(`${root}/api/projects`);
  await get(`${root}/api/%zz`);
  t.strictSame(
    [`"share":"${id}"`, root.slice(-32)].map((text) => log.join('').includes(text)),
    [true, false],
  );
});

t.test('the end of an opened link is signed', async (t) => {
  const { share, get, open, clock } = await sharedTeam(t);
  const { root } = await share({ screens: ['overview'], password: 'open sesame' });
  const [pair = ''] = String((await open(root, 'open sesame')).headers['set-cookie']).split(';');
  const later = pair.replace(/=\d+/, `=${Math.floor(clock.at / 1000) + 60}`);
  t.equal((await get(`${root}/api/projects`, { cookie: later })).status, 401);
});

t.test('a password is stored with the cost of its hash: one with another cost stays valid', async (t) => {
  const { open, catalog, share, clock } = await sharedTeam(t);
  await share({ screens: ['overview'], password: 'open sesame' });
  const [made] = await listShares(catalog, 'Proj1');
  t.match(made!.passwordHash, /^scrypt:\d+:\d+:\d+:[0-9a-f]{32}:[0-9a-f]{64}$/);
  const salt = randomBytes(16);
  const hash = scryptSync('open sesame', salt, 32, { N: 1024, r: 4, p: 2 });
  const choice = { screens: ['overview'], hideQueries: false, expiresAt: null } as const;
  const passwordHash = `scrypt:1024:4:2:${salt.toString('hex')}:${hash.toString('hex')}`;
  const place = { workspace: 'acme', project: 'Proj1' };
  const { token } = await createShare(catalog, place, { ...choice, passwordHash }, clock.at * 1000);
  const statuses = await Promise.all(['open sesame', 'wrong'].map((password) => open(`/share/${token}`, password)));
  t.strictSame(
    statuses.map(({ statusCode }) => statusCode),
    [204, 401],
  );
});

t.test('a limit of its own for each share', async (t) => {
  const { share, get, read } = await sharedTeam(t, { ORDINATE_SHARE_REQUESTS_PER_MINUTE: '3' });
  const [one, other] = [await share({ screens: ['overview'] }), await share({ screens: ['overview'] })];
  const statuses: number[] = [];
  for (const { root } of [one, one, one, one, other]) statuses.push((await get(`${root}/api/projects`)).status);
  t.strictSame(statuses, [200, 200, 200, 429, 200]);
  t.ok(Number((await get(`${one.root}/api/projects`)).headers['retry-after']) >= 1);
  t.ok((await read('/projects')).body.projects.length > 0, 'nor is the API affected');
});
