import { type Static, Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { siteRows } from '../../formats/site-rows.ts';
import { siteReport } from '../../reports/site.ts';
import { answerCached } from '../answer.ts';
import {
  comparedDays,
  comparedMetrics,
  day,
  nullable,
  object,
  oneOf,
  project,
  provisionalAfter,
  responses,
} from '../schemas.ts';
import type { Route } from './route.ts';

const answer = object({
  project,
  range: Type.Object(
    {
      from: day,
      to: day,
      device: oneOf(['all', 'desktop', 'mobile', 'tablet']),
      country: nullable(Type.String()),
      provisionalAfter,
      countryMonthlyThrough: Type.Optional(
        nullable(
          day,
          'Only with country: last day stored as monthly totals. Days up to it carry an even share of their month.',
        ),
      ),
      comparison: Type.Optional(comparedDays),
    },
    { additionalProperties: false },
  ),
  totals: object(comparedMetrics),
  daily: Type.Array(object({ date: day, ...comparedMetrics }), {
    description: 'Days, or weeks or months with interval, each by its first day in the range.',
  }),
});

export const site: Route = {
  path: '/projects/:id/site',
  report: siteReport,
  tag: 'Site',
  summary: 'Totals and days of the whole property',
  description:
    'Includes queries that the search engine anonymises. Days end with the last synced day; a stored day without data is zeros. country cannot be combined with a device.',
  response: responses(answer, 'Totals and days.', ['invalid_request', 'not_found'], { hasEtag: true }),
  handle: answerCached(siteReport, {
    json: (result) => documentJson<Static<typeof answer>>(result.answer),
    rows: siteRows,
  }),
};
