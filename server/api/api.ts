import type { FastifyInstance } from 'fastify';
import { notFound } from '../domain/errors.ts';
import { PRESETS } from '../presets/presets.ts';
import type { Context } from './context.ts';
import { addCors } from './plugins/cors.ts';
import type { Guard } from './plugins/guard.ts';
import { addTiming } from './plugins/timing.ts';
import { addRoute, type Route, routeOf } from './route.ts';
import { snapshotFileRoute } from './snapshot-file.ts';
import { sql } from './sql.ts';

const API_ROOT = '/api/v1';

/** All endpoints but SQL, which is for keys only. */
export const ROUTES: readonly Route[] = [...PRESETS.map(routeOf), snapshotFileRoute];

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
