import { alertRuleProblem } from '../domain/alert-rules.ts';
import { ruleProblem } from '../domain/rules.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { count, type Problem } from './problems.ts';
import { batches, type StagedPart } from './staged-parts.ts';
import { ENTITIES, type EntityTable, type FactTableSchema, identifiers, packed } from './tables.ts';

/** A rule over rows: a file of `sql/load/checks/`, and what its rows break, in words. */
interface Check {
  readonly sql: string;
  readonly table: string;
  readonly column: string | null;
  readonly says: string;
}

const ENTITY_CHECKS: readonly Check[] = [
  { sql: 'projects_workspace', table: 'projects', column: 'workspace_id', says: 'of a workspace that does not exist' },
  {
    sql: 'projects_moved',
    table: 'projects',
    column: 'id',
    says: 'whose id belongs to another workspace already; ids are unique over all workspaces',
  },
  {
    sql: 'keywords_query',
    table: 'keywords',
    column: 'query',
    says: 'that several keywords of a project have; among keywords that are not archived it is unique',
  },
  {
    sql: 'groups_rule',
    table: 'groups',
    column: 'rule',
    says: 'with a rule though the kind is not rule, or without one though it is',
  },
  { sql: 'groups_parent', table: 'groups', column: 'parent_id', says: 'whose parent is not a folder of the project' },
  { sql: 'groups_cycle', table: 'groups', column: 'parent_id', says: 'that lie in themselves' },
  {
    sql: 'group_members_group',
    table: 'group_members',
    column: 'group_id',
    says: 'of what is not a manual group of the project',
  },
  {
    sql: 'group_members_keyword',
    table: 'group_members',
    column: 'keyword_id',
    says: 'with a keyword that does not exist',
  },
  { sql: 'alerts_keyword', table: 'alerts', column: 'keyword_id', says: 'on a keyword that does not exist' },
  { sql: 'alerts_moved', table: 'alerts', column: 'id', says: 'whose id belongs to another project already' },
  { sql: 'alert_rules_moved', table: 'alert_rules', column: 'id', says: 'whose id belongs to another project already' },
  {
    sql: 'alert_rules_subject',
    table: 'alert_rules',
    column: 'rule',
    says: 'on a keyword, group or page group that does not exist',
  },
  {
    sql: 'notes_workspace',
    table: 'notes',
    column: 'workspace_id',
    says: 'of a workspace that does not exist or is not that of their project',
  },
  {
    sql: 'notes_scope',
    table: 'notes',
    column: 'project_id',
    says: 'without a project; only notes of workspace scope have none',
  },
  { sql: 'notes_dates', table: 'notes', column: 'end_date', says: 'that end before they start' },
  { sql: 'notes_group', table: 'notes', column: 'group_id', says: 'on a group that does not exist' },
  { sql: 'notes_keyword', table: 'notes', column: 'keyword_id', says: 'on a keyword that does not exist' },
  { sql: 'notes_moved', table: 'notes', column: 'id', says: 'whose id belongs to another workspace already' },
];

const FACT_CHECKS: readonly Check[] = [
  { sql: 'facts_project', table: '*', column: 'project_id', says: 'of a project that does not exist' },
  ...['keyword_daily', 'keyword_page_daily'].map((table) => ({
    sql: 'facts_keyword',
    table,
    column: 'keyword_id',
    says: 'of a keyword that does not exist',
  })),
  {
    sql: 'country_monthly_countries',
    table: 'country_monthly',
    column: 'country',
    says: 'and project with more than 20 countries besides other',
  },
];

interface Offence {
  readonly row: string;
  readonly times: number;
  readonly total: number;
}

/** The checks of a load that carries some of the tables: what none of them changes was right before it. */
function entityChecks(tables: readonly EntityTable[]): Check[] {
  const carried = new Set<string>(tables.map(({ name }) => name));
  const unknown = tables.filter(({ columns }) => columns.some(({ name }) => name === 'project_id'));
  return [
    ...unknown.map(({ name: table }) => ({
      sql: 'unknown_project',
      table,
      column: 'project_id',
      says: FACT_CHECKS[0]!.says,
    })),
    ...ENTITY_CHECKS.filter((entry) => {
      const reads = readsOf(entry);
      // Its subject are rows of the load, or of the state after it.
      return reads.some(({ table }) => carried.has(table)) && reads.every((it) => it.isState || carried.has(it.table));
    }),
  ];
}

/** The tables that a check reads: rows of the load (`new_…`, and `old_…` to compare with them), or the state after it. */
function readsOf({ sql, table: of }: Check): { table: string; isState: boolean }[] {
  const text = sqlTemplate(`load/checks/${sql}`, { table: of, key: '', pack: '' });
  return ENTITIES.flatMap(({ name: table }) =>
    ['new', 'old', 'all']
      .filter((state) => new RegExp(`\\b${state}_${table}\\b`).test(text))
      .map((state) => ({ table, isState: state === 'all' })),
  );
}

/** The entity tables that the checks of a load look at, by name. */
export function tablesToCheck(tables: readonly EntityTable[], facts: readonly FactTableSchema[]): Set<string> {
  const checks = [...entityChecks(tables), ...facts.flatMap(factChecks)];
  return new Set(checks.flatMap(readsOf).map(({ table }) => table));
}

/** Keys, references and other rules of the entity tables that a load carries, over the state that `buildState` made. */
export async function checkEntities(session: Session, tables: readonly EntityTable[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const shape of tables) {
    problems.push(
      ...(await check(session, duplicates(shape), { key: identifiers(shape.key), pack: packed(shape.key) })),
    );
  }
  for (const entry of entityChecks(tables)) problems.push(...(await check(session, entry)));
  for (const { name } of tables) {
    const problemOf = RULE_PROBLEMS[name];
    if (problemOf !== undefined) problems.push(...(await checkRules(session, name, problemOf)));
  }
  return problems;
}

/** Which of the projects that facts refer to will not exist after the load. */
export async function unknownProjects(session: Session, factProjects: readonly string[]): Promise<Set<string>> {
  const unknown = new Set(factProjects);
  if (unknown.size === 0) return unknown;
  for (const { id } of await session.rows<{ id: string }>('select id from all_projects')) unknown.delete(id);
  return unknown;
}

/**
 * Keys and references of a staged fact table.
 * @param unknown projects that do not exist
 */
export async function checkFacts(
  session: Session,
  shape: FactTableSchema,
  parts: readonly StagedPart[],
  unknown: ReadonlySet<string>,
): Promise<Problem[]> {
  if (parts.length === 0) return [];
  const problems: Problem[] = [];
  const inBatches = batches(parts);
  for (const files of inBatches) {
    const key = { key: identifiers(shape.key), pack: packed(shape.key) };
    // Which keys they are costs more to tell, and seldom has to be.
    const [found] = await session.rows<{ repeated: number }>(sqlTemplate('load/checks/repeated_facts', key), {
      files,
    });
    if (found?.repeated === 0) continue;
    problems.push(...(await check(session, { ...duplicates(shape), sql: 'duplicate_facts' }, key, { files })));
    if (problems.length > 0) break;
  }
  const files = inBatches.flat();
  for (const entry of factChecks(shape)) {
    // A statement costs some milliseconds, and this one nearly always finds nothing.
    if (entry.sql === 'facts_project' && !parts.some(({ project }) => unknown.has(project))) continue;
    problems.push(...(await check(session, entry, {}, { files })));
  }
  return problems;
}

function factChecks({ name }: FactTableSchema): Check[] {
  return FACT_CHECKS.filter(({ table }) => table === '*' || table === name).map((entry) => ({ ...entry, table: name }));
}

function duplicates({ name, key }: EntityTable | FactTableSchema): Check {
  return { sql: 'duplicate_rows', table: name, column: key.join(', '), says: 'that several rows have; it is the key' };
}

/** Runs one check; a problem where it finds rows. */
export async function check(
  session: Session,
  { sql, table, column, says }: Check,
  parts: Readonly<Record<string, string>> = {},
  parameters: Readonly<Record<string, readonly string[]>> = {},
): Promise<Problem[]> {
  const text = sqlTemplate(`load/checks/${sql}`, { table, ...parts });
  const offences = await session.rows<Offence>(text, parameters);
  const [first] = offences;
  if (first === undefined) return [];
  const rows = offences.map(({ row, times }) => ({
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
  return [{ table, column, message: `${counted} ${says}. The first:`, rows }];
}

/** What is wrong with a rule of each table that has them. */
const RULE_PROBLEMS: Partial<Record<EntityTable['name'], (rule: unknown) => string | undefined>> = {
  groups: (rule) => ruleProblem(rule, 'keywords'),
  page_groups: (rule) => ruleProblem(rule, 'pages'),
  alert_rules: alertRuleProblem,
};

/** Fields, operators, values and regular expressions of rules. */
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
  const message = `${count(problems.length, 'rule')} that cannot be understood. The first:`;
  return [{ table, column: 'rule', message, rows: problems.slice(0, 3) }];
}
