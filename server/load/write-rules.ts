import {
  addAlertRule,
  findAlertRule,
  removeAlertRule,
  ruleSubjectExists,
  type StoredRule,
} from '../catalog/alert-rules.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { requireProject } from '../catalog/projects.ts';
import { alertRuleProblem } from '../domain/alert-rules.ts';
import { whileNoLoadRuns } from './remove.ts';
import type { Stores } from './stores.ts';

/** Adds a rule, while no load runs. Throws if it is invalid or its subject does not exist. */
export async function addRule(stores: Stores, rule: StoredRule, onWait: () => void): Promise<void> {
  await whileNoLoadRuns(stores, onWait, async (tx, record) => {
    await checkRule(tx, rule);
    await record.add({ upsert: 'alert_rules', row: await addAlertRule(tx, rule) });
  });
}

/** Removes a rule, while no load runs, and returns it. Its open alert resolves with the next evaluation. */
export function removeRule(stores: Stores, id: string, onWait: () => void): Promise<StoredRule> {
  return whileNoLoadRuns(stores, onWait, async (tx, record) => {
    const rule = await findAlertRule(tx, id);
    if (rule === undefined) throw new Error(`There is no rule '${id}'. 'rules list' shows all.`);
    await removeAlertRule(tx, rule);
    await record.add({ remove: 'alert_rules', row: { id } });
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
