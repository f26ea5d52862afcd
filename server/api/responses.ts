import { type TSchema, Type } from 'typebox';
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import { FAILURES_PER_MINUTE, REQUESTS_PER_MINUTE } from '../domain/request-limits.ts';
import { object, oneOf } from './schemas.ts';

export const integerHeader = (description: string) => ({ type: 'integer', format: 'int64', description });
export const constantHeader = (value: string) => ({ type: 'string', const: value, description: `Always ${value}.` });

const rateLimitHeaders = {
  'X-RateLimit-Limit': integerHeader(`Requests that a key may send per minute: ${REQUESTS_PER_MINUTE} by default.`),
  'X-RateLimit-Remaining': integerHeader('Requests left in the current minute.'),
  'X-RateLimit-Reset': integerHeader('Seconds until the current minute ends.'),
};
const noStore = { 'Cache-Control': constantHeader('no-store') };
const retryAfter = { 'Retry-After': integerHeader('Seconds to wait before the next request.') };
const challenge = { 'WWW-Authenticate': constantHeader('Bearer') };

export const errorDetails = object('ErrorDetails', {
  code: oneOf('ErrorCode', Object.keys(ERRORS) as ErrorCode[], 'A published code keeps its meaning.'),
  message: Type.String({ description: 'What was wrong and what would be right, for people.' }),
});

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
