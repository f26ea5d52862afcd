import { type Static, Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { ENGINES, OTHER_ENGINES, SEARCH_TYPES, STALE_AFTER_DAYS, SURFACES } from '../../model/surfaces.ts';
import { surfacesTable } from '../../presets/property-tables.ts';
import { surfacesReport } from '../../presets/surfaces.ts';
import { answerWith } from '../answer.ts';
import { responses } from '../responses.ts';
import {
  aiProperties,
  comparedProperties,
  day,
  integer,
  metricsProperties,
  nullable,
  object,
  openWords,
  project,
  range,
} from '../schemas.ts';
import type { Route } from './route.ts';

const surface = object('Surface', {
  engine: openWords(ENGINES, 'The search engine.'),
  type: openWords([...SEARCH_TYPES, 'ai'], 'The search type; `ai` for an imported report about AI answers.'),
  grain: openWords(['day'], 'The shortest time that is stored.'),
  firstDay: Type.String({ format: 'date', description: 'The first stored day.' }),
  lastDay: Type.String({ format: 'date', description: 'The last stored day.' }),
  provisionalAfter: nullable(day, 'The last final day; null if the engine does not say.'),
  stale: Type.Boolean({
    description: `Its newest day is more than ${STALE_AFTER_DAYS} days old; false for \`ai\`, which is imported.`,
  }),
  ...metricsProperties,
  clicks: nullable(integer({ minimum: 0 }), 'Null for `ai`, like impressions, ctr and position.'),
  impressions: nullable(integer({ minimum: 0 })),
  ...comparedProperties,
  aiImpressions: Type.Optional(aiProperties.aiImpressions),
  citations: Type.Optional(aiProperties.citations),
});

const answer = object('SurfacesAnswer', {
  project,
  range,
  totals: object('SurfaceTotals', { clicks: integer({ minimum: 0 }) }),
  surfaces: Type.Array(surface),
});

export const surfaces: Route = {
  path: '/projects/:id/surfaces',
  report: surfacesReport,
  tag: 'Site',
  summary: 'The whole property by search type and engine',
  description: `One row for each search type with stored days, one for ${OTHER_ENGINES.map((engine) => SURFACES[engine].label).join(' and ')}, and one for each imported report about AI answers, which has measures of its own. Only clicks have a total: impressions and positions of search types are different things. Answers of AI are counted in web. Types without positions have null.`,
  response: responses(answer, 'The surfaces.', ['invalid_request', 'not_found'], { hasEtag: true }),
  examples: {
    200: '/projects/Proj1/surfaces?period=28d&compare=previous',
    400: '/projects/Proj1/surfaces?period=17m',
  },
  handle: answerWith(surfacesReport, {
    json: (result) => documentJson<Static<typeof answer>>(result.answer),
    rows: surfacesTable,
  }),
};
