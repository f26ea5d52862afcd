import type { AlertRule } from '../domain/alert-rules.ts';
import type { Catalog } from './catalog.ts';

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

/** The rules of a project, or of all projects, by name. */
export async function listAlertRules(catalog: Catalog, project: string | null): Promise<StoredRule[]> {
  const rows = await catalog.statements.all<Row>('alert-rules.of_project', { project });
  return rows.map(toRule);
}

export async function findAlertRule(catalog: Catalog, id: string): Promise<StoredRule | undefined> {
  const row = await catalog.statements.get<Row>('alert-rules.one', { id });
  return row && toRule(row);
}

/** Whether the subject of a rule exists in its project. */
export async function ruleSubjectExists(catalog: Catalog, project: string, { scope, id }: AlertRule): Promise<boolean> {
  if (id === undefined) return true;
  return (await catalog.statements.get('alert-rules.subject', { project, scope, id })) !== undefined;
}

function toRule(row: Row): StoredRule {
  return { ...row, rule: JSON.parse(row.rule) as AlertRule, enabled: row.enabled === 1 };
}
