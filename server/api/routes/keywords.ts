import { Type } from 'typebox';
import type { Project } from '../../catalog/projects.ts';
import { INTENTS } from '../../domain/intent.ts';
import { SOURCES } from '../../domain/rules.ts';
import {
  dailyKeywordsJson,
  isLongResult,
  keywordsJson,
  keywordsReport,
  keywordsTable,
} from '../../presets/keywords.ts';
import type { ReportQuery } from '../../presets/report.ts';
import * as schema from '../../presets/schemas.ts';
import { instant, object, openWords, shortId } from '../../presets/schemas.ts';
import { type Route, routeOf } from '../route.ts';

const keyword = Type.Object(
  {
    id: shortId,
    query: Type.String(),
    source: openWords(SOURCES),
    trackedSince: instant,
    intent: openWords(INTENTS, 'Estimated from the query text.'),
    groupIds: Type.Array(shortId, { description: 'Manual groups only.' }),
    metrics: schema.metrics,
    ...schema.comparedOrNull('Null if a day of either range is unknown.'),
    daily: Type.Optional(
      Type.Array(schema.dayMetrics, {
        description:
          'Only when daily is requested: the days for which the keyword has stored data, in order; with interval, weeks or months.',
      }),
    ),
  },
  { title: 'Keyword', additionalProperties: false },
);

const answer = object('KeywordsAnswer', {
  project: schema.project,
  range: schema.range,
  quality: schema.quality,
  paging: schema.paging,
  keywords: Type.Array(keyword),
});

export const keywords: Route = routeOf({
  ...keywordsReport,
  path: '/projects/:id/keywords',
  tag: 'Keywords',
  summary: 'Tracked keywords with totals over a range',
  description: "By query text. The range is limited to the plan's keyword history.",
  answer,
  content: 'The keywords.',
  examples: {
    200: '/projects/Proj1/keywords?period=7d&group=Fold1&daily=1',
    400: '/projects/Proj1/keywords?limit=5001',
    404: '/projects/Proj1/keywords?group=Nope1',
  },
  followed: (project: Project) => project,
  json: keywordsJson,
  // Responses with days are too long to cache.
  isStreamed: ({ interval }: ReportQuery & { readonly interval: string | null }) => interval !== null,
  jsonChunks: dailyKeywordsJson,
  rows: keywordsTable,
  isLong: (query: ReportQuery & Parameters<typeof isLongResult>[0]) => isLongResult(query),
});
