import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { UNSAFE_REASONS, type UnsafeReason } from '../domain/comparison.ts';
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import { FAILURES_PER_MINUTE, REQUESTS_PER_MINUTE } from './plugins/guard.ts';

/** An object with exactly these properties, all required. */
export function object<Properties extends TProperties>(
  properties: Properties,
  options: { description?: string } = {},
): TObject<Properties> {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

export function nullable<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** An enumeration of strings. */
export function oneOf<const Words extends readonly string[]>(words: Words, description?: string) {
  return Type.Unsafe<Words[number]>({ type: 'string', enum: words, ...(description ? { description } : {}) });
}

export const day = Type.String({ format: 'date', description: 'A day, YYYY-MM-DD.' });
export const instant = Type.String({ format: 'date-time', description: 'An instant in UTC, with milliseconds.' });
export const shortId = Type.String({ pattern: '^[A-Za-z0-9]{5}$', description: 'A short id.' });
export const uuid = Type.String({ format: 'uuid' });

const clicks = Type.Integer({ minimum: 0 });
const impressions = Type.Integer({ minimum: 0 });
const counts = { clicks, impressions };

/** The properties of a metrics object, for use in rows. */
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

const change = <Schema extends TSchema>(difference: Schema) =>
  object({
    difference: nullable(difference, 'The value now minus the value then; null where one of them is null.'),
    ratio: nullable(
      Type.Number(),
      '(now - then) / then of unrounded values, four decimals; null where it would mislead, see `unsafe`.',
    ),
  });
const changedCounts = { clicks: change(Type.Integer()), impressions: change(Type.Integer()) };
const changedMetrics = { ...changedCounts, ctr: change(Type.Number()), position: change(Type.Number()) };

const unsafeReasons = Type.Optional(
  Type.Unsafe<readonly UnsafeReason[]>(Type.Array(oneOf(UNSAFE_REASONS), { minItems: 1 })),
);
const unsafeCounts = { clicks: unsafeReasons, impressions: unsafeReasons };
const UNSAFE_HELP = { description: 'Metrics whose ratio would mislead, with the reasons.' };

/** The properties beside metrics with `compare`. */
export const comparedWith = {
  comparison: Type.Optional(object(metrics, { description: 'The metrics of the other range.' })),
  change: Type.Optional(object(changedMetrics)),
  unsafe: Type.Optional(object({ ...unsafeCounts, ctr: unsafeReasons, position: unsafeReasons }, UNSAFE_HELP)),
};
/** The properties of metrics that may be compared, to be spread into rows. */
export const comparedMetrics = { ...metrics, ...comparedWith };
export const comparedCounts = {
  ...counts,
  comparison: Type.Optional(object(counts)),
  change: Type.Optional(object(changedCounts)),
  unsafe: Type.Optional(object(unsafeCounts, UNSAFE_HELP)),
};

/** The range that an answer is compared with. */
export const comparedDays = object(
  { from: day, to: day },
  { description: 'Only with compare: the days of the other range.' },
);

export const project = object({ id: shortId, domain: Type.String() }, { description: 'The requested project.' });

export const paging = object(
  { total: Type.Integer({ minimum: 0 }), limit: Type.Integer({ minimum: 1 }), offset: Type.Integer({ minimum: 0 }) },
  { description: 'To page, add limit to offset until offset reaches total.' },
);

export const provisionalAfter = nullable(day, 'The last final day; later days may still change.');

/** Path parameters of project endpoints. Malformed ids are treated as unknown. */
export const projectPath = Type.Object({ id: Type.String({ description: 'A project id from /projects.' }) });

const integerHeader = (description: string) => ({ type: 'integer', description });
const constantHeader = (value: string) => ({ type: 'string', const: value, description: `Always ${value}.` });

const rateLimitHeaders = {
  'X-RateLimit-Limit': integerHeader(`Requests that a key may send per minute: ${REQUESTS_PER_MINUTE}.`),
  'X-RateLimit-Remaining': integerHeader('Requests left in the current minute.'),
  'X-RateLimit-Reset': integerHeader('Seconds until the current minute ends.'),
};
const noStore = { 'Cache-Control': constantHeader('no-store') };
const retryAfter = { 'Retry-After': integerHeader('Seconds to wait before the next request.') };
const challenge = { 'WWW-Authenticate': constantHeader('Bearer') };

function errorSchema(code: ErrorCode): TSchema {
  return object({ error: object({ code: Type.Literal(code), message: Type.String() }) });
}

const EXTRA_DESCRIPTIONS: Partial<Record<ErrorCode, string>> = {
  rate_limited: `; ${REQUESTS_PER_MINUTE} per minute with one key, ${FAILURES_PER_MINUTE} per minute without a valid key from one address`,
};

function errorResponse(code: ErrorCode): object {
  const headers = {
    ...noStore,
    ...(code === 'unauthorized' ? challenge : rateLimitHeaders),
    ...(code === 'rate_limited' || code === 'unavailable' ? retryAfter : {}),
  };
  const { when } = ERRORS[code];
  const description = `${when[0]!.toUpperCase()}${when.slice(1)}${EXTRA_DESCRIPTIONS[code] ?? ''}.`;
  return { description, headers, content: { 'application/json': { schema: errorSchema(code) } } };
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

const text = (description: string) => ({ schema: { type: 'string', description } });
const bytes = (description: string) => ({ schema: { type: 'string', format: 'binary', description } });

/** Flat rows, with a column per property, named as in JSON. */
const ROW_CONTENT = {
  'text/csv': text(
    'RFC 4180 with a header line. Texts that a spreadsheet would execute are prefixed with an apostrophe.',
  ),
  'application/x-ndjson': text('A JSON object per row.'),
  'application/vnd.apache.arrow.stream': bytes('With exact types, and `sum_position`.'),
  'application/vnd.apache.parquet': bytes('With exact types, and `sum_position`.'),
};

const onlyRows = (type: string, description: string) => ({ type, description: `Not with JSON. ${description}` });
const rowHeaders = {
  'X-Total-Count': onlyRows('integer', 'As `paging.total` in JSON, or the number of rows.'),
  'X-Range-From': onlyRows('string', 'As `range.from` in JSON.'),
  'X-Range-To': onlyRows('string', 'As `range.to` in JSON.'),
  'X-Provisional-After': onlyRows('string', 'As `range.provisionalAfter` in JSON, unless it is null.'),
  'X-Comparison-From': onlyRows('string', 'As `range.comparison.from` in JSON, with `compare`.'),
  'X-Comparison-To': onlyRows('string', 'As `range.comparison.to` in JSON, with `compare`.'),
  'Content-Disposition': onlyRows('string', 'A file name.'),
};

/** Adds the formats of flat rows to the `response` part of a route's schema. */
export function withRowFormats(given: object): object {
  const { 200: answer, ...others } = given as { 200: { headers: object; content: object } };
  const headers = { ...answer.headers, ...rowHeaders };
  return { 200: { ...answer, headers, content: { ...answer.content, ...ROW_CONTENT } }, ...others };
}
