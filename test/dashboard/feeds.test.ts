// Owners and admins make feeds of the keys of their own workspace in the dashboard, and revoke them.
import t from 'tap';
import { createKey } from '../../server/catalog/keys.ts';
import { facts, NOW } from '../world.ts';
import { audited, eachRole, makeTeam } from './team.ts';

const PATH = '/projects/Proj1/site.csv?from=2026-03-10&to=2026-03-10';

t.test('a feed is made, answers, and ends when it is revoked', async (t) => {
  const { send, catalog, app } = await makeTeam(
    t,
    { site_daily: facts('date device', ['2026-03-10', 'mobile', 3, 30, 60]) },
    { ORDINATE_FEEDS: 'on' },
  );
  const key = await createKey(catalog, { workspace: 'acme', name: 'sheet', by: null, at: NOW * 1000 });
  const foreign = await createKey(catalog, { workspace: 'other', name: 'sheet', by: null, at: NOW * 1000 });
  const body = { keyId: key.id, path: PATH };
  await eachRole(t, send, { allowed: ['owner', 'admin'], status: 201, other: 400 }, async () => [
    'POST',
    '/feeds',
    body,
  ]);
  const made = (await send('owner', 'POST', '/feeds', body)).body;
  t.match(made.url, /^http:\/\/localhost\/feeds\/ord_feed_\w+\.csv$/);
  const { pathname } = new URL(made.url);
  t.match((await app.inject(pathname)).body, '2026-03-10');
  const { feeds, isServed } = (await send('admin', 'GET', '/feeds')).body;
  t.equal(isServed, true);
  t.strictSame([feeds.length, feeds[2].path, feeds[2].revokedAt], [3, PATH, null]);
  t.notMatch(JSON.stringify(feeds), 'ord_feed_', 'addresses are shown once');
  t.strictSame((await send('other', 'GET', '/feeds')).body.feeds, []);
  t.equal((await send('other', 'DELETE', `/feeds/${made.id}`)).status, 404);
  t.equal((await send('admin', 'DELETE', `/feeds/${made.id}`)).status, 204);
  t.equal((await app.inject(pathname)).statusCode, 404);
  t.match(await audited(catalog, 'feed.revoked'), [{ actor: 'admin@acme.example', subject: made.id }]);
  t.match(await audited(catalog, 'feed.created'), [{ actor: 'owner@acme.example' }, {}, {}]);
  for (const [wrong, message] of [
    [{ ...body, keyId: foreign.id }, /no active key of the workspace/],
    [{ ...body, keyId: 'none' }, /no active key/],
    [{ ...body, path: '/projects/Proj1/groups.json' }, /no endpoint that answers as CSV/],
    [{ ...body, path: '/projects/Proj1/site.csv?perod=3m' }, /perod is no parameter/],
    [{ ...body, path: 'https://evil.example' }, /is not a path of the API/],
  ] as const) {
    t.match(await send('owner', 'POST', '/feeds', wrong), { status: 400, message });
  }
  t.equal((await send('owner', 'POST', '/feeds', { ...body, path: '/projects/Other/site.csv' })).status, 404);
});
