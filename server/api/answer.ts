import type { FastifyReply, FastifyRequest } from 'fastify';
import { type FormatName, JSON_TYPE, MEDIA_TYPES } from '../domain/formats.ts';
import type { Quality } from '../domain/quality.ts';
import type { RowsAnswer, RowsHead } from '../formats/rows.ts';
import { type AnyPreset, answerCurrent, askPreset, type PresetQuery, type PresetRequest } from '../presets/preset.ts';
import type { Context } from './context.ts';
import { etagOf, matchesEtag, namedFormat, parametersOf, preferredEncoding, varyByAccept } from './negotiation.ts';
import type { EncodedBytes } from './plugins/compression.ts';
import type { StreamedAnswer } from './plugins/streams.ts';
import type { ParsedQuery } from './query-cache.ts';

export type Handler = (context: Context) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** The handler that answers with a preset. */
export function answerWith(preset: AnyPreset): Handler {
  return (context) => (request, reply) => answerCurrent(() => respond(context, preset, request, reply));
}

/**
 * The stages of a request after the guard (authenticate → rate limit → plan of the workspace):
 * find → parse → [304] → [response cache] → plan → run → format → send.
 */
async function respond(
  context: Context,
  preset: AnyPreset,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { signal, stages } = request;
  const asked = presetRequestOf(request);
  const found = preset.find(context, asked);
  const subject = found instanceof Promise ? await found : found;

  if ('format' in preset.parameters) varyByAccept(request, reply);
  const format = namedFormat(request);
  const now = context.now();
  const parse = (): PresetQuery => preset.parse(parametersOf(request, format), subject, now);
  let parsed: ParsedQuery<PresetQuery>;
  try {
    parsed = context.queries.get(addressOf(request), format, subject, now, parse);
  } catch (error) {
    await preset.checkIds?.(request.query, subject, context.catalog);
    throw error;
  }
  const { query, key, etag } = parsed;
  const isStreamed = preset.isStreamed?.(query) === true;
  const isBuffered = query.format === 'json' && !isStreamed;
  // Streamed answers are computed only for clients that wait for them.
  if (preset.followed !== undefined && isBuffered) {
    const repeat = repeatLater(context, preset, asked, request.query as object);
    context.recent.note({ operation: preset.operation, project: preset.followed(subject), repeat });
  }
  stages?.end('parse');

  const isOfQuery = preset.version === undefined;
  if (isOfQuery && matchesEtag(request, etag)) return sendNotModified(reply, etag);

  if (isOfQuery && isBuffered) {
    const encoding = preferredEncoding(request);
    const cached = context.cache.find(key, encoding);
    if (cached !== undefined) return sendBytes(reply, cached, etag);
    const bytes = await context.cache.make(key, encoding, signal, async (sharedSignal) => {
      const made = await preset.json(await preset.run(query, context, { ...asked, signal: sharedSignal }));
      stages?.end('format');
      return made;
    });
    return sendBytes(reply, bytes, etag);
  }

  const result = await preset.run(query, context, asked);
  const tag = isOfQuery ? etag : etagOf(key, preset.version!(result));
  if (!isOfQuery && matchesEtag(request, tag)) return sendNotModified(reply, tag);

  const slots = preset.isLong?.(query) === true ? context.longAnswers : undefined;
  if (query.format !== 'json') {
    return reply.sendStream(slots, async () => rowStream(context, query, preset.rows!(result), tag));
  }
  if (isStreamed) {
    const headers = { 'content-type': JSON_TYPE, etag: tag };
    return reply.sendStream(slots, async () => ({ headers, body: preset.jsonChunks!(result) }));
  }
  const bytes = await preset.json(result);
  stages?.end('format');
  return sendBytes(reply, { bytes, encoding: 'identity' }, tag);
}

/** Runs the same preset later. A separate function, so that it does not hold the request. */
function repeatLater(
  context: Context,
  preset: AnyPreset,
  { workspace, projects, id, reader }: PresetRequest,
  sent: object,
): (signal: AbortSignal) => Promise<unknown> {
  return (signal) => askPreset(preset, context, { workspace, projects, id, reader, signal }, sent);
}

function presetRequestOf({ principal, params, signal, stages }: FastifyRequest): PresetRequest {
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
