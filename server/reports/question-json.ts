import { METRIC_NAMES } from '../domain/comparison.ts';
import { MetricsBytes, openRows } from '../formats/json.ts';
import type { Dimension } from '../model/tables.ts';
import { reportExternalBytes } from '../runtime/external-memory.ts';
import type { QuestionResult } from './question.ts';
import { metricsOf } from './question-answer.ts';
import type { DimensionValues } from './question-names.ts';

/** Most rows are shorter, in bytes. */
const ROW = 128;

/** An answer as JSON. */
export function questionJson(result: QuestionResult): Buffer {
  const bytes = new MetricsBytes(ROW * (result.rows.length + 8));
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
    ...(totals === undefined ? {} : { totals: totals && metricsOf(totals, metrics) }),
    remainder,
    paging,
    ...quality,
  };
}

/** JSON by rows: a remembered list has the same rows in each answer, and some metrics. */
const remembered = new WeakMap<QuestionResult['rows'], { readonly metrics: string; readonly json: string }>();

function writeRemembered(bytes: MetricsBytes, result: QuestionResult): void {
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
function writeRows(bytes: MetricsBytes, { rows, dimensions, valuesOf, metrics, isCompared }: QuestionResult): void {
  const properties = dimensions.map((dimension, at) => propertyWriter(dimension, valuesOf[at]!));
  const isPlain = !isCompared && metrics.length === METRIC_NAMES.length;
  let isFirst = true;
  for (const row of rows) {
    if (!isFirst) bytes.char(',');
    isFirst = false;
    bytes.char('{');
    for (let at = 0; at < properties.length; at++) bytes.text(properties[at]!(row.names[at]!));
    if (row.days !== undefined) bytes.text(`"days":${row.days},`);
    if (isPlain) bytes.metrics(row.measures);
    else bytes.text(JSON.stringify(metricsOf(row, metrics)).slice(1));
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
