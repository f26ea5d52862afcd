import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/** Raise it when the same query and revision are answered differently by another version of the service. */
const WRITTEN_AS = 1;

/**
 * The entity tag of an answer. It is weak: the same answer may come in several encodings.
 * @param parts all that the answer depends on
 */
export function etagOf(...parts: readonly string[]): string {
  return `W/"${hash('sha256', JSON.stringify([WRITTEN_AS, ...parts]), 'base64url').slice(0, 27)}"`;
}

/** Whether the client has the answer with this tag already. */
export function hasAnswer({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match'];
  if (known === undefined) return false;
  const opaque = etag.replace(/^W\//, '');
  return known.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === opaque);
}
