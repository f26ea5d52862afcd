// Projects read through a grant until the provider ends it, and connecting again moves them to the new one.
import { randomUUID } from 'node:crypto';
import { globSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { command } from '../command.ts';
import { type FakeGoogle, fakeGoogle } from '../fakes/google.ts';
import { withoutPauses } from '../fakes/without-pauses.ts';
import { makeSearches, NOW, PROPERTY, restoreClock, setClock } from '../sync/operator-world.ts';
import { temporaryFolder } from '../world.ts';
import { connectedTeam } from './connected-team.ts';

const OTHER = 'https://www.shop.example/';

/** What is picked from lists of all kinds. */
interface Listed {
  readonly id: string;
  readonly projects: readonly string[];
  readonly syncStatus: string;
}

async function scene(t: Test, environment: NodeJS.ProcessEnv = {}) {
  setClock(NOW);
  t.teardown(restoreClock);
  const google = await fakeGoogle(t, { now: () => NOW });
  google.provider.model.addSite(PROPERTY, makeSearches());
  google.provider.model.addSite(OTHER, makeSearches());
  google.sites
    .set(PROPERTY, 'siteOwner')
    .set(OTHER, 'siteRestrictedUser')
    .set('sc-domain:no.example', 'siteUnverifiedUser');
  const team = await connectedTeam(t, { google, environment });
  team.clock.at = NOW;
  const settings = { ...team.environment, ORDINATE_DATA: team.dataFolder };
  const ordinate = (...words: string[]) => command(settings, ...words);
  const json = async <T = Listed[]>(...words: string[]): Promise<T> =>
    JSON.parse((await ordinate(...words, '--json')).stdout) as T;
  const grants = async (): Promise<Listed[]> => (await team.send('owner', 'GET', '/connect')).body.grants as Listed[];
  const audit = (action: string) => json('audit', 'list', '--action', action);
  /** Creates a project of a grant, beside `Proj1` of all countries. */
  const create = async (grant: string, more: object = {}): Promise<string> => {
    const wanted = { property: PROPERTY, country: 'usa', archive: 'none', ...more };
    const { status, body } = await team.send('admin', 'POST', `/connect/google/${grant}/projects`, wanted);
    t.equal(status, 201, JSON.stringify(body));
    return body.project.id as string;
  };
  return { ...team, settings, ordinate, json, grants, audit, create };
}

/** A sync of the newest days only; the rest is that of other tests. */
function onlyNewest(google: FakeGoogle): void {
  let answered = 0;
  const how = { status: 503, body: { error: { code: 503, message: 'later' } } };
  google.provider.fail(how, { which: ({ request }) => request !== undefined && ++answered > 14 });
}

t.test('properties of an account become projects with one request', async (t) => {
  const team = await scene(t);
  const grant = await team.connect();
  const path = `/connect/google/${grant}`;
  t.strictSame((await team.send('owner', 'GET', `${path}/properties`)).body, {
    properties: [
      { property: OTHER, permission: 'siteRestrictedUser', project: null },
      { property: PROPERTY, permission: 'siteOwner', project: 'Proj1' },
    ],
  });
  const wanted = {
    property: OTHER,
    brandTerms: ['acme'],
    country: 'usa',
    archive: 'none',
    track: { queries: ['warm boots', 'Warm Boots', ' light boots '] },
  };
  const form = { 'idempotency-key': randomUUID() };
  const created = await team.send('admin', 'POST', `${path}/projects`, wanted, form);
  t.equal(created.status, 201, created.message);
  const id = created.body.project.id as string;
  const again = await team.send('admin', 'POST', `${path}/projects`, wanted, form);
  t.strictSame([again.status, again.body], [201, created.body], 'a second click');
  t.match(
    (await team.json('projects', 'list')).find((project) => project.id === id),
    { property: OTHER, workspace: 'acme', trackedKeywords: 2, syncStatus: 'pending' },
  );
  t.match(await team.audit('project.created'), [{ actor: 'admin@acme.example', subject: id }]);
  t.match(await team.audit('connection.set'), [{ actor: 'admin@acme.example', subject: id }]);
  const top = await team.create(grant, { property: OTHER, country: null, track: { top: 3 } });
  t.match(
    (await team.json('projects', 'list')).find((project) => project.id === top),
    { trackedKeywords: 3 },
  );

  const existing = await team.send('admin', 'POST', `${path}/projects`, { property: PROPERTY, project: 'Proj1' });
  t.match(existing, { status: 200, body: { project: { id: 'Proj1' } } });
  t.strictSame((await team.grants())[0]?.projects.toSorted(), [id, top, 'Proj1'].toSorted());

  for (const [wrong, status, named] of [
    [{ property: 'sc-domain:elsewhere.example' }, 400, /property/],
    [{ property: 'sc-domain:no.example' }, 400, /property/],
    [{ property: OTHER, project: 'Proj1' }, 400, /project/],
    [{ property: PROPERTY, project: 'Other' }, 404, /./],
    [{ property: PROPERTY, project: 'none' }, 404, /./],
    [{ property: PROPERTY, country: 'USA' }, 400, /country/],
    [{ property: PROPERTY, track: { top: -1 } }, 400, /track/],
    [{ property: PROPERTY, track: { queries: ['a\u0000b'] } }, 400, /track/],
    [{ property: PROPERTY, archive: 'all' }, 400, /archive/],
    [{ property: PROPERTY, brandTerms: [''] }, 400, /brandTerms/],
    [{ property: PROPERTY, more: 1 }, 400, /more/],
    [{}, 400, /property/],
  ] as const) {
    const refused = await team.send('owner', 'POST', `${path}/projects`, wrong);
    t.match(refused, { status, message: named }, JSON.stringify(wrong));
  }
});

t.test('the same property a second time names its project, also when two ask at once', async (t) => {
  const team = await scene(t);
  const grant = await team.connect();
  const path = `/connect/google/${grant}/projects`;
  const both = await Promise.all([1, 2].map(() => team.send('admin', 'POST', path, { property: OTHER })));
  const made = both.find(({ status }) => status === 201);
  const refused = both.find(({ status }) => status === 409);
  t.match(refused, { code: 'conflict', message: `'${made?.body.project.id}'` });
  t.match(await team.send('owner', 'POST', path, { property: PROPERTY }), { status: 409, message: /'Proj1'/ });
  t.match(await team.send('owner', 'POST', path, { property: OTHER, country: 'usa' }), { status: 201 });
  t.match(await team.send('owner', 'POST', path, { property: OTHER, country: 'usa' }), { status: 409 });
  const usa = await team.connect({ answer: 'allow' }, 'other');
  const again = `/connect/google/${usa}/projects`;
  t.match(await team.send('other', 'POST', again, { property: OTHER, country: 'usa' }), { status: 201 });
  t.match(await team.send('other', 'POST', again, { property: OTHER }), { status: 409 }, 'all countries by default');
  t.equal((await team.audit('project.created')).length, 3);
});

t.test('sync, verify and the tests of connections work as with a file', async (t) => {
  const team = await scene(t);
  const grant = await team.connect({ answer: 'allow', refreshTokenExpiresIn: 604_800 });
  const id = await team.create(grant);
  onlyNewest(team.google);
  await team.ordinate('sync', '--project', id);
  team.google.provider.heal();
  const project = (await team.json('projects', 'list')).find((one) => one.id === id);
  t.match(project, { syncedThrough: '2026-03-15', coverage: { site_daily: { lastDay: '2026-03-15' } } });
  t.match(await team.json('connections', 'test', '--project', id), [{ works: true, found: /can read sc-domain:shop/ }]);
  t.match(await team.ordinate('verify', '--project', id, '--days', '7'), { code: 0 });
  const ends = { endsAt: /^2026-03-22/, warning: /testing.*2026-03-22/ };
  t.match(await team.json('connections', 'list'), [{ project: id, grant, state: 'ok', credentials: null, ...ends }]);
  t.match(await team.json('sync', 'status', '--project', id), [ends]);
});

t.test('only invalid_grant is lost access, once; connecting again moves the projects', async (t) => {
  withoutPauses(t);
  const team = await scene(t);
  const grant = await team.connect();
  const id = await team.create(grant);
  onlyNewest(team.google);
  await team.ordinate('sync', '--project', id);
  team.google.provider.heal();
  const list = () => team.get(`/projects/${id}/queries?from=2026-03-01&to=2026-03-05`);
  const status = async () => (await team.json('projects', 'list')).find((one) => one.id === id)?.syncStatus;

  for (const failure of [
    { status: 503, body: { error: 'backend' } },
    { status: 429, body: { error: 'rate_limited' } },
    { status: 400, body: '<html>bad</html>' },
    { status: 403, body: '<html>proxy</html>' },
    { status: 401, body: '<html>proxy</html>' },
    { status: 200, body: '<html>portal</html>' },
    'reset' as const,
  ]) {
    team.google.tokenFailure = failure;
    await team.ordinate('connections', 'test', '--project', id);
    await team.ordinate('sync', '--project', id);
    t.not(await status(), 'failed', JSON.stringify(failure));
    t.match(await team.send('owner', 'GET', `/connect/google/${grant}/properties`), { status: /200|503/ });
    t.match(await team.grants(), [{ state: 'ok' }], JSON.stringify(failure));
  }
  team.google.tokenFailure = undefined;
  await team.ordinate('sync', '--project', id);

  team.google.endAll();
  t.match(await team.ordinate('connections', 'test', '--project', id), { code: 1, stdout: /Connect of the dashboard/ });
  for (let again = 0; again < 2; again++) await team.ordinate('sync', '--project', id);
  t.match(await list(), { status: 409, body: { error: { code: 'google_access_lost' } } });
  t.match(await team.grants(), [{ id: grant, state: 'lost', projects: [id] }]);
  t.equal(await status(), 'failed');
  t.match(await team.audit('grant.lost'), [{ subject: grant }]);
  t.equal((await team.audit('grant.lost')).length, 1);
  t.match(await team.send('owner', 'GET', `/connect/google/${grant}/properties`), {
    ...{ status: 409, code: 'google_access_lost' },
  });

  team.clock.at += 1000;
  const other = await team.connect();
  t.match(await team.grants(), [
    { id: grant, state: 'lost', projects: [] },
    { id: other, state: 'ok', projects: [id] },
  ]);
  onlyNewest(team.google);
  await team.ordinate('sync', '--project', id);
  t.not(await status(), 'failed');
});

t.test('an account that cannot read the property takes no project over, nor does another owner', async (t) => {
  const team = await scene(t);
  const grant = await team.connect();
  const id = await team.create(grant);
  team.google.endAll();
  await team.ordinate('connections', 'test', '--project', id);
  team.google.sites = new Map([[OTHER, 'siteOwner']]);
  team.clock.at += 1000;
  await team.connect();
  t.match(await team.grants(), [{ id: grant, state: 'lost', projects: [id] }, { projects: [] }]);
});

t.test('revoking ends the grant at Google and forgets it, also when Google is away', async (t) => {
  const team = await scene(t);
  for (const [country, failure] of [
    ['usa', undefined],
    ['gbr', { status: 503, body: 'no' }],
    ['deu', 'reset' as const],
  ] as const) {
    const grant = await team.connect();
    const id = await team.create(grant, { country });
    const [token] = team.google.secrets.filter((secret) => secret.startsWith('1//')).slice(-1);
    team.google.revokeFailure = failure;
    t.match(await team.send('owner', 'DELETE', `/connect/google/${grant}`), { status: 204 });
    t.equal(team.google.revoked.at(-1)!.get('token'), token);
    t.strictSame(await team.grants(), []);
    t.strictSame(await team.json('connections', 'list'), []);
    t.ok(
      (await team.json('projects', 'list')).some((project) => project.id === id),
      'it stays',
    );
    t.match((await team.audit('grant.revoked'))[0], { actor: 'owner@acme.example', subject: grant });
    t.match(await team.send('owner', 'DELETE', `/connect/google/${grant}`), { status: 404 });
  }
});

t.test('without the file of keys a grant is unreadable, and works again when it is back', async (t) => {
  const team = await scene(t);
  const grant = await team.connect();
  const id = await team.create(grant);
  renameSync(team.keyFile, `${team.keyFile}.away`);
  t.match(await team.grants(), [{ id: grant, state: 'unreadable' }]);
  t.match(await team.ordinate('connections', 'test', '--project', id), {
    code: 1,
    stdout: /ORDINATE_SECRETS_KEY_FILE/,
  });
  t.match(await team.send('owner', 'POST', '/connect/google', {}), { status: 409, message: /is missing/ });
  renameSync(`${team.keyFile}.away`, team.keyFile);
  t.match(await team.grants(), [{ id: grant, state: 'ok' }]);
  t.match(await team.ordinate('secrets', 'rotate', '--forget'), { code: 0 });
  t.match(await team.send('owner', 'GET', `/connect/google/${grant}/properties`), { status: 200 });
});

t.test('no file, backup, log or answer has a secret of the exchange', async (t) => {
  const team = await scene(t);
  const answers: string[] = [];
  const keep = <T extends object>(answer: T): T => {
    answers.push(JSON.stringify(answer));
    return answer;
  };
  const { path, cookie } = await team.agree();
  keep(await team.call(path.replace('code=', 'code=4%2F0wrong'), 'ordinate-connect=other'));
  keep(await team.call(path.replace('/google/', '/%67oogle/'), 'ordinate-connect=other'));
  keep(await team.call(path.replace('/callback', '/callbacks')));
  keep(await team.call(path.replace('state=', 'state[]=').replace('code=', 'code[x]='), cookie));
  const { location } = keep(await team.call(path, cookie));
  const grant = location.split('=')[1]!;
  const id = await team.create(grant);
  onlyNewest(team.google);
  const { stdout, stderr } = await team.ordinate('sync', '--project', id);
  answers.push(stdout, stderr);
  const inFlight = await team.agree();
  keep((await team.send('owner', 'GET', '/connect')).body);
  team.google.tokenFailure = { status: 400, body: { error: 'invalid_grant', error_description: 'ended' } };
  keep((await team.send('owner', 'GET', `/connect/google/${grant}/properties`)).body);
  answers.push((await team.ordinate('connections', 'test', '--project', id)).stdout);
  answers.push((await team.ordinate('audit', 'list', '--json')).stdout);
  const backup = join(temporaryFolder(t), 'backup');
  t.match(await team.ordinate('backup', backup), { code: 0 });
  const files = [team.dataFolder, backup].flatMap((folder) =>
    globSync('**/*', { cwd: folder, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  t.ok(files.length > 5);
  const texts = new Map(files.map((file) => [file, readFileSync(file).toString('latin1')]));
  texts.set('log', team.log.join('\n')).set('answers', answers.join('\n'));
  const secrets = [...team.google.secrets, cookie.split('=')[1]!, inFlight.cookie.split('=')[1]!];
  t.ok(secrets.some((secret) => secret.startsWith('1//')) && secrets.some((secret) => secret.startsWith('4/0')));
  for (const secret of secrets) {
    const raw = Buffer.from(secret);
    const bytes = /^[\w-]{43}$/.test(secret) ? [Buffer.from(secret, 'base64url').toString('hex')] : [];
    const forms = [secret, encodeURIComponent(secret), ...bytes];
    for (const encoding of ['hex', 'base64', 'base64url'] as const)
      forms.push(raw.toString(encoding).replace(/=+$/, ''));
    for (const [name, text] of texts) {
      for (const form of forms) if (text.includes(form)) t.fail(`${name} has ${form.slice(0, 12)}…`);
    }
  }
});
