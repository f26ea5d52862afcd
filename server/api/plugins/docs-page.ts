import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { brotliDecompress } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ICON_FILE, page, START, STYLE } from './docs-assets.ts';
import { addStaticFiles, type StaticFile } from './static-files.ts';

/** Allows scripts only from our own files, and no requests to other hosts. The script inserts inline styles. */
const SECURITY_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Adds the documentation page at `/docs`, which works offline; `/` redirects there. */
export async function addDocsPage(app: FastifyInstance): Promise<void> {
  app.get('/', { schema: { hide: true } }, (_request, reply) => reply.redirect('/docs'));
  await app.register(async (docs) => {
    docs.addHook('onRequest', (_request, reply, done) => {
      reply.headers(SECURITY_HEADERS);
      done();
    });
    const filesAt = addStaticFiles(docs, '/docs/static', readFiles);
    const sendPage = async (_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
      reply
        .header('cache-control', 'no-cache')
        .type('text/html; charset=utf-8')
        .send(page(await filesAt()));
    docs.get('/docs', { schema: { hide: true } }, sendPage);
    docs.get('/docs/', { schema: { hide: true } }, sendPage);
    docs.get('/openapi.json', { schema: { hide: true } }, (_request, reply) => {
      reply.header('cache-control', 'no-cache');
      return app.swagger();
    });
  });
}

async function readFiles(): Promise<StaticFile[]> {
  return [
    ICON_FILE,
    ['docs.css', 'text/css; charset=utf-8', Buffer.from(STYLE)],
    ['start.js', 'text/javascript; charset=utf-8', Buffer.from(START)],
    ['reference.js', 'text/javascript; charset=utf-8', await readBundle()],
  ];
}

/** `npm run build` writes it beside this file, compressed to a quarter. A checkout reads it from the package, a development dependency. */
async function readBundle(): Promise<Buffer> {
  const built = new URL('reference.js.br', import.meta.url);
  if (existsSync(built)) return promisify(brotliDecompress)(await readFile(built));
  const worker = new Worker(new URL(`docs-bundle${extname(import.meta.filename)}`, import.meta.url));
  const [bytes] = (await once(worker, 'message')) as [Uint8Array];
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
