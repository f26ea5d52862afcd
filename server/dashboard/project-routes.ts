import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendCsv } from '../api/answer.ts';
import type { Context } from '../api/context.ts';
import { addRoute, routeOf } from '../api/route.ts';
import { countAlerts, listAlertRules } from '../catalog/alerts.ts';
import { readCrawlDays } from '../catalog/inspections.ts';
import { listArchivedKeywords } from '../catalog/keywords.ts';
import { listSavedViews, type Project } from '../catalog/projects.ts';
import { type Day, earlier } from '../domain/dates.ts';
import { isoInstant } from '../domain/instants.ts';
import { versionOf } from '../domain/versions.ts';
import { editedOfKeyword } from '../operations/keywords.ts';
import { shownRule } from '../operations/rules.ts';
import { shownView } from '../operations/views.ts';
import { JOINT_LISTS } from '../presets/pages-and-queries.ts';
import { findReadableProject, type PresetRequest } from '../presets/preset.ts';
import { listedProject } from '../presets/projects.ts';
import { isManager } from './actions.ts';
import { readAlertChart } from './alert-chart.ts';
import { readArchivedDays } from './archived-days.ts';
import { readDataState } from './data-state.ts';
import { readKeyword } from './keyword.ts';
import { readLineDays } from './line-days.ts';
import { readMoverRows, readMovers } from './movers.ts';
import { readTracker } from './tracker.ts';

/** Archived keywords in one answer. */
const MAX_ARCHIVED = 1000;

/** What screens show of a project and the public API does not have. */
export function addProjectRoutes(api: FastifyInstance, context: Context): void {
  for (const list of JOINT_LISTS) addRoute(api, routeOf(list), context, { hide: true });
  const projectOf = async ({ principal, params }: FastifyRequest): Promise<Project> =>
    findReadableProject(context, { workspace: principal!.workspace, id: idOf(params, 'id') });

  /** Whether Bing tells of its crawler, or did. */
  const hasCrawler = async ({ id, property }: Project): Promise<boolean> =>
    (await context.lists.crawls.connectionOf(context.catalog, id)) !== undefined ||
    (await readCrawlDays(context.catalog, { project: id, property })).length > 0;

  api.get('/projects/:id/summary', { schema: { hide: true } }, async (request) => {
    const project = await projectOf(request);
    const [alerts, isCrawled] = await Promise.all([countAlerts(context.catalog, project.id), hasCrawler(project)]);
    return {
      project: listedProject(project, context.now()),
      finalThrough: finalThroughOf(project),
      alerts,
      hasCrawler: isCrawled,
    };
  });
  api.get('/projects/:id/movers', { schema: { hide: true } }, async (request, reply) => {
    const { id } = await projectOf(request);
    reply.type('application/json; charset=utf-8');
    return readMovers(context, { sent: sentOf(request), request: presetRequestOf(request, id) });
  });
  api.get('/projects/:id/movers.csv', { schema: { hide: true } }, async (request, reply) => {
    const { id } = await projectOf(request);
    const { bom, ...sent } = sentOf(request);
    const rows = await readMoverRows(context, { sent, request: presetRequestOf(request, id) });
    return sendCsv(reply, context, { rows, bom: bom === '1' });
  });
  api.get('/projects/:id/tracker', { schema: { hide: true } }, async (request) => {
    const project = await projectOf(request);
    return readTracker(context, project, sentOf(request), presetRequestOf(request, project.id));
  });
  api.get('/projects/:id/line', { schema: { hide: true } }, async (request) => {
    const project = await projectOf(request);
    return readLineDays(context, {
      project,
      parameters: request.query,
      request: presetRequestOf(request, project.id),
    });
  });
  api.get('/projects/:id/views', { schema: { hide: true } }, async (request) => ({
    views: (await listSavedViews(context.catalog, (await projectOf(request)).id)).map(shownView),
  }));
  api.get('/projects/:id/archived-keywords', { schema: { hide: true } }, async (request) => {
    const found = await listArchivedKeywords(context.catalog, (await projectOf(request)).id, MAX_ARCHIVED + 1);
    return {
      keywords: found.slice(0, MAX_ARCHIVED).map(({ id, query, trackedSince, ...settings }) => ({
        ...{ id, query, trackedSince: isoInstant(trackedSince) },
        version: versionOf(editedOfKeyword(settings)),
      })),
      hasMore: found.length > MAX_ARCHIVED,
    };
  });
  api.get('/projects/:id/brand-terms', { schema: { hide: true } }, async (request) => {
    const { brandTerms: terms } = await projectOf(request);
    return { terms, version: versionOf(terms) };
  });
  api.get('/projects/:id/rules', { schema: { hide: true } }, async (request) => ({
    rules: (await listAlertRules(context.catalog, (await projectOf(request)).id)).map(shownRule),
  }));
  api.get('/projects/:id/keywords/:keyword', { schema: { hide: true } }, async (request) => {
    const project = await projectOf(request);
    const { params, query, signal } = request;
    return readKeyword(context, { project, keyword: idOf(params, 'keyword'), parameters: query, signal });
  });
  const archivedDays = (of: 'page' | 'query') => async (request: FastifyRequest) => {
    const project = await projectOf(request);
    return readArchivedDays(context, { project, of, parameters: request.query, signal: request.signal });
  };
  api.get('/projects/:id/days-of-page', { schema: { hide: true } }, archivedDays('page'));
  api.get('/projects/:id/days-of-query', { schema: { hide: true } }, archivedDays('query'));
  api.get('/projects/:id/alerts/:alert/chart', { schema: { hide: true } }, async (request) => {
    const project = await projectOf(request);
    return readAlertChart(context, { project, alert: idOf(request.params, 'alert'), signal: request.signal });
  });
  api.get('/projects/:id/data', { schema: { hide: true } }, async (request) => {
    const project = await projectOf(request);
    return readDataState(context, { project, isOwner: isManager(request.principal!.member), signal: request.signal });
  });
}

function sentOf({ query }: FastifyRequest): Record<string, string> {
  return query as Record<string, string>;
}

function presetRequestOf({ principal, signal }: FastifyRequest, id: string): PresetRequest {
  const { workspace, projects, id: reader } = principal!;
  return { workspace, projects, id, reader, signal };
}

function idOf(params: unknown, name: string): string {
  return (params as Readonly<Record<string, string>>)[name] ?? '';
}

/** The last final day of a project, as `to=final` ends ranges; null before the first sync. */
export function finalThroughOf({ syncedThrough, provisionalAfter }: Project): Day | null {
  return syncedThrough && earlier(syncedThrough, provisionalAfter ?? syncedThrough);
}
