// A shared link shows the chosen screens of one project and nothing else, until it ends or is revoked.
import { randomBytes, scryptSync } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createShare, listShares, SHARE_SCREENS } from '../../server/catalog/shares.ts';
import { command } from '../command.ts';
import { facts, keyword, temporaryFolder } from '../world.ts';
import { makeTeam } from './team.ts';

const HIDDEN = 'secretquery';
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

/** @param more newer alerts of a keyword */
function tables(more = 0) {
  const alert = {
    ...{ project_id: 'Proj1', kind: 'Kind', severity: 'warning', body: 'Body', date: '2026-03-01', url: null },
    ...{ created_at: '2026-03-02T00:00:00Z', resolved_at: null, keyword_id: null },
  };
  const note = {
    ...{ workspace_id: 'acme', project_id: 'Proj1', scope: 'project', date: '2026-03-01', end_date: null },
    ...{ category: 'other', client_visible: true, author: 'a@acme.example' },
    ...{ created_at: '2026-03-02T00:00:00Z', updated_at: '2026-03-02T00:00:00Z' },
  };
  const uuid = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  return {
    keywords: [keyword('Kw001', HIDDEN)],
    groups: [
      {
        ...{ id: 'Grp01', project_id: 'Proj1', kind: 'rule', parent_id: null, position: 0, pinned: false },
        name: `About ${HIDDEN}`,
        rule: JSON.stringify({ match: 'all', conditions: [{ field: 'query', op: 'contains', value: HIDDEN }] }),
      },
    ],
    site_daily: facts('date device', ['2026-03-01', 'mobile', 5, 50, 100]),
    country_daily: facts('date country', ['2026-03-01', 'gbr', 5, 50, 100]),
    query_daily: facts('query date country', [HIDDEN, '2026-03-01', 'gbr', 5, 50, 100]),
    page_daily: facts('url date country', ['https://shop.example/a', '2026-03-01', 'gbr', 5, 50, 100]),
    alerts: [
      { ...alert, id: uuid(1), type: 'traffic_drop', title: 'Traffic fell' },
      { ...alert, id: uuid(2), type: 'keyword_drop', title: `Fell: ${HIDDEN}`, keyword_id: 'Kw001' },
      { ...alert, id: uuid(3), type: 'rule', title: `Rule on ${HIDDEN}` },
      { ...alert, id: uuid(8), type: 'group_drop', title: `Group of ${HIDDEN} fell` },
      ...Array.from({ length: more }, (_, index) => ({
        ...{ ...alert, id: uuid(100 + index), type: 'keyword_drop', title: `Fell: ${HIDDEN}`, keyword_id: 'Kw001' },
        created_at: '2026-03-03T00:00:00Z',
      })),
    ],
    notes: [
      { ...note, id: uuid(4), text: 'For clients' },
      { ...note, id: uuid(5), text: 'Inside only', client_visible: false },
      { ...note, id: uuid(6), text: 'Of a keyword', scope: 'keyword', keyword_id: 'Kw001' },
      { ...note, id: uuid(7), text: 'Of all projects', scope: 'workspace', project_id: null },
      { ...note, id: uuid(9), text: 'Of a group', scope: 'group', group_id: 'Grp01' },
    ],
  };
}

async function sharedTeam(t: Test, environment: NodeJS.ProcessEnv = {}, more = 0) {
  const team = await makeTeam(t, tables(more), environment);
  const share = async (body: object, project = 'Proj1'): Promise<{ id: string; root: string; url: string }> => {
    const answer = await team.send('owner', 'POST', `/projects/${project}/shares`, body);
    if (answer.status !== 201) throw new Error(answer.message);
    const { url, share: made } = answer.body;
    return { id: made.id, url, root: new URL(url).pathname };
  };
  const get = async (url: string, headers: Record<string, string> = {}) => {
    const response = await team.app.inject({ url, headers: { host: 'localhost', ...headers } });
    return { status: response.statusCode, text: response.body, headers: response.headers };
  };
  const open = (url: string, body: object) =>
    team.app.inject({
      method: 'POST',
      url: `${url}/session`,
      headers: { host: 'localhost', 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
  return { ...team, share, get, open };
}

const RANGE = 'from=2026-03-01&to=2026-03-02';
const paramsOf = (resource: string): string => (/groups|alerts|notes/.test(resource) ? '' : `?${RANGE}`);

t.test('each screen answers its resources as the API does, and nothing else', async (t) => {
  const { share, get, read } = await sharedTeam(t, { ORDINATE_PUBLIC_URL: 'https://reports.acme.example' });
  const unknown = (await get('/share/ord_share_00000000000000000000000000000000')).text;
  for (const screen of SHARE_SCREENS) {
    const { root } = await share({ screens: [screen] });
    const list = await get(`${root}/api/projects`);
    t.equal(JSON.parse(list.text).projects.length, 1, 'this one project');
    t.equal(list.headers['x-share-screens'], screen);
    for (const resource of ALL) {
      const path = `/projects/Proj1/${resource}${paramsOf(resource)}`;
      const answer = await get(`${root}/api${path}`);
      const isShown = (RESOURCES[screen] as readonly string[]).includes(resource);
      t.equal(answer.status, isShown ? 200 : 404, `${screen}: ${resource} ${isShown ? answer.text.slice(0, 200) : ''}`);
      t.notOk(answer.text.includes('reports.acme.example'), 'no link to the dashboard');
      if (!isShown) t.equal(answer.text, unknown);
      else if (!['alerts', 'notes', 'data'].includes(resource)) {
        t.strictSame(JSON.parse(answer.text), (await read(path)).body, resource);
      }
    }
  }
  const { root } = await share({ screens: SHARE_SCREENS });
  t.strictSame(JSON.parse((await get(`${root}/api/projects/Proj1/data`)).text), {
    tables: [
      {
        ...{ table: 'site_daily', firstDay: '2026-03-01', lastDay: '2026-03-01', rows: 1 },
        runs: [
          { from: '2026-03-01', to: '2026-03-01', state: 'final' },
          { from: '2026-03-02', to: '2026-03-10', state: 'absent' },
        ],
      },
    ],
  });
  for (const path of [
    ...['', '/', '/projects/Proj2/site', '/projects/Other/site', '/projects/Proj1', '/projects/Proj1/snapshot'],
    ...['/portfolio', '/projects.csv', '/projects/Proj1/site.csv', '/projects/Proj1/site?format=csv', '/mcp'],
    ...['/projects/Proj1/alerts/x/chart', '/session', '/projects/Proj1/%73ite/..', '/projects/Proj1/rules'],
    ...[
      '/projects/Proj1/queries-of-page?page=x',
      '/projects/Proj1/pages-of-query?query=x',
      '/projects/Proj1/days-of-query?query=x',
    ],
  ]) {
    const answer = await get(`${root}/api${path}`);
    t.strictSame([answer.status, answer.text], [404, unknown], path);
  }
});

t.test('hidden queries: no text of one in any answer', async (t) => {
  const { share, get } = await sharedTeam(t);
  const open = await share({ screens: SHARE_SCREENS });
  const shown = await get(`${open.root}/api/projects/Proj1/alerts`);
  t.equal(JSON.parse(shown.text).alerts.length, 4);
  const notes = JSON.parse((await get(`${open.root}/api/projects/Proj1/notes`)).text).notes;
  t.strictSame(notes.map(({ text }: { text: string }) => text).toSorted(), [
    'For clients',
    'Of a group',
    'Of a keyword',
  ]);
  t.ok(
    notes.every(({ author }: { author: string }) => author === ''),
    'no address of a member',
  );
  t.notOk(
    notes.some((note: object) => 'effect' in note || 'verdict' in note),
    'a note has no verdict here',
  );
  const { id } = notes.find(({ text }: { text: string }) => text === 'Of a keyword');
  const effect = await get(`${open.root}/api/projects/Proj1/effects?note=${id}`);
  t.equal(effect.status, 404, 'nor can it be asked for');
  const { root } = await share({ screens: SHARE_SCREENS, hideQueries: true });
  for (const resource of ALL) {
    const { status, text } = await get(`${root}/api/projects/Proj1/${resource}${paramsOf(resource)}`);
    t.equal(status, ['queries', 'keywords', 'groups'].includes(resource) ? 404 : 200, resource);
    t.notMatch(text, HIDDEN, resource);
  }
  const alerts = JSON.parse((await get(`${root}/api/projects/Proj1/alerts?limit=1`)).text).alerts;
  t.match(alerts, [{ title: 'Traffic fell', url: null }], 'the limit counts what is shown');
  t.equal((await get(`${root}/api/projects/Proj1/alerts?limit=0`)).status, 400);
  const kept = JSON.parse((await get(`${root}/api/projects/Proj1/notes?clientVisible=false`)).text).notes;
  t.strictSame(
    kept.map(({ text, group }: { text: string; group: unknown }) => [text, group]).toSorted(),
    [
      ['For clients', null],
      ['Of a group', null],
    ],
    'the name of a group may be a query',
  );
  const { headers } = await get(`${root}/api/projects`);
  t.equal(headers['x-share-screens'], 'overview breakdowns pages alerts notes', 'the page offers only what answers');
  t.equal(headers['x-share-final-through'], '2026-03-07');
  for (const filter of [
    'query:contains:x',
    'url:contains:a;query:contains:x',
    '{"match":"all","conditions":[{"field":"query","op":"equals","value":"x"}]}',
    String.raw`{"match":"all","conditions":[{"field":"qu\u0065ry","op":"equals","value":"x"}]}`,
    String.raw`{"match":"all","conditions":[{"fi\u0065ld":"query","op":"equals","value":"x"}]}`,
    '{"match":"all","conditions":[{"field":"url","field":"query","op":"equals","value":"x"}]}',
  ]) {
    const path = `/api/projects/Proj1/pages?${RANGE}&filter=${encodeURIComponent(filter)}`;
    t.equal((await get(root + path)).status, 400, filter);
    t.equal((await get(root + path.replace('pages', 'site'))).status, 400, `site: ${filter}`);
  }
  const filter = encodeURIComponent('url:contains:/query:/');
  t.equal((await get(`${root}/api/projects/Proj1/pages?${RANGE}&filter=${filter}`)).status, 200, 'a word of a page');
});

t.test('alerts of keywords do not push out the others', async (t) => {
  const { share, get } = await sharedTeam(t, {}, 510);
  const { root } = await share({ screens: ['alerts'], hideQueries: true });
  const { text } = await get(`${root}/api/projects/Proj1/alerts`);
  t.strictSame(
    JSON.parse(text).alerts.map(({ title }: { title: string }) => title),
    ['Traffic fell'],
  );
});

t.test('an address that cannot be decoded: the same headers, and no token in answer or log', async (t) => {
  const { share, get, log } = await sharedTeam(t);
  const { id, root } = await share({ screens: ['overview'] });
  await get(`${root}/api/projects`);
  const { status, headers, text } = await get(`${root}/api/%zz`);
  t.equal(status, 400);
  t.match(headers, { 'x-robots-tag': 'noindex', 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
  for (const written of [text, log.join('')]) t.notOk(written.includes(root.slice(-32)));
  t.ok(
    log.some((line) => line.includes(`"share":"${id}"`)),
    'the log names the share by its id',
  );
});

t.test('the end of an opened link is signed', async (t) => {
  const { share, get, open, clock } = await sharedTeam(t);
  const { root } = await share({ screens: ['overview'], password: 'open sesame' });
  const [pair = ''] = String((await open(root, { password: 'open sesame' })).headers['set-cookie']).split(';');
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
  const at = { by: 'owner@acme.example', at: clock.at * 1000 };
  const { token } = await createShare(catalog, 'Proj1', { ...choice, passwordHash }, at);
  t.equal((await open(`/share/${token}`, { password: 'open sesame' })).statusCode, 204);
  t.equal((await open(`/share/${token}`, { password: 'wrong' })).statusCode, 401);
});

t.test('a limit of its own for each share', async (t) => {
  const { share, get, key, app } = await sharedTeam(t, { ORDINATE_SHARE_REQUESTS_PER_MINUTE: '3' });
  const [one, other] = [await share({ screens: ['overview'] }), await share({ screens: ['overview'] })];
  const statuses: number[] = [];
  for (let index = 0; index < 4; index++) statuses.push((await get(`${one.root}/api/projects`)).status);
  t.strictSame(statuses, [200, 200, 200, 429]);
  t.ok(Number((await get(`${one.root}/api/projects`)).headers['retry-after']) >= 1);
  t.equal((await get(`${other.root}/api/projects`)).status, 200);
  const answer = await app.inject({ url: '/api/v1/projects', headers: { authorization: `Bearer ${key}` } });
  t.equal(answer.statusCode, 200);
});

t.test('by command; neither token nor password is in a file, a list or the log', async (t) => {
  const { dataFolder, app, log } = await makeTeam(t);
  const settings = { ORDINATE_DATA: dataFolder, ORDINATE_PUBLIC_URL: 'https://reports.example.com' };
  const file = join(temporaryFolder(t), 'password');
  writeFileSync(file, 'open sesame\n');
  const words = ['share', 'create', '--project', 'Proj1', '--screens', 'overview,alerts', '--hide-queries'];
  const made = await command(settings, ...words, '--expires', '30d', '--password-file', file, '--json');
  const { share, url } = JSON.parse(made.stdout);
  t.match(url, /^https:\/\/reports\.example\.com\/share\/ord_share_[A-Za-z0-9]{32}$/);
  t.match(share, {
    project: 'Proj1',
    screens: ['overview', 'alerts'],
    hideQueries: true,
    hasPassword: true,
    revokedAt: null,
  });
  const days = (Date.parse(share.expiresAt) - Date.parse(share.createdAt)) / 86_400_000;
  t.equal(days, 30);
  const token = url.slice(-32) as string;
  await app.inject({ url: `/share/ord_share_${token}/api/projects` });
  const listed = await command(settings, 'share', 'list', '--project', 'Proj1', '--json');
  t.strictSame(JSON.parse(listed.stdout), [share]);
  const audit = await command(settings, 'audit', 'list', '--json');
  const written = [listed.stdout, audit.stdout, log.join('')];
  for (const entry of globSync('**/*', { cwd: dataFolder, withFileTypes: true }).filter((one) => one.isFile())) {
    written.push(readFileSync(join(entry.parentPath, entry.name)).toString('latin1'));
  }
  for (const text of written) {
    for (const hidden of [token, 'open sesame', Buffer.from(token).toString('base64url')])
      t.notOk(text.includes(hidden));
  }
  t.match(await command(settings, 'share', 'revoke', share.id), { code: 0, stdout: /has ended/ });
  t.match(JSON.parse((await command(settings, 'share', 'list', '--json')).stdout), [{ revokedAt: /^20/ }]);
  t.match(await command(settings, ...words, '--expires', 'soon'), { code: 1, stderr: /'expiresAt' must be a day/ });
  t.match(await command(settings, 'share', 'revoke', 'nothing'), { code: 1, stderr: /no share 'nothing'/ });
  for (const [by, why] of [
    ['member@acme.example', /Only an owner or admin can share a project; .* is a member/],
    ['nobody@acme.example', /is not a member of the workspace/],
  ] as const) {
    t.match(await command(settings, ...words, '--by', by), { code: 1, stderr: why });
  }
  t.match(await command(settings, ...words, '--by', 'admin@acme.example'), { code: 0 });
  t.match(await command(settings, 'share', 'create', '--project', 'Proj1', '--screens', 'nothing'), {
    ...{ code: 1, stderr: /'screens' must be some of/ },
  });
});
