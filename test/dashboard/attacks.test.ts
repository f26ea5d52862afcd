// Every action of the dashboard is refused to pages of other origins, without a session, and across workspaces.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createGrant } from '../../server/catalog/connections.ts';
import { temporaryFolder } from '../world.ts';
import { makeTeam } from './team.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof METHODS)[number];

interface Route {
  readonly method: Method;
  /** Below `/app/api`, with `:names`. */
  readonly url: string;
}

/** Routes of formats are those without one. */
const ENDING = /\.:format\(.+\)$/;

/** All routes below `/app/api`, from what Fastify prints of them: a tree with four columns for each level. */
function routesOf(printed: string): Route[] {
  const parts: string[] = [];
  const routes: Route[] = [];
  for (const line of printed.split('\n')) {
    const [, indent = '', part = '', methods] = /^((?:│ {3}| {4})*)[├└]── (\S*)(?: \((.+)\))?$/.exec(line) ?? [];
    parts.length = indent.length / 4;
    parts.push(part);
    const url = parts.join('');
    if (methods === undefined || !url.startsWith('/app/api/')) continue;
    for (const method of METHODS) {
      if (methods.split(', ').includes(method)) routes.push({ method, url: url.slice('/app/api'.length) });
    }
  }
  return routes;
}

async function scene(t: Test) {
  const team = await makeTeam(t, {}, { ORDINATE_SECRETS_KEY_FILE: join(temporaryFolder(t), 'secrets.key') });
  const { app, catalog, settings, cookies, send } = team;
  const idOf = async (path: string, body: object, of?: string): Promise<string> => {
    const made = (await send('owner', 'POST', path, body)).body;
    return (of === undefined ? made : made[of]).id as string;
  };
  const keys = await idOf('/keys', { name: 'another' });
  const grant = { workspace: 'acme', kind: 'google', clientId: 'c', connectedBy: 'owner@acme.example' };
  const ids: Readonly<Record<string, string>> = {
    projects: 'Proj1',
    channels: await idOf('/channels', { kind: 'webhook', to: 'https://93.184.216.34/hook' }, 'channel'),
    invitations: await idOf('/invitations', { email: 'new@acme.example', role: 'member' }, 'invitation'),
    keys,
    feeds: await idOf('/feeds', { keyId: keys, path: '/projects/Proj1/site' }),
    members: 'member@acme.example',
    google: await catalog.transaction((tx) =>
      createGrant(tx, settings, { ...grant, connectedAt: 1, endsAt: null, token: 'x' }),
    ),
  };
  const routes = routesOf(app.printRoutes({ commonPrefix: false })).filter(({ url }) => !url.endsWith('/*'));
  /** The path of a route: the first id is that of the workspace `acme`, or one that nobody has. */
  const pathOf = (url: string, isKnown: boolean): string => {
    const id = /^.*?\/(\w+)\/:/.exec(url)?.[1] ?? '';
    const known = isKnown ? ids[id]! : id === 'projects' ? 'Proj0' : 'nobody@acme.example';
    return url.replace(/:\w+/, known).replaceAll(/:\w+/g, 'some1');
  };
  let address = 0;
  const ask = async (method: Method, path: string, headers: Record<string, string>, payload = '{}') => {
    // Too many refusals of one address would be all that is seen.
    address += 1;
    const response = await app.inject({
      ...{ method, url: `/app/api${path}`, remoteAddress: `10.0.${address >> 8}.${address & 255}` },
      headers: { host: 'localhost', 'content-type': 'application/json', ...headers },
      ...(method === 'GET' || method === 'DELETE' ? {} : { payload }),
    });
    return { status: response.statusCode, text: response.body };
  };
  const own = { 'sec-fetch-site': 'same-origin' };
  const changes = async (): Promise<number> => {
    const rows = await catalog.statements.all('audit.newest', {
      workspace: 'acme',
      action: null,
      since: 0,
      limit: 1000,
    });
    return rows.length;
  };
  return { ...team, routes, pathOf, ask, own, changes, ids, cookie: (who: 'owner' | 'other') => cookies.get(who)! };
}

t.test('pages of other origins, and requests without a session', async (t) => {
  const { routes, pathOf, ask, own, key, cookie, changes } = await scene(t);
  t.ok(routes.length > 120, `${routes.length} routes`);
  for (const wanted of ['POST /channels', 'DELETE /members/:member', 'PUT /projects/:id/brand-terms', 'POST /keys']) {
    t.ok(
      routes.some(({ method, url }) => `${method} ${url}` === wanted),
      wanted,
    );
  }
  const before = await changes();
  for (const { method, url } of routes) {
    if (ENDING.test(url)) continue;
    const path = pathOf(url, true);
    const name = `${method} ${url}`;
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin, cross-site' },
      {},
      ...['https://evil.example', 'null', '', 'http://localhost:1', 'https://localhost', 'http://localhost.evil'].map(
        (origin) => ({ ...own, origin }),
      ),
    ] as Record<string, string>[]) {
      const { status } = await ask(method, path, { cookie: cookie('owner'), ...headers });
      if (status !== 403) t.equal(status, 403, `${name} with ${JSON.stringify(headers)}`);
    }
    for (const headers of [{}, { authorization: `Bearer ${key}` }, { cookie: 'ordinate=guess' }] as object[]) {
      const { status } = await ask(method, path, { ...own, ...headers });
      if (status !== 401) t.equal(status, 401, `${name} with ${Object.keys(headers).join('')} and no session`);
    }
  }
  t.equal(await changes(), before, 'nothing has changed');
});

t.test('bodies have at most 64 kB', async (t) => {
  const { routes, pathOf, ask, own, cookie, changes } = await scene(t);
  const before = await changes();
  const takers = routes.filter(({ method }) => ['POST', 'PUT', 'PATCH'].includes(method));
  t.ok(takers.length > 25);
  const headers = { ...own, cookie: cookie('owner') };
  for (const { method, url } of takers) {
    const sent = (bytes: number) => ask(method, pathOf(url, true), headers, `{"nosuch":"${'x'.repeat(bytes - 13)}"}`);
    const [whole, long] = [await sent(65_536), await sent(65_537)];
    t.match(whole.status, /^4/, `${method} ${url}: ${whole.text.slice(0, 200)}`);
    t.notMatch(whole.text, /longer than/);
    t.strictSame([long.status, /The body is longer than 65536 bytes/.test(long.text)], [400, true], `${method} ${url}`);
  }
  t.equal(await changes(), before, 'nothing has changed');
});

t.test('what belongs to another workspace answers as what does not exist', async (t) => {
  const { routes, pathOf, ask, own, cookie, changes, ids } = await scene(t);
  const before = await changes();
  const seen = new Set<string>();
  for (const { method, url } of routes.filter((route) => route.url.includes(':') && !ENDING.test(route.url))) {
    const foreign = await ask(method, pathOf(url, true), { ...own, cookie: cookie('other') });
    const missing = await ask(method, pathOf(url, false), { ...own, cookie: cookie('other') });
    t.strictSame([foreign.status, foreign.text], [404, missing.text], `${method} ${url}`);
    seen.add(/^.*?\/(\w+)\/:/.exec(url)?.[1] ?? '');
  }
  for (const kind of Object.keys(ids)) t.ok(seen.has(kind), kind);
  t.equal(await changes(), before, 'nothing has changed');
});
