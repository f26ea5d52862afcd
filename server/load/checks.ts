import { alertRuleProblem } from '../domain/alert-rules.ts';
import { MAX_DAYS } from '../domain/range.ts';
import { ruleProblem } from '../domain/rules.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { count, type Problem } from './problems.ts';
import { batches, type StagedPart } from './staged-parts.ts';
import { ENTITIES, type EntityTable, type FactTableSchema, identifiers, packed } from './tables.ts';

/** A validation rule: a query of `sql/load/checks/` that returns violating rows, and the message for them. */
interface Check {
  readonly sql: string;
  readonly table: string;
  readonly column: string | null;
  readonly message: string;
}

const ENTITY_CHECKS: readonly Check[] = [
  {
    sql: 'projects_workspace',
    table: 'projects',
    column: 'workspace_id',
    message: 'of a workspace that does not exist',
  },
  {
    sql: 'projects_moved',
    table: 'projects',
    column: 'id',
    message: 'whose id already belongs to another workspace; ids are unique over all workspaces',
  },
  {
    sql: 'keywords_query',
    table: 'keywords',
    column: 'query',
    message: 'that several keywords of a project have; queries must be unique among keywords that are not archived',
  },
  {
    sql: 'groups_rule',
    table: 'groups',
    column: 'rule',
    message: 'with a rule although the kind is not rule, or without one although it is',
  },
  {
    sql: 'groups_parent',
    table: 'groups',
    column: 'parent_id',
    message: 'whose parent is not a folder of the project',
  },
  { sql: 'groups_cycle', table: 'groups', column: 'parent_id', message: 'that contain themselves' },
  {
    sql: 'group_members_group',
    table: 'group_members',
    column: 'group_id',
    message: 'whose group is not a manual group of the project',
  },
  {
    sql: 'group_members_keyword',
    table: 'group_members',
    column: 'keyword_id',
    message: 'with a keyword that does not exist',
  },
  { sql: 'alerts_keyword', table: 'alerts', column: 'keyword_id', message: 'on a keyword that does not exist' },
  { sql: 'alerts_moved', table: 'alerts', column: 'id', message: 'whose id already belongs to another project' },
  {
    sql: 'alert_rules_moved',
    table: 'alert_rules',
    column: 'id',
    message: 'whose id already belongs to another project',
  },
  {
    sql: 'alert_rules_subject',
    table: 'alert_rules',
    column: 'rule',
    message: 'on a keyword, group or page group that does not exist',
  },
  {
    sql: 'notes_workspace',
    table: 'notes',
    column: 'workspace_id',
    message: 'of a workspace that does not exist or is not that of their project',
  },
  {
    sql: 'notes_scope',
    table: 'notes',
    column: 'project_id',
    message: 'without a project; only notes with workspace scope have none',
  },
  { sql: 'notes_dates', table: 'notes', column: 'end_date', message: 'that end before they start' },
  { sql: 'notes_group', table: 'notes', column: 'group_id', message: 'on a group that does not exist' },
  { sql: 'notes_keyword', table: 'notes', column: 'keyword_id', message: 'on a keyword that does not exist' },
  { sql: 'notes_moved', table: 'notes', column: 'id', message: 'whose id already belongs to another workspace' },
];

const FACT_CHECKS: readonly Check[] = [
  { sql: 'facts_project', table: '*', column: 'project_id', message: 'of a project that does not exist' },
  ...['keyword_daily', 'keyword_page_daily'].map((table) => ({
    sql: 'facts_keyword',
    table,
    column: 'keyword_id',
    message: 'of a keyword that does not exist',
  })),
  {
    sql: 'country_monthly_countries',
    table: 'country_monthly',
    column: 'country',
    message: 'and project with more than 20 countries besides other',
  },
  ...['page_period', 'query_period'].map((table) => ({
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

/** The checks needed for a load of these tables. Rows of other tables were checked when they were loaded. */
function entityChecks(tables: readonly EntityTable[]): Check[] {
  const carried = new Set<string>(tables.map(({ name }) => name));
  const unknown = tables.filter(({ columns }) => columns.some(({ name }) => name === 'project_id'));
  return [
    ...unknown.map(({ name: table }) => ({
      sql: 'unknown_project',
      table,
      column: 'project_id',
      message: FACT_CHECKS[0]!.message,
    })),
    ...ENTITY_CHECKS.filter((entry) => {
      const reads = readsOf(entry);
      // `new_…` exists only for tables of the load.
      return reads.some(({ table }) => carried.has(table)) && reads.every((it) => it.isState || carried.has(it.table));
    }),
  ];
}

/** The tables that a check reads: rows of the load (`new_…`), the rows they replace (`old_…`), or the state after the load. */
function readsOf({ sql, table: of }: Check): { table: string; isState: boolean }[] {
  const text = sqlTemplate(`load/checks/${sql}`, { table: of, key: '', pack: '' });
  return ENTITIES.flatMap(({ name: table }) =>
    ['new', 'old', 'all']
      .filter((state) => new RegExp(`\\b${state}_${table}\\b`).test(text))
      .map((state) => ({ table, isState: state === 'all' })),
  );
}

/** Names of the entity tables that the checks of a load read. */
export function tablesToCheck(tables: readonly EntityTable[], facts: readonly FactTableSchema[]): Set<string> {
  const checks = [...entityChecks(tables), ...facts.flatMap(factChecks)];
  return new Set(checks.flatMap(readsOf).map(({ table }) => table));
}

/** Checks keys, references and other rules of the entity tables of a load. Requires the tables that `buildState` creates. */
export async function checkEntities(session: Session, tables: readonly EntityTable[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const schema of tables) {
    problems.push(
      ...(await check(session, duplicates(schema), { key: identifiers(schema.key), pack: packed(schema.key) })),
    );
  }
  for (const entry of entityChecks(tables)) problems.push(...(await check(session, entry)));
  for (const { name } of tables) {
    const problemOf = RULE_PROBLEMS[name];
    if (problemOf !== undefined) problems.push(...(await checkRules(session, name, problemOf)));
  }
  return problems;
}

/** The projects that facts refer to but that will not exist after the load. */
export async function unknownProjects(session: Session, factProjects: readonly string[]): Promise<Set<string>> {
  const unknown = new Set(factProjects);
  if (unknown.size === 0) return unknown;
  for (const { id } of await session.rows<{ id: string }>('select id from all_projects')) unknown.delete(id);
  return unknown;
}

/**
 * Checks keys and references of a staged fact table.
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
  const inBatches = batches(parts);
  for (const files of inBatches) {
    const key = { key: identifiers(schema.key), pack: packed(schema.key) };
    // Finding the duplicate keys is slower and rarely needed.
    const [found] = await session.rows<{ repeated: number }>(sqlTemplate('load/checks/repeated_facts', key), {
      files,
    });
    if (found?.repeated === 0) continue;
    problems.push(...(await check(session, { ...duplicates(schema), sql: 'duplicate_facts' }, key, { files })));
    if (problems.length > 0) break;
  }
  const files = inBatches.flat();
  for (const entry of factChecks(schema)) {
    // Skips a statement of some milliseconds that rarely finds anything.
    if (entry.sql === 'facts_project' && !parts.some(({ project }) => unknown.has(project))) continue;
    problems.push(...(await check(session, entry, {}, { files })));
  }
  return problems;
}

function factChecks({ name }: FactTableSchema): Check[] {
  return FACT_CHECKS.filter(({ table }) => table === '*' || table === name).map((entry) => ({ ...entry, table: name }));
}

function duplicates({ name, key }: EntityTable | FactTableSchema): Check {
  return {
    sql: 'duplicate_rows',
    table: name,
    column: key.join(', '),
    message: 'that several rows have; it is the key',
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

/** Validators for the rule columns, by table. */
const RULE_PROBLEMS: Partial<Record<EntityTable['name'], (rule: unknown) => string | undefined>> = {
  groups: (rule) => ruleProblem(rule, 'keywords'),
  page_groups: (rule) => ruleProblem(rule, 'pages'),
  alert_rules: alertRuleProblem,
};

/** Checks fields, operators, values and regular expressions of rules. */
async function checkRules(
  session: Session,
  table: string,
  problemOf: (rule: unknown) => string | undefined,
): Promise<Problem[]> {
  const rows = await session.rows<{ project_id: string; id: string; rule: string }>(
    sqlTemplate('load/rules', { table }),
  );
  const problems = rows.flatMap(({ rule, ...id }) => {
    const problem = problemOf(JSON.parse(rule));
    return problem === undefined ? [] : [{ ...id, problem }];
  });
  if (problems.length === 0) return [];
  const message = `${count(problems.length, 'rule')} that is invalid. The first:`;
  return [{ table, column: 'rule', message, rows: problems.slice(0, 3) }];
}
