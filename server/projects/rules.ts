import { findAlertRule, ruleSubjectExists, type StoredRule } from '../catalog/alert-rules.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { requireProject } from '../catalog/projects.ts';
import { alertRuleProblem } from '../domain/alert-rules.ts';
import type { LockOptions } from '../load/change-facts.ts';
import { changeEntities } from '../load/entities.ts';
import type { Row } from '../load/publish.ts';
import type { Stores } from '../load/stores.ts';

/** Adds a rule. Throws if it is invalid or its subject does not exist. */
export async function addRule(stores: Stores, rule: StoredRule, waiting: LockOptions): Promise<void> {
  await changeEntities(stores, waiting, async ({ tx, put }) => {
    await checkRule(tx, rule);
    await put('alert_rules', [rowOf(rule)]);
  });
}

/** Removes a rule and returns it. Its open alert resolves with the next evaluation. */
export function removeRule(stores: Stores, id: string, waiting: LockOptions): Promise<StoredRule> {
  return changeEntities(stores, waiting, async ({ tx, remove }) => {
    const rule = await findAlertRule(tx, id);
    if (rule === undefined) throw new Error(`There is no rule '${id}'. 'rules list' shows all.`);
    await remove('alert_rules', [rowOf(rule)]);
    return rule;
  });
}

/** Throws if a rule is invalid, or its project or subject does not exist. */
export async function checkRule(catalog: Catalog, { project, rule }: StoredRule): Promise<void> {
  const problem = alertRuleProblem(rule);
  if (problem !== undefined) throw new Error(`The rule is invalid: ${problem}.`);
  await requireProject(catalog, project);
  if (await ruleSubjectExists(catalog, project, rule)) return;
  throw new Error(`The project '${project}' has no ${rule.scope.replace('_', ' ')} '${rule.id}'.`);
}

function rowOf({ id, project, name, rule, severity, enabled }: StoredRule): Row {
  return { id, project_id: project, name, rule: JSON.stringify(rule), severity, enabled: enabled ? 1 : 0 };
}
