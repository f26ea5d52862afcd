import { Type } from 'typebox';
import { testRuleOfProject } from '../alerts/rules.ts';
import type { Context } from '../api/context.ts';
import { BRAND_TERM_FIELDS } from '../operations/brand-terms.ts';
import { pinnedUrls, requireGroupRule } from '../operations/groups.ts';
import { MANAGERS } from '../operations/rights.ts';
import { alertRule, checkRule } from '../operations/rules.ts';
import { type PreviewRequest, previewBrandTerms, previewGroup, previewPageGroup } from '../presets/previews.ts';
import { rule } from '../presets/schemas.ts';
import { checkBrandTerms } from '../projects/brand-terms.ts';
import type { AddAction, Call } from './actions.ts';

const strict = { additionalProperties: false };

/** What owners and admins look at before they add or change something: they read facts, and change nothing. */
export function addPreviewActions(add: AddAction, context: Context): void {
  add({
    method: 'POST',
    url: '/projects/:id/groups/preview',
    creates: false,
    roles: MANAGERS,
    body: Type.Object({ rule }, strict),
    run: async (call) => {
      requireGroupRule(call.body.rule, 'keywords');
      return previewGroup(context, previewOf(call), call.body.rule);
    },
  });
  add({
    method: 'POST',
    url: '/projects/:id/page-groups/preview',
    creates: false,
    roles: MANAGERS,
    body: Type.Object({ rule, pinnedUrls: Type.Optional(pinnedUrls) }, strict),
    run: async (call) => {
      const group = { pinnedUrls: [], ...call.body };
      requireGroupRule(group.rule, 'pages');
      return previewPageGroup(context, previewOf(call), group);
    },
  });
  add({
    method: 'POST',
    creates: false,
    url: '/projects/:id/brand-terms/preview',
    roles: MANAGERS,
    body: Type.Object(BRAND_TERM_FIELDS, strict),
    run: async (call) => previewBrandTerms(context, previewOf(call), checkBrandTerms(call.body.terms, 'terms')),
  });
  /** The days of the last year on which a rule would have opened an alert. */
  add({
    method: 'POST',
    creates: false,
    url: '/projects/:id/rules/test',
    roles: MANAGERS,
    body: Type.Object({ rule: alertRule }, strict),
    run: async ({ project, body, signal }) => {
      const { catalog, facts, now } = context;
      const tested = {
        id: '',
        projectId: project!.id,
        name: 'test',
        severity: 'info',
        enabled: true,
        ...body,
      } as const;
      await checkRule(catalog, tested);
      const { range, days } = await testRuleOfProject({ catalog, facts }, tested, { now: now(), signal });
      return { from: range.from, to: range.to, days };
    },
  });
}

/** The question of a preview. */
function previewOf({ project, by, signal }: Call<unknown, unknown>): PreviewRequest {
  return { project: project!, reader: by, signal };
}
