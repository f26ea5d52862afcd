import { readFile, stat } from 'node:fs/promises';
import { count, type Problem } from '../domain/problems.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { patternOf } from '../runtime/patterns.ts';
import { COLUMN_TYPES } from './column-types.ts';
import { cut, readHeader } from './csv-files.ts';
import { unreadable } from './read-failures.ts';
import type { Format, TableFiles } from './snapshot-files.ts';
import type { Column, EntityTable, FactTableSchema } from './tables.ts';
import { type FileRefusal, refusalOfFile } from './whole-files.ts';

export type TableSchema = EntityTable | FactTableSchema;

/** Files of one table that one statement reads; CSV files have the same header. */
interface Group {
  readonly format: Format;
  /** Name of the bound list of files. */
  readonly parameter: string;
  readonly files: TableFiles['files'];
  /** The table's folder; null for a single file. */
  readonly folder: string | null;
  /** CSV: all column names, in order. */
  readonly header: readonly string[];
}

/** The names that the files use for each column of the format, and their other columns. */
interface Found {
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly others: readonly string[];
}

export interface Source {
  /** SELECT of the cast rows, with a `wrong` flag; undefined if there is nothing to read. */
  readonly rows: string | undefined;
  /** SELECT of the errors in wrong rows; long and rarely needed. */
  readonly wrongRows: string;
  readonly parameters: Readonly<Record<string, readonly string[]>>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/** Bytes of an NDJSON file that is read without DuckDB to find its columns. */
const SMALL_FILE = 65_536;

/** Column names that a message shows. */
const SHOWN_NAMES = 10;

/** The table function for a format: typed (Parquet), text (CSV), or JSON values. Hive partitions are parsed in `rawValue`. */
function reader({ format, parameter, header }: Group, schema: TableSchema): string {
  if (format === 'parquet') {
    return `read_parquet($${parameter}, union_by_name = true, filename = true, hive_partitioning = false)`;
  }
  if (format === 'ndjson') return `read_ndjson_objects($${parameter}, filename = true, hive_partitioning = false)`;
  const known = schema.columns.map(({ name }) => name);
  const columns = header
    .map((name) => name.toLowerCase())
    .map((name, index) => `'${known.includes(name) ? name : `other_${index}`}': 'VARCHAR'`);
  // No auto-detection: it may skip lines at the top of the file.
  return `read_csv($${parameter}, auto_detect = false, columns = {${columns.join(', ')}}, header = true, delim = ',', quote = '"', escape = '"', comment = '', filename = true, hive_partitioning = false, allow_quoted_nulls = false)`;
}

/** Finds the columns of the files and builds the SELECT that casts them. */
export async function readSource(session: Session, schema: TableSchema, files: TableFiles): Promise<Source> {
  const { groups, problems } = await groupFiles(schema, files);
  const others = new Set<string>();
  const selects: string[] = [];
  const wrongSelects: string[] = [];
  const parameters: Record<string, readonly string[]> = {};
  for (const group of groups) {
    try {
      const found = await findColumns(session, schema, group);
      // An empty file has no rows and therefore no missing columns.
      if (found === undefined) continue;
      for (const name of found.others) others.add(name);
      const missing = schema.columns.filter(
        ({ name, optional }) => !optional && !found.names.has(name) && !inFolders(group, name),
      );
      problems.push(...missing.map(({ name }) => missingColumn(schema, name, group, found)));
      if (missing.length > 0) continue;
      const casts = castRows(schema, group, found);
      selects.push(selectRight(schema, casts));
      wrongSelects.push(selectWrong(schema, casts));
      parameters[group.parameter] = patternsOf(group);
    } catch (error) {
      problems.push(await unreadable(schema, group.files, error, session));
    }
  }
  const [rows, wrongRows = ''] = [selects, wrongSelects].map((of) =>
    of.length > 0 ? of.join('\nunion all\n') : undefined,
  );
  const extra = [...others].sort();
  const warnings =
    extra.length === 0
      ? []
      : [`${schema.name}: ${count(extra.length, 'column')} not of the format ignored: ${listNames(extra)}.`];
  return { rows, wrongRows, parameters, problems, warnings };
}

/** Groups files by format, and CSV files also by header. */
async function groupFiles(schema: TableSchema, files: TableFiles): Promise<{ groups: Group[]; problems: Problem[] }> {
  const groups: Group[] = [];
  const { folder } = files;
  const { whole, problems } = await wholeFiles(schema, files);
  for (const format of ['parquet', 'ndjson'] as const) {
    const ofFormat = whole.filter((file) => file.format === format);
    if (ofFormat.length > 0) {
      groups.push({ format, parameter: `${format}_files`, files: ofFormat, folder, header: [] });
    }
  }
  const columns = schema.columns.map(({ name }) => name);
  const headers: { header: readonly string[]; file: TableFiles['files'][number] }[] = [];
  for (const file of whole.filter(({ format }) => format === 'csv')) {
    try {
      const read = await readHeader(file.path, columns);
      if ('names' in read) headers.push({ header: read.names, file });
      else problems.push(refusal(schema, file, read.failure));
    } catch (error) {
      problems.push(await unreadable(schema, [file], error));
    }
  }
  for (const same of Map.groupBy(headers, ({ header }) => JSON.stringify(header)).values()) {
    groups.push({
      format: 'csv',
      parameter: `csv_files_${groups.length}`,
      files: same.map(({ file }) => file),
      folder,
      header: same[0]!.header,
    });
  }
  return { groups, problems };
}

/** The files that can be read to their end. */
async function wholeFiles(
  schema: TableSchema,
  { files }: TableFiles,
): Promise<{ whole: TableFiles['files']; problems: Problem[] }> {
  const whole: TableFiles['files'][number][] = [];
  const problems: Problem[] = [];
  for (const file of files) {
    try {
      const found = await refusalOfFile(file.path, file.format === 'csv');
      if (found === undefined) whole.push(file);
      else problems.push(refusal(schema, file, found));
    } catch (error) {
      problems.push(await unreadable(schema, [file], error));
    }
  }
  return { whole, problems };
}

function refusal({ name: table }: TableSchema, { name }: { name: string }, { line, message }: FileRefusal): Problem {
  const place = line === undefined ? '' : `, line ${line}`;
  return { table, column: null, message: `'${name}'${place}: ${message}`, rows: [] };
}

/** The columns of the files, matched case-insensitively; undefined for NDJSON files without rows. */
async function findColumns(session: Session, schema: TableSchema, group: Group): Promise<Found | undefined> {
  const names = group.format === 'csv' ? group.header : await readNames(session, schema, group);
  if (names === undefined) return undefined;
  const found = new Map<string, string[]>();
  const others: string[] = [];
  for (const name of names) {
    const column = schema.columns.find((candidate) => candidate.name === name.toLowerCase());
    if (column === undefined) others.push(name);
    else found.set(column.name, [...(found.get(column.name) ?? []), name]);
  }
  return { names: found, others };
}

async function readNames(session: Session, schema: TableSchema, group: Group): Promise<string[] | undefined> {
  const from = reader(group, schema);
  const parameters = { [group.parameter]: patternsOf(group) };
  if (group.format === 'parquet') {
    const described = await session.rows<{ column_name: string }>(
      `describe select * exclude (filename) from ${from}`,
      parameters,
    );
    return described.map(({ column_name: name }) => name);
  }
  const few = await readKeys(group.files);
  if (few !== undefined) return few;
  const keys = await session.rows<{ name: string }>(
    `select distinct unnest(json_keys(json)) as name from ${from}`,
    parameters,
  );
  if (keys.length > 0) return keys.map(({ name }) => name).sort();
  const [first] = await session.rows(`select 1 from ${from} limit 1`, parameters);
  return first === undefined ? undefined : [];
}

/**
 * The keys of the objects in small NDJSON files, which takes a tenth of the time of a statement; undefined if any file is
 * large, or is anything but objects.
 */
async function readKeys(files: Group['files']): Promise<string[] | undefined> {
  const keys = new Set<string>();
  try {
    for (const { path } of files) {
      if ((await stat(path)).size > SMALL_FILE) return undefined;
      for (const line of (await readFile(path, 'utf8')).trimEnd().split('\n')) {
        const row = JSON.parse(line) as unknown;
        if (typeof row !== 'object' || row === null || Array.isArray(row)) return undefined;
        for (const key of Object.keys(row)) keys.add(key);
      }
    }
  } catch {
    // The statement describes what is wrong.
    return undefined;
  }
  return keys.size > 0 ? [...keys].sort() : undefined;
}

function missingColumn({ name: table, columns }: TableSchema, column: string, group: Group, found: Found): Problem {
  const needed = columns.filter(({ optional }) => !optional).map(({ name }) => name);
  const has = [...[...found.names.values()].flat(), ...found.others];
  const location =
    group.files.length === 1 ? `'${group.files[0]!.name}'${group.format === 'csv' ? ', line 1' : ''}: ` : '';
  const message = `${location}the column is missing; ${table} needs ${needed.join(', ')}. Found: ${listNames(has)}.`;
  return { table, column, message, rows: [] };
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_NAMES).map((name) => cut(name, 60));
  const more = names.length - shown.length;
  return `${shown.join(', ') || 'nothing'}${more > 0 ? ` and ${more.toLocaleString('en')} more` : ''}`;
}

function patternsOf({ files }: Group): string[] {
  return files.map(({ path }) => patternOf(path));
}

/** Whether a column is given by Hive partition folders such as `project_id=Aa1b2`. */
function inFolders({ files, folder }: Group, name: string): boolean {
  return folder !== null && files.some(({ path }) => path.slice(folder.length).includes(`/${name}=`));
}

/** FROM clause with each column raw (`raw_…`), cast (`cast_…`), and whether the cast failed (`bad_…`). */
function castRows(schema: TableSchema, group: Group, found: Found): string {
  const { columns } = schema;
  const raw = columns.map((column) => `${rawValue(column, group, found)} as raw_${column.name}`);
  // Each cast appears once: DuckDB takes milliseconds to parse one.
  const casts = columns.map(({ name, type }) => `${type.cast(`raw_${name}`)} as cast_${name}`);
  const bad = columns.map((column) => {
    const cast = `cast_${column.name}`;
    const wrong = column.optional ? `raw_${column.name} is not null and ${cast} is null` : `${cast} is null`;
    const isStructured = jsonPaths(found, column.name).map(
      (path) => ` or json_type(json, '${path}') in ('OBJECT', 'ARRAY')`,
    );
    const isBad = group.format === 'ndjson' && !column.type.structured ? `${wrong}${isStructured.join('')}` : wrong;
    return `(${isBad}) as bad_${column.name}`;
  });
  const whole = group.format === 'ndjson' ? ', json' : '';
  return `from (select *, ${bad.join(', ')}
  from (select *, ${casts.join(', ')}
    from (select ${raw.join(', ')}, filename${whole} from ${reader(group, schema)})))`;
}

const anyBad = ({ columns }: TableSchema): string => columns.map(({ name }) => `bad_${name}`).join(' or ');

/** SELECT of the cast columns, and `wrong` if any cast failed. */
function selectRight(schema: TableSchema, casts: string): string {
  return `select ${schema.columns.map(castValue).join(', ')}, coalesce(${anyBad(schema)}, false) as wrong\n${casts}`;
}

/** SELECT of the failed columns of each wrong row (`wrong`) and its source values (`source_row`). */
function selectWrong(schema: TableSchema, casts: string): string {
  const names = schema.columns.map(({ name }) => `case when bad_${name} then '${name}' end`);
  const texts = schema.columns.map(({ name }) => `"${name}" := as_shown(raw_${name})`);
  return `select list_filter([${names.join(', ')}], name -> name is not null) as wrong,
  to_json(struct_pack(${texts.join(', ')}, file := filename)) as source_row
${casts} where ${anyBad(schema)}`;
}

function castValue({ name, fallback }: Column): string {
  const cast = `cast_${name}`;
  return `${fallback === undefined ? cast : `coalesce(${cast}, ${fallback})`} as "${name}"`;
}

/** JSON paths of a column in NDJSON rows, for each spelling of its name by case. */
function jsonPaths({ names }: Found, column: string): string[] {
  return (names.get(column) ?? []).filter((name) => /^\w+$/.test(name)).map((name) => `$.${name}`);
}

/** The raw value of a column. An empty CSV field is null, or an empty string for a required text column. */
function rawValue({ name, optional, type }: Column, group: Group, found: Found): string {
  if (found.names.has(name)) {
    if (group.format === 'ndjson') {
      const values = jsonPaths(found, name).map((path) => `json_extract_string(json, '${path}')`);
      return values.length === 1 ? values[0]! : `coalesce(${values.join(', ')})`;
    }
    if (group.format === 'parquet') return `"${name}"`;
    return optional || type.sql !== 'varchar' ? `nullif("${name}", '')` : `coalesce("${name}", '')`;
  }
  if (!inFolders(group, name)) return 'null::varchar';
  const below = `substr(filename, ${Array.from(group.folder ?? '').length + 1})`;
  const folder = `nullif(url_decode(regexp_extract(${below}, '/${name}=([^/]*)/', 1)), '__HIVE_DEFAULT_PARTITION__')`;
  // A partition folder may give a month without a day.
  return type === COLUMN_TYPES.factMonth
    ? `regexp_replace(nullif(${folder}, ''), '^(\\d{4}-\\d{2})$', '\\1-01')`
    : `nullif(${folder}, '')`;
}

/** SELECT of a source without rows. */
export function emptyRows({ columns }: TableSchema): string {
  const nulls = columns.map(({ name, type }) => `null::${type.sql} as "${name}"`);
  return `select ${nulls.join(', ')}, false as wrong where false`;
}
