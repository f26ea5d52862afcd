// A session is kept as a hash, begins by a fresh link, has a limit of its own, and needs HTTPS where browsers use it.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { createLink } from '../../server/catalog/sessions.ts';
import { createKey } from '../../server/operations/keys.ts';
import { localOnly } from '../stores.ts';
import { makeWorld } from '../world.ts';
import { makeTeam } from './team.ts';

const team = await makeTeam(t);
const PAGE = { 'sec-fetch-site': 'same-origin', host: 'localhost' };

const ask = (url: string, cookie: string) => team.app.inject({ url, headers: { ...PAGE, cookie } });
const signIn = (secret: string) =>
  team.app.inject({ method: 'POST', url: '/app/session', headers: { ...PAGE, authorization: `Bearer ${secret}` } });
const cookieFor = async (secret: string) => String((await signIn(secret)).headers['set-cookie']).split(';')[0]!;
const newKey = async () => createKey(team.catalog, { workspace: 'acme', name: 'test', at: 0 });
const newLink = async () => {
  const who = { keyId: null, email: 'owner@acme.example' };
  return (await createLink(team.catalog, { workspace: 'acme', who, at: team.clock.at * 1000 })).token;
};

t.test('nothing but hashes is stored, and nothing secret is logged', localOnly, async (t) => {
  const link = await newLink();
  const cookie = await cookieFor(link);
  await ask(`/app/api/projects?${cookie}`, cookie);
  await ask(`/app/sign-in?${link}`, '');
  const db = new DatabaseSync(join(team.dataFolder, 'catalog.sqlite'), { readOnly: true });
  const stored = ['sessions', 'login_links', 'keys'].map((table) =>
    JSON.stringify(db.prepare(`select * from ${table}`).all()),
  );
  db.close();
  t.match(stored[0], /"hash":"[0-9a-f]{64}"/);
  const secrets = [cookie.split('=')[1]!, link, team.key];
  t.strictSame(
    secrets.filter((secret) => [...stored, ...team.log].some((text) => text.includes(secret))),
    [],
  );
});

t.test('the secret of a session is no key, and no parameter', async (t) => {
  const [name, secret = ''] = (await cookieFor(team.key)).split('=');
  const authorization = `Bearer ${secret}`;
  const answers = [
    await team.app.inject({ url: '/api/v1/projects', headers: { authorization } }),
    await team.app.inject({ url: '/app/api/projects', headers: { ...PAGE, authorization } }),
    await ask(`/app/api/projects?${name}=${secret}`, ''),
  ];
  t.strictSame(
    answers.map(({ statusCode }) => statusCode),
    [401, 401, 401],
  );
});

t.test('a link is good for ten minutes', async (t) => {
  const [early, late] = [await newLink(), await newLink()];
  team.clock.at += 599_999;
  const first = await signIn(early);
  team.clock.at += 1;
  t.strictSame([first.statusCode, (await signIn(late)).statusCode], [200, 401]);
});

t.test('a session has a limit of its own, beside that of its key', async (t) => {
  const { key } = await newKey();
  const cookie = await cookieFor(key);
  const left = async (of: string) => (await ask('/app/api/projects', of)).headers['x-ratelimit-remaining'];
  t.equal(await left(cookie), '599');
  const byKey = await team.app.inject({ url: '/api/v1/projects', headers: { authorization: `Bearer ${key}` } });
  t.equal(byKey.headers['x-ratelimit-remaining'], '118', 'signing in was the first request of the key');
  for (let count = 0; count < 599; count++) await ask('/app/api/session', cookie);
  t.equal((await ask('/app/api/projects', cookie)).statusCode, 429);
  for (const other of [key, await newLink()])
    t.equal(await left(await cookieFor(other)), '599', 'others are not affected');
});

t.test('without a public address a trusted proxy says whether browsers use HTTPS', async (t) => {
  const { app, key } = await makeWorld(t, {}, { environment: { ORDINATE_TRUSTED_PROXIES: '127.0.0.1' } });
  for (const [scheme, proto, status] of [
    ['http', undefined, 200],
    ['https', undefined, 403],
    ['https', 'https', 200],
    ['http', 'https', 403],
  ] as const) {
    const forwarded = proto === undefined ? {} : { 'x-forwarded-proto': proto };
    const from = { host: 'ordinate.example', origin: `${scheme}://ordinate.example`, 'sec-fetch-site': 'same-origin' };
    const headers = { ...from, ...forwarded, authorization: `Bearer ${key}` };
    const response = await app.inject({ method: 'POST', url: '/app/session', headers });
    t.equal(response.statusCode, status, `${scheme}, a proxy that says ${proto}`);
    if (status === 403) t.match(response.body, /ORDINATE_PUBLIC_URL/);
  }
});
