// An owner connects Google in the browser; nothing of the exchange can be replayed, guessed or read.
import t from 'tap';
import { CLIENT_ID } from '../fakes/google.ts';
import { CALLBACK, connectedTeam, PUBLIC_URL } from './connected-team.ts';
import { makeTeam } from './team.ts';

t.test('without its settings the page says what is missing, and nothing can be started', async (t) => {
  const team = await makeTeam(t);
  const { body } = await team.send('owner', 'GET', '/connect');
  t.match(body, { google: { configured: false, clientId: null, redirectUri: null }, grants: [] });
  for (const name of ['PUBLIC_URL', 'GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET_FILE']) {
    t.match(body.google.problem, `ORDINATE_${name}`);
  }
  t.match(await team.send('owner', 'POST', '/connect/google', {}), { status: 409, code: 'conflict' });
  for (const body of [[], [1]]) {
    t.match(await team.send('owner', 'POST', '/connect/google', body), {
      status: 400,
      message: /must be a JSON object/,
    });
  }
});

t.test('a client or a secret that cannot be right is refused', async (t) => {
  for (const wrong of ['client', 'x.apps.googleusercontent.com.example', 'a b.apps.googleusercontent.com']) {
    await t.rejects(makeTeam(t, {}, { ORDINATE_GOOGLE_CLIENT_ID: wrong }), /ORDINATE_GOOGLE_CLIENT_ID must be an id/);
  }
  const team = await connectedTeam(t, { environment: { ORDINATE_GOOGLE_CLIENT_SECRET_FILE: '/no/such/file' } });
  const { body } = await team.send('owner', 'GET', '/connect');
  t.match(body.google, { configured: false, problem: /'\/no\/such\/file' .*cannot be read/ });
});

t.test('the page of consent gets exactly what it needs, and a connected account is listed', async (t) => {
  const team = await connectedTeam(t);
  const { path, cookie, url, back } = await team.agree();
  t.equal(url.origin + url.pathname, `${team.google.origin}/o/oauth2/v2/auth`);
  const { state, code_challenge: challenge, ...query } = Object.fromEntries(url.searchParams);
  t.strictSame(query, {
    client_id: CLIENT_ID,
    redirect_uri: `${PUBLIC_URL}${CALLBACK}`,
    response_type: 'code',
    scope: 'https://www.googleapis.com/auth/webmasters.readonly',
    access_type: 'offline',
    prompt: 'consent',
    code_challenge_method: 'S256',
  });
  t.match(state, /^[\w-]{43,}$/);
  t.match(challenge, /^[\w-]{43}$/);
  t.match(cookie, /^ordinate-connect=[\w-]{43}$/);
  t.equal(back.origin, PUBLIC_URL);
  const called = await team.call(path, cookie);
  t.match(called, { status: 303, location: /^\/app\/connect\?grant=[\w-]+$/ });
  t.match(called.headers, { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  const { body } = await team.send('admin', 'GET', '/connect');
  t.match(body.google, {
    configured: true,
    clientId: CLIENT_ID,
    redirectUri: `${PUBLIC_URL}${CALLBACK}`,
    problem: null,
  });
  const [grant, ...others] = body.grants;
  t.strictSame(others, []);
  t.match(grant, { connectedBy: 'owner@acme.example', state: 'ok', projects: [], endsAt: null, warning: null });
  t.equal(`/app/connect?grant=${grant.id}`, called.location);
  t.match((await team.send('other', 'GET', '/connect')).body.grants, []);
});

t.test('the cookie of an attempt is for its browser only', async (t) => {
  const team = await connectedTeam(t);
  const { headers } = await team.send('owner', 'POST', '/connect/google', {});
  t.match(String(headers['set-cookie']), /^ordinate-connect=\S+; Path=\/app; Max-Age=600; HttpOnly; SameSite=Lax$/);
  t.notMatch(String(headers['cache-control']), /public/);
  const behind = await connectedTeam(t, { environment: { ORDINATE_PUBLIC_URL: 'https://reports.example' } });
  const overHttps = await behind.app.inject({
    ...{ method: 'POST', url: '/app/api/connect/google', payload: '{}' },
    headers: {
      ...{ host: 'reports.example', origin: 'https://reports.example', 'sec-fetch-site': 'same-origin' },
      ...{ 'content-type': 'application/json', cookie: `__Host-${behind.cookies.get('owner')!}` },
    },
  });
  t.match(
    String(overHttps.headers['set-cookie']),
    /^__Host-ordinate-connect=\S+; Path=\/; Max-Age=600; HttpOnly; Secure; SameSite=Lax$/,
  );
});

t.test('a callback needs its state, its cookie, its time and its session', async (t) => {
  const team = await connectedTeam(t);
  const error = (code: string) => ({ status: 303, location: `/app/connect?error=${code}` });
  const { path, cookie } = await team.agree();
  const { cookie: otherCookie, path: otherPath } = await team.agree();
  const asked = (): number => team.google.tokens.filter((form) => form.has('code')).length;
  for (const [wrong, given] of [
    [path, undefined],
    [path, otherCookie],
    [path, 'ordinate-connect='],
    [path, `${cookie}x`],
    [path, cookie.replace('ordinate-connect', 'ordinate')],
    [path.replace(/state=[^&]*/, 'state='), cookie],
    [path.replace(/state=[^&]*/, 'state=guess'), cookie],
    [`${path}&state=again`, cookie],
    [CALLBACK, cookie],
  ] as const) {
    t.match(await team.call(wrong, given), error('state'), `${wrong.slice(0, 40)} ${given}`);
  }
  t.equal(asked(), 0, 'Google was not asked');
  t.match((await team.call(path, cookie)).location, /grant=/, 'and the state was not used up');
  t.match(await team.call(path, cookie), error('state'), 'but once is all');
  t.equal((await team.send('owner', 'GET', '/connect')).body.grants.length, 1);

  team.clock.at += 600_000;
  t.match(await team.call(otherPath, otherCookie), error('state'), 'after ten minutes');

  const ended = await team.agree();
  await team.send('owner', 'DELETE', '/session');
  t.match(await team.call(ended.path, ended.cookie), error('state'), 'after the session has ended');
  t.equal(asked(), 1);
});

t.test('the code of another attempt fits no verifier, and an attempt of somebody else no browser', async (t) => {
  const team = await connectedTeam(t);
  const mine = await team.agree();
  const theirs = await team.agree({ answer: 'allow' }, 'other');
  // Their code, put into my callback.
  const code = theirs.back.searchParams.get('code')!;
  const mixed = new URL(mine.back);
  mixed.searchParams.set('code', code);
  t.match((await team.call(`${mixed.pathname}${mixed.search}`, mine.cookie)).location, /error=code_refused$/);
  // My browser, led to their callback: no grant for anybody.
  const mineAgain = await team.agree();
  t.match((await team.call(theirs.path, mineAgain.cookie)).location, /error=state$/);
  for (const who of ['owner', 'other'] as const) {
    t.strictSame((await team.send(who, 'GET', '/connect')).body.grants, []);
  }
  const { location, headers } = await team.call(mineAgain.path, mineAgain.cookie);
  t.match(location, /grant=/);
  t.notMatch(String(headers['set-cookie']), /ordinate=/, 'no session begins by it');
});

t.test('somebody who is no longer an owner connects nothing', async (t) => {
  const team = await connectedTeam(t);
  const { path, cookie } = await team.agree();
  const { addMember } = await import('../../server/catalog/workspaces.ts');
  await addMember(team.catalog, 'acme', 'owner@acme.example', 'admin');
  t.match((await team.call(path, cookie)).location, /error=state$/);
});

t.test('each refusal has its code, and stores nothing', async (t) => {
  const team = await connectedTeam(t);
  const ended = async (decision: object = {}): Promise<string> => {
    const { path, cookie } = await team.agree({ answer: 'allow', ...decision });
    return (await team.call(path, cookie)).location.replace('/app/connect?', '');
  };
  t.equal(await ended({ answer: 'access_denied' }), 'error=access_denied');
  t.equal(await ended({ answer: 'org_internal' }), 'error=code_refused');
  t.equal(await ended({ withoutRefreshToken: true }), 'error=no_refresh_token');
  t.equal(await ended({ scope: 'openid' }), 'error=scope_missing');
  for (const failure of [
    { status: 503, body: '<h1>no</h1>' },
    { status: 429, body: { error: 'rate_limited' } },
    { status: 200, body: '<html>' },
    { status: 200, body: [] },
    { status: 302, body: '' },
    'reset' as const,
  ]) {
    team.google.tokenFailure = failure;
    t.equal(await ended(), 'error=unavailable', JSON.stringify(failure));
  }
  team.google.tokenFailure = { status: 401, body: { error: 'invalid_client' } };
  t.equal(await ended(), 'error=code_refused');
  t.strictSame((await team.send('owner', 'GET', '/connect')).body.grants, []);
});

t.test('other methods have nothing there', async (t) => {
  const team = await connectedTeam(t);
  const { path, cookie } = await team.agree();
  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = method === 'POST' ? { payload: 'a=b', headers: { cookie, host: 'localhost', ...type } } : {};
    const response = await team.app.inject({ method, url: path, headers: { cookie, host: 'localhost' }, ...body });
    t.equal(response.statusCode, 404, method);
  }
  t.match((await team.call(path, cookie)).location, /grant=/, 'the state was not used up');
});

t.test('a consent screen in testing is named with the day on which it ends', async (t) => {
  const team = await connectedTeam(t);
  await team.connect({ answer: 'allow', refreshTokenExpiresIn: 604_799 });
  team.clock.at += 1;
  await team.connect({ answer: 'allow', refreshTokenExpiresIn: 15_552_000 });
  team.clock.at += 1;
  await team.connect({ answer: 'allow', refreshTokenExpiresIn: '604799' });
  const [testing, published, asText] = (await team.send('owner', 'GET', '/connect')).body.grants;
  t.equal(testing.endsAt, '2026-03-22T11:59:59.000Z');
  t.match(testing.warning, /testing.*2026-03-22\. Publish it, then connect again/);
  t.match(published, { endsAt: null, warning: null });
  t.match(asText.warning, /ends on 2026-03-22/);
});
