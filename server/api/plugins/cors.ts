import type { FastifyInstance } from 'fastify';

/** Response headers that pages may read. */
const EXPOSED = [
  'ETag',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Total-Count',
  'X-Range-From',
  'X-Range-To',
  'X-Provisional-After',
  'X-Comparison-From',
  'X-Comparison-To',
  'X-Quality',
  'X-Remainder',
  'Content-Disposition',
  'Content-Range',
  'Accept-Ranges',
];

/**
 * Lets web pages of other origins read responses, including errors. Keys go in a header and never in a cookie, so that
 * a page can only read what its own key may read.
 * @param origins as browsers send them; `*` means any
 */
export async function addCors(api: FastifyInstance, origins: readonly string[]): Promise<void> {
  const { default: cors } = await import('@fastify/cors');
  await api.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD'],
    allowedHeaders: ['Authorization', 'If-None-Match', 'Range', 'If-Range'],
    exposedHeaders: EXPOSED,
    maxAge: 600,
  });
}
