import rateLimit from '@fastify/rate-limit';
import sensible from '@fastify/sensible';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Catalog } from './catalog/catalog.ts';
import { KeyUse } from './catalog/key-use.ts';
import { KnownCatalog } from './catalog/known.ts';
import { TrackedKeywordsCache } from './catalog/tracked.ts';
import { invalidRequest, notFound } from './domain/errors.ts';
import { DuckDBFacts } from './facts/duckdb/duckdb-facts.ts';
import type { Engine } from './facts/duckdb/engine.ts';
import { ConcurrencyLimit, SharedConcurrencyLimit } from './gate.ts';
import { AnswerCache } from './http/answer-cache.ts';
import { addCompression } from './http/compression.ts';
import { addDeadlines } from './http/deadline.ts';
import { addDocumentation } from './http/documentation.ts';
import { answerBrokenRequest, sendError } from './http/errors.ts';
import { FixedWindows } from './http/fixed-windows.ts';
import { makeGuard } from './http/guard.ts';
import { logAnswer, logOptions } from './http/log.ts';
import { Lists } from './lists/lists.ts';
import { alerts } from './routes/alerts.ts';
import { breakdowns } from './routes/breakdowns.ts';
import type { Context } from './routes/context.ts';
import { groups } from './routes/groups.ts';
import { addHealthRoutes } from './routes/health.ts';
import { KeptAnswers } from './routes/kept-answer.ts';
import { keywords } from './routes/keywords.ts';
import { notes } from './routes/notes.ts';
import { pageGroups } from './routes/page-groups.ts';
import { pages } from './routes/pages.ts';
import { projects } from './routes/projects.ts';
import { queries } from './routes/queries.ts';
import { addRoute, type Route } from './routes/route.ts';
import { site } from './routes/site.ts';
import type { Settings } from './settings.ts';
import { CheckedFiles } from './storage/checked-files.ts';
import { FactStore } from './storage/fact-store.ts';

const API_ROOT = '/api/v1';

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

/** Bounds of the server that are no settings; tests set them lower. */
export interface Limits {
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
  readonly catalog: Catalog;
  readonly engine: Engine;
  /** Where the log goes. */
  readonly logStream: { write(line: string): void };
  /** Milliseconds; `Date.now` but in tests. */
  readonly now?: () => number;
  readonly limits?: Partial<Limits>;
}

/** The whole server short of listening. */
export async function buildApp({
  settings,
  catalog,
  engine,
  logStream,
  now = Date.now,
  limits,
}: Dependencies): Promise<FastifyInstance> {
  const { longAnswers, longAnswersPerWorkspace, longAnswerWait, stalled } = { ...LIMITS, ...limits };
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
  // A server that cannot be built whole leaves nothing open.
  await using building = new AsyncDisposableStack();
  building.defer(() => app.close());
  addDeadlines(app, { progress: settings.requestTimeLimit * 1000, stalled });
  app.addHook('onRequest', (request, reply, done) => {
    logAnswer(app.log, request, reply);
    done();
  });
  await app.register(sensible);
  await addCompression(app);
  await app.register(rateLimit, {
    global: false,
    // The plugin wants a class, and makes the store itself.
    store: class extends FixedWindows {
      constructor() {
        super(now);
      }
    },
  });

  const known = new KnownCatalog(catalog);
  const keyUse = new KeyUse(catalog, (error) => app.log.warn({ err: error }, 'the use of keys was not noted'));
  const guard = makeGuard(app, known, keyUse, now);
  const factFiles = new CheckedFiles(new FactStore(settings.dataFolder));
  const lists = new Lists({ engine, catalog, factFiles, settings, log: app.log, now });
  const facts = new DuckDBFacts(engine, factFiles, new ConcurrencyLimit(settings.threads));
  const answers = new AnswerCache(settings.answerCache);
  const context: Context = {
    kept: new KeptAnswers(known, answers, now),
    known,
    catalog,
    tracked: new TrackedKeywordsCache(catalog),
    facts,
    lists,
    longAnswers: new SharedConcurrencyLimit({
      concurrency: longAnswers,
      perKey: longAnswersPerWorkspace,
      maxWait: longAnswerWait,
    }),
    now,
  };

  /** An address that cannot be decoded has no route; the key still goes first. */
  async function answerUnroutable(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // No hook has seen this request, and this reply has none of the decorators of plugins.
    logAnswer(app.log, request, reply);
    try {
      if (/^\/api\/v1([/?]|$)/.test(request.url)) await guard(request, reply);
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
  app.addHook('onRequest', (request, _reply, done) => {
    const isMissing = request.raw.httpVersion === '1.1' && request.headers.host === undefined;
    done(isMissing ? invalidRequest('The request has no Host header.') : undefined);
  });
  // Clients that keep their connections must not hold up a server that stops.
  let isClosing = false;
  app.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  app.addHook('onSend', (_request, reply, _answer, done) => {
    // Also where nothing is compressed: the same address may be another time.
    reply.vary('accept-encoding');
    if (isClosing) reply.header('connection', 'close');
    done();
  });
  // Expectations that are not known are ignored, as unknown headers are.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // Requests that wait for a provider would hold the end up.
  app.addHook('preClose', async () => lists.stop());
  app.addHook('onClose', async () => {
    await keyUse.flush();
    await lists.close();
  });

  await addDocumentation(app);
  const { dataFolder, minFree } = settings;
  addHealthRoutes(app, { catalog, engine, answers, dataFolder, minFree });
  await app.register(
    async (api) => {
      // Of the API alone: the pages of the documentation are to be kept by browsers.
      api.addHook('onRequest', (_request, reply, done) => {
        reply.cacheControl('no-store');
        done();
      });
      api.addHook('onRequest', guard);
      api.setNotFoundHandler(() => {
        throw notFound('The API has nothing at this address; it answers GET on the paths that /docs lists.');
      });
      for (const route of ROUTES) addRoute(api, route, context);
    },
    { prefix: API_ROOT },
  );
  await lists.sweep();
  const built = await app;
  building.move();
  return built;
}
