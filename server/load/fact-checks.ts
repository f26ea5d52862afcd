import { count, type Problem } from '../domain/problems.ts';
import { MAX_DAYS } from '../domain/range.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { columnOf, FACT_TABLES, PERIOD_TABLES, tablesWith, WEEKLY_TABLES } from '../model/tables.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { batches, isSmall, type StagedPart } from './staged-parts.ts';
import { type EntityTable, type FactTableSchema, identifiers, packed } from './tables.ts';

/** A validation rule: a query of `sql/load/checks/` that returns violating rows, and the message for them. */
export interface Check {
  readonly sql: string;
  readonly table: string;
  readonly column: string | null;
  readonly message: string;
}

export const OF_UNKNOWN_PROJECT = 'of a project that does not exist';

/** Reads the table of `fact_keywords.sql`. */
const OF_KEYWORDS = 'facts_keyword';

const FACT_CHECKS: readonly Check[] = [
  { sql: 'facts_project', table: '*', column: 'project_id', message: OF_UNKNOWN_PROJECT },
  ...tablesWith('keyword_id').map((table) => ({
    sql: OF_KEYWORDS,
    table,
    column: 'keyword_id',
    message: 'of a keyword that does not exist',
  })),
  ...tablesWith('hour').map((table) => ({
    sql: 'hours',
    table,
    column: 'hour',
    message: 'not the start of an hour of that Pacific day',
  })),
  ...FACT_TABLES.filter((name) => columnOf(name, 'country').type === 'countryOrOther').map((table) => ({
    sql: 'country_monthly_countries',
    table,
    column: 'country',
    message: 'and project with more than 20 countries besides other',
  })),
  ...WEEKLY_TABLES.map((table) => ({
    sql: 'week_ends',
    table,
    column: 'week_end',
    message: 'of a week that ends on another weekday than the last one',
  })),
  ...PERIOD_TABLES.map((table) => ({
    sql: 'period_days',
    table,
    column: 'last_day',
    message: `before first_day, or more than ${MAX_DAYS} days with it`,
  })),
];

interface Violation {
  readonly row: string;
  readonly times: number;
  readonly total: number;
}

/** Those of the projects that a load names which will not exist after it. */
export async function unknownProjects(session: Session, named: ReadonlySet<string>): Promise<Set<string>> {
  const unknown = new Set(named);
  if (unknown.size === 0) return unknown;
  for (const { id } of await session.rows<{ id: string }>('select id from all_projects')) unknown.delete(id);
  return unknown;
}

/** Whether writing the parts of a table fails if rows repeat a key, in less time than `checkKeys` takes. */
export function checksKeysWhenWritten({ rollups }: FactTableSchema, parts: readonly StagedPart[]): boolean {
  return rollups.includes('keyword_all') && !isSmall(parts);
}

/**
 * Checks references and other rules of a staged fact table.
 * @param unknown projects that do not exist
 */
export async function checkFacts(
  session: Session,
  schema: FactTableSchema,
  parts: readonly StagedPart[],
  unknown: ReadonlySet<string>,
): Promise<Problem[]> {
  if (parts.length === 0) return [];
  const problems: Problem[] = [];
  const files = batches(parts).flat();
  for (const entry of factChecks(schema)) {
    // Skips a statement of some milliseconds that rarely finds anything.
    if (entry.sql === 'facts_project' && !parts.some(({ project }) => unknown.has(project))) continue;
    if (entry.sql === OF_KEYWORDS) {
      await session.runFile('load/fact_keywords', { files }, { table: schema.name });
      problems.push(...(await check(session, entry)));
    } else problems.push(...(await check(session, entry, {}, { files })));
  }
  return problems;
}

/** Checks that no two rows of a staged fact table have the same key. */
export async function checkKeys(
  session: Session,
  schema: FactTableSchema,
  parts: readonly StagedPart[],
): Promise<Problem[]> {
  const key = { key: identifiers(schema.key), pack: packed(schema.key) };
  if (parts.every(({ repeated }) => repeated === 0)) return [];
  for (const files of batches(parts)) {
    // Finding the duplicate keys is slower and rarely needed.
    const text = sqlTemplate('load/checks/repeated_facts', key);
    const [found] = await session.rows<{ repeated: number }>(text, { files });
    if (found?.repeated === 0) continue;
    const problems = await check(session, { ...duplicates(schema), sql: 'duplicate_facts' }, key, { files });
    if (problems.length > 0) return problems;
  }
  return [];
}

/** The checks of a fact table's references and other rules. */
export function factChecks({ name }: FactTableSchema): Check[] {
  return FACT_CHECKS.filter(({ table }) => table === '*' || table === name).map((entry) => ({ ...entry, table: name }));
}

/** The check that no two rows have the same key. */
export function duplicates({ name, key }: EntityTable | FactTableSchema): Check {
  return {
    sql: 'duplicate_rows',
    table: name,
    column: key.join(', '),
    message: 'that several rows have',
  };
}

/** Runs one check. Returns a problem if it finds rows. */
export async function check(
  session: Session,
  { sql, table, column, message }: Check,
  parts: Readonly<Record<string, string>> = {},
  parameters: Readonly<Record<string, readonly string[]>> = {},
): Promise<Problem[]> {
  const text = sqlTemplate(`load/checks/${sql}`, { table, ...parts });
  const violations = await session.rows<Violation>(text, parameters);
  const [first] = violations;
  if (first === undefined) return [];
  const rows = violations.map(({ row, times }) => ({
    ...(JSON.parse(row) as object),
    ...(times > 1 ? { rows: times } : {}),
  }));
  const noun = sql.startsWith('duplicate')
    ? 'key'
    : sql === 'keywords_query'
      ? 'query'
      : sql.startsWith('country_')
        ? 'month'
        : 'row';
  const counted = noun === 'query' && first.total > 1 ? `${first.total} queries` : count(first.total, noun);
  return [{ table, column, message: `${counted} ${message}. The first:`, rows }];
}
