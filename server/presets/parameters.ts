import { type Static, type TSchema, Type } from 'typebox';
import type { Compare } from '../domain/comparison.ts';
import { parseDay } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { FORMATS } from '../domain/formats.ts';
import { parseInstant } from '../domain/hours.ts';
import { INTERVALS } from '../domain/intervals.ts';
import type { RowTest } from '../domain/predicate.ts';
import { checkRange, type LastDay, MAX_DAYS, PERIOD_PATTERN } from '../domain/range.ts';
import { FILTER_HELP, parseFilter, parseSort, ROW_FIELDS, type SortField } from '../domain/rules.ts';

/**
 * A query parameter: its schema (for the documentation), a description of valid values, and its decoder. Decoding is strict:
 * `10.5`, `1e3` and ` 5` are not integers, `2026-02-30` is not a day.
 */
export interface Parameter<Schema extends TSchema = TSchema, Decoded = unknown> {
  readonly schema: Schema;
  readonly expected: string;
  /** Returns undefined for invalid text. */
  readonly decode: (text: string) => Decoded | undefined;
  /** The default value; undefined if it depends on the request. */
  readonly fallback?: Decoded;
  /** For parameters that may be sent several times: all values as one. */
  readonly combine?: (values: readonly never[]) => Decoded;
}

export type Parameters = Readonly<Record<string, Parameter>>;

type Decoded<P> = P extends Parameter<TSchema, infer D> ? (P extends { fallback: unknown } ? D : D | undefined) : never;
export type Values<P extends Parameters> = { readonly [Name in keyof P]: Decoded<P[Name]> };

/**
 * The values of a request's parameters. Unknown parameters are ignored; a known one that is repeated, empty or
 * malformed throws `invalid_request` with its name.
 */
export function readParameters<P extends Parameters>(parameters: P, query: unknown): Values<P> {
  const sent = query as Readonly<Record<string, unknown>>;
  const values: Record<string, unknown> = {};
  // Runs for every request: several times faster than `Object.entries`.
  for (const name in parameters) values[name] = readParameter(name, parameters[name]!, sent[name]);
  return values as Values<P>;
}

function readParameter(name: string, parameter: Parameter, sent: unknown): unknown {
  if (sent === undefined) return parameter.fallback;
  if (Array.isArray(sent) && parameter.combine !== undefined) {
    return parameter.combine(sent.map((each) => readParameter(name, parameter, each)) as never[]);
  }
  if (typeof sent !== 'string') throw invalidRequest(`${name} was sent more than once; send it once.`);
  if (sent === '') throw invalidRequest(`${name} is empty; it must be ${parameter.expected}, or left out.`);
  const decoded = parameter.decode(sent);
  if (decoded === undefined) {
    const shown = sent.length > 40 ? `${sent.slice(0, 40)}…` : sent;
    throw invalidRequest(`${name} must be ${parameter.expected}, not '${shown}'.`);
  }
  return decoded;
}

/** A parameter that may be sent several times; its value is a list. */
export function repeatable<Each>(each: Parameter<TSchema, Each>, maximum: number): Parameter<TSchema, readonly Each[]> {
  const { description, ...items } = each.schema as TSchema & { description?: string };
  return {
    schema: Type.Array(items as TSchema, { maxItems: maximum, ...(description === undefined ? {} : { description }) }),
    expected: `${each.expected}, at most ${maximum} of them`,
    decode: (text) => {
      const value = each.decode(text);
      return value === undefined ? undefined : [value];
    },
    combine: (lists: readonly (readonly Each[])[]) => lists.flat(),
  };
}

/** The query schema of a route, for its documentation. */
export function querySchema(parameters: Parameters): TSchema {
  return Type.Object(
    Object.fromEntries(Object.entries(parameters).map(([name, { schema }]) => [name, Type.Optional(schema)])),
  );
}

function day(description: string): Parameter<TSchema, string> {
  return {
    schema: Type.String({ format: 'date', pattern: '^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$', description }),
    expected: 'a calendar day written YYYY-MM-DD',
    decode: parseDay,
  };
}

/** @param title the name of the choices in the OpenAPI document */
function choice<const Choices extends readonly string[]>(
  title: string,
  choices: Choices,
  fallback: Choices[number],
  description: string,
): Parameter<TSchema, Choices[number]> & { fallback: Choices[number] } {
  return {
    schema: Type.Unsafe<Choices[number]>({ title, type: 'string', enum: choices, default: fallback, description }),
    expected: `one of ${choices.join(', ')}`,
    decode: (text) => choices.find((candidate) => candidate === text),
    fallback,
  };
}

function wholeNumber(
  bounds: { minimum: number; maximum?: number },
  fallback: number,
  description: string,
): Parameter<TSchema, number> & { fallback: number } {
  const { minimum, maximum } = bounds;
  const schema = Type.Integer({ format: 'int64', ...bounds, default: fallback, description });
  return {
    schema,
    expected: `a whole number ${maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`}`,
    decode: (text) => {
      const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      return number >= minimum && number <= (maximum ?? Number.MAX_SAFE_INTEGER) ? number : undefined;
    },
    fallback,
  };
}

const FLAGS = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

function flag(description: string): Parameter<TSchema, boolean> & { fallback: boolean } {
  return {
    // `1` and `0` are accepted too; generated clients need only booleans.
    schema: Type.Boolean({ default: false, description }),
    expected: 'one of 1, true, 0, false',
    decode: (text) => FLAGS.get(text),
    fallback: false,
  };
}

const country: Parameter<TSchema, string> = {
  schema: Type.String({
    pattern: '^[A-Za-z]{3}$',
    description: 'ISO 3166-1 alpha-3 code of a country, in either case.',
  }),
  expected: 'a country code of three letters (ISO 3166-1 alpha-3)',
  decode: (text) => (/^[A-Za-z]{3}$/.test(text) ? text.toLowerCase() : undefined),
};

const lastDay: Parameter<TSchema, LastDay> = {
  schema: Type.String({
    pattern: '^(final|[1-9][0-9]{3}-[0-9]{2}-[0-9]{2})$',
    description:
      'Last day of the range, inclusive: a day, or `final` for the last day that cannot change any more (`provisionalAfter`); the last synced day by default.',
  }),
  expected: 'a calendar day written YYYY-MM-DD, or final',
  decode: (text) => (text === 'final' ? text : parseDay(text)),
};

/** The first or last hour of a range. Decodes to the text, a day or an instant. */
export function hourLimit(description: string): Parameter<TSchema, string> {
  return {
    schema: Type.String({ description: `${description} An instant is ISO 8601 with its offset.` }),
    expected: 'a calendar day written YYYY-MM-DD, or an instant such as 2026-11-20T07:00:00-08:00',
    decode: (text) => ((parseDay(text) ?? parseInstant(text)) === undefined ? undefined : text),
  };
}

/** The longest query or address, in characters. */
const MAX_TEXT = 2048;

/** A query, or the address of a page, exactly as rows have it. */
export function exactText(description: string): Parameter<TSchema, string> {
  return {
    schema: Type.String({ minLength: 1, maxLength: MAX_TEXT, description }),
    expected: `a text of at most ${MAX_TEXT} characters`,
    decode: (text) => (text.length <= MAX_TEXT ? text : undefined),
  };
}

const PERIOD = new RegExp(PERIOD_PATTERN);

const period: Parameter<TSchema, string> = {
  schema: Type.String({
    pattern: PERIOD_PATTERN,
    description: 'A range that ends at `to`: 1d to 486d, or 1m to 16m (calendar months). Used instead of `from`.',
  }),
  expected: `1d to ${MAX_DAYS}d or 1m to 16m`,
  decode: (text) => (PERIOD.test(text) ? text : undefined),
};

/** Parameters of all presets that support flat rows. */
export const formatParameters = {
  format: choice(
    'Format',
    FORMATS,
    'json',
    'Response format. Alternatives: a path extension such as `.csv`, or a media type in `Accept`.',
  ),
  bom: flag('Starts CSV with a byte order mark, for Excel.'),
};

/** `filter` and `sort` for the fields of one kind of rows. */
export function selectionParameters(of: keyof typeof ROW_FIELDS): {
  filter: Parameter<TSchema, RowTest | null> & { fallback: null };
  sort: Parameter<TSchema, readonly SortField[] | null> & { fallback: null };
} {
  const fields = ROW_FIELDS[of];
  const names = Object.keys(fields).join(', ');
  const filter = `${FILTER_HELP} Fields: ${names}.`;
  const sort = `Fields to sort by, joined by commas, with \`-\` for descending: ${names}. Empty ratios come last.`;
  return {
    filter: {
      schema: Type.String({ maxLength: 4096, description: filter }),
      expected: 'a filter',
      decode: (text) => parseFilter(text, fields),
      fallback: null,
    },
    sort: {
      schema: Type.String({ description: sort }),
      expected: 'fields to sort by',
      decode: (text) => parseSort(text, fields),
      fallback: null,
    },
  };
}

/** The row limit; null (all rows) for flat rows without `limit` and `offset`. */
export function rowLimit(sent: unknown, limit: number): number | null {
  const { format = 'json', limit: sentLimit, offset } = sent as Readonly<Record<string, unknown>>;
  return format !== 'json' && sentLimit === undefined && offset === undefined ? null : limit;
}

/** `from`, `to` and `period` of range endpoints. */
export const rangeParameters = {
  from: day(`First day of the range; 27 days before \`to\` by default. A range has at most ${MAX_DAYS} days.`),
  to: lastDay,
  period,
};

const COMPARED_DAYS = /^([^.]*)\.\.([^.]*)$/;

/** The other ranges that have a name. */
export const NAMED_RANGES =
  '`previous` (the same number of days just before; of whole calendar months, as many months), `year` (364 days earlier, so that weekdays match; of whole calendar months, the same months)';

/** The range to compare the response with. */
export const compare: Parameter<TSchema, Compare> = {
  schema: Type.String({
    pattern: '^(previous|year|[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}\\.\\.[1-9][0-9]{3}-[0-9]{2}-[0-9]{2})$',
    description: `Adds the same metrics over another range, and the change: ${NAMED_RANGES}, or days such as \`2025-08-01..2025-08-28\`.`,
  }),
  expected: 'previous, year, or a range written YYYY-MM-DD..YYYY-MM-DD',
  decode: (text) => {
    if (text === 'previous' || text === 'year') return text;
    const [from, to] = (COMPARED_DAYS.exec(text) ?? []).slice(1).map(parseDay);
    return from === undefined || to === undefined ? undefined : checkRange('compare', { from, to });
  },
};

/** The length of the intervals in a series. */
export const interval = choice(
  'Interval',
  INTERVALS,
  'day',
  'Sums the days per week (from Monday) or month. A week or month that the range covers in part is labelled by its first day in the range.',
);

export const quality = flag(
  'Adds the quality of the data: how many days are stored, provisional or cut off, and more.',
);

export const DEVICES = ['all', 'desktop', 'mobile', 'tablet'] as const;
export const device = choice('Device', DEVICES, 'all', 'Only this device.');
const groupId = Type.String({
  pattern: '^[A-Za-z0-9]{5}$',
  description: 'Id of a group or folder. Only its keywords are returned.',
});
/** Malformed ids are treated as unknown. */
const group: Parameter<typeof groupId, Static<typeof groupId>> = {
  schema: groupId,
  expected: 'the id of a group',
  decode: (text) => text,
};

function paging(limit: number, maxLimit: number): Record<'limit' | 'offset', ReturnType<typeof wholeNumber>> {
  return {
    limit: wholeNumber({ minimum: 1, maximum: maxLimit }, limit, 'Maximum number of rows.'),
    offset: wholeNumber(
      { minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      0,
      'Number of rows to skip. No rows are returned at or beyond the total.',
    ),
  };
}

export { choice, country, day, flag, group, paging, wholeNumber };
