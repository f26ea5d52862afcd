import rateLimit from '@fastify/rate-limit';
import sensible from '@fastify/sensible';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Catalog } from './catalog/catalog.ts';
import { KeyUse } from './catalog/key-use.ts';
import { TrackedKeywordsCache } from './catalog/tracked.ts';
import { notFound } from './domain/errors.ts';
import type { Engine } from './facts/engine.ts';
import { Facts } from './facts/facts.ts';
import { addDocumentation } from './http/documentation.ts';
import { answerBrokenRequest, sendError } from './http/errors.ts';
import { makeGuard } from './http/guard.ts';
import { logOptions } from './http/log.ts';
import { Lists } from './lists/lists.ts';
import { alerts } from './routes/alerts.ts';
import { breakdowns } from './routes/breakdowns.ts';
import type { Context } from './routes/context.ts';
import { groups } from './routes/groups.ts';
import { addHealthRoutes } from './routes/health.ts';
import { keywords } from './routes/keywords.ts';
import { notes } from './routes/notes.ts';
import { pageGroups } from './routes/page-groups.ts';
import { pages } from './routes/pages.ts';
import { projects } from './routes/projects.ts';
import { queries } from './routes/queries.ts';
import { addRoute, type Route } from './routes/route.ts';
import { site } from './routes/site.ts';
import type { Settings } from './settings.ts';

export const API_ROOT = '/api/v1';

const ROUTES: readonly Route[] = [
  projects,
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

export interface Dependencies {
  readonly settings: Settings;
  readonly catalog: Catalog;
  readonly engine: Engine;
  /** Where the log goes; standard error when it is not given. */
  readonly logStream?: { write(line: string): void };
  /** Milliseconds; `Date.now` but in tests. */
  readonly now?: () => number;
}

/** The whole server short of listening. */
export async function buildApp({
  settings,
  catalog,
  engine,
  logStream,
  now = Date.now,
}: Dependencies): Promise<FastifyInstance> {
  const app = fastify({
    logger: logOptions(settings.logLevel, logStream),
    // One line a request, written when it is answered.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: settings.trustedProxies.length > 0 ? [...settings.trustedProxies] : false,
    handlerTimeout: settings.requestTimeLimit * 1000,
    // Slow senders: the whole request must have arrived by then.
    requestTimeout: 30_000,
    routerOptions: { maxParamLength: 10_000 },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      void answerUnroutable(error, request, reply);
    },
  });
  await app.register(sensible);
  await app.register(rateLimit, { global: false });

  const keyUse = new KeyUse(catalog, (error) => app.log.warn({ err: error }, 'the use of keys was not noted'));
  const guard = makeGuard(app, catalog, keyUse);
  const lists = new Lists({ engine, catalog, settings, log: app.log, now });
  const facts = new Facts(engine, settings.dataFolder);
  const context: Context = { catalog, tracked: new TrackedKeywordsCache(catalog), facts, lists, now };

  /** An address that cannot be decoded has no route; the key still goes first. */
  async function answerUnroutable(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // This reply has none of the decorators of plugins.
    reply.header('cache-control', 'no-store');
    try {
      if (request.raw.url?.startsWith(API_ROOT)) await guard(request, reply);
      sendError(error, request, reply);
    } catch (refused) {
      sendError(refused, request, reply);
    }
  }

  // JSON.stringify and not a serializer made from the schema: that one is slower on long lists and writes what the
  // schema does not expect as zeros. Tests check that answers are what the schemas say.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  app.setValidatorCompiler(() => () => true);
  // The API reads no bodies: whatever comes with a request is dropped.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(null);
  });
  app.setErrorHandler(sendError);
  app.setNotFoundHandler(() => {
    throw notFound('There is nothing at this address; the documentation is at /docs.');
  });
  app.addHook('onRequest', async (_request, reply) => {
    reply.cacheControl('no-store');
  });
  app.addHook('onResponse', async (request, reply) => {
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    const key = request.access?.keyId;
    request.log.info({ req: request, status: reply.statusCode, ms, key }, 'answered');
  });
  // Requests that wait for a provider would hold the end up.
  app.addHook('preClose', async () => lists.stop());
  app.addHook('onClose', async () => {
    await keyUse.flush();
    await lists.close();
  });

  await addDocumentation(app);
  addHealthRoutes(app, { catalog, engine });
  await app.register(
    async (api) => {
      api.addHook('onRequest', guard);
      api.setNotFoundHandler(() => {
        throw notFound('The API has nothing at this address; it answers GET on the paths that /docs lists.');
      });
      for (const route of ROUTES) addRoute(api, route, context);
    },
    { prefix: API_ROOT },
  );
  await lists.sweep();
  return app;
}
