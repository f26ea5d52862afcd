import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../api/context.ts';
import { routeOf } from '../api/route.ts';
import {
  countNotesSince,
  countWorkspaceAlerts,
  isReadable,
  listFavourites,
  listOpenAlerts,
  listTags,
} from '../catalog/projects.ts';
import { invalidRequest } from '../domain/errors.ts';
import { isoInstant } from '../domain/instants.ts';
import { portfolioJson, portfolioPreset } from '../presets/portfolio.ts';
import { readFavouritesFirst } from './favourites-first.ts';
import { readPortfolioTotals } from './portfolio-totals.ts';

/** Alerts in the answer. */
const MAX_ALERTS = 20;

/** What the list of projects shows besides their numbers, and the numbers of some or all projects together. */
export function addHomeRoutes(api: FastifyInstance, context: Context): void {
  const { catalog } = context;
  const handle = routeOf(portfolioPreset).handle(context);

  api.get('/home', { schema: { hide: true } }, async (request) => {
    const { workspace, member, projects } = request.principal!;
    const since = sinceOf(request, context.now());
    const isMine = ({ project }: { project: string }): boolean => isReadable(projects, project);
    const [alerts, counts, tags, favourites, notes] = await Promise.all([
      // Keys may read some projects only.
      listOpenAlerts(catalog, workspace, projects === null ? MAX_ALERTS : Number.MAX_SAFE_INTEGER),
      countWorkspaceAlerts(catalog, workspace, since),
      listTags(catalog, workspace),
      member === null ? [] : listFavourites(catalog, workspace, member.email),
      countNotesSince(catalog, workspace, since),
    ]);
    const shown = alerts.filter(isMine).slice(0, MAX_ALERTS);
    return {
      alerts: shown.map(({ createdAt, resolvedAt: _resolvedAt, ...alert }) => ({
        ...alert,
        createdAt: isoInstant(createdAt),
      })),
      counts: counts.filter(isMine),
      tags: tags.filter(isMine),
      favourites,
      notes,
    };
  });
  /** `/portfolio` of the projects with a tag, or of those that the member has marked. */
  for (const url of ['/portfolio-of', '/portfolio-of.:format(csv)']) {
    api.get(url, { schema: { hide: true } }, async (request, reply) => {
      await narrow(request, context);
      return handle(request, reply);
    });
  }
  /** The same, with those that the member has marked before the others. */
  api.get('/portfolio-by-favourites', { schema: { hide: true } }, async (request, reply) => {
    const { tag } = request.query as { tag?: string };
    if (tag !== undefined) await narrow(request, context);
    const { workspace, member, projects, id: reader } = request.principal!;
    const favourites = member === null ? [] : await listFavourites(catalog, workspace, member.email);
    const asked = { workspace, projects, id: '', reader, signal: request.signal };
    const sent = request.query as Record<string, string>;
    reply.type('application/json; charset=utf-8');
    return portfolioJson(await readFavouritesFirst(context, { sent, request: asked, favourites }));
  });
  api.get('/portfolio-totals', { schema: { hide: true } }, async (request) => {
    await narrow(request, context);
    const { workspace, projects, id: reader } = request.principal!;
    const asked = { workspace, projects, id: '', reader, signal: request.signal };
    return readPortfolioTotals(context, request.query as Record<string, string>, asked);
  });
}

/** Restricts a request to the projects of `tag` or `favourites`, if it has one of them. */
async function narrow(request: FastifyRequest, { catalog }: Context): Promise<void> {
  const principal = request.principal!;
  const { workspace, member, projects } = principal;
  const { tag, favourites } = request.query as { tag?: string; favourites?: string };
  if (tag === undefined && favourites === undefined) return;
  const tagged = tag === undefined ? null : (await listTags(catalog, workspace)).filter((one) => one.tag === tag);
  const marked =
    favourites === undefined || member === null ? null : await listFavourites(catalog, workspace, member.email);
  const ids = tagged?.map(({ project }) => project) ?? marked ?? [];
  const both = tagged !== null && marked !== null ? ids.filter((id) => marked.includes(id)) : ids;
  request.principal = { ...principal, projects: both.filter((id) => isReadable(projects, id)) };
}

/** Microseconds; a day ago by default. */
function sinceOf({ query }: FastifyRequest, now: number): number {
  const { since } = query as { since?: string };
  if (since === undefined) return (now - 86_400_000) * 1000;
  const at = Date.parse(since);
  if (Number.isNaN(at))
    throw invalidRequest(`since must be an instant such as 2026-03-01T12:00:00Z, not '${since.slice(0, 40)}'.`);
  return at * 1000;
}
