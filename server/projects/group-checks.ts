import { listAlertRules } from '../catalog/alerts.ts';
import { type AuditAction, recordAudit } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { requireProject } from '../catalog/projects.ts';
import type { AlertRule } from '../domain/alert-rules.ts';
import { invalidRequest, KnownError } from '../domain/errors.ts';
import { newShortId } from '../domain/ids.ts';
import { type Rule, ruleProblem } from '../domain/rules.ts';
import { entityRows } from '../load/entities.ts';
import type { Row } from '../load/publish.ts';
import type { Writer } from './notes.ts';

const MAX_NAME = 200;

/** The name of a group. Throws `invalid_request`. */
export function groupName(name: string): string {
  const trimmed = name.trim();
  if (trimmed !== '' && trimmed.length <= MAX_NAME && !/\p{Cc}|\p{Cs}/u.test(trimmed)) return trimmed;
  throw invalidRequest(`'name' must be a line of text of 1 to ${MAX_NAME} characters.`);
}

/** A rule as the catalog stores it. Throws `invalid_request`. */
export function ruleText(rule: Rule, of: 'keywords' | 'pages'): string {
  requireGroupRule(rule, of);
  return JSON.stringify(rule);
}

/** Throws `invalid_request` for a rule that no group can have. */
export function requireGroupRule(rule: Rule, of: 'keywords' | 'pages'): void {
  const hasField = of === 'pages' && rule.conditions.some(({ field }) => field !== undefined);
  const problem = hasField ? 'conditions of page groups have no field; they test the path' : ruleProblem(rule, of);
  if (problem !== undefined) throw invalidRequest(`'rule': ${problem}.`);
}

/** An id that none of these groups has, and the last place among them. */
export function newGroup(groups: readonly Row[]): { id: string; position: number } {
  const ids = new Set(groups.map(({ id }) => id));
  let id = newShortId();
  while (ids.has(id)) id = newShortId();
  return { id, position: groups.reduce((last, { position }) => Math.max(last, Number(position)), 0) + 1 };
}

/** Throws `conflict` if rules of alerts or notes are about a group, because they would be about nothing. */
export async function requireUnused(
  tx: Catalog,
  { project, scope, id }: { project: string; scope: AlertRule['scope']; id: string },
): Promise<void> {
  const rules = (await listAlertRules(tx, project)).filter(({ rule }) => rule.scope === scope && rule.id === id);
  const notes = (await entityRows(tx, 'notes', project)).filter((note) => scope === 'group' && note['group_id'] === id);
  if (rules.length + notes.length === 0) return;
  const users = [
    ...rules.map(({ name }) => `the alert rule '${name}'`),
    ...notes.map(({ date, text }) => `the note of ${String(date)} '${String(text).slice(0, 40)}'`),
  ];
  const more = users.length > 3 ? ` and ${users.length - 3} more` : '';
  throw new KnownError('conflict', `Remove first what is about the group: ${users.slice(0, 3).join(', ')}${more}.`);
}

/** Adds a change of a group to the audit trail. */
export async function auditGroup(
  tx: Catalog,
  { project_id: project, id, name, kind }: Row,
  { action, by: actor, at }: Writer & { readonly action: AuditAction },
): Promise<void> {
  const { workspaceId: workspace } = await requireProject(tx, project as string);
  const details = { project, name, ...(kind !== undefined && { kind }) };
  await recordAudit(tx, { at, workspace, actor, action, subject: id as string, details });
}
