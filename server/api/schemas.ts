import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import { FAILURES_PER_MINUTE, REQUESTS_PER_MINUTE } from './plugins/guard.ts';

/** An object of exactly these properties, all of them always there. */
export function object<Properties extends TProperties>(
  properties: Properties,
  options: { description?: string } = {},
): TObject<Properties> {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

export function nullable<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** One of a few words. */
export function oneOf<const Words extends readonly string[]>(words: Words, description?: string) {
  return Type.Unsafe<Words[number]>({ type: 'string', enum: words, ...(description ? { description } : {}) });
}

export const day = Type.String({ format: 'date', description: 'A day, YYYY-MM-DD.' });
export const instant = Type.String({ format: 'date-time', description: 'An instant in UTC, with milliseconds.' });
export const shortId = Type.String({ pattern: '^[A-Za-z0-9]{5}$', description: 'A short id.' });
export const uuid = Type.String({ format: 'uuid' });

const clicks = Type.Integer({ minimum: 0 });
const impressions = Type.Integer({ minimum: 0 });
export const counts = { clicks, impressions };

/** The properties of a metrics object, to be spread into rows. */
export const metrics = {
  ...counts,
  ctr: nullable(
    Type.Number({ minimum: 0 }),
    'Clicks per impression, four decimals; null when there are no impressions.',
  ),
  position: nullable(
    Type.Number({ minimum: 1 }),
    'Average position weighted by impressions, one decimal; null when there are no impressions.',
  ),
};

export const project = object({ id: shortId, domain: Type.String() }, { description: 'The project asked for.' });

export const paging = object(
  { total: Type.Integer({ minimum: 0 }), limit: Type.Integer({ minimum: 1 }), offset: Type.Integer({ minimum: 0 }) },
  { description: 'To page, add limit to offset until offset reaches total.' },
);

export const provisionalAfter = nullable(day, 'The last final day; later days may still change.');

/** The path of project endpoints. Not checked: what cannot be an id is an unknown id. */
export const projectPath = Type.Object({ id: Type.String({ description: 'A project id, as /projects lists them.' }) });

const integerHeader = (description: string) => ({ type: 'integer', description });
const constantHeader = (value: string) => ({ type: 'string', const: value, description: `Always ${value}.` });

const rateLimitHeaders = {
  'X-RateLimit-Limit': integerHeader(`Requests a key may send in a minute: ${REQUESTS_PER_MINUTE}.`),
  'X-RateLimit-Remaining': integerHeader('Requests left in the current minute.'),
  'X-RateLimit-Reset': integerHeader('Seconds until the current minute ends.'),
};
const noStore = { 'Cache-Control': constantHeader('no-store') };
const retryAfter = { 'Retry-After': integerHeader('Seconds to wait before the next request.') };
const challenge = { 'WWW-Authenticate': constantHeader('Bearer') };

function errorSchema(code: ErrorCode): TSchema {
  return object({ error: object({ code: Type.Literal(code), message: Type.String() }) });
}

const EXTRA_WORDS: Partial<Record<ErrorCode, string>> = {
  rate_limited: `; ${REQUESTS_PER_MINUTE} a minute with one key, ${FAILURES_PER_MINUTE} a minute without a valid key from one address`,
};

function errorResponse(code: ErrorCode): object {
  const headers = {
    ...noStore,
    ...(code === 'unauthorized' ? challenge : rateLimitHeaders),
    ...(code === 'rate_limited' || code === 'unavailable' ? retryAfter : {}),
  };
  const { when } = ERRORS[code];
  const description = `${when[0]!.toUpperCase()}${when.slice(1)}${EXTRA_WORDS[code] ?? ''}.`;
  return { description, headers, content: { 'application/json': { schema: errorSchema(code) } } };
}

/** The `response` part of a route's schema: its answer and the errors it can give besides those of every route. */
export function responses(answer: TSchema, description: string, errors: readonly ErrorCode[] = []): object {
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
      headers: { ...noStore, ...rateLimitHeaders },
      content: { 'application/json': { schema: answer } },
    },
    ...Object.fromEntries(codes.map((code) => [ERRORS[code].status, errorResponse(code)])),
  };
}
