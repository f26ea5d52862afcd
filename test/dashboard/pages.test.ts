// The dashboard is one self-contained page that loads nothing from other hosts and stays within its size budget.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { buildDashboard, ensureDashboard } from '../../cli/dashboard.ts';
import { makeWorld } from '../world.ts';

/** Bytes at most, compressed with gzip: of everything that the first screen loads, and of each file that comes later. */
const BUDGET = { first: 90_000, later: 7000 };

await ensureDashboard();
const { app } = await makeWorld(t);

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
const SAFE = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
};

/** Addresses that the page itself loads. */
function loadedBy(html: string): string[] {
  return [...html.matchAll(/(?:src|<link [^>]*href)="([^"]+)"/g)].map(([, address]) => address!);
}

t.test('one page at every address below /app, with nothing inline and nothing from elsewhere', async (t) => {
  const first = await app.inject('/app');
  for (const url of [
    '/app',
    '/app/',
    '/app/sign-in',
    '/app/p/Fw7kd/queries?period=3m',
    '/app/p/%3Cscript%3E',
    '/app/apis',
  ]) {
    const { statusCode, headers, body } = await app.inject(url);
    t.equal(statusCode, 200, url);
    t.match(headers, { ...SAFE, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' }, url);
    t.equal(body, first.body, 'whatever the address says is not in it');
    t.equal(headers['set-cookie'], undefined);
    t.equal(headers['x-ratelimit-limit'], undefined);
  }
  t.notMatch(first.body, /<style|\son\w+=|style=|<script(?![^>]*src)/);
  for (const address of loadedBy(first.body)) t.match(address, /^\/app\/static\/[\w-]+\.(js|css|svg)$/);
});

t.test('its files may be cached for ever, and are sent compressed as they were built', async (t) => {
  const files = loadedBy((await app.inject('/app')).body);
  t.ok(files.some((file) => file.endsWith('.js')) && files.some((file) => file.endsWith('.css')));
  for (const file of files) {
    const plain = await app.inject(file);
    t.equal(plain.statusCode, 200, file);
    t.match(plain.headers, {
      ...SAFE,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: /accept-encoding/,
    });
    const brotli = await app.inject({ url: file, headers: { 'accept-encoding': 'gzip, deflate, br, zstd' } });
    t.equal(brotli.headers['content-encoding'], 'br');
    t.ok(brotliDecompressSync(brotli.rawPayload).equals(plain.rawPayload), 'the same file');
    const gzip = await app.inject({ url: file, headers: { 'accept-encoding': 'gzip' } });
    t.equal(gzip.headers['content-encoding'], 'gzip');
    t.ok(gunzipSync(gzip.rawPayload).equals(plain.rawPayload), 'the same file');
  }
  for (const other of ['/app/static/main-00000000.js', '/app/static/index.html', '/app/static/..%2fassets.ts']) {
    t.match(await app.inject(other), { statusCode: 404, headers: { 'cache-control': 'no-store' } }, other);
  }
});

t.test('the first screen and each file that comes later stay within their budgets', async (t) => {
  const { first, later } = await buildDashboard();
  const total = first.reduce((sum, { gzip }) => sum + gzip, 0);
  t.comment(`${total} of ${BUDGET.first} bytes`);
  t.ok(total > 10_000, 'all of it is counted');
  t.ok(total <= BUDGET.first, `${total} bytes; ${first.map(({ name, gzip }) => `${name} ${gzip}`).join(', ')}`);
  t.equal(first.length, 3, 'the page, all that it begins with, and its styles: slow networks wait for each file');
  t.ok(later.length > 5, 'screens come when they are visited');
  for (const { name, gzip } of later) t.ok(gzip <= BUDGET.later, `${name}: ${gzip} bytes`);
});
