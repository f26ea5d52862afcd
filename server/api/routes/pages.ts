import { Type } from 'typebox';
import { pagesReport } from '../../presets/pages.ts';
import { answerWith } from '../answer.ts';
import { responses } from '../responses.ts';
import { comparedProperties, metricsProperties, object, paging, project, quality, range } from '../schemas.ts';
import { listFormats, listSource } from './lists.ts';
import type { Route } from './route.ts';

const answer = object('PagesAnswer', {
  project,
  range,
  source: listSource,
  quality,
  paging,
  pages: Type.Array(object('PageMetrics', { url: Type.String(), ...metricsProperties, ...comparedProperties })),
});

export const pages: Route = {
  path: '/projects/:id/pages',
  report: pagesReport,
  tag: 'Pages and queries',
  summary: 'The pages of the property with totals over a range',
  description: 'Most clicks first. `to` must be before today (UTC). All pages of one sequence come from the same list.',
  response: responses(answer, 'A page of the list.', ['invalid_request', 'not_found', 'google_access_lost'], {
    hasEtag: true,
  }),
  examples: {
    200: '/projects/Proj1/pages?period=28d&limit=2',
    400: '/projects/Proj1/pages?to=2026-03-15',
    503: '/projects/Proj2/pages',
  },
  handle: answerWith(pagesReport, listFormats),
};
