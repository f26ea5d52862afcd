import { Type } from 'typebox';
import { queriesReport } from '../../presets/queries.ts';
import { answerWith } from '../answer.ts';
import { responses } from '../responses.ts';
import {
  comparedProperties,
  metricsProperties,
  nullable,
  object,
  paging,
  project,
  quality,
  range,
  shortId,
} from '../schemas.ts';
import { listFormats, listSource } from './lists.ts';
import type { Route } from './route.ts';

const answer = object('QueriesAnswer', {
  project,
  range,
  source: listSource,
  quality,
  paging,
  queries: Type.Array(
    object('QueryMetrics', {
      query: Type.String(),
      ...metricsProperties,
      ...comparedProperties,
      branded: Type.Boolean({ description: "The query contains one of the project's brand terms." }),
      trackedKeywordId: nullable(shortId, 'Id of the keyword that tracks the query.'),
    }),
  ),
});

export const queries: Route = {
  path: '/projects/:id/queries',
  report: queriesReport,
  tag: 'Pages and queries',
  summary: 'Every query of the property, tracked or not, with totals over a range',
  description: 'Most clicks first. `to` must be before today (UTC). All pages of one sequence come from the same list.',
  response: responses(answer, 'A page of the list.', ['invalid_request', 'not_found', 'google_access_lost'], {
    hasEtag: true,
  }),
  examples: {
    200: '/projects/Proj1/queries?period=28d&limit=2',
    400: '/projects/Proj1/queries?offset=-1',
    503: '/projects/Proj2/queries',
  },
  handle: answerWith(queriesReport, listFormats),
};
