import type { FastifyInstance } from 'fastify';
import { notFound } from '../domain/errors.ts';
import { addCors } from './plugins/cors.ts';
import type { Guard } from './plugins/guard.ts';
import { addTiming } from './plugins/timing.ts';
import { ai } from './routes/ai.ts';
import { alerts } from './routes/alerts.ts';
import { breakdowns } from './routes/breakdowns.ts';
import type { Context } from './routes/context.ts';
import { crawl } from './routes/crawl.ts';
import { effects } from './routes/effects.ts';
import { explain } from './routes/explain.ts';
import { findings } from './routes/findings.ts';
import { groups } from './routes/groups.ts';
import { hours } from './routes/hours.ts';
import { index, indexHistory } from './routes/index-state.ts';
import { keywords } from './routes/keywords.ts';
import { notes } from './routes/notes.ts';
import { pageGroups } from './routes/page-groups.ts';
import { pages } from './routes/pages.ts';
import { portfolio } from './routes/portfolio.ts';
import { oneProject, projects } from './routes/projects.ts';
import { queries } from './routes/queries.ts';
import { query } from './routes/query.ts';
import { addRoute, type Route } from './routes/route.ts';
import { site } from './routes/site.ts';
import { sitemaps } from './routes/sitemaps.ts';
import { snapshot, snapshotFileRoute } from './routes/snapshot.ts';
import { sql } from './routes/sql.ts';
import { surfaces } from './routes/surfaces.ts';

const API_ROOT = '/api/v1';

export const ROUTES: readonly Route[] = [
  projects,
  oneProject,
  portfolio,
  keywords,
  groups,
  pageGroups,
  site,
  surfaces,
  ai,
  hours,
  sitemaps,
  index,
  indexHistory,
  crawl,
  breakdowns,
  explain,
  pages,
  queries,
  findings,
  query,
  alerts,
  notes,
  effects,
  snapshot,
  snapshotFileRoute,
];

/** Whether a URL is below the API's root. */
export function isApiAddress(url: string): boolean {
  return /^\/api\/v1([/?]|$)/.test(url);
}

interface EndpointOptions {
  readonly guard: Guard;
  readonly context: Context;
}

/**
 * Adds the API below its root. Its hooks do not apply to the documentation.
 * @param corsOrigins origins whose pages may read responses; `*` means any
 */
export async function addApi(
  app: FastifyInstance,
  { corsOrigins, ...options }: EndpointOptions & { readonly corsOrigins: readonly string[] },
): Promise<void> {
  await app.register(
    async (api) => {
      // Before the guard: a preflight has no key.
      if (corsOrigins.length > 0) await addCors(api, corsOrigins);
      addEndpoints(api, options);
      api.setNotFoundHandler(() => {
        throw notFound('The API has nothing at this address; it answers GET on the paths that /docs lists.');
      });
    },
    { prefix: API_ROOT },
  );
}

/**
 * Adds all endpoints of the API with their hooks to a plugin context.
 * @param hide leaves them out of the documentation
 */
export function addEndpoints(
  api: FastifyInstance,
  { guard, context, hide = false }: EndpointOptions & { readonly hide?: boolean },
): void {
  api.addHook('onRequest', (_request, reply, done) => {
    reply.cacheControl('no-store');
    done();
  });
  api.addHook('onRequest', guard);
  addTiming(api);
  // A statement needs a key; sessions, feeds and shared links have none.
  for (const route of hide ? ROUTES : [...ROUTES, sql]) addRoute(api, route, context, { hide });
}
