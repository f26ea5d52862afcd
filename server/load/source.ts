import type { Session } from '../facts/duckdb/engine.ts';
import { COLUMN_TYPES } from './column-types.ts';
import { cut, mayEndInLongLine, readHeader } from './csv-files.ts';
import { count, type Problem } from './problems.ts';
import { unreadable } from './read-failures.ts';
import { type Format, patternOf, type TableFiles } from './snapshot-files.ts';
import { type Column, type EntityTable, type FactTableSchema, identifiers } from './tables.ts';

export type Shape = EntityTable | FactTableSchema;

/** Files of one table that are read by one statement: CSV files have the same header. */
interface Group {
  readonly format: Format;
  /** Name of the bound list of files. */
  readonly parameter: string;
  readonly files: TableFiles['files'];
  /** The table's folder; null where it is one file. */
  readonly folder: string | null;
  /** CSV: the names of all columns, in their order. */
  readonly header: readonly string[];
  /** CSV: whether one thread reads a file. */
  readonly oneThread?: boolean;
}

/** The names that the files have for each column of the format, and what other columns they have. */
interface Found {
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly others: readonly string[];
}

export interface Source {
  /** SELECT that casts all rows, and says of each whether it is `wrong`; undefined when there are none to read. */
  readonly rows: string | undefined;
  /** SELECT of what is wrong with those that are: long, and seldom needed. */
  readonly wrongRows: string;
  readonly parameters: Readonly<Record<string, readonly string[]>>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/** Names of columns that a message shows. */
const SHOWN_NAMES = 10;

/** How a format is read: as it is (Parquet), as texts (CSV), as one JSON value a line. Hive folders are read by us. */
function reader({ format, parameter, header, oneThread = false }: Group, shape: Shape): string {
  if (format === 'parquet') {
    return `read_parquet($${parameter}, union_by_name = true, filename = true, hive_partitioning = false)`;
  }
  if (format === 'ndjson') return `read_ndjson_objects($${parameter}, filename = true, hive_partitioning = false)`;
  const known = shape.columns.map(({ name }) => name);
  const columns = header
    .map((name) => name.toLowerCase())
    .map((name, index) => `'${known.includes(name) ? name : `other_${index}`}': 'VARCHAR'`);
  // Without detection: it would leave out lines at the top that it takes for no part of the table.
  return `read_csv($${parameter}, auto_detect = false, columns = {${columns.join(', ')}}, header = true, parallel = ${!oneThread}, delim = ',', quote = '"', escape = '"', comment = '', filename = true, hive_partitioning = false, allow_quoted_nulls = false)`;
}

/** Looks at which columns the files have and makes the SELECT that casts them. */
export async function readSource(session: Session, shape: Shape, files: TableFiles): Promise<Source> {
  const { groups, problems } = await groupFiles(shape, files);
  const others = new Set<string>();
  const selects: string[] = [];
  const wrongSelects: string[] = [];
  const parameters: Record<string, readonly string[]> = {};
  for (const group of groups) {
    try {
      const found = await findColumns(session, shape, group);
      // A file without a line has no rows, and so no columns that it could lack.
      if (found === undefined) continue;
      for (const name of found.others) others.add(name);
      const missing = shape.columns.filter(
        ({ name, optional }) => !optional && !found.names.has(name) && !inFolders(group, name),
      );
      problems.push(...missing.map(({ name }) => missingColumn(shape, name, group, found)));
      if (missing.length > 0) continue;
      const casts = castRows(shape, group, found);
      selects.push(selectRight(shape, casts));
      wrongSelects.push(selectWrong(shape, casts));
      parameters[group.parameter] = patternsOf(group);
    } catch (error) {
      problems.push(await unreadable(shape, group.files, error));
    }
  }
  const [rows, wrongRows = ''] = [selects, wrongSelects].map((of) =>
    of.length > 0 ? of.join('\nunion all\n') : undefined,
  );
  const extra = [...others].sort();
  const warnings =
    extra.length === 0
      ? []
      : [`${shape.name}: ${count(extra.length, 'column')} not of the format ignored: ${listNames(extra)}.`];
  return { rows, wrongRows, parameters, problems, warnings };
}

/** As `readSource`, for Parquet and NDJSON files of which it is known that they have all columns, and right values. */
export function trustedSource({ columns }: FactTableSchema, { files }: TableFiles): Source {
  const selected = identifiers(columns.map(({ name }) => name));
  const types = columns.map(({ name, type }) => `"${name}": '${type.sql}'`).join(', ');
  const readers = { parquet: '$parquet_files', ndjson: `$ndjson_files, columns = {${types}}` };
  const selects: string[] = [];
  const parameters: Record<string, readonly string[]> = {};
  for (const format of ['parquet', 'ndjson'] as const) {
    const paths = files.filter((file) => file.format === format).map(({ path }) => patternOf(path));
    if (paths.length === 0) continue;
    selects.push(`select ${selected}, false as wrong from read_${format}(${readers[format]})`);
    parameters[`${format}_files`] = paths;
  }
  return { rows: selects.join('\nunion all\n'), wrongRows: '', parameters, problems: [], warnings: [] };
}

/** Files by format, those of CSV by header, too. */
async function groupFiles(shape: Shape, files: TableFiles): Promise<{ groups: Group[]; problems: Problem[] }> {
  const groups: Group[] = [];
  const problems: Problem[] = [];
  const { folder } = files;
  for (const format of ['parquet', 'ndjson'] as const) {
    const ofFormat = files.files.filter((file) => file.format === format);
    if (ofFormat.length > 0) {
      groups.push({ format, parameter: `${format}_files`, files: ofFormat, folder, header: [] });
    }
  }
  const columns = shape.columns.map(({ name }) => name);
  const headers: { header: readonly string[]; oneThread: boolean; file: TableFiles['files'][number] }[] = [];
  for (const file of files.files.filter(({ format }) => format === 'csv')) {
    try {
      const read = await readHeader(file.path, columns);
      if ('names' in read) headers.push({ header: read.names, oneThread: await mayEndInLongLine(file.path), file });
      else {
        const message = `'${file.name}', line ${read.failure.line}: ${read.failure.message}`;
        problems.push({ table: shape.name, column: null, message, rows: [] });
      }
    } catch (error) {
      problems.push(await unreadable(shape, [file], error));
    }
  }
  for (const same of Map.groupBy(headers, ({ header }) => JSON.stringify(header)).values()) {
    groups.push({
      format: 'csv',
      parameter: `csv_files_${groups.length}`,
      files: same.map(({ file }) => file),
      folder,
      header: same[0]!.header,
      oneThread: same.some(({ oneThread }) => oneThread),
    });
  }
  return { groups, problems };
}

/** The columns that the files have, in any case of letters; undefined for ndjson files without any row. */
async function findColumns(session: Session, shape: Shape, group: Group): Promise<Found | undefined> {
  const names = group.format === 'csv' ? group.header : await readNames(session, shape, group);
  if (names === undefined) return undefined;
  const found = new Map<string, string[]>();
  const others: string[] = [];
  for (const name of names) {
    const column = shape.columns.find((candidate) => candidate.name === name.toLowerCase());
    if (column === undefined) others.push(name);
    else found.set(column.name, [...(found.get(column.name) ?? []), name]);
  }
  return { names: found, others };
}

async function readNames(session: Session, shape: Shape, group: Group): Promise<string[] | undefined> {
  const from = reader(group, shape);
  const parameters = { [group.parameter]: patternsOf(group) };
  if (group.format === 'parquet') {
    const described = await session.rows<{ column_name: string }>(
      `describe select * exclude (filename) from ${from}`,
      parameters,
    );
    return described.map(({ column_name: name }) => name);
  }
  const keys = await session.rows<{ name: string }>(
    `select distinct unnest(json_keys(json)) as name from ${from}`,
    parameters,
  );
  if (keys.length > 0) return keys.map(({ name }) => name).sort();
  const [first] = await session.rows(`select 1 from ${from} limit 1`, parameters);
  return first === undefined ? undefined : [];
}

function missingColumn({ name: table, columns }: Shape, column: string, group: Group, found: Found): Problem {
  const needed = columns.filter(({ optional }) => !optional).map(({ name }) => name);
  const has = [...[...found.names.values()].flat(), ...found.others];
  const place =
    group.files.length === 1 ? `'${group.files[0]!.name}'${group.format === 'csv' ? ', line 1' : ''}: ` : '';
  const message = `${place}the column is missing; ${table} needs ${needed.join(', ')}. Found: ${listNames(has)}.`;
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

/** FROM of the columns as they are (`raw_…`), cast (`cast_…`), and of whether that failed (`bad_…`). */
function castRows(shape: Shape, group: Group, found: Found): string {
  const { columns } = shape;
  const raw = columns.map((column) => `${rawValue(column, group, found)} as raw_${column.name}`);
  // Each cast is written once: they are long, and DuckDB takes milliseconds to understand one.
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
    from (select ${raw.join(', ')}, filename${whole} from ${reader(group, shape)})))`;
}

const anyBad = ({ columns }: Shape): string => columns.map(({ name }) => `bad_${name}`).join(' or ');

/** SELECT of the cast columns, and whether any of them is `wrong`. */
function selectRight(shape: Shape, casts: string): string {
  return `select ${shape.columns.map(castValue).join(', ')}, coalesce(${anyBad(shape)}, false) as wrong\n${casts}`;
}

/** SELECT of the names of the columns that are wrong in a row (`wrong`) and of all its texts (`source_row`). */
function selectWrong(shape: Shape, casts: string): string {
  const names = shape.columns.map(({ name }) => `case when bad_${name} then '${name}' end`);
  const texts = shape.columns.map(({ name }) => `"${name}" := as_shown(raw_${name})`);
  return `select list_filter([${names.join(', ')}], name -> name is not null) as wrong,
  to_json(struct_pack(${texts.join(', ')}, file := filename)) as source_row
${casts} where ${anyBad(shape)}`;
}

function castValue({ name, fallback }: Column): string {
  const cast = `cast_${name}`;
  return `${fallback === undefined ? cast : `coalesce(${cast}, ${fallback})`} as "${name}"`;
}

/** Where ndjson rows have a column: under its name in any case of letters. Other letters than ours never get here. */
function jsonPaths({ names }: Found, column: string): string[] {
  return (names.get(column) ?? []).filter((name) => /^\w+$/.test(name)).map((name) => `$.${name}`);
}

/** A column as the files have it. In CSV an empty field is null, but an empty text where a text is required. */
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
  // Partition folders name a month without its day.
  return type === COLUMN_TYPES.factMonth
    ? `regexp_replace(nullif(${folder}, ''), '^(\\d{4}-\\d{2})$', '\\1-01')`
    : `nullif(${folder}, '')`;
}

/** A table without rows, as the SELECT of a source. */
export function emptyRows({ columns }: Shape): string {
  const nulls = columns.map(({ name, type }) => `null::${type.sql} as "${name}"`);
  return `select ${nulls.join(', ')}, false as wrong where false`;
}
