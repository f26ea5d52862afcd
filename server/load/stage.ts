import { rm } from 'node:fs/promises';
import type { Session } from '../facts/engine.ts';
import { sqlTemplate } from '../sql.ts';
import { COLUMN_TYPES } from './column-types.ts';
import { count, firstLine, type Problem } from './problems.ts';
import type { Format, TableFiles } from './snapshot-files.ts';
import { stagedFiles } from './staged-parts.ts';
import { type Column, type EntityTable, type FactTableShape, identifiers, partOf, WRONG_PART } from './tables.ts';

/** How each format is read: as it is (Parquet), as texts (CSV), as one JSON value a line. Hive folders are read by us. */
const READERS: Record<Format, (files: string) => string> = {
  parquet: (files) => `read_parquet(${files}, union_by_name = true, filename = true, hive_partitioning = false)`,
  csv: (files) =>
    `read_csv(${files}, header = true, delim = ',', quote = '"', escape = '"', all_varchar = true, union_by_name = true, filename = true, hive_partitioning = false, allow_quoted_nulls = false)`,
  ndjson: (files) => `read_ndjson_objects(${files}, filename = true, hive_partitioning = false)`,
};

interface Group {
  readonly format: Format;
  /** Name of the bound list of files. */
  readonly parameter: string;
  readonly paths: readonly string[];
  /** The table's folder; null where it is one file. */
  readonly folder: string | null;
}

/** What came of casting a table's files. Wrong rows stand aside and are not part of the staged rows. */
export interface Staged {
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

type Shape = EntityTable | FactTableShape;

/** Casts an entity table into the temporary tables `staged_…`, `new_…` and `wrong_…`; empty where it has no files. */
export async function stageEntities(
  session: Session,
  shape: EntityTable,
  files: TableFiles | undefined,
): Promise<Staged> {
  const { name: table } = shape;
  const read = await readSource(session, shape, files);
  const rows = read.rows ?? emptyRows(shape);
  const problems = await reading(table, read.problems, async () => {
    await session.run(sqlTemplate('load/stage_entities', { table, rows }), read.parameters);
  });
  if (problems.length > read.problems.length) {
    await session.run(sqlTemplate('load/stage_entities', { table, rows: emptyRows(shape) }));
  }
  await session.run(sqlTemplate('load/good_entities', { table }));
  await session.run(sqlTemplate('load/wrong_entities', { table }));
  const wrong = await session.rows<WrongRow>(sqlTemplate('load/wrong_values_of_entities', { table }));
  return { problems: [...problems, ...wrong.map((row) => wrongValues(shape, row))], warnings: read.warnings };
}

/** Casts a fact table into Parquet files below `folder`, one folder for each project and month. */
export async function stageFacts(
  session: Session,
  shape: FactTableShape,
  files: TableFiles,
  folder: string,
): Promise<Staged> {
  const read = await readSource(session, shape, files);
  const { rows } = read;
  if (rows === undefined) return read;
  const template = sqlTemplate('load/stage_facts', { rows, part: partOf(shape), wrong: String(WRONG_PART) });
  const problems = await reading(shape.name, read.problems, async () => {
    await session.run(template, { ...read.parameters, target: folder });
  });
  if (problems.length > read.problems.length) {
    await rm(folder, { recursive: true, force: true });
    return { problems, warnings: read.warnings };
  }
  const wrongFiles = stagedFiles(folder).get(WRONG_PART);
  if (wrongFiles === undefined) return { problems, warnings: read.warnings };
  const wrong = await session.rows<WrongRow>(sqlTemplate('load/wrong_values', {}), { files: wrongFiles });
  return { problems: [...problems, ...wrong.map((row) => wrongValues(shape, row))], warnings: read.warnings };
}

/** Runs a statement that reads the table's files; a file that cannot be read becomes a problem. */
async function reading(table: string, before: readonly Problem[], read: () => Promise<void>): Promise<Problem[]> {
  try {
    await read();
    return [...before];
  } catch (error) {
    return [...before, unreadable(table, error)];
  }
}

/** Failures of the machine are not the file's fault and are thrown on. */
function unreadable(table: string, error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error);
  if (/no space left|out of memory|file too large|disk quota/i.test(message)) throw error;
  return { table, column: null, message: `cannot be read: ${firstLine(message)}`, rows: [] };
}

interface Source extends Staged {
  /** SELECT that casts all rows; undefined when there are none to read. */
  readonly rows: string | undefined;
  readonly parameters: Readonly<Record<string, readonly string[]>>;
}

/** Looks at which columns the files have and makes the SELECT that casts them. */
async function readSource(session: Session, shape: Shape, files: TableFiles | undefined): Promise<Source> {
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const selects: string[] = [];
  const parameters: Record<string, readonly string[]> = {};
  for (const format of Object.keys(READERS) as Format[]) {
    const paths = files?.files.filter((file) => file.format === format).map(({ path }) => path) ?? [];
    if (paths.length === 0) continue;
    const group = { format, parameter: `${format}_files`, paths, folder: files?.folder ?? null };
    try {
      const present = await presentColumns(session, group);
      // A file without a line has no rows, and so no columns that it could lack.
      if (present === undefined) continue;
      const missing = shape.columns.filter(
        ({ name, optional }) => !optional && !present.has(name) && !inFolders(group, name),
      );
      for (const { name } of missing) {
        const message = `the column is missing; ${shape.name} needs ${shape.columns
          .filter((column) => !column.optional)
          .map((column) => column.name)
          .join(', ')}.`;
        problems.push({ table: shape.name, column: name, message, rows: [] });
      }
      const extra = [...present].filter((name) => !shape.columns.some((column) => column.name === name));
      if (extra.length > 0) {
        warnings.push(
          `${shape.name}: ${count(extra.length, 'column')} not of the format ignored: ${extra.sort().join(', ')}.`,
        );
      }
      if (missing.length > 0) continue;
      selects.push(castRows(shape, group, present));
      parameters[group.parameter] = paths;
    } catch (error) {
      problems.push(unreadable(shape.name, error));
    }
  }
  return { rows: selects.length > 0 ? selects.join('\nunion all\n') : undefined, parameters, problems, warnings };
}

/** The columns that the files have; undefined for ndjson files without any row. */
async function presentColumns(session: Session, { format, parameter, paths }: Group): Promise<Set<string> | undefined> {
  const reader = READERS[format](`$${parameter}`);
  const names =
    format === 'ndjson'
      ? await session.rows<{ name: string }>(`select distinct unnest(json_keys(json)) as name from ${reader}`, {
          [parameter]: paths,
        })
      : (
          await session.rows<{ column_name: string }>(`describe select * exclude (filename) from ${reader}`, {
            [parameter]: paths,
          })
        ).map(({ column_name: name }) => ({ name }));
  if (format === 'ndjson' && names.length === 0) {
    const [first] = await session.rows(`select 1 from ${reader} limit 1`, { [parameter]: paths });
    if (first === undefined) return undefined;
  }
  return new Set(names.map(({ name }) => name));
}

/** Whether a column is given by Hive partition folders such as `project_id=Aa1b2`. */
function inFolders({ paths, folder }: Group, name: string): boolean {
  return folder !== null && paths.some((path) => path.slice(folder.length).includes(`/${name}=`));
}

/** SELECT of the cast columns, of which are wrong (`wrong`) and, for a row with any, of its texts (`source_row`). */
function castRows(shape: Shape, group: Group, present: ReadonlySet<string>): string {
  const { columns } = shape;
  const raw = columns.map((column) => `${rawValue(column, group, present)} as raw_${column.name}`);
  const bad = columns.map((column) => {
    const cast = column.type.cast(`raw_${column.name}`);
    const wrong = column.optional ? `raw_${column.name} is not null and ${cast} is null` : `${cast} is null`;
    return group.format === 'ndjson' && !column.type.structured
      ? `(${wrong} or json_type(json, '$.${column.name}') in ('OBJECT', 'ARRAY'))`
      : `(${wrong})`;
  });
  const whole = group.format === 'ndjson' ? ', json' : '';
  const anyBad = bad.join(' or ');
  const names = columns.map(({ name }, index) => `case when ${bad[index]} then '${name}' end`);
  const texts = columns.map(({ name }) => `"${name}" := raw_${name}`);
  return `select ${columns.map(castValue).join(', ')},
  case when ${anyBad} then list_filter([${names.join(', ')}], name -> name is not null) end as wrong,
  case when ${anyBad} then to_json(struct_pack(${texts.join(', ')}, file := filename)) end as source_row
from (select ${raw.join(', ')}, filename${whole} from ${READERS[group.format](`$${group.parameter}`)})`;
}

function castValue({ name, type, fallback }: Column): string {
  const cast = type.cast(`raw_${name}`);
  return `${fallback === undefined ? cast : `coalesce(${cast}, ${fallback})`} as "${name}"`;
}

/** A column as the files have it. In CSV an empty field is null, but an empty text where a text is required. */
function rawValue({ name, optional, type }: Column, group: Group, present: ReadonlySet<string>): string {
  if (present.has(name)) {
    if (group.format === 'ndjson') return `json_extract_string(json, '$.${name}')`;
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

function emptyRows({ columns }: Shape): string {
  const nulls = columns.map(({ name, type }) => `null::${type.sql} as "${name}"`);
  return `select ${nulls.join(', ')}, null::varchar[] as wrong, null::json as source_row where false`;
}

interface WrongRow {
  readonly column: string;
  readonly total: number;
  /** JSON list of the first rows, as JSON values. */
  readonly rows: string;
}

function wrongValues({ name: table, columns }: Shape, { column: name, total, rows }: WrongRow): Problem {
  const column = columns.find((candidate) => candidate.name === name)!;
  const wanted = `${column.type.wanted}${column.optional ? ', or nothing' : ''}`;
  return {
    table,
    column: name,
    message: `${count(total, 'row')} with a value that is missing or wrong; it must be ${wanted}. The first:`,
    rows: parseRows(rows),
  };
}

/** DuckDB writes numbers that are none as they are, which JSON does not have. */
function parseRows(text: string): unknown[] {
  try {
    return JSON.parse(text) as unknown[];
  } catch {
    return JSON.parse(text.replaceAll(/(?<=[:[,])(-?(?:NaN|Infinity))(?=[,}\]])/g, '"$1"')) as unknown[];
  }
}

/** The columns of a table as a SQL list. */
export function columnList({ columns }: Shape): string {
  return identifiers(columns.map(({ name }) => name));
}
