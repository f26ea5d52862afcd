import { createInterface } from 'node:readline';
import type { Problem } from '../domain/problems.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { patternOf } from '../runtime/patterns.ts';
import { readRecords } from './csv-files.ts';
import type { SnapshotFiles, TableFiles } from './snapshot-files.ts';
import type { TableSchema } from './source.ts';
import { openText } from './whole-files.ts';

type SnapshotFile = TableFiles['files'][number];

/** A row in a message: values by column, its file, and its line, or its row of a Parquet file; both from 1. */
export type ShownRow = Record<string, unknown> & Partial<Place> & { again?: Place };

interface Place {
  file: string;
  line?: number;
  row?: number;
}

/** A row to find: its values by column. */
interface Wanted {
  readonly shown: ShownRow;
  readonly values: readonly (readonly [name: string, value: Scalar])[];
  /** How many places to name: two for a repeated key. */
  readonly places: 1 | 2;
}

/** A value that is shown as it is in files, apart from hours; rules are not. */
type Scalar = string | number | boolean | null;

const isScalar = (value: unknown): value is Scalar =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

/** Sets the file name, relative to the snapshot, and the place of rows that are shown as they were read. */
export async function findReadRows(
  session: Session,
  schema: TableSchema,
  rows: readonly ShownRow[],
  files: TableFiles['files'],
): Promise<void> {
  for (const [path, ofFile] of Map.groupBy(rows, ({ file }) => file)) {
    const file = files.find((candidate) => candidate.path === path);
    if (file === undefined) continue;
    for (const row of ofFile) row.file = file.name;
    await findInFile(session, file, wantedOf(schema, ofFile));
  }
}

/**
 * The problems of the tables of a snapshot, each row with the file and the place of the first row with its values. A repeated
 * key also has the place of the second row (`again`).
 */
export async function withPlaces(
  session: Session,
  schemas: readonly TableSchema[],
  problems: readonly Problem[],
  { tables }: SnapshotFiles,
): Promise<Problem[]> {
  const placed: Problem[] = [];
  for (const problem of problems) {
    const schema = schemas.find(({ name }) => name === problem.table);
    const found = tables.find(({ table }) => table === problem.table);
    const rows = problem.rows.map((row) => ({ ...(row as ShownRow) }));
    placed.push({ ...problem, rows });
    if (schema === undefined || found === undefined) continue;
    let wanted = wantedOf(
      schema,
      rows.filter((row) => row.file === undefined),
    );
    for (const file of found.files) {
      await findInFile(session, file, wanted);
      wanted = wanted.filter((one) => !isFound(one));
    }
  }
  return placed;
}

function wantedOf({ columns }: TableSchema, rows: readonly ShownRow[]): Wanted[] {
  const names = columns.map(({ name }) => name);
  return rows.map((shown) => {
    const values = names.flatMap((name) => {
      const value = shown[name];
      return name in shown && isScalar(value) ? [[name, value] as const] : [];
    });
    return { shown, values, places: Number(shown['rows']) > 1 ? 2 : 1 };
  });
}

function isFound({ shown, places }: Wanted): boolean {
  return places === 1 ? hasPlace(shown) : shown.again !== undefined;
}

function hasPlace({ line, row }: ShownRow): boolean {
  return line !== undefined || row !== undefined;
}

function addPlace({ shown }: Wanted, place: Place): void {
  if (hasPlace(shown)) shown.again = place;
  else Object.assign(shown, place);
}

async function findInFile(session: Session, file: SnapshotFile, wanted: readonly Wanted[]): Promise<void> {
  const inFolder = wanted.filter(({ values }) => values.length > 0 && values.every((value) => isInFolder(file, value)));
  if (inFolder.length === 0) return;
  if (file.format === 'parquet') await findInParquet(session, file, inFolder);
  else await findInText(file, inFolder);
}

/** False if a partition folder of the file gives another value. */
function isInFolder({ path }: SnapshotFile, [name, value]: Wanted['values'][number]): boolean {
  const folder = new RegExp(`/${name}=([^/]*)/`).exec(path)?.[1];
  return folder === undefined || decodeURIComponent(folder) === value;
}

async function findInText(file: SnapshotFile, wanted: readonly Wanted[]): Promise<void> {
  const remaining = new Set(wanted);
  for await (const { line, fields } of file.format === 'csv' ? csvRows(file.path) : jsonRows(file.path)) {
    for (const one of remaining) {
      if (!one.values.every(([name, value]) => !fields.has(name) || isShownAs(name, fields.get(name)!, value)))
        continue;
      addPlace(one, { file: file.name, line });
      if (isFound(one)) remaining.delete(one);
    }
    if (remaining.size === 0) return;
  }
}

interface TextRow {
  readonly line: number;
  readonly fields: ReadonlyMap<string, string>;
}

async function* csvRows(path: string): AsyncGenerator<TextRow> {
  let names: string[] | undefined;
  for await (const { line, fields } of readRecords(path)) {
    if (names === undefined) names = fields.map((name) => name.trim().toLowerCase());
    else yield { line, fields: new Map(names.map((name, index) => [name, fields[index] ?? ''])) };
  }
}

async function* jsonRows(path: string): AsyncGenerator<TextRow> {
  let line = 0;
  for await (const text of createInterface({ input: openText(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    const row = parseObject(text);
    if (row !== undefined)
      yield { line, fields: new Map(Object.entries(row).map(([name, value]) => [name.toLowerCase(), asText(value)])) };
  }
}

function parseObject(text: string): object | undefined {
  try {
    const row = JSON.parse(text) as unknown;
    return typeof row === 'object' && row !== null ? row : undefined;
  } catch {
    // Blank lines, and what is described as unreadable.
    return undefined;
  }
}

function asText(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Whether a field may be the shown value: null for an empty field, the beginning of a long one. */
function isShownAs(name: string, field: string, shown: Scalar): boolean {
  if (name === 'hour' && typeof shown === 'string' && instantOf(field) === instantOf(shown)) return true;
  if (shown === null) return field === '';
  if (typeof shown === 'number') return field !== '' && Number(field) === shown;
  if (typeof shown !== 'string') return field.toLowerCase() === String(shown);
  return field === shown || (shown.includes('… (') && field.startsWith(shown.split('… (')[0]!));
}

/** Hours are shown in one way, however they were written. Without a zone they are in UTC. */
function instantOf(text: string): number {
  const hasZone = /:\d\d(\.\d+)?\s*(Z|[+-]\d\d(:?\d\d)?)$/i.test(text);
  return Date.parse(hasZone ? text : `${text}Z`);
}

/** A column or parameter as text; hours as instants, however they were written. */
function comparable(name: string, value: string): string {
  if (name !== 'hour') return `${value}::varchar`;
  return `coalesce(epoch_us(try_cast(${value}::varchar as timestamptz))::varchar, ${value}::varchar)`;
}

async function findInParquet(
  session: Session,
  { path, name: file }: SnapshotFile,
  wanted: readonly Wanted[],
): Promise<void> {
  const from = 'read_parquet($file, file_row_number = true, hive_partitioning = false)';
  const parameters = { file: patternOf(path) };
  const columns = await session.rows<{ column_name: string }>(`describe select * from ${from}`, parameters);
  const names = new Map(columns.map(({ column_name: name }) => [name.toLowerCase(), name]));
  for (const one of wanted) {
    const { values, places } = one;
    const here = values.filter(([name]) => names.has(name));
    const parameterOf = (index: number): string => `value${index}`;
    const tests = here.map(
      ([name], index) =>
        `${comparable(name, `"${names.get(name)!}"`)} is not distinct from ${comparable(name, `$${parameterOf(index)}`)}`,
    );
    const bound = Object.fromEntries(
      here.map(([, value], index) => [parameterOf(index), value === null ? null : String(value)]),
    );
    const where = tests.length === 0 ? '' : ` where ${tests.join(' and ')}`;
    const found = await session.rows<{ row: number }>(
      `select (file_row_number + 1)::double as row from ${from}${where} order by row limit ${places}`,
      { ...parameters, ...bound },
    );
    for (const { row } of found) if (!isFound(one)) addPlace(one, { file, row });
  }
}
