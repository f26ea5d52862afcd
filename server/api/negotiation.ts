import { hash } from 'node:crypto';
import { Negotiator } from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { invalidRequest } from '../domain/errors.ts';
import { type FormatName, formatOfMediaType } from '../domain/formats.ts';

// Content negotiation: the format, from the path or headers, the encoding, and the entity tags that the client already has.

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether requests have a body, which is read. */
    takesBody?: boolean;
  }
}

/** The format given by the extension of the path. */
const endingOf = ({ params }: FastifyRequest): FormatName | undefined => (params as { format?: FormatName }).format;

/** The format of a `Content-Type`: `other` for media types without one, `none` without a type. */
export function formatOfType(contentType: unknown): FormatName | 'other' | 'none' {
  if (typeof contentType !== 'string') return 'none';
  const end = contentType.indexOf(';');
  return formatOfMediaType(end < 0 ? contentType : contentType.slice(0, end)) ?? 'other';
}

const WILDCARDS = new Set(['*/*', 'application/*']);

/** The format given by the path extension or by `Accept`, if any. */
export function namedFormat(request: FastifyRequest): FormatName | undefined {
  const { accept } = request.headers;
  return endingOf(request) ?? (accept === undefined || accept === '*/*' ? undefined : acceptedFormat(accept));
}

/** Adds `Accept` to `Vary` if the format depends on it, because neither the path nor `format` gives one. */
export function varyByAccept(request: FastifyRequest, reply: FastifyReply): void {
  const { format } = request.query as Readonly<Record<string, unknown>>;
  if (format === undefined && endingOf(request) === undefined) reply.vary('accept');
}

/**
 * The parameters of a request with its format: from the path extension, else `format`, else `Accept`. Throws
 * `invalid_request` if the path and `format` disagree.
 */
export function parametersOf(request: FastifyRequest, named: FormatName | undefined): unknown {
  const query = request.query as Readonly<Record<string, unknown>>;
  const ending = endingOf(request);
  if (named === undefined) return query;
  if (query['format'] === undefined) return { ...query, format: named };
  const isOther = typeof query['format'] === 'string' && query['format'] !== '' && query['format'] !== ending;
  if (ending !== undefined && isOther) {
    throw invalidRequest(`format does not agree with the path, which ends in .${ending}; send one of them.`);
  }
  return query;
}

/** The preferred format of `Accept`; undefined for wildcards and unknown types, which mean JSON. */
function acceptedFormat(accept: string): FormatName | undefined {
  let best: { readonly format: FormatName; readonly quality: number } | undefined;
  let wildcard = 0;
  for (const part of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim());
    const quality = qualityOf(parameters);
    if (WILDCARDS.has(type)) wildcard = Math.max(wildcard, quality);
    const format = formatOfMediaType(type);
    if (format !== undefined && quality > (best?.quality ?? 0)) best = { format, quality };
  }
  return best === undefined || best.quality < wildcard ? undefined : best.format;
}

function qualityOf(parameters: readonly string[]): number {
  const [, quality = '1'] = parameters.map((text) => text.split('=')).find(([name]) => name === 'q') ?? [];
  const number = Number(quality);
  return number >= 0 && number <= 1 ? number : 0;
}

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
export function matchesEtag({ headers, method }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match'];
  // 304 is for GET and HEAD.
  if (known === undefined || method === 'POST') return false;
  const opaque = etag.replace(/^W\//, '');
  return known.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === opaque);
}

/** Content encodings, in order of preference. */
const ENCODINGS = ['zstd', 'br', 'gzip'] as const;

/** The content encoding; `identity` is uncompressed. */
export type Encoding = (typeof ENCODINGS)[number] | 'identity';

const negotiator = new Negotiator<Encoding>({
  supportedValues: [...ENCODINGS],
  cache: new LRUCache<string, string>({ max: 100 }),
});

/** The encoding that a client prefers. */
export function preferredEncoding({ headers }: FastifyRequest): Encoding {
  const accepted = headers['accept-encoding'];
  if (accepted === undefined) return 'identity';
  // Clients that accept anything get gzip, which all can read.
  return negotiator.negotiate(accepted.toLowerCase().replaceAll(/\*|x-gzip/g, 'gzip')) ?? 'identity';
}
