import { type TSchema, Type } from 'typebox';
import type { Project } from '../catalog/projects.ts';
import { METRIC_NAMES, QUESTION_METRICS } from '../domain/comparison.ts';
import { KnownError } from '../domain/errors.ts';
import { SUM_OPERATORS, TEXT_OPERATORS } from '../domain/predicate.ts';
import { comparedRange, keywordHistoryFrom, siteRange } from '../domain/project-ranges.ts';
import { REMAINDER_REASONS, type RemainderReason } from '../domain/quality.ts';
import { PERIOD_PATTERN } from '../domain/range.ts';
import { openRows, RowBytes } from '../formats/json.ts';
import type { RowsAnswer } from '../formats/rows.ts';
import { dimension as column, countColumns, DAYS, MEASURED, ofRows, type SetColumn, table } from '../formats/table.ts';
import {
  COUNTS,
  type Count,
  countsIn,
  DIMENSION_NAMES,
  DIMENSIONS,
  type Dimension,
  hasDimension,
  isTime,
  QUESTION_TABLES,
  TABLES,
} from '../model/tables.ts';
import type { DimensionValues } from '../query/names.ts';
import { sentFilter } from '../query/predicate.ts';
import { DEFAULT_ROWS, MAX_ROWS, parseQuestion } from '../query/question.ts';
import { answerQuestion } from '../query/question-answer.ts';
import { WITHOUT_COMPARE } from '../query/question-days.ts';
import { planQuestion, type QuestionValue } from '../query/question-plan.ts';
import { type Offer, RefusedQuestion, withParts } from '../query/refuse.ts';
import { countedOf, metricsOf, type ObjectSet, type Row, rowSet, type Sums } from '../query/rows.ts';
import { reportExternalBytes } from '../runtime/external-memory.ts';
import { formatParameters, NAMED_RANGES, type Parameter, readParameters } from './parameters.ts';
import { type PresetRequest, type PresetSources, projectReference, trackedPreset } from './preset.ts';
import {
  comparedProperties,
  day,
  integer,
  metricsProperties,
  NO_SUCH_DAYS,
  nullable,
  object,
  oneOf,
  openWords,
  paging,
  project,
  quality,
  range,
} from './schemas.ts';

/** The longest question, in characters. */
const MAX_QUESTION = 100_000;

/** A question as JSON. It is read by `parseQuestion`, whose messages name the part that is wrong. */
const questionParameter: Parameter<TSchema, string> & { fallback: string } = {
  schema: Type.String({
    maxLength: MAX_QUESTION,
    description:
      'The question as JSON, as in the body of POST: `{"dimensions":["month","country"]}`; the totals of the last 28 days by default.',
  }),
  expected: `a question as JSON of at most ${MAX_QUESTION} characters`,
  decode: (text) => (text.length <= MAX_QUESTION ? text : undefined),
  fallback: '{}',
};

const parameters = { q: questionParameter, ...formatParameters };

const optional = Type.Optional;
const dimension = oneOf('QuestionDimension', DIMENSION_NAMES);
const metric = COUNTS.length === 0 ? oneOf('MetricName', METRIC_NAMES) : oneOf('QuestionMetric', QUESTION_METRICS);

/** Of what is counted in place of searches. */
const ofCounts = <Of extends TSchema>(of: (count: Count) => Of) =>
  Object.fromEntries(COUNTS.map((count) => [count.name, optional(of(count))]));
const METRICS_HELP =
  COUNTS.length === 0
    ? 'All four by default.'
    : `By default all that the table has: ${METRIC_NAMES.join(', ')}, or what it counts in place of searches.`;

/** The days of a question. */
const days = Type.Object(
  {
    from: optional(day),
    to: optional(
      Type.String({ description: 'The last day, or `final` for the last day that cannot change any more.' }),
    ),
    period: optional(
      Type.String({ pattern: PERIOD_PATTERN, description: 'Instead of `from`: 1d to 486d, or 1m to 16m.' }),
    ),
  },
  { title: 'QuestionRange', additionalProperties: false, description: 'The last 28 days by default.' },
);

/** The body of a question. Every part may be left out. */
const question = Type.Object(
  {
    range: optional(days),
    metrics: optional(Type.Array(metric, { description: METRICS_HELP })),
    dimensions: optional(Type.Array(dimension, { description: 'What rows are about. One of date, week and month.' })),
    filters: optional(
      Type.Array(Type.Array(Type.Unknown()), {
        description: `All must hold. Each is \`[OPERATOR, DIMENSION, [VALUES]]\`, true for any of the values, or \`["and", FILTER, …]\`, \`["or", FILTER, …]\`, \`["not", FILTER]\`. Operators: ${TEXT_OPERATORS.join(', ')} (RE2); only \`equals\` for dimensions other than query, page and keyword. Case is ignored unless \`{"caseSensitive": true}\` follows the values. Groups are named by their id. \`[OPERATOR, METRIC, [NUMBER]]\` tests the unrounded sums of a row (${SUM_OPERATORS.join(', ')}); a ratio without impressions fails. Beside it in \`or\` and \`not\` only dimensions of the rows can stand.`,
      }),
    ),
    sort: optional(
      Type.Array(Type.String(), {
        description:
          'Dimensions of the question and metrics, with `-` before those to sort from the highest. By default time. Equal rows follow the most clicks, the most impressions, then names.',
      }),
    ),
    limit: optional(
      Type.Integer({
        format: 'int64',
        minimum: 1,
        maximum: MAX_ROWS,
        default: DEFAULT_ROWS,
        description: 'Formats other than JSON have all rows without `limit` and `offset`.',
      }),
    ),
    offset: optional(Type.Integer({ format: 'int64', minimum: 0, default: 0 })),
    compare: optional(
      Type.Union([Type.String({ pattern: '^(previous|year)$' }), days], {
        description: `Adds the same metrics over another range, and the change: ${NAMED_RANGES}, or \`from\` and \`to\`.`,
      }),
    ),
    include: optional(
      Type.Object(
        {
          totals: optional(Type.Boolean({ default: true })),
          quality: optional(Type.Boolean({ default: false })),
        },
        { title: 'QuestionParts', additionalProperties: false },
      ),
    ),
  },
  { title: 'Question', additionalProperties: false },
);

const group = object('QuestionGroup', { id: Type.String(), name: Type.String() });
const text = optional(Type.String());
const metrics = {
  clicks: optional(metricsProperties.clicks),
  impressions: optional(metricsProperties.impressions),
  ctr: optional(metricsProperties.ctr),
  position: optional(metricsProperties.position),
  ...ofCounts(({ scale }) => (scale === 1 ? integer({ minimum: 0 }) : Type.Number({ format: 'double', minimum: 0 }))),
};
const comparedMetrics = object('QuestionMetrics', metrics);
const change = Type.Object(
  Object.fromEntries(QUESTION_METRICS.map((name) => [name, optional(comparedProperties.change.properties.clicks)])),
  { title: 'QuestionChange', additionalProperties: false },
);
const { unsafe } = comparedProperties;

const row = object(
  'QuestionRow',
  {
    date: optional(day),
    week: optional(day),
    month: optional(day),
    days: optional(
      integer({ minimum: 0, description: 'Of the range in the week or month, up to the last synced day.' }),
    ),
    ...Object.fromEntries(
      DIMENSION_NAMES.filter((name) => !isTime(name)).map((name) => [
        name,
        DIMENSIONS[name].of === undefined ? text : optional(group),
      ]),
    ),
    ...metrics,
    comparison: optional(nullable(comparedMetrics, NO_SUCH_DAYS)),
    change: optional(nullable(change, NO_SUCH_DAYS)),
    unsafe,
  },
  { description: 'The dimensions and metrics of the question. Rows without clicks and impressions are left out.' },
);

const answer = object('QuestionAnswer', {
  project,
  range,
  grain: openWords(QUESTION_TABLES, 'What is stored that answered.'),
  aggregation: openWords(
    ['property', 'page'],
    'How a search counts: once for the property, or once for each page that it showed.',
  ),
  totals: optional(
    nullable(
      object('QuestionTotals', { ...metrics, comparison: optional(comparedMetrics), change: optional(change), unsafe }),
      'Of all rows that match, those of other pages of the answer too, each search once where groups overlap; null where appearances overlap.',
    ),
  ),
  remainder: object('Remainder', {
    clicks: nullable(
      integer(),
      'The total of the property, or of the devices or countries asked for, minus that of the rows.',
    ),
    impressions: nullable(integer(), 'Like clicks; both are null where they cannot be compared.'),
    why: Type.Unsafe<readonly RemainderReason[]>(Type.Array(openWords(REMAINDER_REASONS))),
  }),
  paging,
  quality,
  rows: Type.Array(row),
});

/** A question that cannot be answered, as it was sent, and what may be asked instead. */
interface RefusedValue {
  readonly sent: object;
  readonly problem: string;
  readonly offers: readonly Offer[];
}

/** Any question that stored facts answer exactly. */
export const questionPreset = trackedPreset({
  path: '/projects/:id/query',
  operation: 'getQuery',
  body: question,
  tag: 'Questions',
  summary: 'Any question',
  description:
    'Answers exactly, from the coarsest stored table that has all dimensions of the question, or with 400, which names what is not known and the nearest questions that are. Nothing is estimated.',
  answer,
  content: 'The answer.',
  examples: {
    200: `/projects/Proj1/query?q=${encodeURIComponent('{"range":{"period":"7d"},"dimensions":["device"]}')}`,
    400: `/projects/Proj1/query?q=${encodeURIComponent('{"dimensions":["query","device"]}')}`,
  },
  parameters,
  parse: (sent, project, now): QuestionValue & { readonly refused: RefusedValue | null } => {
    const { q, format } = readParameters(parameters, sent);
    try {
      return { ...questionOf(q, { hasAllRows: format !== 'json' }, project, now), refused: null };
    } catch (error) {
      if (!(error instanceof RefusedQuestion)) throw error;
      // What can be answered instead depends on what is stored. Nothing is read for the question itself.
      const { problem, offers } = error;
      const refused = { sent: JSON.parse(q) as object, problem, offers };
      return { ...questionOf('{}', { hasAllRows: false }, project, now), refused };
    }
  },
  plan: async (query, read) => ({ query, tracked: read.tracked, ...(await planQuestion(read, query)) }),
  run: async (plan, sources, request) => {
    const { refused } = plan.query;
    if (refused !== null) throw await answerable(refused, sources, request);
    try {
      const { facts, trackedCache: cache } = sources;
      return await answerQuestion(plan, { facts, cache, signal: request.signal });
    } catch (error) {
      if (!(error instanceof RefusedQuestion)) throw error;
      const { problem, offers } = error;
      throw await answerable({ sent: sentOf(plan.query), problem, offers }, sources, request);
    }
  },
  json: questionJson,
  rows: questionTable,
  isLong: ({ limit }) => limit === null,
});

/** The answer, with what a table of it needs. */
type QuestionResult = Awaited<ReturnType<typeof answerQuestion>>;

/** The question of a text about a project. Throws `invalid_request`. */
function questionOf(q: string, how: { readonly hasAllRows: boolean }, project: Project, now: number): QuestionValue {
  const { range, compare, ...question } = parseQuestion(q, how);
  const days = siteRange(range, project, now);
  const comparison = comparedRange(days, compare);
  if (hasDimension(question.table, 'keyword')) {
    const first = keywordHistoryFrom(project, now);
    const problemOf = (name: string): string => `${name}: keywords before ${first} are not known in this plan.`;
    if (days.from < first) {
      const known = {
        says: `range from ${first} on`,
        question: { range: { from: first, to: days.to } },
      };
      throw new RefusedQuestion(problemOf('range'), days.to < first ? [] : [known]);
    }
    if (comparison !== null && comparison.from < first) {
      throw new RefusedQuestion(problemOf('compare'), [WITHOUT_COMPARE]);
    }
  }
  return { ...days, ...question, comparison, compare: compare ?? null };
}

/** A question that was parsed, as it may be sent. */
function sentOf({ from, to, metrics, dimensions, filters, sort, compare }: QuestionValue): object {
  return {
    range: { from, to },
    metrics,
    dimensions,
    filters: filters.map((filter) => sentFilter(filter)),
    ...(sort && { sort: sort.map(({ by, descending }) => (descending ? `-${by}` : by)) }),
    ...(compare && { compare }),
  };
}

/** The refusal of a question, with those nearest ones that are answered. */
async function answerable(
  { sent, problem, offers }: RefusedValue,
  sources: PresetSources,
  request: PresetRequest,
): Promise<RefusedQuestion> {
  const answered: Offer[] = [];
  for (const offer of offers) {
    const refused = await refusalOf(withParts(sent, offer.question), sources, request);
    if (refused === null) answered.push(offer);
    // What is stored of other days, or without a comparison, is near too.
    for (const { says, question } of refused?.offers ?? []) {
      if (question.dimensions !== undefined) continue;
      const both = { says: `${offer.says}, ${says}`, question: { ...offer.question, ...question } };
      if ((await refusalOf(withParts(sent, both.question), sources, request)) !== null) continue;
      answered.push(both);
      break;
    }
  }
  return new RefusedQuestion(problem, answered);
}

/** Why a question is refused; null if it is answered. Only its first row is read. */
async function refusalOf(
  sent: object,
  { trackedCache: cache, facts, now }: PresetSources,
  { workspace, id, signal }: PresetRequest,
): Promise<RefusedQuestion | null> {
  try {
    const q = JSON.stringify({ ...sent, limit: 1, offset: 0 });
    const plan = await cache.read(workspace, id, async (read) => {
      const query = { workspace, ...questionOf(q, { hasAllRows: false }, read.project, now()) };
      return { query, tracked: read.tracked, ...(await planQuestion(read, query)) };
    });
    if (plan !== undefined) await answerQuestion(plan, { facts, cache, signal });
    return null;
  } catch (error) {
    if (error instanceof RefusedQuestion) return error;
    if (error instanceof KnownError && error.code === 'invalid_request') return new RefusedQuestion(error.message, []);
    throw error;
  }
}

/** Most rows are shorter, in bytes. */
const ROW = 128;

/** An answer as JSON. */
function questionJson(result: QuestionResult): Buffer {
  const bytes = new RowBytes(ROW * (result.rows.length + 8), result.query.metrics);
  bytes.text(openRows(questionHead(result), 'rows'));
  if (result.valuesOf.every((values) => values === null)) writeRemembered(bytes, result);
  else writeRows(bytes, result);
  bytes.text(']}');
  const json = bytes.all();
  reportExternalBytes(json.length);
  return json;
}

/** An answer as a value. */
export function questionAnswer(result: QuestionResult) {
  return JSON.parse(questionJson(result).toString()) as ReturnType<typeof questionHead> & {
    readonly rows: readonly object[];
  };
}

/** What an answer has before its rows. */
function questionHead({ query, project, totals, remainder, paging, quality }: QuestionResult) {
  const { from, to, comparison, table } = query;
  const { provisionalAfter } = project;
  return {
    project: projectReference(project),
    range: { from, to, provisionalAfter, ...(comparison === null ? {} : { comparison }) },
    grain: table,
    aggregation: TABLES[table].counts,
    ...(totals === undefined ? {} : { totals: totals && metricsIn(totals, query) }),
    remainder,
    paging,
    ...quality,
  };
}

function metricsIn(sums: Sums, { table, metrics }: QuestionValue): object {
  const counts = countsIn(table);
  if (counts !== null) return countedOf(sums, counts, metrics);
  return metricsOf(
    sums,
    'all',
    METRIC_NAMES.filter((name) => metrics.includes(name)),
  );
}

/** JSON by rows: a remembered list has the same rows in each answer, and some metrics. */
const remembered = new WeakMap<QuestionResult['rows'], { readonly metrics: string; readonly json: string }>();

function writeRemembered(bytes: RowBytes, result: QuestionResult): void {
  const metrics = result.query.metrics.join();
  const known = remembered.get(result.rows);
  if (known?.metrics === metrics) {
    bytes.text(known.json);
    return;
  }
  const start = bytes.length;
  writeRows(bytes, result);
  remembered.set(result.rows, { metrics, json: bytes.all().toString('utf8', start) });
}

/** Writes the rows, separated by commas, without an object for each. */
function writeRows(bytes: RowBytes, { query, rows, valuesOf }: QuestionResult): void {
  const properties = query.dimensions.map((dimension, at) => propertyWriter(dimension, valuesOf[at]!));
  const set = rowSet(rows, 'all', countsIn(query.table));
  for (let row = 0; row < rows.length; row++) {
    const { names, days } = rows[row]!;
    if (row > 0) bytes.char(',');
    bytes.char('{');
    for (let at = 0; at < properties.length; at++) bytes.text(properties[at]!(names[at]!));
    bytes.row(days === undefined ? '' : `"days":${days},`, set, row);
    bytes.char('}');
  }
}

/** The property of each name of a dimension, by its values: the answers about a project share those of keywords. */
const namedProperties = new WeakMap<object, Map<string, string>>();

/** Writes the property of a dimension, and the comma after it. */
function propertyWriter(dimension: Dimension, values: DimensionValues): (name: string) => string {
  const property = (value: unknown): string => `"${dimension}":${JSON.stringify(value)},`;
  if (values === null) return property;
  const known = namedProperties.get(values) ?? new Map<string, string>();
  namedProperties.set(values, known);
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const made = property(values.get(name));
    known.set(name, made);
    return made;
  };
}

/** A row for each row, with a column for each dimension and metric. */
function questionTable(result: QuestionResult): RowsAnswer {
  const { query, project, batches, remainder, paging, quality, valuesOf } = result;
  const { dimensions, metrics, comparison } = query;
  const isCompared = comparison !== null;
  const counts = countsIn(query.table)?.filter(({ name }) => metrics.includes(name));
  async function* sets(): AsyncGenerator<ObjectSet> {
    for await (const rows of batches()) yield rowSet(rows, 'all', counts);
  }
  const { range } = questionHead(result);
  return table({
    head: { name: `${project.domain}-query`, total: paging.total, range, remainder, ...quality },
    columns: [
      ...dimensions.flatMap((dimension, at) => dimensionColumns(dimension, at, valuesOf[at]!)),
      ...(counts === undefined ? MEASURED : countColumns(counts, isCompared)),
    ],
    sets: sets(),
    isCompared,
    metrics,
  });
}

function dimensionColumns(dimension: Dimension, at: number, values: DimensionValues): readonly SetColumn<ObjectSet>[] {
  if (isTime(dimension)) return [column(dimension, 'day', at), ...(dimension === 'date' ? [] : [DAYS])];
  if (values === null) return [column(dimension, 'text', at)];
  const groupOf = ({ names }: Row) => values.get(names[at]!);
  if (dimension !== 'group' && dimension !== 'pageGroup') {
    return ofRows<Row>([dimension, 'text', (row) => groupOf(row) as string]);
  }
  return ofRows<Row>(
    ...(['id', 'name'] as const).map((part) => {
      const column = part === 'id' ? (`${dimension}_id` as const) : (`${dimension}_name` as const);
      return [column, 'text', (row: Row) => (groupOf(row) as Named)[part]] as const;
    }),
  );
}

interface Named {
  readonly id: string;
  readonly name: string;
}
