import type { AlertRule } from '../domain/alert-rules.ts';
import type { Catalog } from './catalog.ts';
import { removeRows, type Table, upsertRows } from './entity-rows.ts';
import { raiseRevisions } from './revisions.ts';

/** A user-defined rule of a project. */
export interface StoredRule {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly rule: AlertRule;
  readonly severity: 'info' | 'warning' | 'critical';
  readonly enabled: boolean;
}

type Row = Omit<StoredRule, 'rule' | 'enabled'> & { readonly rule: string; readonly enabled: number };

const TABLE: Table = {
  table: 'alert_rules',
  columns: ['id', 'project_id', 'name', 'rule', 'severity', 'enabled'],
  key: ['id'],
};

/** The rules of a project, or of all projects, by name. */
export async function listAlertRules(catalog: Catalog, project: string | null): Promise<StoredRule[]> {
  const rows = await catalog.statements.all<Row>('alert_rules_of_project', { project });
  return rows.map(toRule);
}

export async function findAlertRule(catalog: Catalog, id: string): Promise<StoredRule | undefined> {
  const row = await catalog.statements.get<Row>('alert_rule', { id });
  return row && toRule(row);
}

/** Whether the subject of a rule exists in its project. */
export async function ruleSubjectExists(catalog: Catalog, project: string, { scope, id }: AlertRule): Promise<boolean> {
  if (id === undefined) return true;
  return (await catalog.statements.get('alert_rule_subject_exists', { project, scope, id })) !== undefined;
}

/** Adds a rule; returns its row, for the journal. */
export async function addAlertRule(tx: Catalog, rule: StoredRule): Promise<Record<string, string | number>> {
  const row = {
    id: rule.id,
    project_id: rule.project,
    name: rule.name,
    rule: JSON.stringify(rule.rule),
    severity: rule.severity,
    enabled: rule.enabled ? 1 : 0,
  };
  await upsertRows(tx, TABLE, [row]);
  await raiseRevisions(tx, changed(rule.project));
  return row;
}

export async function removeAlertRule(tx: Catalog, { id, project }: StoredRule): Promise<void> {
  await removeRows(tx, TABLE, [{ id }]);
  await raiseRevisions(tx, changed(project));
}

function changed(project: string): Parameters<typeof raiseRevisions>[1] {
  return { facts: new Set(), projects: new Set([project]), keywords: new Set(), workspaces: new Set() };
}

function toRule(row: Row): StoredRule {
  return { ...row, rule: JSON.parse(row.rule) as AlertRule, enabled: row.enabled === 1 };
}
