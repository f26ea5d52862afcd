import { readFileSync } from 'node:fs';
import { type TSchema, Type } from 'typebox';
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import { MEDIA_TYPES, type RowFormatName } from '../domain/formats.ts';
import { FAILURES_PER_MINUTE, REQUESTS_PER_MINUTE } from '../domain/request-limits.ts';
import { ROW_FORMATS } from '../formats/formats.ts';
import type { Documented } from '../presets/preset.ts';
import { errorDetails, object } from '../presets/schemas.ts';

const integerHeader = (description: string) => ({ type: 'integer', format: 'int64', description });
const textHeader = (description: string) => ({ type: 'string', description });
export const constantHeader = (value: string) => ({ type: 'string', const: value, description: `Always ${value}.` });

const rateLimitHeaders = {
  'X-RateLimit-Limit': integerHeader(`Requests that a key may send per minute: ${REQUESTS_PER_MINUTE} by default.`),
  'X-RateLimit-Remaining': integerHeader('Requests left in the current minute.'),
  'X-RateLimit-Reset': integerHeader('Seconds until the current minute ends.'),
};
const noStore = { 'Cache-Control': constantHeader('no-store') };
const retryAfter = { 'Retry-After': integerHeader('Seconds to wait before the next request.') };
const challenge = { 'WWW-Authenticate': constantHeader('Bearer') };

const error = object('Error', {
  error: errorDetails,
  nearest: Type.Optional(
    Type.Array(Type.Unknown(), {
      description:
        'Of a question to `/query` that cannot be answered exactly, the nearest that can: parts of the question to replace, and null for those to leave out.',
    }),
  ),
});

const EXTRA_DESCRIPTIONS: Partial<Record<ErrorCode, string>> = {
  rate_limited: `; ${REQUESTS_PER_MINUTE} per minute with one key by default, ${FAILURES_PER_MINUTE} per minute without a valid key from one address`,
};

export function errorResponse(code: ErrorCode): object {
  const headers = {
    ...noStore,
    ...(code === 'unauthorized' ? challenge : rateLimitHeaders),
    ...(code === 'rate_limited' || code === 'unavailable' ? retryAfter : {}),
  };
  const { when } = ERRORS[code];
  const description = `\`${code}\`: ${when}${EXTRA_DESCRIPTIONS[code] ?? ''}.`;
  return { description, headers, content: { 'application/json': { schema: error } } };
}

const etag = {
  ETag: {
    type: 'string',
    description:
      'Changes when the response changes. Send it as `If-None-Match` to receive 304 for an unchanged response.',
  },
};

const NOT_MODIFIED = {
  type: 'null',
  description: 'The response still matches `If-None-Match`. Counts towards the rate limit.',
  headers: { ...noStore, ...rateLimitHeaders, ...etag },
};

/**
 * The `response` part of a route's schema: the response and errors, including those common to all routes.
 * @param hasEtag whether the response has an entity tag
 */
export function responses(
  answer: TSchema,
  description: string,
  errors: readonly ErrorCode[] = [],
  { hasEtag = false }: { readonly hasEtag?: boolean } = {},
): object {
  const codes: ErrorCode[] = [
    'unauthorized',
    'plan_required',
    'rate_limited',
    'server_error',
    ...errors,
    'unavailable',
  ];
  return {
    200: {
      description,
      headers: { ...noStore, ...rateLimitHeaders, ...(hasEtag ? etag : {}) },
      content: { 'application/json': { schema: answer } },
    },
    ...(hasEtag ? { 304: NOT_MODIFIED } : {}),
    ...Object.fromEntries(codes.map((code) => [ERRORS[code].status, errorResponse(code)])),
  };
}

/** Binary content. */
export const bytes = (description: string) => ({ schema: { type: 'string', format: 'binary', description } });

/** Flat rows, with a column per property, named as in JSON. */
const ROW_CONTENT = Object.fromEntries(
  Object.entries(ROW_FORMATS).map(([name, { description, isText }]) => [
    MEDIA_TYPES[name as RowFormatName],
    isText ? { schema: { type: 'string', description } } : bytes(description),
  ]),
);

const rowHeaders = {
  'X-Total-Count': integerHeader('Not with JSON. As `paging.total` in JSON, or the number of rows.'),
  'X-Range-From': textHeader('Not with JSON. As `range.from` in JSON.'),
  'X-Range-To': textHeader('Not with JSON. As `range.to` in JSON.'),
  'X-Provisional-After': textHeader('Not with JSON. As `range.provisionalAfter` in JSON, unless it is null.'),
  'X-Comparison-From': textHeader('Not with JSON. As `range.comparison.from` in JSON, with `compare`.'),
  'X-Comparison-To': textHeader('Not with JSON. As `range.comparison.to` in JSON, with `compare`.'),
  'X-Quality': textHeader(
    'Not with JSON. As `quality` in JSON, with `quality`; without `missing` if that has more than 40 ranges. Arrow and Parquet have it in the metadata of the schema too.',
  ),
  'X-Remainder': textHeader(
    'Not with JSON. As `remainder` in JSON, of questions. Arrow and Parquet have it in the metadata of the schema too.',
  ),
  'Content-Disposition': textHeader('Not with JSON. A file name.'),
};

/** Adds the formats of flat rows to the `response` part of a route's schema. */
function withRowFormats(given: object): object {
  const { 200: answer, ...others } = given as { 200: { headers: object; content: object } };
  const headers = { ...answer.headers, ...rowHeaders };
  return { 200: { ...answer, headers, content: { ...answer.content, ...ROW_CONTENT } }, ...others };
}

/** A recorded request path and its response. */
interface Example {
  readonly request: string;
  readonly answer: unknown;
}

/** Examples by operation and status. A test repeats each request and compares the response. */
const EXAMPLES = JSON.parse(readFileSync(new URL('examples.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, Readonly<Record<string, Example>>>
>;

interface Response {
  readonly content?: { readonly 'application/json': object };
}

/** Adds the examples of an operation to its response schemas. */
function withExamples(operation: string, responses: object): object {
  return Object.fromEntries(
    Object.entries(responses as Readonly<Record<string, Response>>).map(([status, response]) => {
      const example = EXAMPLES[operation]?.[status];
      if (example === undefined || response.content === undefined) return [status, response];
      const examples = { example: { summary: `GET ${example.request}`, value: example.answer } };
      const json = { ...response.content['application/json'], examples };
      return [status, { ...response, content: { ...response.content, 'application/json': json } }];
    }),
  );
}

/** The `response` part of a report's schema: its errors follow from its parameters and its path. */
export function responsesOf({ path, operation, parameters, answer, content, errors = [] }: Documented): object {
  const codes: ErrorCode[] = [
    ...(Object.keys(parameters).length > 0 ? (['invalid_request'] as const) : []),
    ...(path.includes(':id') ? (['not_found'] as const) : []),
    ...errors,
  ];
  const all = responses(answer, content, codes, { hasEtag: true });
  return withExamples(operation, 'format' in parameters ? withRowFormats(all) : all);
}
