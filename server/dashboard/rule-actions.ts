import { Type } from 'typebox';
import { testRuleOfProject } from '../alerts/rules.ts';
import type { Context } from '../api/context.ts';
import { findAlertRule, type StoredRule } from '../catalog/alerts.ts';
import type { AlertRule } from '../domain/alert-rules.ts';
import { notFound } from '../domain/errors.ts';
import { newUuid } from '../domain/ids.ts';
import type { Stores } from '../load/stores.ts';
import { MANAGERS } from '../operations/rights.ts';
import { oneOf } from '../presets/schemas.ts';
import { addRule, changeRule, checkRule, removeRule, ruleVersion } from '../projects/rules.ts';
import type { AddAction, Wanted } from './actions.ts';

const strict = { additionalProperties: false };
const name = Type.String();
/** Checked by `checkRule`, which says what is possible. */
const rule = Type.Unsafe<AlertRule>({});
const choice = {
  severity: Type.Optional(oneOf('Severity', ['info', 'warning', 'critical'])),
  enabled: Type.Optional(Type.Boolean()),
};

/** Alert rules of a project: owners and admins write them, and look first when they would have opened an alert. */
export function addRuleActions(add: AddAction, { facts, now }: Context, stores: Stores): void {
  const { catalog } = stores;
  add({
    method: 'POST',
    creates: true,
    url: '/projects/:id/rules',
    roles: MANAGERS,
    status: 201,
    body: Type.Object({ name, rule, ...choice }, strict),
    run: async ({ project, body, by, at, submission }) => {
      const made: StoredRule = { id: newUuid(), project: project!.id, severity: 'warning', enabled: true, ...body };
      return answerOf(await addRule(stores.catalog, made, { by, at, submission }));
    },
  });
  add({
    method: 'POST',
    creates: false,
    url: '/projects/:id/rules/test',
    roles: MANAGERS,
    body: Type.Object({ rule }, strict),
    run: async ({ project, body, signal }) => {
      const tested = { id: '', project: project!.id, name: 'test', severity: 'info', enabled: true, ...body } as const;
      await checkRule(catalog, tested);
      const { range, days } = await testRuleOfProject({ catalog, facts }, tested, { now: now(), signal });
      return { from: range.from, to: range.to, days };
    },
  });
  const find = async ({ project, ids }: Wanted): Promise<StoredRule> => {
    const found = await findAlertRule(catalog, ids['rule']!);
    if (found?.project !== project!.id) throw notFound('The project has no such rule.');
    return found;
  };
  add({
    method: 'GET',
    url: '/projects/:id/rules/:rule',
    roles: MANAGERS,
    find,
    run: ({ found }) => answerOf(found),
  });
  add({
    method: 'PATCH',
    edits: true,
    url: '/projects/:id/rules/:rule',
    roles: MANAGERS,
    body: Type.Object({ name: Type.Optional(name), rule: Type.Optional(rule), ...choice }, strict),
    find,
    run: async ({ found, body, by, at, version }) =>
      answerOf(await changeRule(stores.catalog, found.id, body, { by, at, version })),
  });
  add({
    method: 'DELETE',
    url: '/projects/:id/rules/:rule',
    roles: MANAGERS,
    find,
    run: async ({ found, by, at }) => {
      await removeRule(stores.catalog, found.id, { by, at });
    },
  });
}

const answerOf = (rule: StoredRule) => ({ rule: shownRule(rule), version: ruleVersion(rule) });

/** A rule in answers about its project. */
export function shownRule({ id, name: shown, rule: what, severity, enabled }: StoredRule): object {
  return { id, name: shown, rule: what, severity, enabled };
}
