import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../api/context.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { disableChannel, findChannelOfToken } from '../catalog/channels.ts';
import { notFound } from '../domain/errors.ts';
import { UNSUBSCRIBE_PATTERN } from '../domain/ids.ts';
import { toMicroseconds } from '../domain/instants.ts';

const HEADERS = {
  'content-security-policy': "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** The address in each mail that ends mails of its channel: a page with a button, and what programs for mail send. */
export function addUnsubscribe(
  app: FastifyInstance,
  { catalog, now }: Pick<Context, 'now'> & { catalog: Catalog },
): void {
  const url = '/unsubscribe/:token';
  const schema = { hide: true };
  const find = async ({ params }: FastifyRequest): Promise<string> => {
    const { token } = params as { token: string };
    const id = UNSUBSCRIBE_PATTERN.test(token) ? await findChannelOfToken(catalog, token) : undefined;
    if (id === undefined) throw notFound('There is nothing to unsubscribe from at this address.');
    return id;
  };
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(HEADERS);
    done();
  });
  app.get(url, { schema }, async (request, reply) => {
    await find(request);
    const button = '<form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>';
    return reply.type('text/html; charset=utf-8').send(page(`<p>Send no more mail to this address?</p>${button}`));
  });
  app.post(url, { schema }, async (request, reply) => {
    const id = await find(request);
    await disableChannel(catalog, id, 'unsubscribed', { by: 'recipient', at: toMicroseconds(now()) });
    return reply.type('text/html; charset=utf-8').send(page('<p>You will get no more mail.</p>'));
  });
}

function page(content: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="robots" content="noindex"><meta name="viewport" content="width=device-width">
<title>Unsubscribe</title></head>
<body><h1>Unsubscribe</h1>${content}</body>
</html>
`;
}
