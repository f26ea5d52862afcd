import { type Static, Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { breakdownsReport } from '../../presets/breakdowns.ts';
import { breakdownsTable } from '../../presets/property-tables.ts';
import { answerWith } from '../answer.ts';
import { responses } from '../responses.ts';
import {
  comparedProperties,
  metricsProperties,
  nullable,
  object,
  project,
  quality,
  range,
  totalCounts,
  totalMetrics,
} from '../schemas.ts';
import type { Route } from './route.ts';

const country = object('CountryMetrics', { country: Type.String(), ...metricsProperties, ...comparedProperties });
const device = object('DeviceMetrics', {
  device: Type.String({ description: 'desktop, mobile or tablet.' }),
  ...metricsProperties,
  ...comparedProperties,
});
const appearance = object('AppearanceMetrics', {
  appearance: Type.String(),
  ...metricsProperties,
  ...comparedProperties,
});

const answer = object('BreakdownsAnswer', {
  project,
  range,
  quality,
  countries: Type.Array(country, { description: 'Most clicks first.' }),
  devices: Type.Array(device, { description: 'Most clicks first.' }),
  appearances: Type.Array(appearance, {
    description: 'Most impressions first. They overlap and do not add up to the site.',
  }),
  brand: nullable(
    object('BrandSplit', {
      brand: totalMetrics,
      nonBrand: totalMetrics,
      anonymous: totalCounts,
    }),
    'Null if it is unknown: an import has days of the range without their queries, or without brand terms.',
  ),
});

export const breakdowns: Route = {
  path: '/projects/:id/breakdowns',
  report: breakdownsReport,
  tag: 'Site',
  summary: 'Site totals by country, device, appearance and brand',
  description: 'Rows without clicks and impressions are left out.',
  response: responses(answer, 'The breakdowns.', ['invalid_request', 'not_found'], { hasEtag: true }),
  examples: { 200: '/projects/Proj1/breakdowns?period=2m', 400: '/projects/Proj1/breakdowns?period=17m' },
  handle: answerWith(breakdownsReport, {
    json: (result) => documentJson<Static<typeof answer>>(result.answer),
    rows: breakdownsTable,
  }),
};
