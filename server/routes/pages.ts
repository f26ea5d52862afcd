import { Type } from 'typebox';
import { toMetrics } from '../domain/metrics.ts';
import { metrics, object, paging, project, responses } from '../http/schemas.ts';
import { answerListPage, listParameters, listRangeSchema, listSource } from './lists.ts';
import type { Route } from './route.ts';

const answer = object({
  project,
  range: listRangeSchema,
  source: listSource,
  paging,
  pages: Type.Array(object({ url: Type.String(), ...metrics })),
});

export const pages: Route<typeof answer> = {
  path: '/projects/:id/pages',
  operation: 'listPages',
  tag: 'Pages and queries',
  summary: 'The pages of the property with totals over a range',
  description: 'Most clicks first. `to` must be before today (UTC). All pages of one sequence come from the same list.',
  parameters: listParameters,
  response: responses(answer, 'A page of the list.', ['invalid_request', 'not_found', 'google_access_lost']),
  handle: (context) => (request, reply) =>
    answerListPage(context, request, reply, {
      kind: 'pages',
      dependent: false,
      renderer: () => (row) => ({ url: row.text, ...toMetrics(row) }),
    }),
};
