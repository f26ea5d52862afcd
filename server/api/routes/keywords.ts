import { Type } from 'typebox';
import { INTENTS } from '../../domain/intent.ts';
import { SOURCES } from '../../domain/rules.ts';
import { keywordRows } from '../../formats/keyword-rows.ts';
import { dailyKeywordsJson, keywordsJson } from '../../formats/keywords-json.ts';
import { isLongResult, keywordsReport } from '../../reports/keywords.ts';
import { answerCached } from '../answer.ts';
import * as schema from '../schemas.ts';
import type { Route } from './route.ts';

const { day, metrics, object, oneOf, shortId } = schema;

const keyword = Type.Object(
  {
    id: shortId,
    query: Type.String(),
    source: oneOf(SOURCES),
    trackedSince: schema.instant,
    intent: oneOf(INTENTS, 'Estimated from the query text.'),
    groupIds: Type.Array(shortId, { description: 'Manual groups only.' }),
    metrics: object(metrics, { description: 'Totals over the range.' }),
    ...schema.comparedWith,
    daily: Type.Optional(
      Type.Array(object({ date: day, ...schema.comparedMetrics }), {
        description:
          'Only when daily is requested: the days for which the keyword has stored data, in order; with interval weeks or months, each by its first day in the range.',
      }),
    ),
  },
  { additionalProperties: false },
);

const answer = object({
  project: schema.project,
  range: object({
    from: day,
    to: day,
    device: oneOf(['all', 'desktop', 'mobile', 'tablet']),
    clamped: Type.Boolean({ description: 'The range was moved to the first day of keyword data of the plan.' }),
    provisionalAfter: schema.provisionalAfter,
    comparison: Type.Optional(
      object({
        from: day,
        to: day,
        clamped: Type.Boolean({
          description: 'The other range was moved to the first day of keyword data of the plan.',
        }),
      }),
    ),
  }),
  paging: schema.paging,
  keywords: Type.Array(keyword),
});

export const keywords: Route = {
  path: '/projects/:id/keywords',
  report: keywordsReport,
  tag: 'Keywords',
  summary: 'Tracked keywords with totals over a range',
  description: "By query text. The range is limited to the plan's keyword history.",
  response: schema.responses(answer, 'The keywords.', ['invalid_request', 'not_found'], { hasEtag: true }),
  handle: answerCached(keywordsReport, {
    json: keywordsJson,
    // Days are too long to be cached.
    jsonParts: ({ daily }) => (daily ? dailyKeywordsJson : undefined),
    rows: keywordRows,
    isLong: isLongResult,
  }),
};
