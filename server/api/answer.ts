import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Project } from '../catalog/projects.ts';
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
import { wantedEncoding } from './plugins/compression.ts';
import type { ParsedQuery } from './query-cache.ts';
import { sendBytes } from './response-cache.ts';
import type { Context } from './routes/context.ts';
import { sendStream } from './send-stream.ts';

// The way of a request that has passed the guard (authenticate → limit → plan of the workspace):
// find project → parse → [response cache] → plan → run → format → send.

/** What a route's handler gives back: a reply or bytes, now or later, or nothing when the answer has been sent. */
export type Answered = Promise<FastifyReply | Buffer> | FastifyReply | Buffer | undefined;

type Handler = (context: Context) => (request: FastifyRequest, reply: FastifyReply) => Answered;

/** Answers from the response cache, or runs the report and caches its bytes. */
export function answerCached<Query extends ProjectQuery, Plan, Result>(
  report: Report<Query, Plan, Result>,
  format: (result: Result) => Buffer,
): Handler {
  return (context) => (request, reply) => {
    const send = (parsed: ParsedQuery<Query>) => sendCached(context, request, reply, { ...parsed, report, format });
    return whenParsed(parseRequest(context, report, request), reply, send);
  };
}

/** Runs the report for each request. */
export function answerFresh<Query extends ProjectQuery, Plan, Result>(
  report: Report<Query, Plan, Result>,
  format: (result: Result) => Buffer,
): Handler {
  return (context) => async (request, reply) => {
    const parsed = await parseRequest(context, report, request);
    const bytes = await makeBytes(context, request, { ...parsed, report, format }, request.signal);
    return sendBytes(reply, { bytes, encoding: 'identity' });
  };
}

/** Finds the project and parses the parameters: the query that a request means, at once where the project is cached. */
export function parseRequest<Query extends ProjectQuery>(
  context: Context,
  report: Parser<Query>,
  request: FastifyRequest,
): ParsedQuery<Query> | Promise<ParsedQuery<Query>> {
  const asked = reportRequest(request);
  const project = findReportProject(context, asked);
  const parse = (found: Project): ParsedQuery<Query> | Promise<never> => {
    const now = context.now();
    try {
      const parsed = context.queries.get(request.url, found, now, () => report.parse(asked.parameters, found, now));
      request.stages?.end('parse');
      return parsed;
    } catch (error) {
      return refuse(report, context, found, asked.parameters, error);
    }
  };
  return project instanceof Promise ? project.then(parse) : parse(project);
}

/** Goes on at once where a query is there at once: a cached answer is sent without waiting for anything. */
export function whenParsed<Query>(
  parsed: ParsedQuery<Query> | Promise<ParsedQuery<Query>>,
  reply: FastifyReply,
  send: (parsed: ParsedQuery<Query>) => Promise<FastifyReply> | undefined,
): Promise<FastifyReply> | undefined {
  return parsed instanceof Promise ? parsed.then((found) => send(found) ?? reply) : send(parsed);
}

interface Question<Query extends ProjectQuery, Plan, Result, Formatted> extends ParsedQuery<Query> {
  readonly report: Report<Query, Plan, Result>;
  readonly format: (result: Result) => Formatted;
}

/** Sends a cached answer at once; otherwise plans, runs and formats it, once for all who ask for it meanwhile. */
export function sendCached<Query extends ProjectQuery, Plan, Result>(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  question: Question<Query, Plan, Result, Buffer>,
): Promise<FastifyReply> | undefined {
  const { cache } = context;
  const { key } = question;
  const encoding = wantedEncoding(request);
  const cached = cache.find(key, encoding);
  if (cached !== undefined) {
    sendBytes(reply, cached);
    return undefined;
  }
  return cache
    .make(key, encoding, request.signal, (signal) => makeBytes(context, request, question, signal))
    .then((bytes) => sendBytes(reply, bytes));
}

/**
 * Plans at once, and runs while the answer is sent. Only so many long answers are on their way at a time.
 * @param how what is sent, and whether it may be long
 */
export async function sendStreamed<Query extends ProjectQuery, Plan, Result>(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { report, query, format }: Question<Query, Plan, Result, AsyncGenerator<Buffer, void>>,
  how: { readonly isLong: boolean; readonly contentType: string },
): Promise<FastifyReply> {
  const { stages } = request;
  const plan = await planReport(report, query, context, reportRequest(request));
  stages?.end('plan');
  const make = async (signal: AbortSignal): Promise<AsyncGenerator<Buffer, void>> => {
    const result = await report.run(plan, context, callerOf(request, signal));
    stages?.end('run');
    return format(result);
  };
  return sendStream(request, reply, how.isLong ? context.longAnswers : undefined, make, how.contentType);
}

async function makeBytes<Query extends ProjectQuery, Plan, Result>(
  context: Context,
  request: FastifyRequest,
  { report, query, format }: Question<Query, Plan, Result, Buffer>,
  signal: AbortSignal,
): Promise<Buffer> {
  const { stages } = request;
  const onStage = (name: 'plan' | 'run') => stages?.end(name);
  const caller = { ...callerOf(request, signal), onStage };
  const bytes = format(await runReport(report, query, context, reportRequest(request), caller));
  stages?.end('format');
  return bytes;
}

function reportRequest({ principal, params, query }: FastifyRequest): ReportRequest {
  return { workspace: principal!.workspace, id: (params as { id?: string }).id ?? '', parameters: query };
}

function callerOf({ principal }: FastifyRequest, signal: AbortSignal): Caller {
  return { signal, reader: principal!.keyId };
}
