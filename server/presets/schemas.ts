import {
  type Static,
  type TBoolean,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from 'typebox';
import {
  type Entity,
  type EntityName,
  FIELDS,
  type Field,
  type FlagName,
  flagsOf,
  WORDS,
} from '../catalog/entities.ts';
import { METRIC_NAMES, type MetricName, UNSAFE_REASONS, type UnsafeReason } from '../domain/comparison.ts';
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import { SUM_OPERATORS } from '../domain/predicate.ts';
import type { ProviderEvent } from '../domain/provider-events.ts';
import type { Range } from '../domain/range.ts';
import type { RankingUpdate } from '../domain/ranking-updates.ts';
import { KEYWORD_FIELDS, type Rule, SYNC_STATES, TEXT_OPERATOR_NAMES } from '../domain/rules.ts';
import type { Cell, Column } from '../formats/rows.ts';
import type { ObjectColumn } from '../formats/table.ts';
import { ENGINES, SEARCH_TYPES } from '../model/surfaces.ts';
import { DEVICES } from './parameters.ts';

/**
 * An object with exactly these properties, all required.
 * @param title its name among the schemas of the OpenAPI document (`api/plugins/openapi-document.ts`)
 */
export function object<Properties extends TProperties>(
  title: string,
  properties: Properties,
  options: { description?: string } = {},
): TObject<Properties> {
  return Type.Object(properties, { title, ...options, additionalProperties: false });
}

export function nullable<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** An enumeration of strings. @param title its name, as for objects */
export function oneOf<const Words extends readonly string[]>(title: string, words: Words, description?: string) {
  return Type.Unsafe<Words[number]>({ title, type: 'string', enum: words, ...(description ? { description } : {}) });
}

/**
 * An enumeration that later versions may extend. Without `enum`, generated clients accept new values, and have no type
 * for each such property.
 */
export function openWords<const Words extends readonly string[]>(words: Words, description?: string) {
  const help = `${description === undefined ? '' : `${description} `}One of ${words.join(', ')}; more may be added.`;
  return Type.Unsafe<Words[number]>({ type: 'string', description: help });
}

/** An integer. Without the format, generated clients may use 32 bits. */
export function integer(options: { minimum?: number; description?: string } = {}) {
  return Type.Integer({ format: 'int64', ...options });
}

export const day = Type.String({ format: 'date', description: 'A day, YYYY-MM-DD.' });
export const instant = Type.String({ format: 'date-time', description: 'An instant in UTC, with milliseconds.' });
const shortIdPattern = '^[A-Za-z0-9]{5}$';
export const shortId = Type.String({ pattern: shortIdPattern, description: 'A short id.' });
export const uuid = Type.String({ format: 'uuid' });

/** The schemas of the fields of an entity, in answers, but for some. */
export function answered<Name extends EntityName, Left extends keyof Entity<Name>>(
  entity: Name,
  without: readonly Left[],
): { readonly [Key in Exclude<keyof Entity<Name>, Left>]: TUnsafe<Entity<Name, string>[Key]> } {
  const left: readonly PropertyKey[] = without;
  const fields = FIELDS[entity].filter(({ name }) => !left.includes(name));
  return Object.fromEntries(fields.map((field) => [field.name, schemaOf(field)])) as never;
}

/** The schema of a flag that people may send, by its name. */
export function sentFlags<Name extends EntityName>(entity: Name) {
  type Flags = { readonly [Key in FlagName<Name>]: TOptional<TBoolean> };
  const flags = flagsOf(entity).map(({ name, help: description }) => [
    name,
    Type.Optional(Type.Boolean({ description })),
  ]);
  return Object.fromEntries(flags) as Flags;
}

const FORMATS: Readonly<Record<Exclude<Field['type'], keyof typeof WORDS>, object>> = {
  text: { type: 'string' },
  words: { type: 'string' },
  country: { type: 'string' },
  language: { type: 'string' },
  url: { type: 'string' },
  shortId: { type: 'string', pattern: shortIdPattern },
  uuid: { type: 'string', format: 'uuid' },
  day: { type: 'string', format: 'date' },
  factDay: { type: 'string', format: 'date' },
  instant: { type: 'string', format: 'date-time' },
  pastInstant: { type: 'string', format: 'date-time' },
  flag: { type: 'boolean' },
  order: { type: 'integer', format: 'int64' },
  historyDays: { type: 'integer', format: 'int64' },
  textList: { type: 'array', items: { type: 'string' } },
  groupRule: { type: 'object' },
  alertRule: { type: 'object' },
};

function schemaOf({ type, help, isOptional, fallback }: Field): TSchema {
  const isNull = isOptional && fallback === undefined;
  const description = /instant$/i.test(type) ? `${help} In UTC, with milliseconds.` : help;
  const said = isNull ? undefined : description;
  const schema = hasWords(type)
    ? openWords(WORDS[type], said)
    : Type.Unsafe<unknown>({ ...FORMATS[type], ...(said !== undefined && { description: said }) });
  return isNull ? nullable(schema, description) : schema;
}

function hasWords(type: Field['type']): type is keyof typeof WORDS {
  return type in WORDS;
}

const counts = { clicks: integer({ minimum: 0 }), impressions: integer({ minimum: 0 }) };

export const position = nullable(
  Type.Number({ format: 'double', minimum: 1 }),
  'Average position weighted by impressions, one decimal; null when there are no impressions.',
);

/** The properties of a metrics object, for use in rows. */
export const metricsProperties = {
  ...counts,
  ctr: nullable(
    Type.Number({ format: 'double', minimum: 0 }),
    'Clicks per impression, four decimals; null when there are no impressions.',
  ),
  position,
};

const countOrNull = nullable(
  integer({ minimum: 0 }),
  'Null only for a keyword with an unknown day in the range: it was stored before the keyword was tracked.',
);

export const metrics = object('Metrics', { ...metricsProperties, clicks: countOrNull, impressions: countOrNull });

/** What reports about AI answers count. */
export const aiProperties = {
  aiImpressions: nullable(integer({ minimum: 0 }), "Impressions in Google's AI answers; null if none is stored."),
  citations: nullable(
    integer({ minimum: 0 }),
    'Citations in AI answers of Bing and its partners; null if none is stored.',
  ),
};

const metricChange = object('MetricChange', {
  difference: nullable(
    Type.Number({ format: 'double' }),
    'The value now minus the value then; null if one of them is null.',
  ),
  ratio: nullable(
    Type.Number({ format: 'double' }),
    '(now - then) / then of the unrounded values, four decimals; null if it would mislead (see `unsafe`).',
  ),
});

const unsafeReasons = Type.Optional(Type.Unsafe<readonly UnsafeReason[]>(Type.Array(openWords(UNSAFE_REASONS))));

/** Changes of metrics and why they are unsafe; also for clicks and impressions alone. */
const changes = Type.Object(
  {
    clicks: metricChange,
    impressions: metricChange,
    ctr: Type.Optional(metricChange),
    position: Type.Optional(metricChange),
  },
  { title: 'Change', additionalProperties: false },
);
const change = Type.Optional(changes);
const unsafe = Type.Optional(
  object(
    'Unsafe',
    { clicks: unsafeReasons, impressions: unsafeReasons, ctr: unsafeReasons, position: unsafeReasons },
    { description: 'Metrics whose ratio would mislead, with the reasons.' },
  ),
);

/** The properties added to metrics with `compare`. */
export const comparedProperties = { comparison: Type.Optional(metrics), change, unsafe };

/** The same where there may be nothing to compare with. @param why says when that is so */
export function comparedOrNull(why: string) {
  return { comparison: Type.Optional(nullable(metrics, why)), change: Type.Optional(nullable(changes, why)), unsafe };
}

/** When a day, week or month has no comparison. */
export const NO_SUCH_DAYS = 'Null if the other range has no such days, such as a 31st, or they are unknown.';

/** Metrics that may be compared. */
export const totalMetrics = object('TotalMetrics', { ...metricsProperties, ...comparedProperties });

/** Clicks and impressions that may be compared. */
export const totalCounts = object(
  'TotalCounts',
  { ...counts, comparison: Type.Optional(object('Counts', counts)), change, unsafe },
  { description: 'Site total minus brand and non-brand.' },
);

/** A day, week or month of a keyword or of the whole site. */
export const dayMetrics = object('DayMetrics', {
  date: Type.String({ format: 'date', description: 'The day, or the first day of the week or month in the range.' }),
  days: Type.Optional(
    Type.Integer({
      format: 'int64',
      minimum: 0,
      description: 'Only with interval: how many days of the range the week or month has, up to the last synced day.',
    }),
  ),
  ...metricsProperties,
  ...comparedOrNull(NO_SUCH_DAYS),
});

export const project = object(
  'ProjectReference',
  { id: shortId, domain: Type.String() },
  { description: 'The requested project.' },
);

/** The properties of a project, for use in rows. */
export const projectProperties = {
  id: shortId,
  domain: Type.String(),
  property: Type.String({ description: 'Identifier of the search-performance property.' }),
  country: nullable(Type.String({ pattern: '^[a-z]{3}$' }), 'Country filter of the project; null means all countries.'),
  language: nullable(Type.String({ pattern: '^[a-z]{2}$' })),
  syncStatus: openWords(SYNC_STATES),
  lastSyncedAt: nullable(instant),
  syncedThrough: nullable(day, 'Last synced day; null before the first sync.'),
  keywordHistoryFrom: Type.String({ format: 'date', description: 'First day of keyword data the plan can read.' }),
  historyBackfilling: Type.Boolean({ description: 'Older days inside the plan window are still loading.' }),
  trackedKeywords: integer({ minimum: 0, description: 'Keywords that are not archived.' }),
};

export const projectDetails = object('Project', projectProperties);

export const paging = object(
  'Paging',
  { total: integer({ minimum: 0 }), limit: integer({ minimum: 1 }), offset: integer({ minimum: 0 }) },
  { description: 'To page, add limit to offset until offset reaches total.' },
);

/**
 * The resolved range of every response that has one. One schema for all operations; each sends the optional properties
 * that apply to it.
 */
export const range = Type.Object(
  {
    from: day,
    to: day,
    engine: Type.Optional(openWords(ENGINES, 'The requested search engine; left out for google.')),
    grain: Type.Optional(
      openWords(['week'], 'Only whole weeks of the requested range are counted; left out for days.'),
    ),
    type: Type.Optional(openWords(SEARCH_TYPES, 'The requested search type; left out for web.')),
    lastDay: Type.Optional(
      nullable(day, 'The last day that the requested engine or search type has; later days are not known yet.'),
    ),
    device: Type.Optional(oneOf('Device', DEVICES)),
    country: Type.Optional(nullable(Type.String(), 'The requested country in lower case; null for all.')),
    clamped: Type.Optional(
      Type.Boolean({ description: 'The range was moved to the first day of keyword data of the plan.' }),
    ),
    cut: Type.Optional(Type.Boolean({ description: 'Days that may still change were left out at the end.' })),
    provisionalAfter: Type.Optional(nullable(day, 'The last final day; later days may still change.')),
    availableFrom: Type.Optional(nullable(day, 'First day with any breakdown; null before the first collection.')),
    availableThrough: Type.Optional(nullable(day, 'Last day with any breakdown; null before the first collection.')),
    countryMonthlyThrough: Type.Optional(
      nullable(
        day,
        'Up to this day country data is stored as monthly totals; a part of a month gets an even share of it.',
      ),
    ),
    comparison: Type.Optional(
      Type.Object(
        {
          from: day,
          to: day,
          clamped: Type.Optional(
            Type.Boolean({ description: 'The range was moved to the first day of keyword data of the plan.' }),
          ),
        },
        { title: 'ComparisonRange', description: 'The range of `compare`.', additionalProperties: false },
      ),
    ),
  },
  {
    title: 'Range',
    description: 'The days of the answer, inclusive, and how the request was resolved.',
    additionalProperties: false,
  },
);

const share = Type.Number({ format: 'double', minimum: 0, maximum: 1 });
const providerEvent = object('ProviderEvent', {
  title: Type.String(),
  from: day,
  to: day,
  kind: openWords(
    ['span', 'change'],
    'span: its days are counted differently; change: all days from some day of it on.',
  ),
  affects: Type.Unsafe<readonly MetricName[]>(Type.Array(oneOf('MetricName', METRIC_NAMES))),
  device: nullable(openWords(['desktop', 'mobile', 'tablet']), 'Null for all devices.'),
  announcedOn: nullable(day, 'Null if the search engine did not announce it.'),
  source: Type.String({ description: 'The address of a description.' }),
});

export function providerEvents(description: string) {
  return Type.Unsafe<readonly ProviderEvent[]>(Type.Array(providerEvent, { description }));
}

/** What responses say of ranking updates. Untyped, so that generated clients need no model for them. */
export const rankingUpdates = {
  rankingUpdates: Type.Unsafe<readonly RankingUpdate[]>(
    Type.Array(Type.Unknown(), {
      description:
        'Changes in how the search engine ranks that were rolled out on these days, oldest first: `title`, `from`, `to` (null until it is rolled out) and `source`, the address of its own record.',
    }),
  ),
  rankingUpdatesThrough: nullable(
    day,
    'The last of these days up to the last synced one on which no ranking update is missing, as far as the search engine has announced them; null if no day is synced, and for Bing.',
  ),
};

/** The quality block of responses about a range. */
export const quality = Type.Optional(
  object(
    'Quality',
    {
      finalThrough: nullable(day, 'The last final day.'),
      daysExpected: integer({ minimum: 0, description: 'Days of the range up to the last synced day.' }),
      daysStored: integer({ minimum: 0, description: 'How many of them are stored.' }),
      daysProvisional: integer({ minimum: 0, description: 'How many of them may still change.' }),
      daysCutOff: integer({
        minimum: 0,
        description: 'How many of them had more rows than the search engine returned.',
      }),
      missing: Type.Unsafe<readonly Range[]>(
        Type.Array(range, {
          description:
            'Those of them that are not stored, as ranges: days before the first stored one, days that could not be fetched, and days that no load or import had. Sums lack them.',
        }),
      ),
      anonymousClicksShare: nullable(
        share,
        'Clicks of anonymised queries / clicks of the site, four decimals; null without clicks or brand data.',
      ),
      queryCoverage: object(
        'QueryCoverage',
        { clicks: nullable(share), impressions: nullable(share) },
        {
          description: 'Sums over all queries / the site, at most 1, four decimals; null as above.',
        },
      ),
      reconciledAt: nullable(instant, 'When final days were last compared with the search engine.'),
      events: providerEvents('Changes in what the search engine counts, on days of the range.'),
      ...rankingUpdates,
    },
    { description: 'Only with `quality`.' },
  ),
);

/** The rule of a keyword group or page group. */
export const rule = Type.Unsafe<Rule>(
  object('Rule', {
    match: oneOf('RuleMatch', ['all', 'any']),
    conditions: Type.Array(
      Type.Object(
        {
          field: Type.Optional(
            openWords(KEYWORD_FIELDS, 'Only in keyword groups; page groups test the path of the URL.'),
          ),
          op: openWords([...TEXT_OPERATOR_NAMES, ...SUM_OPERATORS]),
          value: Type.Union([Type.String(), Type.Number({ format: 'double' })]),
        },
        { title: 'RuleCondition', additionalProperties: false },
      ),
    ),
  }),
);

/** The path of project endpoints. Not validated: a malformed id is an unknown id. */
export const projectPath = Type.Object({
  id: Type.String({ pattern: shortIdPattern, description: 'A project id, as /projects lists them.' }),
});

/** The error of a response, or of a part of it. */
export const errorDetails = object('ErrorDetails', {
  code: oneOf('ErrorCode', Object.keys(ERRORS) as ErrorCode[], 'A published code keeps its meaning.'),
  message: Type.String({ description: 'What was wrong and what would be right, for people.' }),
});

/** A schema as JSON, as far as columns depend on it. */
interface FieldSchema {
  readonly type?: string;
  readonly format?: string;
  readonly anyOf?: readonly FieldSchema[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
}

/**
 * The columns of flat rows: one for each property of an object, those of nested objects with the names of the objects before
 * theirs. What is left out is empty. @param schema that of the object in the JSON response
 */
export function columnsOf<Schema extends TObject>(schema: Schema): readonly ObjectColumn<Static<Schema>>[] {
  return leavesIn(schema).map(({ path, type }) => {
    const empty = type === 'ids' ? [] : null;
    const read = (row: object): Cell => {
      let value: unknown = row;
      for (const name of path) value = (value as Readonly<Record<string, unknown>> | null)?.[name];
      if (value === undefined || value === null) return empty;
      return type === 'ids' ? (value as readonly unknown[]).map(String) : (value as Cell);
    };
    return [path.join('_'), type, read];
  });
}

function leavesIn({ properties = {} }: FieldSchema): { path: string[]; type: Column['type'] }[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const known = field.anyOf?.find(({ type }) => type !== 'null') ?? field;
    if (known.properties === undefined) return { path: [name], type: columnType(known) };
    return leavesIn(known).map(({ path, type }) => ({ path: [name, ...path], type }));
  });
}

function columnType({ type, format }: FieldSchema): Column['type'] {
  if (type === 'array') return 'ids';
  if (type === 'integer') return 'count';
  if (type === 'number') return 'ratio';
  if (type === 'boolean') return 'boolean';
  if (format === 'date') return 'day';
  return format === 'date-time' ? 'instant' : 'text';
}
