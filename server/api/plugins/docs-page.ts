import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../../domain/errors.ts';
import { type EncodedBytes, type Encoding, encode, preferredEncoding } from './compression.ts';
import { ICON, page, START, STYLE } from './docs-assets.ts';

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

/** A file of the page, with its requested encodings. */
interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  readonly encoded: Map<Encoding, Promise<EncodedBytes>>;
}

interface Site {
  /** A hash of all files, so that browsers can cache them indefinitely. */
  readonly version: string;
  readonly assets: ReadonlyMap<string, Asset>;
}

/** Adds the documentation page at `/docs`, which works offline; `/` redirects there. */
export async function addDocsPage(app: FastifyInstance): Promise<void> {
  let site: Promise<Site> | undefined;
  const getSite = (): Promise<Site> => {
    site ??= readSite().catch((error: unknown) => {
      site = undefined;
      throw error;
    });
    return site;
  };
  const sendPage = async (_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { version } = await getSite();
    return reply
      .header('cache-control', 'no-cache')
      .type('text/html; charset=utf-8')
      .send(page(`/docs/static/${version}`));
  };

  app.get('/', { schema: { hide: true } }, (_request, reply) => reply.redirect('/docs'));
  await app.register(async (docs) => {
    docs.addHook('onRequest', (_request, reply, done) => {
      reply.headers(SECURITY_HEADERS);
      done();
    });
    docs.get('/docs', { schema: { hide: true } }, sendPage);
    docs.get('/docs/', { schema: { hide: true } }, sendPage);
    docs.get<{ Params: { version: string; name: string } }>(
      '/docs/static/:version/:name',
      { schema: { hide: true } },
      async (request, reply) => {
        const { version, assets } = await getSite();
        const asset = request.params.version === version ? assets.get(request.params.name) : undefined;
        if (asset === undefined) throw notFound('There is no such file; the documentation is at /docs.');
        const { bytes, encoding } = await inEncoding(asset, preferredEncoding(request));
        if (encoding !== 'identity') reply.header('content-encoding', encoding);
        return reply
          .headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' })
          .type(asset.type)
          .send(bytes);
      },
    );
    docs.get('/openapi.json', { schema: { hide: true } }, (_request, reply) => {
      reply.header('cache-control', 'no-cache');
      return app.swagger();
    });
  });
}

function inEncoding({ bytes, encoded }: Asset, encoding: Encoding): Promise<EncodedBytes> {
  return encoded.getOrInsertComputed(encoding, () => encode(bytes, encoding));
}

/** Reads the files on the first visit, because most servers never serve them. */
async function readSite(): Promise<Site> {
  const files = [
    ['icon.svg', 'image/svg+xml', Buffer.from(ICON)],
    ['docs.css', 'text/css; charset=utf-8', Buffer.from(STYLE)],
    ['start.js', 'text/javascript; charset=utf-8', Buffer.from(START)],
    ['reference.js', 'text/javascript; charset=utf-8', await readBundle()],
  ] as const;
  const hash = createHash('sha256');
  for (const [, , bytes] of files) hash.update(bytes);
  return {
    version: hash.digest('hex').slice(0, 16),
    assets: new Map(files.map(([name, type, bytes]) => [name, { type, bytes, encoded: new Map() }])),
  };
}

async function readBundle(): Promise<Buffer> {
  const worker = new Worker(new URL(`docs-bundle${extname(import.meta.filename)}`, import.meta.url));
  const [bytes] = (await once(worker, 'message')) as [Uint8Array];
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
