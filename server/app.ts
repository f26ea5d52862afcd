import sensible from '@fastify/sensible';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { addApi, isApiAddress } from './api/api.ts';
import { addFeeds } from './api/feeds.ts';
import { addCompression } from './api/plugins/compression.ts';
import { addDeadlines } from './api/plugins/deadline.ts';
import { addDocumentation } from './api/plugins/documentation.ts';
import { answerBrokenRequest, sendError } from './api/plugins/errors.ts';
import { bearerKeys, type Guard, makeGuards } from './api/plugins/guard.ts';
import { addHttpBasics } from './api/plugins/http.ts';
import { addAnswerLog, logAnswer, logOptions } from './api/plugins/log.ts';
import type { OnStages } from './api/plugins/timing.ts';
import { QueryCache } from './api/query-cache.ts';
import { ResponseCache } from './api/response-cache.ts';
import type { Context } from './api/routes/context.ts';
import type { OpenCatalog } from './catalog/catalog.ts';
import { CatalogCache } from './catalog/catalog-cache.ts';
import { TrackedKeywordsCache } from './catalog/tracked.ts';
import { sessionCookies, signInTokens } from './dashboard/credentials.ts';
import { addDashboard, isDashboardApiAddress } from './dashboard/dashboard.ts';
import { DuckDBFacts } from './facts/duckdb/duckdb-facts.ts';
import type { Engine } from './facts/duckdb/engine.ts';
import { arrow } from './formats/arrow.ts';
import { csv } from './formats/csv.ts';
import { ndjson } from './formats/ndjson.ts';
import { parquetFormat } from './formats/parquet.ts';
import { Lists } from './lists/lists.ts';
import { addHealthRoutes } from './ops/health.ts';
import { ConcurrencyLimit, SharedConcurrencyLimit } from './runtime/limits.ts';
import type { Settings } from './settings.ts';
import { CheckedFiles } from './storage/checked-files.ts';
import { FactStore } from './storage/fact-store.ts';

/** Bounds of the server that are no settings; tests set them lower. */
interface Limits {
  /** Long answers on their way at once; each takes some megabytes, however long it is. */
  readonly longAnswers: number;
  readonly longAnswersPerWorkspace: number;
  /** How long one waits for its turn before its client is told to come back, in milliseconds. */
  readonly longAnswerWait: number;
  /** A client that takes nothing of its answer for so long makes room for others, in milliseconds. */
  readonly stalled: number;
}

const LIMITS: Limits = {
  longAnswers: 16,
  longAnswersPerWorkspace: 8,
  longAnswerWait: 5000,
  stalled: 30_000,
};

export interface Dependencies {
  readonly settings: Settings;
  readonly catalog: OpenCatalog;
  readonly engine: Engine;
  /** Where the log goes. */
  readonly logStream: { write(line: string): void };
  /** Milliseconds; `Date.now` but in tests. */
  readonly now?: () => number;
  readonly limits?: Partial<Limits>;
  /** Is told how long the stages of each answer of the API took. */
  readonly onStages?: OnStages;
}

/** The whole server short of listening. */
export async function buildApp(dependencies: Dependencies): Promise<FastifyInstance> {
  const { settings, catalog, engine, logStream, now = Date.now } = dependencies;
  const { longAnswers, longAnswersPerWorkspace, longAnswerWait, stalled } = { ...LIMITS, ...dependencies.limits };
  let guard: Guard | undefined;
  let sessionGuard: Guard | undefined;
  const app = fastify({
    logger: logOptions(settings.logLevel, logStream),
    // One line a request, written when it is answered.
    // One logger for all of them: what is logged of a request tells its id.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: settings.trustedProxies.length > 0 ? [...settings.trustedProxies] : false,
    // Slow senders: the whole request must have arrived by then.
    requestTimeout: 30_000,
    // Until an answer begins; then its deadline watches the client.
    connectionTimeout: (settings.requestTimeLimit + 30) * 1000,
    // Longer than an address can be: a long id is an unknown one.
    routerOptions: { maxParamLength: 100_000 },
    // Node answers a request without Host by itself, without our envelope.
    http: { requireHostHeader: false },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, app.log),
    frameworkErrors: (error, request, reply) => {
      void answerUnroutable(error, request, reply);
    },
  });
  /** An address that cannot be decoded has no route; the key still goes first. */
  async function answerUnroutable(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // No hook has seen this request, and this reply has none of the decorators of plugins.
    logAnswer(app.log, request, reply);
    try {
      if (isApiAddress(request.url)) await guard?.(request, reply);
      if (isDashboardApiAddress(request.url)) await sessionGuard?.(request, reply);
      sendError(error, request, reply);
    } catch (refused) {
      sendError(refused, request, reply);
    }
  }

  // A server that cannot be built whole leaves nothing open.
  await using building = new AsyncDisposableStack();
  building.defer(() => app.close());
  addDeadlines(app, { progress: settings.requestTimeLimit * 1000, stalled });
  addAnswerLog(app);
  await app.register(sensible);
  await addCompression(app);
  const catalogCache = new CatalogCache(catalog);
  const guardBy = await makeGuards(app, { dataFolder: settings.dataFolder, now });
  guard = guardBy(bearerKeys(catalogCache));
  sessionGuard = guardBy(sessionCookies({ catalogCache, now }));
  addHttpBasics(app);

  const factFiles = new CheckedFiles(new FactStore(settings.dataFolder));
  const lists = new Lists({ engine, catalog, factFiles, settings, log: app.log, now });
  // Requests that wait for a provider would hold the end up.
  app.addHook('preClose', async () => lists.stop());
  app.addHook('onClose', () => lists.close());
  const context: Context = {
    catalog,
    catalogCache,
    tracked: new TrackedKeywordsCache(catalog),
    facts: new DuckDBFacts(engine, factFiles, new ConcurrencyLimit(settings.threads)),
    lists,
    factFiles,
    queries: new QueryCache(),
    cache: new ResponseCache(settings.answerCache),
    longAnswers: new SharedConcurrencyLimit({
      concurrency: longAnswers,
      perKey: longAnswersPerWorkspace,
      maxWait: longAnswerWait,
    }),
    rowFormats: { csv, ndjson, arrow, parquet: parquetFormat(engine) },
    now,
  };

  await addDocumentation(app);
  const { dataFolder, minFree } = settings;
  addHealthRoutes(app, { catalog, engine, cache: context.cache, dataFolder, minFree });
  const { corsOrigins } = settings;
  await addApi(app, { guard, context, corsOrigins, onStages: dependencies.onStages });
  if (settings.feeds) await addFeeds(app, { guardBy, context });
  const signInGuard = guardBy(signInTokens(context));
  await addDashboard(app, { sessionGuard, signInGuard, context, dataFolder, onStages: dependencies.onStages });
  const built = await app;
  building.move();
  return built;
}
