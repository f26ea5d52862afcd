import type { FastifyRequest } from 'fastify';
import { invalidRequest } from '../domain/errors.ts';
import type { FormatName } from '../reports/parameters.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The format that the ending of the path names. */
    format?: FormatName;
  }
}

/** Media types that a client may ask for. */
const MEDIA_TYPES: Readonly<Record<string, FormatName>> = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/vnd.apache.arrow.stream': 'arrow',
  'application/vnd.apache.parquet': 'parquet',
};
const WILDCARDS = new Set(['*/*', 'application/*']);

/** The format that a request names by the ending of its path or by `Accept`; undefined where it names none. */
export function namedFormat({ headers, routeOptions }: FastifyRequest): FormatName | undefined {
  const { format } = routeOptions.config;
  if (format !== undefined) return format;
  const { accept } = headers;
  return accept === undefined || accept === '*/*' ? undefined : acceptedFormat(accept);
}

/**
 * The parameters of a request with the format that it wants: as the path ends, else as `format` says, else as `Accept`
 * does. Throws `invalid_request` where the path and `format` disagree.
 */
export function parametersOf(request: FastifyRequest, named: FormatName | undefined): unknown {
  const query = request.query as Readonly<Record<string, unknown>>;
  const { format: ending } = request.routeOptions.config;
  if (named === undefined) return query;
  if (query['format'] === undefined) return { ...query, format: named };
  const isOther = typeof query['format'] === 'string' && query['format'] !== '' && query['format'] !== ending;
  if (ending !== undefined && isOther) {
    throw invalidRequest(`format does not agree with the path, which ends in .${ending}; send one of them.`);
  }
  return query;
}

/** What `Accept` prefers, where it names a format; wildcards mean JSON, and so does what is not known. */
function acceptedFormat(accept: string): FormatName | undefined {
  let best: { readonly format: FormatName; readonly quality: number } | undefined;
  let wildcard = 0;
  for (const part of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim());
    const quality = qualityOf(parameters);
    if (WILDCARDS.has(type)) wildcard = Math.max(wildcard, quality);
    const format = MEDIA_TYPES[type];
    if (format !== undefined && quality > (best?.quality ?? 0)) best = { format, quality };
  }
  return best === undefined || best.quality < wildcard ? undefined : best.format;
}

function qualityOf(parameters: readonly string[]): number {
  const [, quality = '1'] = parameters.map((text) => text.split('=')).find(([name]) => name === 'q') ?? [];
  const number = Number(quality);
  return number >= 0 && number <= 1 ? number : 0;
}
