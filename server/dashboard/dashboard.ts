import type { FastifyInstance } from 'fastify';
import { addEndpoints } from '../api/api.ts';
import type { Context } from '../api/context.ts';
import { unavailableReason } from '../api/plugins/errors.ts';
import type { Guard } from '../api/plugins/guard.ts';
import type { Usage } from '../catalog/usage.ts';
import { notFound } from '../domain/errors.ts';
import type { Stores } from '../load/stores.ts';
import { OPERATIONS } from '../operations/operations.ts';
import { takeActions } from './actions.ts';
import { addAuditActions } from './audit-actions.ts';
import { addChannelActions } from './channel-actions.ts';
import { addConnectActions, addConnectCallback } from './connect-actions.ts';
import { addHomeRoutes } from './home-actions.ts';
import { addKeywordActions } from './keyword-actions.ts';
import { addOperations } from './operation-routes.ts';
import { addPages } from './pages.ts';
import { addPreviewActions } from './preview-actions.ts';
import { addProjectRoutes } from './project-routes.ts';
import { addSessionRoutes, addSignIn } from './sessions.ts';
import { addSyncActions } from './sync-actions.ts';
import { addTogether } from './together.ts';
import { addUnsubscribe } from './unsubscribe.ts';

const API_ROOT = '/app/api';

/** Whether an address lies under the root of the dashboard's own API. */
export function isDashboardApiAddress(url: string): boolean {
  return /^\/app\/api([/?]|$)/.test(url);
}

interface DashboardOptions {
  readonly sessionGuard: Guard;
  readonly signInGuard: Guard;
  readonly context: Context;
  /** For what members change. */
  readonly stores: Stores;
  readonly usage: Usage;
}

/**
 * The dashboard at `/app`: its page and files, signing in, and the API once more under a root of its own, where a
 * session counts in place of a key.
 */
export async function addDashboard(
  app: FastifyInstance,
  { sessionGuard, signInGuard, context, stores, usage }: DashboardOptions,
): Promise<void> {
  await app.register(async (dashboard) => addPages(dashboard));
  await app.register(async (dashboard) => addConnectCallback(dashboard, context, stores));
  await app.register(async (dashboard) => addUnsubscribe(dashboard, { catalog: stores.catalog, now: context.now }));
  await app.register(async (dashboard) => addSignIn(dashboard, { guard: signInGuard, context }));
  await app.register(
    async (api) => {
      // Set first, so that refusals have it too.
      api.addHook('onRequest', (_request, reply, done) => {
        reply.header('x-content-type-options', 'nosniff');
        done();
      });
      // Screens treat what passes and what lasts differently.
      api.addHook('onSend', async (request, reply) => {
        const reason = unavailableReason(request);
        if (reason !== undefined) reply.header('x-unavailable-reason', reason);
      });
      addEndpoints(api, { guard: sessionGuard, context, hide: true });
      addSessionRoutes(api, context);
      addProjectRoutes(api, context);
      addHomeRoutes(api, context);
      addTogether(api, API_ROOT);
      const add = takeActions(api, context);
      addOperations(api, add, context, { ...context, ...stores, now: context.now, usage }, OPERATIONS);
      addKeywordActions(add, stores);
      addPreviewActions(add, context);
      addSyncActions(add, stores);
      addAuditActions(add, context, usage);
      addChannelActions(add, stores);
      addConnectActions(add, context, stores);
      const answerUnknown = (): never => {
        throw notFound('The dashboard has nothing at this address.');
      };
      // Not the page, which answers all other addresses below /app.
      for (const url of ['/', '/*']) api.get(url, { schema: { hide: true } }, answerUnknown);
      api.setNotFoundHandler(answerUnknown);
    },
    { prefix: API_ROOT },
  );
}
