// Browsers can read the API from the configured origins and from no others.
import t from 'tap';
import { makeWorld } from '../world.ts';

const ORIGIN = 'https://dashboard.example';
const OTHER = 'https://elsewhere.example';
const PREFLIGHT = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' };

t.test('pages of the named origins read answers and errors', async (t) => {
  const { app, key } = await makeWorld(
    t,
    {},
    { environment: { ORDINATE_CORS_ORIGINS: `${ORIGIN}, http://localhost:5173` } },
  );
  const get = (origin: string, headers = {}) =>
    app.inject({ url: '/api/v1/projects', headers: { origin, ...headers } });
  const answer = await get(ORIGIN, { authorization: `Bearer ${key}` });
  t.match(answer, { statusCode: 200, headers: { 'access-control-allow-origin': ORIGIN, vary: /origin/i } });
  t.match(String(answer.headers['access-control-expose-headers']), /etag.*x-total-count/i);
  t.notOk(answer.headers['access-control-allow-credentials']);
  const second = 'http://localhost:5173';
  t.equal((await get(second)).headers['access-control-allow-origin'], second, 'a space may follow a comma');
  t.match(await get(ORIGIN), { statusCode: 401, headers: { 'access-control-allow-origin': ORIGIN } });
  t.notOk((await get(OTHER, { authorization: `Bearer ${key}` })).headers['access-control-allow-origin']);

  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/api/v1/projects',
    headers: { origin: ORIGIN, ...PREFLIGHT },
  });
  t.match(preflight, {
    statusCode: 204,
    headers: {
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': /Authorization/,
    },
  });
  const refused = await app.inject({
    method: 'OPTIONS',
    url: '/api/v1/projects',
    headers: { origin: OTHER, ...PREFLIGHT },
  });
  t.notOk(refused.headers['access-control-allow-origin']);
  t.notOk((await app.inject({ url: '/livez', headers: { origin: ORIGIN } })).headers['access-control-allow-origin']);
});

t.test('any origin, or none', async (t) => {
  const any = await makeWorld(t, {}, { environment: { ORDINATE_CORS_ORIGINS: '*' } });
  const headers = { origin: OTHER, authorization: `Bearer ${any.key}` };
  t.match(await any.app.inject({ url: '/api/v1/projects', headers }), {
    headers: { 'access-control-allow-origin': '*' },
  });

  const none = await makeWorld(t);
  const answer = await none.app.inject({
    url: '/api/v1/projects',
    headers: { ...headers, authorization: `Bearer ${none.key}` },
  });
  t.notOk(Object.keys(answer.headers).some((name) => name.startsWith('access-control')));
  const preflight = await none.app.inject({
    method: 'OPTIONS',
    url: '/api/v1/projects',
    headers: { origin: ORIGIN, ...PREFLIGHT },
  });
  t.equal(preflight.statusCode, 401);
});

t.test('what is no origin is refused at the start', async (t) => {
  for (const wrong of ['dashboard.example', `${ORIGIN}/`, `${ORIGIN}/app`, 'ftp://x.example', `${ORIGIN},*`]) {
    await t.rejects(
      makeWorld(t, {}, { environment: { ORDINATE_CORS_ORIGINS: wrong } }),
      /ORDINATE_CORS_ORIGINS must be origins/,
      wrong,
    );
  }
});
