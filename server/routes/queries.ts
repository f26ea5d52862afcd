import { Type } from 'typebox';
import { toMetrics } from '../domain/metrics.ts';
import { metrics, nullable, object, paging, project, responses, shortId } from '../http/schemas.ts';
import { answerListPage, listParameters, listRangeSchema, listSource } from './lists.ts';
import type { Route } from './route.ts';

const answer = object({
  project,
  range: listRangeSchema,
  source: listSource,
  paging,
  queries: Type.Array(
    object({
      query: Type.String(),
      ...metrics,
      branded: Type.Boolean({ description: "The query contains one of the project's brand terms." }),
      trackedKeywordId: nullable(shortId, 'Id of the keyword that tracks the query.'),
    }),
  ),
});

export const queries: Route<typeof answer> = {
  path: '/projects/:id/queries',
  operation: 'listQueries',
  tag: 'Pages and queries',
  summary: 'Every query of the property, tracked or not, with totals over a range',
  description: 'Most clicks first. `to` must be before today (UTC). All pages of one sequence come from the same list.',
  parameters: listParameters,
  response: responses(answer, 'A page of the list.', ['invalid_request', 'not_found', 'google_access_lost']),
  handle: (context) => (request, reply) =>
    answerListPage(context, request, reply, {
      kind: 'queries',
      dependent: true,
      renderer: ({ brandTerms, idByQuery }) => {
        const terms = brandTerms.map((term) => term.toLowerCase());
        return (row) => {
          const text = row.text.toLowerCase();
          return {
            query: row.text,
            ...toMetrics(row),
            branded: terms.some((term) => text.includes(term)),
            trackedKeywordId: idByQuery.get(text) ?? null,
          };
        };
      },
    }),
};
