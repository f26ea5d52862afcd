// Owners and admins connect projects to Bing in the browser, by a key that nothing shows again.
import { globSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { listGrants } from '../../server/catalog/grants.ts';
import { command } from '../command.ts';
import { BING_ERRORS, fakeBing } from '../fakes/bing.ts';
import { makeSearches, NOW, PROPERTY, restoreClock, setClock } from '../sync/operator-world.ts';
import { connectedTeam } from './connected-team.ts';
import { audited } from './team.ts';

const SITE = 'https://www.shop.example/';
const PATH = '/projects/Proj1/bing';
const WRONG = 'another-key-0123456789';

async function scene(t: Test) {
  setClock(NOW);
  t.teardown(restoreClock);
  const bing = await fakeBing(t, '2026-03-15');
  bing.sites.push({ url: SITE, isVerified: true });
  bing.searches.push({ day: '2026-03-13', query: 'a', url: SITE, clicks: 3, impressions: 30, position: 3 });
  const team = await connectedTeam(t, { environment: { ORDINATE_BING_ENDPOINT: bing.url } });
  team.clock.at = NOW;
  const answers: string[] = [];
  const send: typeof team.send = async (...request) => {
    const answer = await team.send(...request);
    answers.push(JSON.stringify([answer.body, answer.headers]));
    return answer;
  };
  const put = (apiKey: unknown, path = PATH) => send('admin', 'PUT', path, { apiKey });
  const listed = async () => (await send('admin', 'GET', '/connect')).body.bing as object[];
  const ordinate = async (...words: string[]) => {
    const ended = await command({ ...team.environment, ORDINATE_DATA: team.dataFolder }, ...words);
    answers.push(ended.stdout, ended.stderr);
    return ended;
  };
  const keys = async () => (await listGrants(team.catalog, null)).filter(({ kind }) => kind === 'bing');
  return { ...team, send, put, listed, ordinate, keys, bing, answers };
}

t.test('a key connects a project, the sync reads by it, and nothing shows it', async (t) => {
  const team = await scene(t);
  const { bing, google, catalog, put, listed, ordinate, answers } = team;
  t.strictSame(await listed(), []);
  t.match(await put(` ${bing.key}\n`), { status: 200, body: { found: `Bing can read ${SITE}.`, isSynced: false } });
  const connectedBy = 'admin@acme.example';
  const connected = { project: 'Proj1', state: 'ok', reason: null, restsUntil: null, connectedBy };
  const waiting = { ...connected, state: 'waits', connectedAt: new Date(NOW).toISOString() };
  t.match(await listed(), [waiting], 'without Google nothing is read');
  const { body } = await team.send('owner', 'GET', '/connect');
  t.strictSame(body.grants, [], 'no account of Google');
  t.match(await audited(catalog, 'connection.set'), [
    { actor: connectedBy, subject: 'Proj1', details: { kind: 'bing' } },
  ]);
  t.match(await audited(catalog, 'grant.created'), [{ actor: connectedBy, details: { kind: 'bing' } }]);
  const [key] = await team.keys();
  t.match(await team.send('owner', 'DELETE', `/connect/google/${key!.id}`), { status: 404 });
  t.match(await ordinate('connections', 'test', '--project', 'Proj1'), { code: 0, stdout: `Bing can read ${SITE}` });

  google.provider.model.addSite(PROPERTY, makeSearches());
  google.sites.set(PROPERTY, 'siteOwner');
  const grant = await team.connect();
  const account = { property: PROPERTY, project: 'Proj1', archive: 'none' };
  t.equal((await team.send('owner', 'POST', `/connect/google/${grant}/projects`, account)).status, 200);
  let asked = 0;
  const later = { status: 503, body: { error: { code: 503, message: 'later' } } };
  google.provider.fail(later, { which: ({ request }) => request !== undefined && ++asked > 14 });
  const sync = () => ordinate('sync', '--project', 'Proj1');
  await sync();
  const bingRow = async () => {
    const { body: answer } = await team.read('/projects/Proj1/surfaces?from=2026-03-01&to=2026-03-14');
    return (answer.surfaces as { engine: string }[]).find(({ engine }) => engine === 'bing');
  };
  t.match(await bingRow(), { clicks: 3 });
  t.match(await listed(), [connected]);

  // Only that of commands: a session ends in a day.
  const syncAfter = async (days: number): Promise<void> => {
    setClock(NOW + days * 86_400_000);
    await sync();
  };
  bing.intercept = () => ({ status: 400, body: BING_ERRORS.invalidKey });
  await syncAfter(1);
  t.match(await listed(), [{ ...connected, state: 'lost', reason: /access lost: status 400, error 3/ }]);
  bing.intercept = () => undefined;
  bing.key = 'second-key-of-the-tests-9876543210';
  t.match(await put(bing.key), { status: 200, body: { isSynced: true } });
  t.match(await listed(), [connected], 'what failed by the former key is tried again');
  t.equal((await team.keys()).length, 1, 'the former key is forgotten');
  await sync();
  t.match(await listed(), [connected]);

  renameSync(team.keyFile, `${team.keyFile}.away`);
  t.match(await listed(), [{ ...connected, state: 'unreadable' }]);
  t.match(await put(bing.key), { status: 409, message: /is missing/ });
  renameSync(`${team.keyFile}.away`, team.keyFile);

  bing.intercept = () => ({ status: 400, body: BING_ERRORS.throttledUser });
  await syncAfter(2);
  // Two days and ten minutes; the clock of commands moves.
  const restsUntil = /^2026-03-17T19:10:0/;
  t.match(await listed(), [{ ...connected, state: 'rests', restsUntil }]);
  const asks = bing.requests.length;
  t.match(await put(bing.key), { status: 503, message: /paused until.*wait ten minutes/ });
  t.equal(bing.requests.length, asks);

  t.match(await team.send('admin', 'DELETE', PATH), { status: 204 });
  t.match(await team.send('admin', 'DELETE', PATH), { status: 404, message: /has no bing connection/ });
  t.strictSame([await listed(), await team.keys()], [[], []]);
  t.match(await audited(catalog, 'connection.removed'), [{ actor: connectedBy, subject: 'Proj1' }]);
  t.match(await bingRow(), { clicks: 3 }, 'the data stays');
  await ordinate('audit', 'list', '--json');

  const texts = new Map([
    ['log', team.log.join('\n')],
    ['answers', answers.join('\n')],
  ]);
  for (const name of globSync('**/*', { cwd: team.dataFolder, withFileTypes: true })) {
    const path = join(name.parentPath, name.name);
    if (name.isFile()) texts.set(path, readFileSync(path).toString('latin1'));
  }
  for (const [name, text] of texts) {
    for (const secret of ['bing-key-of-the-tests-0123456789', bing.key])
      for (const form of [secret, Buffer.from(secret).toString('base64url')])
        if (text.includes(form)) t.fail(`${name} has a key`);
  }
});

t.test('what Bing refuses is not stored, and the reason is that of connections test', async (t) => {
  const { bing, put, send, listed, keys, catalog } = await scene(t);
  const named = /^'apiKey' was refused: bing cannot read .*error 3.*Create an API key/;
  t.match(await put(WRONG), { status: 400, code: 'invalid_request', message: named });
  for (const [body, message] of [
    [{ apiKey: 'short' }, /^'apiKey' must be one API key: 16 to 128/],
    [{ apiKey: 'two words of a key' }, /^'apiKey' must be one API key/],
    [{ apiKey: 7 }, /^'apiKey'/],
    [{ apiKey: '' }, /^'apiKey'/],
    [{}, /apiKey/],
    [{ apiKey: bing.key, endpoint: 'http://127.0.0.1' }, /'endpoint' is not a field/],
  ] as const) {
    const { status, message: found } = await send('owner', 'PUT', PATH, body);
    t.match({ status, found }, { status: 400, found: message }, JSON.stringify(body));
    t.notMatch(found, /short|two words/);
  }
  bing.sites.splice(0, 1, { url: SITE, isVerified: false });
  const site = /^'project' was refused: .*no verified site of shop\.example.*Add the site/;
  t.match(await put(bing.key), { status: 400, message: site });
  bing.intercept = () => ({ status: 400, body: BING_ERRORS.notAuthorized });
  t.match(await put(bing.key), { status: 400, message: /error 14.*Verify the site/ });
  bing.intercept = () => ({ status: 200, body: '<html>portal</html>' });
  t.match(await put(bing.key), { status: 503, message: /not a JSON document/ });
  bing.intercept = () => ({ status: 400, body: { ErrorCode: 8, Message: `Bad address ?apikey=${bing.key}` } });
  t.match(await put(bing.key), { status: 503, message: /Bad address \?apikey=…/ });
  t.strictSame([await listed(), await keys(), await audited(catalog, 'grant.created')], [[], [], []]);
});

t.test('a project of one country is told that it does not show what Bing counts', async (t) => {
  const { put, ordinate, bing } = await scene(t);
  t.equal((await ordinate('projects', 'set', '--project', 'Proj1', '--country', 'deu')).code, 0);
  t.match((await put(bing.key)).body, { found: /all countries: .* only searches from deu\.$/ });
});

t.test('Bing is asked for owners and admins only, on pages of this origin', async (t) => {
  const { app, bing, cookies, send, keys } = await scene(t);
  const body = { apiKey: bing.key };
  for (const who of ['member', 'other', 'key'] as const) await send(who, 'PUT', PATH, body);
  const headers = {
    ...{ host: 'localhost', cookie: cookies.get('owner')!, 'content-type': 'application/json' },
    'sec-fetch-site': 'cross-site',
  };
  const foreign = await app.inject({ method: 'PUT', url: `/app/api${PATH}`, headers, payload: JSON.stringify(body) });
  t.strictSame([foreign.statusCode, bing.requests, await keys()], [403, [], []]);
  t.equal((await send('owner', 'PUT', PATH, body)).status, 200);
  t.strictSame((await send('other', 'GET', '/connect')).body.bing, []);
});

t.test('commands and the page replace each other, and a removed project leaves no key', async (t) => {
  const { bing, put, listed, keys, ordinate } = await scene(t);
  const set = ['connections', 'set', '--kind', 'bing', '--api-key-file', bing.keyFile, '--project'];
  t.match(await ordinate(...set, 'Proj1'), { code: 0, stdout: /search-console connection, too/ });
  t.match(await listed(), [{ project: 'Proj1', state: 'waits', connectedBy: null }]);
  t.equal((await put(bing.key)).status, 200);
  t.match(await listed(), [{ project: 'Proj1', connectedBy: 'admin@acme.example' }]);
  t.equal((await put(bing.key, '/projects/Proj2/bing')).status, 200);
  t.equal((await keys()).length, 2);
  t.match(await ordinate(...set, 'Proj1'), { code: 0 });
  t.equal((await keys()).length, 1);
  t.match(await ordinate('projects', 'remove', '--project', 'Proj2', '--confirm', 'Proj2'), { code: 0 });
  t.strictSame(await keys(), []);
});
