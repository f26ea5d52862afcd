// Browsers can read the API from the configured origins and from no others.
import t from 'tap';
import { makeWorld } from '../world.ts';

const EXPOSED =
  'ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Total-Count, X-Range-From, ' +
  'X-Range-To, X-Provisional-After, X-Comparison-From, X-Comparison-To, X-Quality, X-Remainder, Content-Disposition, ' +
  'Content-Range, Accept-Ranges';
const SHOP = 'https://shop.example';
const LOCAL = 'http://localhost:5173';
const OTHER = 'https://elsewhere.example';

// Origins of the server, then each request with the status and the `access-control-` headers of its answer.
const TABLE = {
  [`${SHOP}, ${LOCAL}`]: {
    [`GET ${SHOP}`]: [200, { 'allow-origin': SHOP, 'expose-headers': EXPOSED }],
    [`GET ${LOCAL}`]: [200, { 'allow-origin': LOCAL, 'expose-headers': EXPOSED }],
    [`GET ${SHOP} without a key`]: [401, { 'allow-origin': SHOP, 'expose-headers': EXPOSED }],
    [`GET ${OTHER}`]: [200, { 'expose-headers': EXPOSED }],
    [`OPTIONS ${SHOP}`]: [
      204,
      {
        'allow-origin': SHOP,
        'allow-methods': 'GET, HEAD',
        'allow-headers': 'Authorization, If-None-Match, Range, If-Range',
        'expose-headers': EXPOSED,
        'max-age': '600',
      },
    ],
  },
  '*': { [`GET ${OTHER}`]: [200, { 'allow-origin': '*', 'expose-headers': EXPOSED }] },
  '': { [`GET ${SHOP}`]: [200, {}], [`OPTIONS ${SHOP}`]: [401, {}] },
};

for (const [origins, expected] of Object.entries(TABLE)) {
  t.test(`ORDINATE_CORS_ORIGINS='${origins}'`, async (t) => {
    const { app, key } = await makeWorld(t, {}, { environment: { ORDINATE_CORS_ORIGINS: origins } });
    const found: Record<string, unknown> = {};
    for (const request of Object.keys(expected)) {
      const [method, origin, keyless] = request.split(' ');
      const headers = {
        origin,
        ...(method === 'OPTIONS' ? { 'access-control-request-method': 'GET' } : {}),
        ...(keyless !== undefined || method === 'OPTIONS' ? {} : { authorization: `Bearer ${key}` }),
      };
      const answer = await app.inject({ method: method as 'GET', url: '/api/v1/projects', headers });
      const prefix = 'access-control-';
      const told = Object.entries(answer.headers).filter(([name]) => name.startsWith(prefix));
      const ofOrigin = Object.fromEntries(told.map(([name, value]) => [name.slice(prefix.length), value]));
      found[request] = [answer.statusCode, ofOrigin];
    }
    t.strictSame(found, expected);
    t.notOk((await app.inject({ url: '/livez', headers: { origin: SHOP } })).headers['access-control-allow-origin']);
  });
}

t.test('what is no origin is refused at the start', async (t) => {
  for (const wrong of ['dashboard.example', `${SHOP}/`, `${SHOP}/app`, 'ftp://x.example', `${SHOP},*`]) {
    const environment = { ORDINATE_CORS_ORIGINS: wrong };
    await t.rejects(makeWorld(t, {}, { environment }), /ORDINATE_CORS_ORIGINS must be origins/, wrong);
  }
});
