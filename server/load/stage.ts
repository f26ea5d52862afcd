import { rm } from 'node:fs/promises';
import { count, type Problem } from '../domain/problems.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { unreadable } from './read-failures.ts';
import { findReadRows, type ShownRow } from './row-places.ts';
import type { TableFiles } from './snapshot-files.ts';
import { emptyRows, readSource, type Source, type TableSchema } from './source.ts';
import { partOf, stagedFiles, WRONG_PART } from './staged-parts.ts';
import type { EntityTable, FactTableSchema } from './tables.ts';

/** The result of staging a table. Staged rows exclude wrong rows. */
export interface Staged {
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/** Casts an entity table into the temporary table `staged_…`, with its valid rows in the view `new_…`. */
export async function stageEntities(
  session: Session,
  schema: EntityTable,
  files: TableFiles,
): Promise<Staged & { readonly rows: number }> {
  const { name: table } = schema;
  const read = await readSource(session, schema, files);
  const rows = read.rows ?? emptyRows(schema);
  const problems = await reading(session, schema, files, read.problems, async () => {
    await session.run(sqlTemplate('load/stage_entities', { table, rows }), read.parameters);
  });
  if (problems.length > read.problems.length) {
    await session.run(sqlTemplate('load/stage_entities', { table, rows: emptyRows(schema) }));
  }
  const counted = ['load/good_entities', 'load/staged_rows'].map((name) => sqlTemplate(name, { table }));
  const [found] = await session.rows<{ rows: number; wrong: number }>(counted.join(';\n'));
  const wrong = found!.wrong === 0 ? [] : await wrongValues(session, schema, files, read);
  return { rows: found!.rows, problems: [...problems, ...wrong], warnings: read.warnings };
}

/** Casts a fact table into Parquet files below `folder`, one subfolder per part. */
export async function stageFacts(
  session: Session,
  schema: FactTableSchema,
  files: TableFiles,
  folder: string,
): Promise<Staged> {
  const read = await readSource(session, schema, files);
  const { rows } = read;
  if (rows === undefined) return read;
  const template = sqlTemplate('load/stage_facts', { rows, part: partOf(schema), wrong: String(WRONG_PART) });
  const problems = await reading(session, schema, files, read.problems, async () => {
    await session.run(template, { ...read.parameters, target: folder });
  });
  if (problems.length > read.problems.length) {
    await rm(folder, { recursive: true, force: true });
    return { problems, warnings: read.warnings };
  }
  const wrong = stagedFiles(folder).has(WRONG_PART) ? await wrongValues(session, schema, files, read) : [];
  return { problems: [...problems, ...wrong], warnings: read.warnings };
}

/** Runs a statement that reads the table's files; an unreadable file becomes a problem. */
async function reading(
  session: Session,
  schema: TableSchema,
  files: TableFiles,
  before: readonly Problem[],
  read: () => Promise<void>,
): Promise<Problem[]> {
  try {
    await read();
    return [...before];
  } catch (error) {
    return [...before, await unreadable(schema, files.files, error, session)];
  }
}

interface WrongRow {
  readonly column: string;
  readonly total: number;
  /** JSON array of the first rows. */
  readonly rows: string;
}

/** Reads the files again to describe their errors. */
async function wrongValues(
  session: Session,
  schema: TableSchema,
  files: TableFiles,
  { wrongRows, parameters }: Source,
): Promise<Problem[]> {
  let wrong: readonly WrongRow[] = [];
  const failed = await reading(session, schema, files, [], async () => {
    wrong = await session.rows<WrongRow>(sqlTemplate('load/wrong_values', { rows: wrongRows }), parameters);
  });
  if (failed.length > 0) return failed;
  const { name: table, columns } = schema;
  const problems = wrong.map(({ column: name, total, rows }) => {
    const column = columns.find((candidate) => candidate.name === name)!;
    const expected = `${column.type.expected}${column.optional ? ', or nothing' : ''}`;
    const message = `${count(total, 'row')} with a value that is missing or wrong; it must be ${expected}. The first:`;
    return { table, column: name, message, rows: parseRows(rows) };
  });
  await findReadRows(
    session,
    schema,
    problems.flatMap(({ rows }) => rows),
    files.files,
  );
  return problems;
}

/** DuckDB writes NaN and Infinity as bare words, which are invalid in JSON. */
function parseRows(text: string): ShownRow[] {
  try {
    return JSON.parse(text) as ShownRow[];
  } catch {
    return JSON.parse(text.replaceAll(/(?<=[:[,])(-?(?:NaN|Infinity))(?=[,}\]])/g, '"$1"')) as ShownRow[];
  }
}
