import { type Static, Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { siteTable } from '../../presets/property-tables.ts';
import { siteReport } from '../../presets/site.ts';
import { answerWith } from '../answer.ts';
import { responses } from '../responses.ts';
import { dayMetrics, object, project, quality, range, totalMetrics } from '../schemas.ts';
import type { Route } from './route.ts';

const answer = object('SiteAnswer', {
  project,
  range,
  quality,
  totals: totalMetrics,
  daily: Type.Array(dayMetrics),
});

export const site: Route = {
  path: '/projects/:id/site',
  report: siteReport,
  tag: 'Site',
  summary: 'Totals and days of the whole property',
  description:
    'Includes queries that the search engine anonymises. Days end with the last synced day; a stored day without data is zeros. country cannot be combined with a device.',
  response: responses(answer, 'Totals and days.', ['invalid_request', 'not_found'], { hasEtag: true }),
  examples: {
    200: '/projects/Proj1/site?from=2026-03-09&country=GBR',
    400: '/projects/Proj1/site?country=gbr&device=mobile',
  },
  handle: answerWith(siteReport, {
    followed: (project) => project,
    json: (result) => documentJson<Static<typeof answer>>(result.answer),
    rows: siteTable,
  }),
};
