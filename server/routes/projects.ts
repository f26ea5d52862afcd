import { type Static, Type } from 'typebox';
import { keywordHistoryFrom, listProjects, type Project } from '../catalog/projects.ts';
import { isoInstantOrNull } from '../domain/instants.ts';
import { day, instant, nullable, object, oneOf, responses, shortId } from '../http/schemas.ts';
import type { Route } from './route.ts';

const project = object({
  id: shortId,
  domain: Type.String(),
  property: Type.String({ description: 'Identifier of the search-performance property.' }),
  country: nullable(Type.String({ pattern: '^[a-z]{3}$' }), 'Country filter of the project; null means all countries.'),
  language: nullable(Type.String({ pattern: '^[a-z]{2}$' })),
  syncStatus: oneOf(['pending', 'ok', 'warning', 'failed']),
  lastSyncedAt: nullable(instant),
  syncedThrough: nullable(day, 'Last synced day; null before the first sync.'),
  keywordHistoryFrom: Type.String({ format: 'date', description: 'First day of keyword data the plan can read.' }),
  historyBackfilling: Type.Boolean({ description: 'Older days inside the plan window are still loading.' }),
  trackedKeywords: Type.Integer({ minimum: 0, description: 'Keywords that are not archived.' }),
});

const answer = object({ projects: Type.Array(project) });

export const projects: Route<typeof answer> = {
  path: '/projects',
  operation: 'listProjects',
  tag: 'Projects',
  summary: 'The projects of the workspace',
  description: 'Oldest first. Projects that have not finished setup are left out.',
  parameters: {},
  response: responses(answer, 'The projects.'),
  handle:
    ({ catalog, now }) =>
    (request) => ({
      projects: listProjects(catalog, request.access!.workspaceId).map((found) => toAnswer(found, now())),
    }),
};

function toAnswer(found: Project, now: number): Static<typeof project> {
  const { id, domain, property, country, language, syncStatus, syncedThrough, historyBackfilling } = found;
  return {
    id,
    domain,
    property,
    country,
    language,
    syncStatus,
    lastSyncedAt: isoInstantOrNull(found.lastSyncedAt),
    syncedThrough,
    keywordHistoryFrom: keywordHistoryFrom(found, now),
    historyBackfilling,
    trackedKeywords: found.trackedKeywords,
  };
}
