import { type Static, Type } from 'typebox';
import { breakdownRows } from '../../formats/breakdown-rows.ts';
import { documentJson } from '../../formats/json.ts';
import { breakdownsReport } from '../../reports/breakdowns.ts';
import { answerCached } from '../answer.ts';
import {
  comparedCounts,
  comparedDays,
  comparedMetrics,
  day,
  nullable,
  object,
  project,
  provisionalAfter,
  responses,
} from '../schemas.ts';
import type { Route } from './route.ts';

const answer = object({
  project,
  range: object({
    from: day,
    to: day,
    availableFrom: nullable(day, 'First day with any breakdown; null before the first collection.'),
    availableThrough: nullable(day, 'Last day with any breakdown; null before the first collection.'),
    provisionalAfter,
    countryMonthlyThrough: nullable(
      day,
      'Up to this day country data is monthly (top 20 and other); a part of a month gets an even share of it.',
    ),
    comparison: Type.Optional(comparedDays),
  }),
  countries: Type.Array(object({ country: Type.String(), ...comparedMetrics }), { description: 'Most clicks first.' }),
  devices: Type.Array(
    object({ device: Type.String({ description: 'desktop, mobile or tablet.' }), ...comparedMetrics }),
    {
      description: 'Most clicks first.',
    },
  ),
  appearances: Type.Array(object({ appearance: Type.String(), ...comparedMetrics }), {
    description: 'Most impressions first. They overlap and do not add up to the site.',
  }),
  brand: object({
    brand: object(comparedMetrics),
    nonBrand: object(comparedMetrics),
    anonymous: object(comparedCounts, { description: 'Site total minus brand and non-brand.' }),
  }),
});

export const breakdowns: Route = {
  path: '/projects/:id/breakdowns',
  report: breakdownsReport,
  tag: 'Site',
  summary: 'Site totals by country, device, appearance and brand',
  description: 'Rows without clicks and impressions are left out.',
  response: responses(answer, 'The breakdowns.', ['invalid_request', 'not_found'], { hasEtag: true }),
  handle: answerCached(breakdownsReport, {
    json: (result) => documentJson<Static<typeof answer>>(result.answer),
    rows: breakdownRows,
  }),
};
