import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { INTENTS } from '../../domain/intent.ts';
import { SOURCES } from '../../domain/rules.ts';
import { keywordRows } from '../../formats/keyword-rows.ts';
import { dailyKeywordsJson, keywordsJson } from '../../formats/keywords-json.ts';
import { isLongResult, type KeywordsQuery, type KeywordsResult, keywordsReport } from '../../reports/keywords.ts';
import { parseRequest, sendCached, sendStreamed, whenParsed } from '../answer.ts';
import type { ParsedQuery } from '../query-cache.ts';
import { JSON_TYPE } from '../response-cache.ts';
import * as schema from '../schemas.ts';
import type { Context } from './context.ts';
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
    daily: Type.Optional(
      Type.Array(object({ date: day, ...metrics }), {
        description: 'Only when daily is requested: the days for which the keyword has stored data, in order.',
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
  response: schema.responses(answer, 'The keywords.', ['invalid_request', 'not_found']),
  handle: (context) => (request, reply) =>
    whenParsed(parseRequest(context, keywordsReport, request), reply, (parsed) =>
      answerKeywords(context, request, reply, parsed),
    ),
};

function answerKeywords(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  parsed: ParsedQuery<KeywordsQuery>,
): Promise<FastifyReply> | undefined {
  const { query } = parsed;
  const question = { ...parsed, report: keywordsReport };
  const rowFormat = context.rowFormat(request);
  if (!query.daily && rowFormat === undefined) {
    return sendCached(context, request, reply, { ...question, format: keywordsJson });
  }
  // Days are too long to be cached.
  const how = { isLong: isLongResult(query), contentType: rowFormat?.contentType ?? JSON_TYPE };
  const format = (result: KeywordsResult) => rowFormat?.write(keywordRows(result)) ?? dailyKeywordsJson(result);
  return sendStreamed(context, request, reply, { ...question, format }, how);
}
