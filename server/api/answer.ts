import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RowsAnswer } from '../formats/rows.ts';
import {
  type AnyParser,
  type AnyReport,
  type Caller,
  findSubject,
  parseParameters,
  planReport,
  type ReportQuery,
  type ReportRequest,
  rejectParameters,
  runReport,
  type Subject,
} from '../reports/report.ts';
import { etagOf, matchesEtag } from './etag.ts';
import { namedFormat, parametersOf, varyByAccept } from './format.ts';
import { preferredEncoding } from './plugins/compression.ts';
import type { ParsedQuery } from './query-cache.ts';
import { JSON_TYPE, sendBytes } from './response-cache.ts';
import type { Context } from './routes/context.ts';
import { rowStream } from './row-stream.ts';
import { sendStream } from './send-stream.ts';

// The stages of a request after the guard (authenticate → limit → plan of the workspace):
// find project → parse → [304] → [response cache] → plan → run → format → send.

/** The result of a route handler: a reply or bytes, or undefined if the response has been sent. */
export type Answered = Promise<FastifyReply | Buffer> | FastifyReply | Buffer | undefined;

type Handler = (context: Context) => (request: FastifyRequest, reply: FastifyReply) => Answered;

/** The formatters of a report. */
interface Formats<Query, Result> {
  readonly json: (result: Result) => Buffer | Promise<Buffer>;
  /** Flat rows, for all formats except JSON. */
  readonly rows?: (result: Result) => RowsAnswer;
  /** Whether the response may be so long that concurrency must be limited. */
  readonly isLong?: (query: Query) => boolean;
}

interface CachedFormats<Query, Result> extends Formats<Query, Result> {
  /** Streams JSON that is too long to cache; undefined if it can be cached. */
  readonly jsonParts?: (query: Query) => ((result: Result) => AsyncGenerator<Buffer, void>) | undefined;
}

interface FreshFormats<Query, Result> extends Formats<Query, Result> {
  /** What the response depends on besides the query value. Without it responses have no entity tag. */
  readonly version?: (result: Result) => string;
}

/** Handler that responds from the cache, or runs the report and caches the bytes. Streams long responses and flat rows. */
export function answerCached<Query extends ReportQuery, Plan, Result>(
  report: AnyReport<Query, Plan, Result>,
  formats: CachedFormats<Query, Result>,
): Handler {
  return (context) => (request, reply) => {
    const send = (parsed: ParsedQuery<Query>): Promise<FastifyReply> | undefined => {
      const { query, etag } = parsed;
      if (matchesEtag(request, etag)) {
        sendNotModified(reply, etag);
        return undefined;
      }
      const execution = { ...parsed, report };
      if (query.format !== 'json') return sendRows(context, request, reply, execution, formats, true);
      const parts = formats.jsonParts?.(query);
      if (parts === undefined) return sendCached(context, request, reply, execution, formats.json);
      return sendParts(context, request, reply, execution, { parts, isLong: formats.isLong?.(query) ?? false });
    };
    const parsed = parseRequest(context, report, request, reply);
    // A cached response is sent synchronously.
    return parsed instanceof Promise ? parsed.then((found) => send(found) ?? reply) : send(parsed);
  };
}

/** Handler that runs the report for each request. */
export function answerFresh<Query extends ReportQuery, Plan, Result>(
  report: AnyReport<Query, Plan, Result>,
  formats: FreshFormats<Query, Result>,
): Handler {
  return (context) => async (request, reply) => {
    const execution = { ...(await parseRequest(context, report, request, reply)), report };
    if (execution.query.format !== 'json') return sendRows(context, request, reply, execution, formats, false);
    const result = await runQuery(context, request, execution, request.signal);
    const etag = formats.version && etagOf(execution.key, formats.version(result));
    if (etag !== undefined && matchesEtag(request, etag)) return sendNotModified(reply, etag);
    const bytes = await formats.json(result);
    request.stages?.end('format');
    return sendBytes(reply, { bytes, encoding: 'identity' }, etag);
  };
}

/** Finds the project or workspace and parses the parameters; synchronous if it is cached. */
function parseRequest<Query extends ReportQuery>(
  context: Context,
  report: AnyParser<Query>,
  request: FastifyRequest,
  reply: FastifyReply,
): ParsedQuery<Query> | Promise<ParsedQuery<Query>> {
  const format = namedFormat(request);
  const subject = findSubject(report, context, projectIn(request));
  const parse = (found: Subject): ParsedQuery<Query> | Promise<never> => {
    const now = context.now();
    if ('format' in report.parameters) varyByAccept(request, reply);
    try {
      const parsed = context.queries.get(request.url, format, found, now, () =>
        parseParameters(report, parametersOf(request, format), found, now),
      );
      request.stages?.end('parse');
      return parsed;
    } catch (error) {
      return rejectParameters(report, context, found, request.query, error);
    }
  };
  return subject instanceof Promise ? subject.then(parse) : parse(subject);
}

interface Execution<Query extends ReportQuery, Plan, Result> extends ParsedQuery<Query> {
  readonly report: AnyReport<Query, Plan, Result>;
}

function sendNotModified(reply: FastifyReply, etag: string): FastifyReply {
  return reply.code(304).header('etag', etag).send();
}

/** Sends a cached response synchronously, or computes it once for all concurrent requests. */
function sendCached<Query extends ReportQuery, Plan, Result>(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  execution: Execution<Query, Plan, Result>,
  json: Formats<Query, Result>['json'],
): Promise<FastifyReply> | undefined {
  const { cache } = context;
  const { key, etag } = execution;
  const encoding = preferredEncoding(request);
  const cached = cache.find(key, encoding);
  if (cached !== undefined) {
    sendBytes(reply, cached, etag);
    return undefined;
  }
  const make = async (signal: AbortSignal): Promise<Buffer> => {
    const bytes = await json(await runQuery(context, request, execution, signal));
    request.stages?.end('format');
    return bytes;
  };
  return cache.make(key, encoding, request.signal, make).then((bytes) => sendBytes(reply, bytes, etag));
}

/** Plans the report, then runs it while the JSON is streamed. The number of concurrent long responses is limited. */
async function sendParts<Query extends ReportQuery, Plan, Result>(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { report, query, etag }: Execution<Query, Plan, Result>,
  how: { readonly parts: (result: Result) => AsyncGenerator<Buffer, void>; readonly isLong: boolean },
): Promise<FastifyReply> {
  const { stages } = request;
  const plan = await planReport(report, query, context, reportRequest(request));
  stages?.end('plan');
  return sendStream(request, reply, how.isLong ? context.longAnswers : undefined, async (signal) => {
    const result = await report.run(plan, context, callerOf(request, signal));
    stages?.end('run');
    return { headers: { 'content-type': JSON_TYPE, etag }, body: how.parts(result) };
  });
}

/** Streams flat rows in the format of the query while they are read. */
async function sendRows<Query extends ReportQuery, Plan, Result>(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  execution: Execution<Query, Plan, Result>,
  { rows, isLong, version }: FreshFormats<Query, Result>,
  isCached: boolean,
): Promise<FastifyReply> {
  const { query, key, etag, report } = execution;
  if (rows === undefined) throw new Error(`${report.operation} has no rows`);
  const result = await runQuery(context, request, execution, request.signal);
  const tag = isCached ? etag : version && etagOf(key, version(result));
  if (tag !== undefined && matchesEtag(request, tag)) return sendNotModified(reply, tag);
  const limit = isLong?.(query) ? context.longAnswers : undefined;
  return sendStream(request, reply, limit, async () => rowStream(context, query, rows(result), tag));
}

function runQuery<Query extends ReportQuery, Plan, Result>(
  context: Context,
  request: FastifyRequest,
  { report, query }: Execution<Query, Plan, Result>,
  signal: AbortSignal,
): Promise<Result> {
  const onStage = (name: 'plan' | 'run') => request.stages?.end(name);
  return runReport(report, query, context, reportRequest(request), { ...callerOf(request, signal), onStage });
}

function reportRequest(request: FastifyRequest): ReportRequest {
  return { ...projectIn(request), parameters: parametersOf(request, namedFormat(request)) };
}

function projectIn({ principal, params }: FastifyRequest): Omit<ReportRequest, 'parameters'> {
  const { workspace, projects } = principal!;
  return { workspace, projects, id: (params as { id?: string }).id ?? '' };
}

function callerOf({ principal }: FastifyRequest, signal: AbortSignal): Caller {
  return { signal, reader: principal!.id };
}
