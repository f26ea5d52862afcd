import type { FastifyInstance } from 'fastify';
import { notFound } from '../domain/errors.ts';
import type { Guard } from './plugins/guard.ts';
import { addTiming, type OnStages } from './plugins/timing.ts';
import { alerts } from './routes/alerts.ts';
import { breakdowns } from './routes/breakdowns.ts';
import type { Context } from './routes/context.ts';
import { groups } from './routes/groups.ts';
import { keywords } from './routes/keywords.ts';
import { notes } from './routes/notes.ts';
import { pageGroups } from './routes/page-groups.ts';
import { pages } from './routes/pages.ts';
import { oneProject, projects } from './routes/projects.ts';
import { queries } from './routes/queries.ts';
import { addRoute, type Route } from './routes/route.ts';
import { site } from './routes/site.ts';

const API_ROOT = '/api/v1';

const ROUTES: readonly Route[] = [
  projects,
  oneProject,
  keywords,
  groups,
  pageGroups,
  site,
  breakdowns,
  pages,
  queries,
  alerts,
  notes,
];

/** Whether a URL is below the API's root. */
export function isApiAddress(url: string): boolean {
  return /^\/api\/v1([/?]|$)/.test(url);
}

/** Adds the API below its root. Its hooks do not apply to the documentation. */
export async function addApi(
  app: FastifyInstance,
  { guard, context, onStages }: { guard: Guard; context: Context; onStages: OnStages | undefined },
): Promise<void> {
  await app.register(
    async (api) => {
      api.addHook('onRequest', (_request, reply, done) => {
        reply.cacheControl('no-store');
        done();
      });
      api.addHook('onRequest', guard);
      addTiming(api, onStages);
      api.setNotFoundHandler(() => {
        throw notFound('The API has nothing at this address; it answers GET on the paths that /docs lists.');
      });
      for (const route of ROUTES) addRoute(api, route, context);
    },
    { prefix: API_ROOT },
  );
}
