import { rm } from 'node:fs/promises';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { count, type Problem } from './problems.ts';
import { unreadable } from './read-failures.ts';
import { findLines, type ShownRow } from './row-lines.ts';
import type { TableFiles } from './snapshot-files.ts';
import { emptyRows, readSource, type Shape, type Source, trustedSource } from './source.ts';
import { stagedFiles } from './staged-parts.ts';
import { type EntityTable, type FactTableSchema, identifiers, partOf, WRONG_PART } from './tables.ts';

/** What came of casting a table's files. Wrong rows stand aside and are not part of the staged rows. */
export interface Staged {
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/** Casts an entity table into the temporary table `staged_…`, and its right rows into the view `new_…`. */
export async function stageEntities(
  session: Session,
  shape: EntityTable,
  files: TableFiles,
): Promise<Staged & { readonly rows: number }> {
  const { name: table } = shape;
  const read = await readSource(session, shape, files);
  const rows = read.rows ?? emptyRows(shape);
  const problems = await reading(shape, files, read.problems, async () => {
    await session.run(sqlTemplate('load/stage_entities', { table, rows }), read.parameters);
  });
  if (problems.length > read.problems.length) {
    await session.run(sqlTemplate('load/stage_entities', { table, rows: emptyRows(shape) }));
  }
  await session.run(sqlTemplate('load/good_entities', { table }));
  const [found] = await session.rows<{ rows: number; wrong: number }>(sqlTemplate('load/staged_rows', { table }));
  const wrong = found!.wrong === 0 ? [] : await wrongValues(session, shape, files, read);
  return { rows: found!.rows, problems: [...problems, ...wrong], warnings: read.warnings };
}

/**
 * Casts a fact table into Parquet files below `folder`, one folder for each project and month.
 * @param trusted the rows are right as they are
 */
export async function stageFacts(
  session: Session,
  shape: FactTableSchema,
  files: TableFiles,
  { folder, trusted }: { readonly folder: string; readonly trusted: boolean },
): Promise<Staged> {
  const read = trusted ? trustedSource(shape, files) : await readSource(session, shape, files);
  const { rows } = read;
  if (rows === undefined) return read;
  const template = sqlTemplate('load/stage_facts', { rows, part: partOf(shape), wrong: String(WRONG_PART) });
  const problems = await reading(shape, files, read.problems, async () => {
    await session.run(template, { ...read.parameters, target: folder });
  });
  if (problems.length > read.problems.length) {
    await rm(folder, { recursive: true, force: true });
    return { problems, warnings: read.warnings };
  }
  const wrong = stagedFiles(folder).has(WRONG_PART) ? await wrongValues(session, shape, files, read) : [];
  return { problems: [...problems, ...wrong], warnings: read.warnings };
}

/** Runs a statement that reads the table's files; a file that cannot be read becomes a problem. */
async function reading(
  shape: Shape,
  files: TableFiles,
  before: readonly Problem[],
  read: () => Promise<void>,
): Promise<Problem[]> {
  try {
    await read();
    return [...before];
  } catch (error) {
    return [...before, await unreadable(shape, files.files, error)];
  }
}

interface WrongRow {
  readonly column: string;
  readonly total: number;
  /** JSON list of the first rows, as JSON values. */
  readonly rows: string;
}

/** Reads the files again, for what is wrong in them. */
async function wrongValues(
  session: Session,
  shape: Shape,
  files: TableFiles,
  { wrongRows, parameters }: Source,
): Promise<Problem[]> {
  let wrong: readonly WrongRow[] = [];
  const failed = await reading(shape, files, [], async () => {
    wrong = await session.rows<WrongRow>(sqlTemplate('load/wrong_values', { rows: wrongRows }), parameters);
  });
  if (failed.length > 0) return failed;
  const { name: table, columns } = shape;
  const problems = wrong.map(({ column: name, total, rows }) => {
    const column = columns.find((candidate) => candidate.name === name)!;
    const wanted = `${column.type.wanted}${column.optional ? ', or nothing' : ''}`;
    const message = `${count(total, 'row')} with a value that is missing or wrong; it must be ${wanted}. The first:`;
    return { table, column: name, message, rows: parseRows(rows) };
  });
  await findLines(
    problems.flatMap(({ rows }) => rows),
    files.files,
  );
  return problems;
}

/** DuckDB writes numbers that are none as they are, which JSON does not have. */
function parseRows(text: string): ShownRow[] {
  try {
    return JSON.parse(text) as ShownRow[];
  } catch {
    return JSON.parse(text.replaceAll(/(?<=[:[,])(-?(?:NaN|Infinity))(?=[,}\]])/g, '"$1"')) as ShownRow[];
  }
}

/** The columns of a table as a SQL list. */
export function columnList({ columns }: Shape): string {
  return identifiers(columns.map(({ name }) => name));
}
