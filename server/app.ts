import { join } from 'node:path';
import sensible from '@fastify/sensible';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { addApi, isApiAddress } from './api/api.ts';
import type { Context } from './api/context.ts';
import { addFeeds } from './api/feeds.ts';
import { followPublications, RecentRequests } from './api/follow-publications.ts';
import { addHealthRoutes } from './api/health.ts';
import { addCompression } from './api/plugins/compression.ts';
import { addDeadlines } from './api/plugins/deadline.ts';
import { addDocumentation } from './api/plugins/documentation.ts';
import { answerBrokenRequest, sendError } from './api/plugins/errors.ts';
import { FixedWindows, type WindowCounter } from './api/plugins/fixed-windows.ts';
import { bearerKeys, type Guard, makeGuards } from './api/plugins/guard.ts';
import { addHttpBasics, answerHead, SCHEMA_COMPILERS } from './api/plugins/http.ts';
import { addAnswerLog, logAnswer, logOptions } from './api/plugins/log.ts';
import { addLostRollups } from './api/plugins/lost-rollups.ts';
import type { RedisWindows } from './api/plugins/redis-windows.ts';
import { addStopping } from './api/plugins/stopping.ts';
import { addStreams } from './api/plugins/streams.ts';
import { QueryCache } from './api/query-cache.ts';
import { Health } from './api/readiness.ts';
import { ResponseCache } from './api/response-cache.ts';
import { addWarmUp } from './api/warm-up.ts';
import type { OpenCatalog } from './catalog/catalog.ts';
import { CatalogCache } from './catalog/catalog-cache.ts';
import { TrackedKeywordsCache } from './catalog/keywords.ts';
import { openLoggedUsage } from './catalog/logged-usage.ts';
import { openJoinedStore } from './catalog/store.ts';
import { sessionCookies, signInTokens } from './dashboard/credentials.ts';
import { addDashboard, isDashboardApiAddress } from './dashboard/dashboard.ts';
import { addShares, isShareAddress, SHARE_HEADERS } from './dashboard/shares.ts';
import type { Engine } from './facts/duckdb/engine.ts';
import { openDistantLists, openFacts, openTrinoHealth } from './facts/open-facts.ts';
import { ROW_FORMATS } from './formats/formats.ts';
import { Lists } from './lists/lists.ts';
import { addMcp } from './mcp/mcp.ts';
import type { ServerMetrics } from './metrics/server-metrics.ts';
import type { ServerState } from './metrics/server-state.ts';
import { JudgedFindings } from './presets/findings-answer.ts';
import { ConcurrencyLimit, SharedConcurrencyLimit } from './runtime/limits.ts';
import { importOptional } from './runtime/optional-packages.ts';
import { type Isolation, NOT_HELD } from './sandbox/launch.ts';
import { Sandbox } from './sandbox/sandbox.ts';
import type { Settings } from './settings/settings.ts';

/** Limits of the server that are not settings; tests lower them. */
interface Limits {
  /** Max concurrent long answers; each takes some megabytes, independent of its length. */
  readonly longAnswers: number;
  readonly longAnswersPerWorkspace: number;
  /** Max wait of a long answer before it is rejected with `Retry-After`, in milliseconds. */
  readonly longAnswerWait: number;
  /** A client that reads nothing for this long is disconnected, in milliseconds. */
  readonly stalled: number;
  /** Max time of a statement in SQL, in milliseconds. */
  readonly statement: number;
  /** How long a listening server may prepare for its first request until it is ready nevertheless, in milliseconds. */
  readonly preparation: number;
  /** How often a listening server looks for publications, in milliseconds. */
  readonly followEvery: number;
}

const LIMITS: Limits = {
  longAnswers: 16,
  longAnswersPerWorkspace: 8,
  longAnswerWait: 5000,
  stalled: 30_000,
  statement: 10_000,
  preparation: 1000,
  followEvery: 200,
};

export interface Dependencies {
  readonly settings: Settings;
  readonly catalog: OpenCatalog;
  readonly engine: Engine;
  readonly logStream: { write(line: string): void };
  /** Milliseconds; default: `Date.now`. */
  readonly now?: () => number;
  readonly limits?: Partial<Limits>;
  /** How processes of statements may be isolated, by default as strongly as the system can, and their program. */
  readonly statements?: { readonly isolations?: readonly Isolation[]; readonly program?: string };
  /** Counts requests for rate limits; by default those of this process. */
  readonly counter?: WindowCounter | undefined;
  /** Counts requests and watches the state of the server. */
  readonly metrics?: Pick<ServerMetrics, 'onAnswered' | 'watch'> | undefined;
  /** Adds traces. Called before anything else is added. */
  readonly trace?: ((app: FastifyInstance) => Promise<void>) | undefined;
}

/** Builds the whole server without listening. */
export async function buildApp(dependencies: Dependencies): Promise<FastifyInstance> {
  const { settings, catalog, engine, logStream, metrics, now = Date.now } = dependencies;
  const { longAnswers, longAnswersPerWorkspace, longAnswerWait, stalled, statement, preparation, followEvery } = {
    ...LIMITS,
    ...dependencies.limits,
  };
  let guard: Guard | undefined;
  let sessionGuard: Guard | undefined;
  const app = fastify({
    logger: logOptions(settings.logLevel, logStream),
    // One line per request, written when it is answered, by one logger: the line contains the id of the request.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: false,
    // `addStopping` refuses them, in our error format.
    return503OnClosing: false,
    trustProxy: settings.trustedProxies.length > 0 ? [...settings.trustedProxies] : false,
    // The time limit for the arrival of a whole request.
    requestTimeout: 30_000,
    // Applies until an answer begins; then the deadline plugin watches the client.
    connectionTimeout: (settings.requestTimeLimit + 30) * 1000,
    schemaController: { compilersFactory: SCHEMA_COMPILERS },
    // Longer than any URL, so that a long id is an unknown id.
    routerOptions: { maxParamLength: 100_000 },
    // Node would answer a request without Host itself, not in our error format.
    http: { requireHostHeader: false },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, app.log),
    frameworkErrors: (error, request, reply) => {
      void answerUnroutable(error, request, reply);
    },
  });
  /** Answers a URL that cannot be decoded. The key is checked first. */
  async function answerUnroutable(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // No hooks have run for this request, and this reply lacks the decorators of plugins.
    logAnswer(app.log, request, reply, metrics?.onAnswered);
    if (isShareAddress(request.url)) reply.headers(SHARE_HEADERS);
    try {
      if (isApiAddress(request.url)) await guard?.(request, reply);
      if (isDashboardApiAddress(request.url)) await sessionGuard?.(request, reply);
      sendError(error, request, reply);
    } catch (refused) {
      sendError(refused, request, reply);
    }
  }

  // Closes everything if a later step fails.
  await using building = new AsyncDisposableStack();
  building.defer(() => app.close());
  app.server.prependListener('request', ({ url = '' }) => {
    if (isApiAddress(url) || isDashboardApiAddress(url)) catalog.prefetchVersion();
  });
  answerHead(app);
  await dependencies.trace?.(app);
  addDeadlines(app, { progress: settings.requestTimeLimit * 1000, stalled });
  addAnswerLog(app, metrics?.onAnswered);
  addStopping(app);
  await app.register(sensible);
  addCompression(app);
  addStreams(app);
  const catalogCache = new CatalogCache(catalog);
  const ownCounter = dependencies.counter ?? new FixedWindows(now);
  const redis = await openRedis(app, settings);
  const counter = redis?.counter(ownCounter) ?? ownCounter;
  const usage = openLoggedUsage(settings, app.log);
  // Closed after those that use it: hooks run in reverse order.
  app.addHook('onClose', () => usage.close());
  const guardBy = await makeGuards(app, { usage, now, counter });
  guard = guardBy(bearerKeys(catalogCache));
  sessionGuard = guardBy(sessionCookies({ catalogCache, now, publicUrl: settings.publicUrl }));
  addHttpBasics(app);

  const files = await openJoinedStore(settings, catalog, { mayBeAway: true });
  // Closed after everything that reads files.
  app.addHook('onClose', () => files[Symbol.asyncDispose]());
  const distant = await openDistantLists({ settings, files });
  const lists = new Lists({ engine, catalog, usage, files, distant, settings, log: app.log, now });
  // Requests that wait for a provider would delay the shutdown.
  app.addHook('preClose', async () => lists.stop());
  app.addHook('onClose', () => lists.close());
  const heavyQueries = new ConcurrencyLimit(settings.threads);
  const sandbox = settings.sql ? await openSandbox(app, dependencies, statement) : undefined;
  const context: Context = {
    catalog,
    catalogCache,
    trackedCache: new TrackedKeywordsCache(catalog),
    judged: new JudgedFindings(),
    facts: await openFacts({ settings, engine, files, heavy: heavyQueries }),
    lists,
    files,
    queries: new QueryCache(),
    recent: new RecentRequests(now),
    cache: new ResponseCache(settings.answerCache),
    longAnswers: new SharedConcurrencyLimit({
      concurrency: longAnswers,
      perKey: longAnswersPerWorkspace,
      maxWait: longAnswerWait,
    }),
    rowFormats: ROW_FORMATS,
    sandbox,
    now,
    publicUrl: settings.publicUrl,
  };

  addLostRollups(app, (project, signal) => remakeLost({ settings, catalog, log: app.log }, project, signal), now);

  const { dataFolder, minFree } = settings;
  const trino = openTrinoHealth(settings);
  const parts = { catalog, engine, files, dataFolder, minFree, keyFile: settings, redis, trino };
  const health = new Health({ ...parts, log: app.log, now });
  metrics?.watch(stateOf(context, { catalog, engine, heavyQueries, redis, health }));

  addWarmUp(app, context, preparation);
  await addDocumentation(app);
  addHealthRoutes(app, { health, cache: context.cache });
  const { corsOrigins } = settings;
  await addApi(app, { guard, context, corsOrigins });
  if (settings.feeds) await addFeeds(app, { guardBy, context });
  await addMcp(app, { guardBy, context });
  const signInGuard = guardBy(signInTokens(context));
  const onWarning = (warning: string): void => app.log.warn(warning);
  const stores = { settings, catalog, onWarning };
  await addDashboard(app, { sessionGuard, signInGuard, context, stores, usage });
  await addShares(app, { guardBy, context, requestsPerMinute: settings.shareRequestsPerMinute });
  followPublications(app, { catalog, catalogCache, recent: context.recent }, followEvery);
  const built = await app;
  building.move();
  return built;
}

/** Modules of loads are used only if something was lost. */
async function remakeLost(
  { settings, catalog, log }: { settings: Settings; catalog: OpenCatalog; log: FastifyInstance['log'] },
  project: string,
  signal: AbortSignal,
): Promise<number> {
  const { remakeRollups } = await import('./load/remake-rollups.ts');
  const onWarning = (warning: string): void => log.warn(warning);
  return remakeRollups({ settings, catalog, onWarning }, project, { signal });
}

async function openSandbox(
  app: FastifyInstance,
  { settings, statements }: Dependencies,
  time: number,
): Promise<Sandbox> {
  const sandbox = await Sandbox.open(join(settings.dataFolder, 'temporary'), time, statements);
  const { isolation } = sandbox;
  app.log[isolation === 'namespaces' ? 'info' : 'warn'](
    { isolation, ...NOT_HELD[isolation] },
    'statements run isolated',
  );
  // Statements would delay the shutdown.
  app.addHook('preClose', async () => sandbox.close());
  return sandbox;
}

/** The package of Redis is loaded only if Redis counts requests. */
async function openRedis(app: FastifyInstance, { limits: url }: Settings): Promise<RedisWindows | undefined> {
  if (url === '') return undefined;
  const load = () => import('./api/plugins/redis-windows.ts');
  const { RedisWindows } = await importOptional('ORDINATE_LIMITS', /^@redis\//, load);
  const windows = await RedisWindows.open({ url, log: app.log });
  app.addHook('onClose', () => windows.close());
  return windows;
}

/** The state of the server for metrics. */
function stateOf(
  { lists, cache, longAnswers, sandbox }: Context,
  {
    catalog,
    engine,
    heavyQueries,
    redis,
    health,
  }: Pick<Dependencies, 'catalog' | 'engine'> & {
    heavyQueries: ConcurrencyLimit;
    redis: RedisWindows | undefined;
    health: Health;
  },
): ServerState {
  const { gateway } = lists.providers;
  return {
    places: {
      queries: () => heavyQueries.state,
      streams: () => longAnswers.state,
      provider: () => gateway.state,
      ...(catalog.connections && { postgres: () => catalog.connections! }),
      ...(sandbox && { sql: () => sandbox.state }),
    },
    caches: {
      responses: () => ({ ...cache.state, entries: cache.state.answers }),
      lists: () => lists.cache,
    },
    provider: () => gateway.state,
    engineMemory: () => engine.memory(),
    components: () => health.last ?? {},
    limits: () => redis?.state ?? { isAway: false, inMemory: 0 },
  };
}
