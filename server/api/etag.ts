import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/** Increment when a new version of the service responds differently to the same query and revision. */
const RESPONSE_VERSION = 1;

/**
 * The entity tag of a response. It is weak, because the same response has several encodings.
 * @param parts everything that the response depends on
 */
export function etagOf(...parts: readonly string[]): string {
  return `W/"${hash('sha256', JSON.stringify([RESPONSE_VERSION, ...parts]), 'base64url').slice(0, 27)}"`;
}

/** Whether the client already has the response with this tag. */
export function matchesEtag({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match'];
  if (known === undefined) return false;
  const opaque = etag.replace(/^W\//, '');
  return known.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === opaque);
}
