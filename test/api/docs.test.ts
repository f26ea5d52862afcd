// The documentation, API reference and guide are served by the service itself, without scripts of other hosts.
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import t from 'tap';
import { GUIDE_PAGES } from '../../server/api/plugins/guide.ts';
import { renderMarkdown } from '../../server/api/plugins/markdown.ts';
import { ROOT } from '../readme.ts';
import { makeWorld } from '../world.ts';

const { app } = await makeWorld(t);

/** Addresses that the page itself loads. */
function loadedBy(html: string): string[] {
  return [...html.matchAll(/(?:src|<link [^>]*href)="([^"]+)"/g)].map(([, address]) => address!);
}

const SAFE = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/,
};

t.test('the root of the server leads to the documentation', async (t) => {
  const { statusCode, headers } = await app.inject('/');
  t.match({ statusCode, headers }, { statusCode: 302, headers: { location: '/docs' } });
});

t.test('the page has the name and icon, and runs only its own files', async (t) => {
  for (const address of ['/docs', '/docs/']) {
    const { statusCode, headers, body } = await app.inject(address);
    t.equal(statusCode, 200);
    t.match(headers, { ...SAFE, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
    t.notMatch(headers['content-security-policy'], /https?:|\*|script-src[^;]*unsafe|unsafe-eval/);
    t.match(body, '<title>Ordinate API</title>');
    t.match(body, /<link rel="icon" type="image\/svg\+xml" href="\/docs\/static\/\w+\/icon\.svg">/);
    t.notMatch(body, /<script>|<style>|\son\w+=|style=/, 'nothing inline, which the policy would stop');
    t.notMatch(body, /https?:\/\//, 'nothing from another host');
  }
});

t.test('its files may be cached for ever, because their URLs change with them', async (t) => {
  const files = loadedBy((await app.inject('/docs')).body);
  const names = new Set(files.map((file) => file.split('/').at(-1)));
  t.strictSame(names, new Set(['icon.svg', 'docs.css', 'reference.js', 'start.js']));
  for (const file of files) {
    const { statusCode, headers } = await app.inject(file);
    t.equal(statusCode, 200, file);
    t.match(headers, {
      ...SAFE,
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': /^(image\/svg\+xml|text\/(css|javascript); charset=utf-8)$/,
      vary: 'accept-encoding',
    });
    t.notOk('x-ratelimit-limit' in headers);
  }
  const script = files.find((file) => file.endsWith('/reference.js'))!;
  const plain = await app.inject(script);
  const packed = await app.inject({ url: script, headers: { 'accept-encoding': 'br' } });
  t.equal(packed.headers['content-encoding'], 'br');
  t.ok(brotliDecompressSync(packed.rawPayload).equals(plain.rawPayload), 'the same script, compressed');
  t.ok(plain.rawPayload.length > 1_000_000, 'all of it');

  const other = await app.inject(script.replace(/static\/\w+/, 'static/0123456789abcdef'));
  t.match(other, { statusCode: 404, headers: { 'cache-control': 'no-store' } }, 'another version is not this one');
});

t.test('the page shows the document of this service and loads nothing from other hosts', async (t) => {
  const start = loadedBy((await app.inject('/docs')).body).find((file) => file.endsWith('/start.js'))!;
  const { body } = await app.inject(start);
  t.match(body, '"url":"/openapi.json"');
  t.match(body, '"withDefaultFonts":false');
  t.match(body, '"telemetry":false');
  const { statusCode, headers } = await app.inject('/openapi.json');
  t.equal(statusCode, 200);
  t.match(headers, { 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache' });
});

const STRICT =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

t.test('the guide: every Markdown file of docs/ is a page, without scripts', async (t) => {
  const files = globSync('docs/*.md', { cwd: ROOT }).map((file) => basename(file, '.md'));
  t.strictSame(files.sort(), [...GUIDE_PAGES].sort(), 'the navigation has all of them');
  const pages = new Map<string, string>();
  for (const name of GUIDE_PAGES) {
    const address = name === 'index' ? '/docs/guide' : `/docs/guide/${name}`;
    const { statusCode, headers, body } = await app.inject(address);
    t.equal(statusCode, 200, address);
    t.match(headers, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
    t.equal(headers['content-security-policy'], STRICT);
    t.notMatch(body, /<script|<style|\sstyle=|\son\w+=/, `${name}: nothing that the policy would stop`);
    t.match(body, /<title>[^<]+ – Ordinate<\/title>/);
    t.match(body, `<a href="${address}" aria-current="page">`, `${name}: where the reader is`);
    t.equal(body.match(/<h1/g)?.length, 1, `${name}: one title`);
    pages.set(address, body);
  }
  t.match(pages.get('/docs/guide/snapshot'), /<h3 id="workspaces">workspaces<\/h3>[\s\S]*<div class="table"><table>/);
  for (const [from, body] of pages) {
    for (const [, path, anchor] of body.matchAll(/href="(\/docs\/guide[\w/-]*)(?:#([\w-]+))?"/g)) {
      if (path?.startsWith('/docs/guide/static/')) continue;
      t.ok(pages.get(path!)?.includes(anchor === undefined ? '<main>' : `id="${anchor}"`), `${from}: ${path} is there`);
    }
    t.notMatch(body, /href="[^"]+\.md/, `${from}: no link to a file`);
  }
  for (const file of loadedBy(pages.get('/docs/guide')!)) {
    const { statusCode, headers } = await app.inject(file);
    t.match({ statusCode, headers }, { statusCode: 200, headers: { 'cache-control': /immutable$/ } }, file);
  }
  for (const missing of ['/docs/guide/nothing', '/docs/guide/index', '/docs/guide/..%2Fsnapshot']) {
    t.match(await app.inject(missing), { statusCode: 404 }, missing);
  }
});

t.test('the API reference and the guide lead to each other', async (t) => {
  t.match((await app.inject('/docs')).body, '<a href="/docs/guide">Guide</a>');
  t.match((await app.inject('/docs/guide')).body, '<a href="/docs">API reference</a>');
});

t.test('raw HTML in Markdown is left out', async (t) => {
  const { title, body } = await renderMarkdown(
    '# A <b>b</b>\n\n<script>x</script>\n\n`<i>` [x](other.md#y)\n',
    (name) => `/${name}`,
  );
  t.equal(title, 'A b');
  t.equal(body, '<h1 id="a-bbb">A b</h1>\n<p><code>&lt;i&gt;</code> <a href="/other#y">x</a></p>\n');
});
