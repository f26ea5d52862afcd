import { Type } from 'typebox';
import type { Rendering } from '../lists/blocks.ts';
import { listFormats, listParameters, listSource, parseList, planList, runList, wasListLost } from './lists.ts';
import { projectReport } from './report.ts';
import { comparedProperties, metricsProperties, object, paging, project, quality, range } from './schemas.ts';

export const PAGE_RENDERING: Rendering = {
  variant: '',
  name: 'url',
  known: 'all',
  fields: [],
  textsOf: ({ text }) => ({ url: text }),
};

const answer = object('PagesAnswer', {
  project,
  range,
  source: listSource,
  quality,
  paging,
  pages: Type.Array(object('PageMetrics', { url: Type.String(), ...metricsProperties, ...comparedProperties })),
});

/** The pages of the property with totals over a range. */
export const pagesReport = projectReport({
  path: '/projects/:id/pages',
  operation: 'listPages',
  tag: 'Pages and queries',
  summary: 'The pages of the property with totals over a range',
  description: 'Most clicks first. `to` must be before today (UTC). All pages of one sequence come from the same list.',
  answer,
  content: 'A page of the list.',
  errors: ['google_access_lost'],
  examples: {
    200: '/projects/Proj1/pages?period=28d&limit=2',
    400: '/projects/Proj1/pages?to=2026-03-15',
    503: '/projects/Proj2/pages',
  },
  parameters: listParameters.pages,
  parse: (sent, project, now) => parseList('pages', sent, project, now),
  plan: (query, snapshot, sources) => planList(query, snapshot, sources, PAGE_RENDERING),
  run: runList,
  mayReplan: wasListLost,
  ...listFormats,
});
