import type { FastifyInstance, FastifyReply } from 'fastify';
import { notFound } from '../domain/errors.ts';
import { type Asset, type Assets, readAssets } from './assets.ts';

/** Nothing inline, nothing from elsewhere, and no text that becomes markup. */
export const SECURITY_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** The page of the dashboard, which is the same at every address below `/app`, and its files. */
export function addPages(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(SECURITY_HEADERS);
    done();
  });
  for (const url of ['/app', '/app/', '/app/*']) {
    app.get(url, { schema: { hide: true } }, (_request, reply) => sendDashboardPage(reply));
  }

  app.get<{ Params: { name: string } }>(
    '/app/static/:name',
    { schema: { hide: true } },
    async ({ params, headers }, reply) => {
      const asset = (await getAssets()).files.get(params.name);
      if (asset === undefined) throw notFound('There is no such file of the dashboard; load its page again.');
      const { bytes, encoding } = encodingFor(asset, headers['accept-encoding']);
      // Compressed when it was built: nothing is left to do for the server's own compression.
      reply.header('content-encoding', encoding).header('vary', 'accept-encoding');
      return reply.header('cache-control', 'public, max-age=31536000, immutable').type(asset.type).send(bytes);
    },
  );
}

/** The page, which shows what its address says. */
export async function sendDashboardPage(reply: FastifyReply): Promise<FastifyReply> {
  const { page } = await getAssets();
  return reply.header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(page);
}

let assets: Promise<Assets> | undefined;

function getAssets(): Promise<Assets> {
  assets ??= readAssets().catch((error: unknown) => {
    assets = undefined;
    throw error;
  });
  return assets;
}

function encodingFor({ encoded }: Asset, accepted = ''): { bytes: Buffer; encoding: string } {
  const names = accepted.split(',').map((name) => name.trim().toLowerCase());
  const encoding = (['br', 'gzip'] as const).find((name) => names.includes(name)) ?? 'identity';
  return { bytes: encoded[encoding], encoding };
}
