import { openRows, RowBytes } from '../formats/json.ts';
import type { RowsAnswer } from '../formats/rows.ts';
import { dimension as column, DAYS, MEASURED, ofRows, type SetColumn, table } from '../formats/table.ts';
import { type Dimension, isTime } from '../model/tables.ts';
import type { DimensionValues } from '../query/names.ts';
import { metricsOf, type ObjectSet } from '../query/rows.ts';
import { reportExternalBytes } from '../runtime/external-memory.ts';
import type { QuestionResult } from './question.ts';
import type { QuestionRow } from './question-answer.ts';

/** Most rows are shorter, in bytes. */
const ROW = 128;

/** An answer as JSON. */
export function questionJson(result: QuestionResult): Buffer {
  const bytes = new RowBytes(ROW * (result.rows.length + 8), result.metrics);
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
function questionHead({ head, totals, remainder, paging, quality, metrics }: QuestionResult) {
  return {
    ...head,
    ...(totals === undefined ? {} : { totals: totals && metricsOf(totals, 'all', metrics) }),
    remainder,
    paging,
    ...quality,
  };
}

/** JSON by rows: a remembered list has the same rows in each answer, and some metrics. */
const remembered = new WeakMap<QuestionResult['rows'], { readonly metrics: string; readonly json: string }>();

function writeRemembered(bytes: RowBytes, result: QuestionResult): void {
  const metrics = result.metrics.join();
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
function writeRows(bytes: RowBytes, { rows, dimensions, valuesOf }: QuestionResult): void {
  const properties = dimensions.map((dimension, at) => propertyWriter(dimension, valuesOf[at]!));
  const set = setOf(rows);
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

function setOf(rows: readonly QuestionRow[]): ObjectSet<QuestionRow> {
  return {
    rows,
    length: rows.length,
    known: 'all',
    name: (row, dimension) => rows[row]!.names[dimension]!,
    days: (row) => rows[row]!.days!,
    now: (row) => rows[row]!.measures,
    comparer: (row) => rows[row]!.comparer,
    base: (row) => rows[row]!.base ?? null,
  };
}

/** A row for each row, with a column for each dimension and metric. */
export function questionTable(result: QuestionResult): RowsAnswer {
  const { head, batches, remainder, paging, quality, dimensions, valuesOf, metrics, isCompared } = result;
  async function* sets(): AsyncGenerator<ObjectSet<QuestionRow>> {
    for await (const rows of batches()) yield setOf(rows);
  }
  return table({
    head: { name: `${head.project.domain}-query`, total: paging.total, range: head.range, remainder, ...quality },
    columns: [...dimensions.flatMap((dimension, at) => dimensionColumns(dimension, at, valuesOf[at]!)), ...MEASURED],
    sets: sets(),
    isCompared,
    metrics,
  });
}

function dimensionColumns(
  dimension: Dimension,
  at: number,
  values: DimensionValues,
): readonly SetColumn<ObjectSet<QuestionRow>>[] {
  if (isTime(dimension)) return [column(dimension, 'day', at), ...(dimension === 'date' ? [] : [DAYS])];
  if (values === null) return [column(dimension, 'text', at)];
  const groupOf = ({ names }: QuestionRow) => values.get(names[at]!);
  if (dimension !== 'group' && dimension !== 'pageGroup') {
    return ofRows<QuestionRow>([dimension, 'text', (row) => groupOf(row) as string]);
  }
  return ofRows<QuestionRow>(
    ...(['id', 'name'] as const).map((part) => {
      const column = part === 'id' ? (`${dimension}_id` as const) : (`${dimension}_name` as const);
      return [column, 'text', (row: QuestionRow) => (groupOf(row) as Named)[part]] as const;
    }),
  );
}

interface Named {
  readonly id: string;
  readonly name: string;
}
