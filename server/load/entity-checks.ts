import { alertRuleProblem } from '../domain/alert-rules.ts';
import { count, type Problem } from '../domain/problems.ts';
import { ruleProblem } from '../domain/rules.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { type Check, check, duplicates, factChecks, OF_UNKNOWN_PROJECT } from './fact-checks.ts';
import { ENTITIES, type EntityTable, type FactTableSchema, identifiers, packed } from './tables.ts';

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

const UNKNOWN_PROJECT = 'unknown_project';

/** The checks needed for a load of these tables. Rows of other tables were checked when they were loaded. */
function entityChecks(tables: readonly EntityTable[]): Check[] {
  const carried = new Set<string>(tables.map(({ name }) => name));
  const unknown = tables.filter(({ columns }) => columns.some(({ name }) => name === 'project_id'));
  return [
    ...unknown.map(({ name: table }) => ({
      sql: UNKNOWN_PROJECT,
      table,
      column: 'project_id',
      message: OF_UNKNOWN_PROJECT,
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

/**
 * Checks keys, references and other rules of the entity tables of a load. Requires the tables that `buildState` creates.
 * @param state `rows`: the number of rows by table, in the load or else in the state; `unknown`: the projects that the load
 * names but that do not exist after it
 */
export async function checkEntities(
  session: Session,
  tables: readonly EntityTable[],
  { rows, unknown }: { readonly rows: ReadonlyMap<string, number>; readonly unknown: ReadonlySet<string> },
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const schema of tables) {
    if (rows.get(schema.name)! <= 1) continue;
    problems.push(
      ...(await check(session, duplicates(schema), { key: identifiers(schema.key), pack: packed(schema.key) })),
    );
  }
  for (const entry of entityChecks(tables)) {
    // A statement takes milliseconds.
    if (entry.sql === UNKNOWN_PROJECT && unknown.size === 0) continue;
    if (rows.get(entry.table) !== 0) problems.push(...(await check(session, entry)));
  }
  for (const { name } of tables) {
    const problemOf = RULE_PROBLEMS[name];
    if (problemOf !== undefined) problems.push(...(await checkRules(session, name, problemOf)));
  }
  return problems;
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
  const message = `${count(problems.length, 'invalid rule')}. The first:`;
  return [{ table, column: 'rule', message, rows: problems.slice(0, 3) }];
}
