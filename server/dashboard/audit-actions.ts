import { Type } from 'typebox';
import type { Context } from '../api/context.ts';
import { AUDIT_ACTIONS, type AuditAction, listAudit } from '../catalog/audit.ts';
import type { Usage } from '../catalog/usage.ts';
import { parseDay } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { isoInstant, type Microseconds } from '../domain/instants.ts';
import { MANAGERS } from '../operations/rights.ts';
import { type Parameter, readParameters } from '../presets/parameters.ts';
import type { AddAction } from './actions.ts';

const MAX_ENTRIES = 1000;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/;

const limit: Parameter<ReturnType<typeof Type.Integer>, number> & { fallback: number } = {
  schema: Type.Integer(),
  expected: `a whole number from 1 to ${MAX_ENTRIES}`,
  decode: (text) => (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= MAX_ENTRIES ? Number(text) : undefined),
  fallback: 100,
};
const action: Parameter<ReturnType<typeof Type.String>, AuditAction> = {
  schema: Type.String(),
  expected: `one of ${AUDIT_ACTIONS.join(', ')}`,
  decode: (text) => AUDIT_ACTIONS.find((one) => one === text),
};
const since: Parameter<ReturnType<typeof Type.String>, Microseconds> = {
  schema: Type.String(),
  expected: 'a day such as 2026-03-01, or an instant such as 2026-03-01T12:00:00Z',
  decode: (text) => {
    const at = parseDay(text) !== undefined || INSTANT.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(at) ? undefined : at * 1000;
  },
};
const parameters = { limit, action, since };

/** `GET /app/api/audit`: owners and admins read who did what in their workspace, the newest first. */
export function addAuditActions(add: AddAction, { catalog }: Context, usage: Usage): void {
  add({
    method: 'GET',
    url: '/audit',
    roles: MANAGERS,
    run: async ({ workspace, query }) => {
      const unknown = Object.keys(query as object).find((name) => !Object.hasOwn(parameters, name));
      if (unknown !== undefined) {
        throw invalidRequest(`'${unknown.slice(0, 40)}' is no parameter; they are limit, action and since.`);
      }
      const { limit: most, action: only = null, since: from = 0 } = readParameters(parameters, query);
      const entries = await listAudit(catalog, usage, { workspace, action: only, since: from, limit: most });
      return {
        entries: entries.map(({ at, actor, action: done, subject, details }) => ({
          ...{ at: isoInstant(at), actor, action: done, subject, details },
        })),
      };
    },
  });
}
