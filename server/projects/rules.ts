import { findAlertRule, ruleSubjectExists, type StoredRule } from '../catalog/alerts.ts';
import { type AuditAction, recordAudit } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { requireProject } from '../catalog/projects.ts';
import { alertRuleProblem } from '../domain/alert-rules.ts';
import { invalidRequest, notFound } from '../domain/errors.ts';
import { isName } from '../domain/texts.ts';
import { requireVersion, versionOf } from '../domain/versions.ts';
import { changeEntities, createEntities } from '../load/entities.ts';
import type { Row } from '../load/publish.ts';
import type { Creator, Editor, Writer } from './notes.ts';

const MAX_NAME = 200;

/** Identifies what members edit of a rule. */
export function ruleVersion({ name, rule, severity, enabled }: StoredRule): string {
  return versionOf({ name, rule, severity, enabled });
}

/** Adds a rule and returns it. Throws `invalid_request` if it is invalid or its subject does not exist. */
export function addRule(catalog: Catalog, rule: StoredRule, { submission, ...writer }: Creator): Promise<StoredRule> {
  return createEntities(catalog, submission, async ({ tx, put }) => {
    await checkRule(tx, rule);
    await put('alert_rules', [rowOf(rule)]);
    await audit(tx, rule, { action: 'rule.created', ...writer });
    return rule;
  });
}

/** Changes a rule; what is left out stays the same. Throws `not_found`, `outdated`, and what `addRule` throws. */
export function changeRule(
  catalog: Catalog,
  id: string,
  changes: Partial<Pick<StoredRule, 'name' | 'rule' | 'severity' | 'enabled'>>,
  { version, ...writer }: Editor,
): Promise<StoredRule> {
  return changeEntities(catalog, async ({ tx, put }) => {
    const before = await requireRule(tx, id);
    requireVersion(ruleVersion(before), version);
    const rule = { ...before, ...changes };
    await checkRule(tx, rule);
    await put('alert_rules', [rowOf(rule)]);
    await audit(tx, rule, { action: 'rule.changed', ...writer });
    return rule;
  });
}

/** Removes a rule and returns it. Its open alert resolves with the next evaluation. Throws `not_found`. */
export function removeRule(catalog: Catalog, id: string, writer: Writer): Promise<StoredRule> {
  return changeEntities(catalog, async ({ tx, remove }) => {
    const rule = await requireRule(tx, id);
    await remove('alert_rules', [rowOf(rule)]);
    await audit(tx, rule, { action: 'rule.removed', ...writer });
    return rule;
  });
}

/** Throws `invalid_request` if a rule is invalid or its subject does not exist. */
export async function checkRule(catalog: Catalog, { project, name, rule }: StoredRule): Promise<void> {
  if (!isName(name, MAX_NAME)) throw invalidRequest(`'name' must be a line of text of 1 to ${MAX_NAME} characters.`);
  const problem = alertRuleProblem(rule);
  if (problem !== undefined) throw invalidRequest(`The rule is invalid: ${problem}.`);
  await requireProject(catalog, project);
  if (await ruleSubjectExists(catalog, project, rule)) return;
  const subject = rule.scope.replace('_', ' ');
  throw invalidRequest(`The project '${project}' has no ${subject} '${rule.id}', which the rule is about.`);
}

async function requireRule(tx: Catalog, id: string): Promise<StoredRule> {
  const rule = await findAlertRule(tx, id);
  if (rule === undefined) throw notFound(`There is no rule '${id.slice(0, 40)}'. 'rules list' shows all.`);
  return rule;
}

async function audit(
  tx: Catalog,
  { id: subject, project, name, rule, severity, enabled }: StoredRule,
  { action, by: actor, at }: Writer & { readonly action: AuditAction },
): Promise<void> {
  const { workspaceId: workspace } = await requireProject(tx, project);
  const details = { project, name, rule, severity, enabled };
  await recordAudit(tx, { at, workspace, actor, action, subject, details });
}

function rowOf({ id, project, name, rule, severity, enabled }: StoredRule): Row {
  return { id, project_id: project, name, rule: JSON.stringify(rule), severity, enabled: enabled ? 1 : 0 };
}
