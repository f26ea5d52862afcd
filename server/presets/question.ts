import { type TSchema, Type } from 'typebox';
import type { Project } from '../catalog/projects.ts';
import { KnownError } from '../domain/errors.ts';
import { comparedRange, keywordHistoryFrom, siteRange } from '../domain/project-ranges.ts';
import { openRows, RowBytes } from '../formats/json.ts';
import type { RowsAnswer } from '../formats/rows.ts';
import { dimension as column, DAYS, MEASURED, ofRows, type SetColumn, table } from '../formats/table.ts';
import { type Dimension, hasDimension, isTime, TABLES } from '../model/tables.ts';
import type { DimensionValues } from '../query/names.ts';
import { sentFilter } from '../query/predicate.ts';
import { parseQuestion } from '../query/question.ts';
import { answerQuestion } from '../query/question-answer.ts';
import { planQuestion, type QuestionValue, type RefusedValue } from '../query/question-plan.ts';
import { type Offer, RefusedQuestion, withParts } from '../query/refuse.ts';
import type { Row } from '../query/rows.ts';
import { metricsOf, type ObjectSet, rowSet } from '../query/rows.ts';
import { WITHOUT_COMPARE } from '../query/strict-days.ts';
import { reportExternalBytes } from '../runtime/external-memory.ts';
import { formatParameters, type Parameter, readParameters } from './parameters.ts';
import { projectReference, type ReportRequest, type ReportSources, trackedReport } from './report.ts';

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

/** Any question that stored facts answer exactly. */
export const questionReport = trackedReport({
  operation: 'getQuery',
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
});

/** The answer, with what a table of it needs. */
export type QuestionResult = Awaited<ReturnType<typeof questionReport.run>>;

/** The question of a text about a project. Throws `invalid_request`. */
function questionOf(q: string, how: { readonly hasAllRows: boolean }, project: Project, now: number): QuestionValue {
  const { range, compare, ...question } = parseQuestion(q, how);
  const days = siteRange(range, project, now);
  const comparison = comparedRange(days, compare);
  if (hasDimension(question.grain, 'keyword')) {
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
  sources: ReportSources,
  request: ReportRequest,
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
  { trackedCache: cache, facts, now }: ReportSources,
  { workspace, id, signal }: ReportRequest,
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
export function questionJson(result: QuestionResult): Buffer {
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
  const { from, to, comparison, grain, metrics } = query;
  const { provisionalAfter } = project;
  return {
    project: projectReference(project),
    range: { from, to, provisionalAfter, ...(comparison === null ? {} : { comparison }) },
    grain,
    aggregation: TABLES[grain].counts,
    ...(totals === undefined ? {} : { totals: totals && metricsOf(totals, 'all', metrics) }),
    remainder,
    paging,
    ...quality,
  };
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
  const set = rowSet(rows);
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
export function questionTable(result: QuestionResult): RowsAnswer {
  const { query, project, batches, remainder, paging, quality, valuesOf } = result;
  const { dimensions, metrics, comparison } = query;
  async function* sets(): AsyncGenerator<ObjectSet> {
    for await (const rows of batches()) yield rowSet(rows);
  }
  const { range } = questionHead(result);
  return table({
    head: { name: `${project.domain}-query`, total: paging.total, range, remainder, ...quality },
    columns: [...dimensions.flatMap((dimension, at) => dimensionColumns(dimension, at, valuesOf[at]!)), ...MEASURED],
    sets: sets(),
    isCompared: comparison !== null,
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
