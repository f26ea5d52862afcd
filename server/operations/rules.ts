import { Type } from 'typebox';
import { findAlertRule, ruleSubjectExists, type StoredRule } from '../catalog/alerts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { defaultsOf, WORDS } from '../catalog/entities.ts';
import { rowOf, withoutProject } from '../catalog/entity-rows.ts';
import { requireProject } from '../catalog/projects.ts';
import { type AlertRule, alertRuleProblem } from '../domain/alert-rules.ts';
import { invalidRequest } from '../domain/errors.ts';
import { newUuid } from '../domain/ids.ts';
import { isName } from '../domain/texts.ts';
import { editEntities } from '../load/entities.ts';
import { oneOf, sentFlags } from '../presets/schemas.ts';
import { adds, changes, type Noun, OF_PROJECT, type ProjectPlace, reads, removes } from './operation.ts';
import { MANAGERS } from './rights.ts';

const MAX_NAME = 200;

const name = Type.Refine(
  Type.String({ description: `Its name, a line of 1 to ${MAX_NAME} characters.` }),
  (text) => isName(text, MAX_NAME),
  () => `must be a line of text of 1 to ${MAX_NAME} characters`,
);
/** Checked by `checkRule`, which says what is possible. */
export const alertRule = Type.Unsafe<AlertRule>({
  description: 'What is compared with what; `ordinate describe alert_rules` explains its fields.',
});
const optional = {
  severity: Type.Optional(oneOf('Severity', WORDS.severity, 'Of its alerts; by default warning.')),
  ...sentFlags('alert_rules'),
};

const RULE: Noun<ProjectPlace, StoredRule> = {
  name: 'rule',
  plural: 'rules',
  of: OF_PROJECT,
  find: async (catalog, { project }, id) => {
    const found = await findAlertRule(catalog, id);
    return found?.projectId === project ? found : undefined;
  },
  missing: 'The project has no such rule.',
  edited: shownRule,
  show: shownRule,
  audited: ({ id, projectId: project, ...details }) => ({ subject: id, details: { project, ...details } }),
};

export const ruleAddition = adds(RULE, {
  roles: MANAGERS,
  audit: 'rule.created',
  fields: { name, rule: alertRule, ...optional },
  run: ({ tx, place: { project }, input }) =>
    write(tx, { ...defaultsOf('alert_rules'), id: newUuid(), projectId: project, ...input }),
});

/** The open alert of a rule resolves with the next evaluation. */
export const ruleRemoval = removes(RULE, {
  roles: MANAGERS,
  audit: 'rule.removed',
  gone: RULE.missing,
  run: ({ tx, found }) => editEntities(tx, ({ remove }) => remove('alert_rules', [rowOf('alert_rules', found)])),
});

/** Alert rules of a project: owners and admins write them. */
export const RULE_OPERATIONS = [
  reads(RULE, MANAGERS),
  ruleAddition,
  changes(RULE, {
    roles: MANAGERS,
    audit: 'rule.changed',
    fields: { name: Type.Optional(name), rule: Type.Optional(alertRule), ...optional },
    run: ({ tx, input, found }) => write(tx, { ...found, ...input }),
  }),
  ruleRemoval,
];

async function write(tx: Catalog, rule: StoredRule): Promise<StoredRule> {
  await checkRule(tx, rule);
  await editEntities(tx, ({ put }) => put('alert_rules', [rowOf('alert_rules', rule)]));
  // The version and the answer have its fields in the order in which they are read.
  const written = await findAlertRule(tx, rule.id);
  if (written === undefined) throw new Error(`The rule '${rule.id}' was not written.`);
  return written;
}

/** Throws `invalid_request` if a rule is invalid or its subject does not exist. */
export async function checkRule(
  catalog: Catalog,
  { projectId: project, rule }: Pick<StoredRule, 'projectId' | 'rule'>,
): Promise<void> {
  const problem = alertRuleProblem(rule);
  if (problem !== undefined) throw invalidRequest(`The rule is invalid: ${problem}.`);
  await requireProject(catalog, project);
  if (await ruleSubjectExists(catalog, project, rule)) return;
  const subject = rule.scope.replace('_', ' ');
  throw invalidRequest(`The project '${project}' has no ${subject} '${rule.id}', which the rule is about.`);
}

/** A rule in answers about its project. */
export function shownRule(rule: StoredRule): object {
  return withoutProject(rule);
}
