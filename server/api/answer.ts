import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Project } from '../catalog/projects.ts';
import type { RowsAnswer } from '../formats/rows.ts';
import {
  type Caller,
  findReportProject,
  type Parser,
  type ProjectQuery,
  planReport,
  type Report,
  type ReportRequest,
  refuse,
  runReport,
} from '../reports/report.ts';
import { etagOf, hasAnswer } from './etag.ts';
import { namedFormat, parametersOf } from './format.ts';
import { wantedEncoding } from './plugins/compression.ts';
import type { ParsedQuery } from './query-cache.ts';
import { JSON_TYPE, sendBytes } from './response-cache.ts';
import type { Context } from './routes/context.ts';
import { rowStream } from './row-stream.ts';
import { sendStream } from './send-stream.ts';

// The way of a request that has passed the guard (authenticate → limit → plan of the workspace):
// find project → parse → [304] → [response cache] → plan → run → format → send.

/** What a route's handler gives back: a reply or bytes, now or later, or nothing when the answer has been sent. */
export type Answered = Promise<FastifyReply | Buffer> | FastifyReply | Buffer | undefined;

type Handler = (context: Context) => (request: FastifyRequest, reply: FastifyReply) => Answered;

/** How the results of a report are written. */
interface Formats<Query, Result> {
  readonly json: (result: Result) => Buffer;
  /** As flat rows, for all formats but JSON. */
  readonly rows?: (result: Result) => RowsAnswer;
  /** Whether an answer may be so long that only a few such should be under way. */
  readonly isLong?: (query: Query) => boolean;
}

interface CachedFormats<Query, Result> extends Formats<Query, Result> {
  /** JSON that is too long to be cached, in parts; undefined where it is not. */
  readonly jsonParts?: (query: Query) => ((result: Result) => AsyncGenerator<Buffer, void>) | undefined;
}

interface FreshFormats<Query, Result> extends Formats<Query, Result> {
  /** What the answer depends on besides the query value. Without it answers have no entity tag. */
  readonly version?: (result: Result) => string;
}

/** Answers from the response cache, or runs the report and caches its bytes. Long answers and flat rows are streamed. */
export function answerCached<Query extends ProjectQuery, Plan, Result>(
  report: Report<Query, Plan, Result>,
  formats: CachedFormats<Query, Result>,
): Handler {
  return (context) => (request, reply) => {
    const send = (parsed: ParsedQuery<Query>): Promise<FastifyReply> | undefined => {
      const { query, etag } = parsed;
      if (hasAnswer(request, etag)) {
        sendNotModified(reply, etag);
        return undefined;
      }
      const asked = { ...parsed, report };
      if (query.format !== 'json') return sendRows(context, request, reply, asked, formats, true);
      const parts = formats.jsonParts?.(query);
      if (parts === undefined) return sendCached(context, request, reply, asked, formats.json);
      return sendParts(context, request, reply, asked, { parts, isLong: formats.isLong?.(query) ?? false });
    };
    const parsed = parseRequest(context, report, request);
    // A cached answer is sent without waiting for anything.
    return parsed instanceof Promise ? parsed.then((found) => send(found) ?? reply) : send(parsed);
  };
}

/** Runs the report for each request. */
export function answerFresh<Query extends ProjectQuery, Plan, Result>(
  report: Report<Query, Plan, Result>,
  formats: FreshFormats<Query, Result>,
): Handler {
  return (context) => async (request, reply) => {
    const asked = { ...(await parseRequest(context, report, request)), report };
    if (asked.query.format !== 'json') return sendRows(context, request, reply, asked, formats, false);
    const result = await runQuestion(context, request, asked, request.signal);
    const etag = formats.version && etagOf(asked.key, formats.version(result));
    if (etag !== undefined && hasAnswer(request, etag)) return sendNotModified(reply, etag);
    const bytes = formats.json(result);
    request.stages?.end('format');
    return sendBytes(reply, { bytes, encoding: 'identity' }, etag);
  };
}

/** Finds the project and parses the parameters: the query that a request means, at once where the project is cached. */
function parseRequest<Query extends ProjectQuery>(
  context: Context,
  report: Parser<Query>,
  request: FastifyRequest,
): ParsedQuery<Query> | Promise<ParsedQuery<Query>> {
  const format = namedFormat(request);
  const asked = { ...whose(request), parameters: request.query };
  const project = findReportProject(context, asked);
  const parse = (found: Project): ParsedQuery<Query> | Promise<never> => {
    const now = context.now();
    try {
      const parsed = context.queries.get(request.url, format, found, now, () =>
        report.parse(parametersOf(request, format), found, now),
      );
      request.stages?.end('parse');
      return parsed;
    } catch (error) {
      return refuse(report, context, found, asked.parameters, error);
    }
  };
  return project instanceof Promise ? project.then(parse) : parse(project);
}

interface Question<Query extends ProjectQuery, Plan, Result> extends ParsedQuery<Query> {
  readonly report: Report<Query, Plan, Result>;
}

function sendNotModified(reply: FastifyReply, etag: string): FastifyReply {
  return reply.code(304).header('etag', etag).send();
}

/** Sends a cached answer at once; otherwise plans, runs and formats it, once for all who ask for it meanwhile. */
function sendCached<Query extends ProjectQuery, Plan, Result>(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  question: Question<Query, Plan, Result>,
  json: (result: Result) => Buffer,
): Promise<FastifyReply> | undefined {
  const { cache } = context;
  const { key, etag } = question;
  const encoding = wantedEncoding(request);
  const cached = cache.find(key, encoding);
  if (cached !== undefined) {
    sendBytes(reply, cached, etag);
    return undefined;
  }
  const make = async (signal: AbortSignal): Promise<Buffer> => {
    const bytes = json(await runQuestion(context, request, question, signal));
    request.stages?.end('format');
    return bytes;
  };
  return cache.make(key, encoding, request.signal, make).then((bytes) => sendBytes(reply, bytes, etag));
}

/** Plans at once, and runs while the JSON is sent. Only so many long answers are on their way at a time. */
async function sendParts<Query extends ProjectQuery, Plan, Result>(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { report, query, etag }: Question<Query, Plan, Result>,
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

/** Sends flat rows in the format of the query, while they are read. */
async function sendRows<Query extends ProjectQuery, Plan, Result>(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  question: Question<Query, Plan, Result>,
  { rows, isLong, version }: FreshFormats<Query, Result>,
  isCached: boolean,
): Promise<FastifyReply> {
  const { query, key, etag, report } = question;
  if (rows === undefined) throw new Error(`${report.operation} has no rows`);
  const result = await runQuestion(context, request, question, request.signal);
  const tag = isCached ? etag : version && etagOf(key, version(result));
  if (tag !== undefined && hasAnswer(request, tag)) return sendNotModified(reply, tag);
  const places = isLong?.(query) ? context.longAnswers : undefined;
  return sendStream(request, reply, places, async () => rowStream(context, query, rows(result), tag));
}

function runQuestion<Query extends ProjectQuery, Plan, Result>(
  context: Context,
  request: FastifyRequest,
  { report, query }: Question<Query, Plan, Result>,
  signal: AbortSignal,
): Promise<Result> {
  const onStage = (name: 'plan' | 'run') => request.stages?.end(name);
  return runReport(report, query, context, reportRequest(request), { ...callerOf(request, signal), onStage });
}

function reportRequest(request: FastifyRequest): ReportRequest {
  return { ...whose(request), parameters: parametersOf(request, namedFormat(request)) };
}

function whose({ principal, params }: FastifyRequest): { workspace: string; id: string } {
  return { workspace: principal!.workspace, id: (params as { id?: string }).id ?? '' };
}

function callerOf({ principal }: FastifyRequest, signal: AbortSignal): Caller {
  return { signal, reader: principal!.id };
}
