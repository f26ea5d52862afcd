import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Project } from '../catalog/projects.ts';
import { type FormatName, JSON_TYPE, MEDIA_TYPES } from '../domain/formats.ts';
import type { Quality } from '../domain/quality.ts';
import type { RowsAnswer, RowsHead } from '../formats/rows.ts';
import { answerCurrent, askReport, type Report, type ReportQuery, type ReportRequest } from '../presets/report.ts';
import { etagOf, matchesEtag, namedFormat, parametersOf, preferredEncoding, varyByAccept } from './negotiation.ts';
import type { EncodedBytes } from './plugins/compression.ts';
import type { StreamedAnswer } from './plugins/streams.ts';
import type { ParsedQuery } from './query-cache.ts';
import type { Context } from './routes/context.ts';

export type Handler = (context: Context) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** How the result of a report becomes a response. */
interface Formats<Subject, Query, Result> {
  readonly json: (result: Result) => Buffer | Promise<Buffer>;
  /** Streams JSON that is too long to cache; undefined if it can be cached. */
  readonly jsonChunks?: (query: Query) => ((result: Result) => AsyncGenerator<Buffer, void>) | undefined;
  /** Flat rows, for all formats except JSON. */
  readonly rows?: (result: Result) => RowsAnswer;
  /** Whether the response may be so long that concurrency must be limited. */
  readonly isLong?: (query: Query) => boolean;
  /**
   * For results that change without a revision: what the response depends on besides the query value. They are not cached,
   * and their entity tag is known only when they have been read.
   */
  readonly version?: (result: Result) => string;
  /** The project of a subject, if the request is repeated after a publication: see `followPublications`. */
  readonly followed?: (subject: Subject) => Project;
}

/** The version of a short result: its JSON. */
export const wholeResult = (result: unknown): string => JSON.stringify(result);

/** The handler that answers with a report. */
export function answerWith<Subject extends { readonly workspaceId: string }, Query extends ReportQuery, Result>(
  report: Report<Subject, Query, Result>,
  formats: Formats<Subject, Query, Result>,
): Handler {
  return (context) => (request, reply) => answerCurrent(() => respond(context, report, formats, request, reply));
}

/**
 * The stages of a request after the guard (authenticate → rate limit → plan of the workspace):
 * find → parse → [304] → [response cache] → plan → run → format → send.
 */
async function respond<Subject extends { readonly workspaceId: string }, Query extends ReportQuery, Result>(
  context: Context,
  report: Report<Subject, Query, Result>,
  { json, jsonChunks, rows, isLong, version, followed }: Formats<Subject, Query, Result>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { signal, stages } = request;
  const asked = reportRequestOf(request);
  const found = report.find(context, asked);
  const subject = found instanceof Promise ? await found : found;

  if ('format' in report.parameters) varyByAccept(request, reply);
  const format = namedFormat(request);
  const now = context.now();
  const parse = (): Query => report.parse(parametersOf(request, format), subject, now);
  let parsed: ParsedQuery<Query>;
  try {
    parsed = context.queries.get(addressOf(request), format, subject, now, parse);
  } catch (error) {
    await report.checkIds?.(request.query, subject, context.catalog);
    throw error;
  }
  const { query, key, etag } = parsed;
  const chunks = jsonChunks?.(query);
  const isBuffered = query.format === 'json' && chunks === undefined;
  // Streamed answers are computed only for clients that wait for them.
  if (followed !== undefined && isBuffered) {
    const repeat = repeatLater(context, report, asked, request.query as object);
    context.recent.note({ operation: report.operation, project: followed(subject), repeat });
  }
  stages?.end('parse');

  if (version === undefined && matchesEtag(request, etag)) return sendNotModified(reply, etag);

  if (version === undefined && isBuffered) {
    const encoding = preferredEncoding(request);
    const cached = context.cache.find(key, encoding);
    if (cached !== undefined) return sendBytes(reply, cached, etag);
    const bytes = await context.cache.make(key, encoding, signal, async (sharedSignal) => {
      const made = await json(await report.run(query, context, { ...asked, signal: sharedSignal }));
      stages?.end('format');
      return made;
    });
    return sendBytes(reply, bytes, etag);
  }

  const result = await report.run(query, context, asked);
  const tag = version === undefined ? etag : etagOf(key, version(result));
  if (version !== undefined && matchesEtag(request, tag)) return sendNotModified(reply, tag);

  const slots = isLong?.(query) === true ? context.longAnswers : undefined;
  if (query.format !== 'json') {
    return reply.sendStream(slots, async () => rowStream(context, query, rows!(result), tag));
  }
  if (chunks !== undefined) {
    const headers = { 'content-type': JSON_TYPE, etag: tag };
    return reply.sendStream(slots, async () => ({ headers, body: chunks(result) }));
  }
  const bytes = await json(result);
  stages?.end('format');
  return sendBytes(reply, { bytes, encoding: 'identity' }, tag);
}

/** Runs the same report later. A separate function, so that it does not hold the request. */
function repeatLater<Subject, Query extends ReportQuery, Result>(
  context: Context,
  report: Report<Subject, Query, Result>,
  { workspace, projects, id, reader }: ReportRequest,
  sent: object,
): (signal: AbortSignal) => Promise<Result> {
  return (signal) => askReport(report, context, { workspace, projects, id, reader, signal }, sent);
}

function reportRequestOf({ principal, params, signal, stages }: FastifyRequest): ReportRequest {
  const { workspace, projects, id: reader } = principal!;
  const { id = '' } = params as { id?: string };
  return { workspace, projects, id, reader, signal, onStage: (name) => stages?.end(name) };
}

/** The URL, with the body of POST. */
function addressOf({ url, body }: FastifyRequest): string {
  return typeof body === 'string' ? `${url} ${body}` : url;
}

function sendNotModified(reply: FastifyReply, etag: string): FastifyReply {
  return reply.code(304).header('etag', etag).send();
}

/** Sends JSON bytes. */
function sendBytes(reply: FastifyReply, { bytes, encoding }: EncodedBytes, etag: string): FastifyReply {
  reply.header('etag', etag);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.type(JSON_TYPE).send(bytes);
}

/** Sends flat rows as CSV, for addresses that have no other format. */
export function sendCsv(
  reply: FastifyReply,
  context: Context,
  { rows, bom }: { readonly rows: RowsAnswer; readonly bom: boolean },
): Promise<FastifyReply> {
  return reply.sendStream(context.longAnswers, async () => rowStream(context, { format: 'csv', bom }, rows));
}

/** Flat rows in the requested format, with the metadata of the JSON response as headers. */
function rowStream(
  { rowFormats }: Pick<Context, 'rowFormats'>,
  { format, bom }: { readonly format: FormatName; readonly bom: boolean },
  answer: RowsAnswer,
  etag?: string,
): StreamedAnswer {
  if (format === 'json') throw new Error('JSON is not a format for flat rows');
  const { isText, write } = rowFormats[format];
  const { quality, remainder } = answer.head;
  const known = Object.entries({ quality, remainder }).filter(([, value]) => value !== undefined);
  const metadata = Object.fromEntries(known.map(([name, value]) => [name, asciiJson(value!)]));
  const short = { ...metadata, ...(quality && { quality: asciiJson(shortQuality(quality)) }) };
  const headers = {
    'content-type': `${MEDIA_TYPES[format]}${isText ? '; charset=utf-8' : ''}`,
    ...headersOf(answer.head, format),
    ...Object.fromEntries(Object.entries(short).map(([name, json]) => ['x-'.concat(name), json])),
    ...(etag === undefined ? {} : { etag }),
  };
  return { headers, body: write(answer, { bom, metadata }) };
}

function headersOf({ name, total, range }: RowsHead, format: FormatName): Record<string, string> {
  const days = range === undefined ? '' : `-${range.from}-${range.to}`;
  const file = `${name}${days}.${format}`.replaceAll(/[^\w.-]+/g, '-');
  return {
    'content-disposition': `attachment; filename="${file}"`,
    'x-total-count': String(total),
    ...(range === undefined ? {} : { 'x-range-from': range.from, 'x-range-to': range.to }),
    ...(range?.provisionalAfter ? { 'x-provisional-after': range.provisionalAfter } : {}),
    ...(range?.comparison
      ? { 'x-comparison-from': range.comparison.from, 'x-comparison-to': range.comparison.to }
      : {}),
  };
}

/** Ranges of missing days in a header: proxies limit all headers to 4 or 8 kB. */
const MAX_RANGES = 40;

/** The quality as in headers. */
function shortQuality({ missing, ...quality }: Quality): object {
  return missing.length > MAX_RANGES ? quality : { ...quality, missing };
}

/** JSON in ASCII, for a header. */
function asciiJson(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
