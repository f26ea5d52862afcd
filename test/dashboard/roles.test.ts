// Who may do what with whose things: the table of the guide, and each route of the dashboard.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createGrant } from '../../server/catalog/connections.ts';
import { localOnly } from '../stores.ts';
import { keyword, temporaryFolder } from '../world.ts';
import { makeTeam } from './team.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/roles.md'), 'utf8');
const WHO = ['owner', 'admin', 'member', 'key'] as const;
const P = '/projects/Proj1';
const CONNECT = '/connect/google';

/** By the beginning of a row: requests that change nothing, because their bodies lack what they need. */
const REQUESTS = {
  'read projects, notes': [`GET ${P}/notes`, `GET ${P}/alerts`, `GET ${P}/groups`, `GET ${P}/rules`],
  'notes: add': [`POST ${P}/notes`, `POST ${P}/views`],
  'notes of others': [
    ...['keywords', 'groups', 'groups/preview', 'page-groups', 'page-groups/preview'].map(
      (path) => `POST ${P}/${path}`,
    ),
    ...[
      `PUT ${P}/brand-terms`,
      `PUT ${P}/tags`,
      `POST ${P}/brand-terms/preview`,
      `POST ${P}/rules`,
      `POST ${P}/rules/test`,
      `POST ${P}/findings/dismissed`,
    ],
  ],
  'channels, shared links': ['GET /channels', 'POST /channels', `POST ${P}/sync`, 'GET /connect', `PUT ${P}/bing`],
  'API keys, feeds, audit': ['GET /keys', 'POST /keys', 'GET /feeds', 'POST /feeds', 'GET /audit', 'GET /members'],
  'connect and revoke': [`POST ${CONNECT}`, 'GET /invitations', 'POST /invitations'],
};

t.test('each row of the table', async (t) => {
  const { send } = await makeTeam(t);
  const rows = GUIDE.match(/^\| [a-zA-Z].*\|$/gm) ?? [];
  t.equal(rows.length, Object.keys(REQUESTS).length);
  for (const row of rows) {
    const [what = '', ...may] = row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    const requests = Object.entries(REQUESTS).find(([name]) => what.startsWith(name))?.[1];
    t.ok(requests, what);
    for (const [at, who] of WHO.entries()) {
      for (const request of requests ?? []) {
        const [method, path] = request.split(' ') as ['GET' | 'POST' | 'PUT', string];
        const { status } = await send(who, method, path, ...(method === 'GET' ? [] : [{}]));
        t.equal(status === 403, may[at] === 'no', `${who}: ${request} (${status})`);
        t.not(status, 404, `${request} exists`);
      }
    }
  }
});

const environment = {
  ...{ ORDINATE_SECRETS_KEY_FILE: join(temporaryFolder(t), 'secrets.key'), ORDINATE_FEEDS: 'on' },
  // Nobody is there.
  ORDINATE_GOOGLE_ENDPOINT: 'http://127.0.0.1:1',
};
const RULE = { scope: 'site', metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 100 };

/** What owners make before, by the names that paths have for their ids. */
const MADE = {
  NOTE: ['POST', `${P}/notes`, { date: '2026-03-01', text: 'x', category: 'content' }],
  VIEW: ['POST', `${P}/views`, { name: 'v', address: '/queries?sort=position' }],
  RULE: ['POST', `${P}/rules`, { name: 'r', rule: RULE }],
  SHARE: ['POST', `${P}/shares`, { screens: ['overview'] }],
  KEY: ['POST', '/keys', { name: 'k' }],
  CHANNEL: ['POST', '/channels', { kind: 'slack', to: 'https://hooks.example/x' }],
  INVITATION: ['POST', '/invitations', { email: 'new@acme.example', role: 'member' }],
} as const;

const EVERYBODY = ['stranger', 'other', 'key', 'member', 'admin', 'owner'] as const;
/** Statuses in that order. Bodies are empty, so that who may change something is told what is missing; what goes is gone. */
const TABLE = `
GET /session 401 200 200 200 200 200
GET /projects 401 200 200 200 200 200
GET /home 401 200 200 200 200 200
GET /portfolio-totals 401 200 200 200 200 200
GET ${P}/summary 401 404 200 200 200 200
GET ${P}/data 401 404 200 200 200 200
GET ${P}/site 401 404 200 200 200 200
GET ${P}/movers?kind=keywords&change=up&compare=previous 401 404 200 200 200 200
GET ${P}/movers.csv?kind=never&change=up&compare=previous 401 404 400 400 400 400
GET ${P}/tracker 401 404 200 200 200 200
GET ${P}/line?of=brand 401 404 200 200 200 200
GET ${P}/views 401 404 200 200 200 200
GET ${P}/archived-keywords 401 404 200 200 200 200
GET ${P}/brand-terms 401 404 200 200 200 200
GET ${P}/rules 401 404 200 200 200 200
GET ${P}/notes 401 404 200 200 200 200
GET ${P}/tags 401 404 403 200 200 200
GET ${P}/keywords/Kw001 401 404 200 200 200 200
GET ${P}/days-of-page?page=https://shop.example/ 401 404 200 200 200 200
GET ${P}/alerts/00000000-0000-4000-8000-000000000001/chart 401 404 200 200 200 200
GET ${P}/shares 401 404 403 403 200 200
GET ${P}/groups/Grp01 401 404 403 403 200 200
GET ${P}/page-groups/Pag01 401 404 403 403 200 200
GET ${P}/notes/NOTE 401 404 403 200 200 200
GET ${P}/rules/RULE 401 404 403 403 200 200
GET ${P}/views/VIEW 401 404 403 200 200 200
GET /keys 401 200 403 403 200 200
GET /channels 401 200 403 403 200 200
GET /channels/CHANNEL 401 404 403 403 200 200
GET /channels/CHANNEL/deliveries 401 404 403 403 200 200
GET /feeds 401 200 403 403 200 200
GET /members 401 200 403 403 200 200
GET /members/member@acme.example 401 404 403 403 200 200
GET /invitations 401 200 403 403 403 200
GET /audit 401 200 403 403 200 200
GET /connect 401 200 403 403 200 200
POST ${P}/notes 401 404 403 400 400 400
POST ${P}/views 401 404 403 400 400 400
POST ${P}/rules 401 404 403 403 400 400
POST ${P}/rules/test 401 404 403 403 400 400
POST ${P}/shares 401 404 403 403 400 400
POST ${P}/keywords 401 404 403 403 400 400
POST ${P}/groups 401 404 403 403 400 400
POST ${P}/groups/preview 401 404 403 403 400 400
POST ${P}/page-groups 401 404 403 403 400 400
POST ${P}/page-groups/preview 401 404 403 403 400 400
POST ${P}/brand-terms/preview 401 404 403 403 400 400
POST ${P}/findings/dismissed 401 404 403 403 400 400
POST ${P}/sync 401 404 403 403 409 409
POST /keys 401 400 403 403 400 400
POST /channels 401 400 403 403 400 400
POST /channels/CHANNEL/rotate 401 404 403 403 409 409
POST /feeds 401 400 403 403 400 400
POST /invitations 401 400 403 403 403 400
POST /connect/google 401 409 403 403 403 409
GET /connect/google/GRANT/properties 401 404 403 403 503 503
POST /connect/google/GRANT/projects 401 404 403 403 400 400
DELETE /connect/google/GRANT 401 404 403 403 403 204
PATCH ${P}/notes/NOTE 401 404 403 403 200 200
PATCH ${P}/rules/RULE 401 404 403 403 200 200
PATCH ${P}/keywords/Kw001 401 404 403 403 200 200
PATCH ${P}/views/VIEW 401 404 403 403 200 200
PATCH ${P}/groups/Grp01 401 404 403 403 200 200
PATCH ${P}/page-groups/Pag01 401 404 403 403 200 200
PUT ${P}/brand-terms 401 404 403 403 400 400
PUT ${P}/tags 401 404 403 403 400 400
PUT ${P}/favourite 401 404 403 204 204 204
PUT ${P}/bing 401 404 403 403 400 400
PATCH /channels/CHANNEL 401 404 403 403 200 200
PATCH /members/member@acme.example 401 404 403 403 403 400
DELETE ${P}/favourite 401 404 403 204 204 204
DELETE ${P}/bing 401 404 403 403 404 404
DELETE ${P}/notes/NOTE 401 404 403 403 204 404
DELETE ${P}/views/VIEW 401 404 403 403 204 404
DELETE ${P}/rules/RULE 401 404 403 403 204 404
DELETE ${P}/shares/SHARE 401 404 403 403 204 204
DELETE ${P}/groups/Grp01 401 404 403 403 204 404
DELETE ${P}/page-groups/Pag01 401 404 403 403 204 404
DELETE /keys/KEY 401 404 403 403 204 204
DELETE /channels/CHANNEL 401 404 403 403 204 404
DELETE /invitations/INVITATION 401 404 403 403 403 204
DELETE /members/member@acme.example 401 404 403 403 403 204
`
  .trim()
  .split('\n');

t.test('each route by each role, in the own and in another workspace', localOnly, async (t) => {
  const { send, clock, catalog, settings } = await makeTeam(
    t,
    {
      keywords: [keyword('Kw001', 'boots')],
      groups: [{ project_id: 'Proj1', id: 'Grp01', name: 'G', kind: 'manual', position: 0 }],
      page_groups: [
        {
          ...{ project_id: 'Proj1', id: 'Pag01', name: 'P', position: 0, pinned_urls: [] },
          rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/a' }] },
        },
      ],
      alerts: [
        {
          ...{ id: '00000000-0000-4000-8000-000000000001', project_id: 'Proj1', type: 'traffic_drop', kind: 'K' },
          ...{ severity: 'info', title: 't', body: 'b', date: '2026-03-01', keyword_id: null, url: null },
          ...{ created_at: '2026-03-02T00:00:00Z', resolved_at: null },
        },
      ],
    },
    environment,
  );
  const ids = new Map<string, string>();
  for (const [name, [method, path, body]] of Object.entries(MADE)) {
    const made = await send('owner', method, path, body);
    ids.set(name, /"id":"([^"]+)"/.exec(JSON.stringify(made.body))?.[1] ?? made.message);
  }
  const grant = { workspace: 'acme', kind: 'google', clientId: 'c', connectedBy: 'owner@acme.example', token: 'x' };
  const made = { ...grant, connectedAt: 1, endsAt: null };
  ids.set('GRANT', await catalog.transaction((tx) => createGrant(tx, settings, made)));
  const found: string[] = [];
  for (const line of TABLE) {
    const [method = '', path = ''] = line.split(' ');
    const named = path.replace(/\b[A-Z]{3,}(?=\/|$)/, (name) => ids.get(name)!);
    const statuses: number[] = [];
    for (const who of EVERYBODY) {
      const body = method === 'GET' || method === 'DELETE' ? [] : [{}];
      statuses.push((await send(who, method as 'GET', named, ...body)).status);
    }
    found.push(`${method} ${path} ${statuses.join(' ')}`);
    // A stranger may be wrong 30 times a minute.
    clock.at += 3000;
  }
  t.strictSame(found, TABLE);
});
