import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import {
  invalidRequest,
  KnownError,
  notFound,
  UNREADABLE_REQUESTS,
  type UnavailableReason,
  unavailable,
} from '../../domain/errors.ts';
import { classifyFailure, type ResourceFailure } from '../../domain/failures.ts';
import { STATUS_CODES } from '../../runtime/http.ts';
import { answerLostRollup } from './lost-rollups.ts';

/** The body of every error response. */
export function errorBody({ code, message }: Pick<KnownError, 'code' | 'message'>): {
  error: { code: string; message: string };
} {
  return { error: { code, message } };
}

/** The error as the client sees it. Internal details go only to the log. */
export function logError(error: unknown, request: FastifyRequest): KnownError {
  const lost = answerLostRollup(error, request.server);
  const known = lost ?? toKnown(error, request.routeOptions?.config.takesBody === true);
  // Failures caused by a disconnected client are not errors of the service.
  const isGone = known.code === 'server_error' && request.signal?.aborted;
  const what = { id: request.id, err: error };
  if (isGone) request.log.debug(what, 'the client has disconnected');
  else if (known.code === 'server_error') request.log.error(what, 'request failed');
  else if (known.code === 'unavailable') request.log.warn(what, 'answer unavailable');
  return known;
}

const reasons = new WeakMap<FastifyRequest, UnavailableReason>();

/** Why a request was answered with 503; undefined for other requests. */
export function unavailableReason(request: FastifyRequest): UnavailableReason | undefined {
  return reasons.get(request);
}

/** Sends an error with its status, headers and body. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = logError(error, request);
  if (known.status === 503) reasons.set(request, known.reason);
  reply.header('cache-control', 'no-store');
  if (known.code === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  if (known.retryAfter !== undefined) reply.header('retry-after', String(known.retryAfter));
  const body = { ...errorBody(known), ...known.details };
  return reply.code(known.status).type('application/json; charset=utf-8').send(body);
}

/** Messages to clients for failures of disk and memory; details are in the log. */
const FAILURE_MESSAGES: Readonly<Record<ResourceFailure, string>> = {
  'disk-full': 'The service has no disk space left for this response right now.',
  'too-many-files': 'The service cannot open more files right now.',
  'cannot-open': 'The service cannot open its files right now.',
  'read-only': 'The service has no permission to read or write its files right now.',
  'disk-error': 'The storage of the service is failing right now.',
  'out-of-memory': 'The service has no memory left for this response right now.',
  'storage-away': 'The object store of the service does not answer right now.',
  busy: 'The catalog of the service is busy right now.',
  'database-unreachable': 'The service cannot reach its catalog right now.',
};

function toKnown(error: unknown, takesBody: boolean): KnownError {
  if (error instanceof KnownError) return error;
  const { statusCode = 500 } = error as Partial<FastifyError>;
  const code = String((error as Partial<FastifyError>).code);
  if (takesBody && code === 'FST_ERR_CTP_BODY_TOO_LARGE') return invalidRequest('The body is too long.');
  // Other requests with a body have unsupported methods.
  if (code.startsWith('FST_ERR_CTP') || code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE')
    return notFound('The API answers GET and HEAD only.');
  if (statusCode >= 400 && statusCode < 500) {
    return new KnownError('invalid_request', 'The request cannot be read: its address or body is malformed.');
  }
  const failure = classifyFailure(error);
  if (failure !== undefined) return unavailable(FAILURE_MESSAGES[failure], failure, error);
  return new KnownError('server_error', 'The service failed to respond; the failure has been logged.');
}

const UNREADABLE = {
  HPE_HEADER_OVERFLOW: [UNREADABLE_REQUESTS.tooLarge.status, 'The address and headers of the request are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [UNREADABLE_REQUESTS.timeout.status, 'The request took too long to arrive.'],
} as const;
const MALFORMED = [UNREADABLE_REQUESTS.malformed.status, 'The request is not well-formed HTTP.'] as const;

/**
 * Responds to input that is not a valid HTTP request: invalid syntax, headers that are too large or arrive too slowly. The
 * connection is closed. No part of the request is logged, as it may contain secrets.
 */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, log: FastifyBaseLogger): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] = UNREADABLE[error.code as keyof typeof UNREADABLE] ?? MALFORMED;
  const body = JSON.stringify(errorBody({ code: 'invalid_request', message }));
  log.info({ address: socket.remoteAddress, status, reason: error.code }, 'answered');
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
