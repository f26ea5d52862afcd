import { Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import { groupExists } from '../catalog/keywords.ts';
import { filesOf, keywordFilesUntil } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { countDays } from '../domain/dates.ts';
import { notFound } from '../domain/errors.ts';
import { withDescendants } from '../domain/groups.ts';
import { INTENTS } from '../domain/intent.ts';
import type { Range } from '../domain/range.ts';
import { SOURCES } from '../domain/rules.ts';
import type { Device } from '../facts/facts.ts';
import { NO_KEYWORD_TOTALS, planKeywordTotals } from '../facts/keyword-plan.ts';
import { keywordDays, keywordPage } from '../facts/keywords.ts';
import { findPathProject, projectReference, readTracked } from '../http/guard.ts';
import * as parameter from '../http/parameters.ts';
import { keywordRange } from '../http/ranges.ts';
import * as schema from '../http/schemas.ts';
import { sendStream } from '../http/send-stream.ts';
import { dailyKeywordsAnswer, keywordsAnswer } from './keywords-answer.ts';
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

const parameters = {
  ...parameter.rangeParameters,
  device: parameter.device,
  daily: parameter.flag('Adds the days of each keyword.'),
  group: parameter.group,
  ...parameter.paging(1000, 5000),
};

export const keywords: Route<typeof answer> = {
  path: '/projects/:id/keywords',
  operation: 'listKeywords',
  tag: 'Keywords',
  summary: 'Tracked keywords with totals over a range',
  description: "By query text. The range is limited to the plan's keyword history.",
  parameters,
  response: schema.responses(answer, 'The keywords.', ['invalid_request', 'not_found']),
  handle: (context) => (request, reply) => {
    const { catalog, known, tracked, facts, kept, longAnswers, now } = context;
    const question = (found: Project, from: Catalog) => {
      // Ids go before parameters: an unknown group is a 404 whatever else is wrong with the request.
      requireGroup(from, found, request.query);
      const asked = parameter.readParameters(parameters, request.query);
      return { asked, range: keywordRange(asked, found, now()) };
    };
    const find = async (signal: AbortSignal) => {
      const read = await readTracked(tracked, request, ({ catalog: from, project: found, tracked: { groups } }) => {
        const { asked, range } = question(found, from);
        const group = groups.find(({ id }) => id === asked.group);
        return {
          asked,
          range,
          groups: group && withDescendants(group, groups),
          ...(found.syncedThrough === null ? NO_FILES : filesOfKeywords(from, found.id, range, asked)),
        };
      });
      const { asked, range } = read;
      const matches = read.groups && (await tracked.matches(read.tracked, read.groups));
      const wanted = { ...read, ...asked, matches, signal };
      const page = await keywordPage(facts, wanted);
      const head = {
        project: projectReference(read.project),
        range: {
          from: range.from,
          to: range.to,
          device: asked.device,
          clamped: range.clamped,
          provisionalAfter: read.project.provisionalAfter,
        },
        paging: { total: page.total, limit: asked.limit, offset: asked.offset },
      };
      return { head, wanted, page: page.keywords, about: { tracked: read.tracked, totals: page.totals } };
    };
    if (isDaily(request.query)) {
      // Refused at once, and not when it is its turn.
      const { asked, range } = question(findPathProject(known, request), catalog);
      const isLong = asked.limit * countDays(range.from, range.to) > MAX_DAYS_OF_SHORT_ANSWER;
      return sendStream(request, reply, isLong ? longAnswers : undefined, async (signal) => {
        const { head, wanted, page, about } = await find(signal);
        return dailyKeywordsAnswer(head, keywordDays(facts, wanted, page), about);
      });
    }
    const make = async (signal: AbortSignal): Promise<Buffer> => {
      const { head, page, about } = await find(signal);
      return keywordsAnswer(head, page, about);
    };
    return kept.send(request, reply, {
      operation: 'listKeywords',
      question: (found) => question(found, catalog),
      make,
    });
  },
};

/** An answer of at most so many days takes some 3 MB: it needs no place among the long ones. */
const MAX_DAYS_OF_SHORT_ANSWER = 30_000;

/** Days are too long to be kept. A malformed value is found out about while the body is made. */
function isDaily(query: unknown): boolean {
  const { daily } = query as { daily?: unknown };
  return daily === '1' || daily === 'true';
}

/** Throws `not_found` where the request names a group that the project does not have. */
function requireGroup(catalog: Catalog, project: Project, query: unknown): void {
  const { group: sent } = query as { group?: unknown };
  if (typeof sent === 'string' && sent !== '' && !groupExists(catalog, project.id, sent)) {
    throw notFound('group: the project has no such group or folder.');
  }
}

const NO_FILES = { totals: NO_KEYWORD_TOTALS, dayFiles: [] };

function filesOfKeywords(catalog: Catalog, project: string, range: Range, asked: { device: Device; daily: boolean }) {
  const allDevices = asked.device === 'all';
  return {
    totals: planKeywordTotals(keywordFilesUntil(catalog, project, range.to, allDevices), range),
    dayFiles: asked.daily ? filesOf(catalog, project, allDevices ? 'keyword_all' : 'keyword_daily', range) : [],
  };
}
