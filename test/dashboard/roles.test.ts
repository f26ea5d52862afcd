// The table of roles in the guide is what the server allows: each row by requests of each role.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
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
