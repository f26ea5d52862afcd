import type { ResourceFailure } from './failures.ts';

/**
 * All errors of the API in one table. A published code is never reused for another meaning.
 * The table in the documentation and the OpenAPI document derive from it.
 */
export const ERRORS = {
  invalid_request: { status: 400, when: 'a parameter is missing, malformed or out of range' },
  unauthorized: { status: 401, when: 'no key, an invalid key, or a revoked key' },
  plan_required: { status: 403, when: 'the workspace is on the Free plan' },
  scope_required: { status: 403, when: 'the key was not created with the scope that the endpoint needs' },
  not_found: { status: 404, when: 'unknown path, project or group, or a project that has not finished setup' },
  google_access_lost: { status: 409, when: 'the search provider no longer grants access to the property' },
  rate_limited: { status: 429, when: 'more requests than a key or an address may send in a minute' },
  server_error: { status: 500, when: 'a failure on the service side' },
  unavailable: { status: 503, when: 'the answer is not available right now; try again after Retry-After seconds' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** Errors that only the dashboard can get. */
const DASHBOARD_ERRORS = {
  forbidden: { status: 403, when: 'the request was not sent by the dashboard, or the role does not allow it' },
  bing_access_lost: { status: 409, when: 'Bing no longer accepts the key of the project, or its site' },
  conflict: { status: 409, when: 'the state of what would change does not allow it' },
  outdated: { status: 409, when: 'what would change is not what the member has read: somebody has changed it' },
} as const;

/** `invalid_request` has other statuses for requests that cannot be parsed and for byte ranges outside of a file. */
export const UNREADABLE_REQUESTS = {
  malformed: { status: 400, when: 'the request is not well-formed HTTP' },
  timeout: { status: 408, when: 'the request took too long to arrive' },
  outOfRange: { status: 416, when: 'a file has none of the bytes that Range asks for' },
  tooLarge: { status: 431, when: 'the address and headers of the request are longer than 16 kB' },
} as const;

/** Why a response is a 503, for metrics: failures of the machine, and these. */
export type UnavailableReason = ResourceFailure | (typeof UNAVAILABLE_REASONS)[number];

export const UNAVAILABLE_REASONS = [
  'busy-long-answers',
  'busy-statements',
  'time-limit',
  'list-wait',
  'list-unreadable',
  'list-without-source',
  'provider-load-quota',
  'provider-rate-limit',
  'provider-not-covered',
  'provider-misconfigured',
  'provider-broken',
  'catalog-lost',
  'newer-version',
  'trino',
  'not-ready',
  'stopping',
  'rollup-lost',
  'other',
] as const;

/** An error whose code and message are sent to the client. Any other error becomes `server_error`. */
export class KnownError extends Error {
  readonly code: ErrorCode | keyof typeof DASHBOARD_ERRORS;
  /** Seconds after which a client should retry. */
  readonly retryAfter: number | undefined;
  /** Why the response is a 503. */
  readonly reason: UnavailableReason;
  readonly status: number;
  /** Fields of the body besides `error`. */
  readonly details: object;

  constructor(
    code: KnownError['code'],
    message: string,
    options: {
      status?: number;
      retryAfter?: number;
      cause?: unknown;
      reason?: UnavailableReason;
      details?: object;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'KnownError';
    this.code = code;
    this.status = options.status ?? { ...ERRORS, ...DASHBOARD_ERRORS }[code].status;
    this.retryAfter = options.retryAfter;
    this.reason = options.reason ?? 'other';
    this.details = options.details ?? {};
  }
}

/** A 400. `message` names the wrong parameter and the valid values. */
export function invalidRequest(message: string): KnownError {
  return new KnownError('invalid_request', message);
}

/** A 416 for a file of so many bytes. */
export function outOfRange(size: number): KnownError {
  const { status } = UNREADABLE_REQUESTS.outOfRange;
  return new KnownError('invalid_request', `Range must begin within the ${size} bytes of the file.`, { status });
}

/** A 404. */
export function notFound(message: string): KnownError {
  return new KnownError('not_found', message);
}

/** A 503, sent with `Retry-After: 60`. */
export function unavailable(message: string, reason: UnavailableReason, cause?: unknown): KnownError {
  return new KnownError('unavailable', message, { retryAfter: 60, cause, reason });
}

/** A 503 for a request that arrives when the server stops, sent with `Retry-After: 5`. */
export function stopping(): KnownError {
  return new KnownError('unavailable', 'The service is stopping; try again in a few seconds.', {
    retryAfter: 5,
    reason: 'stopping',
  });
}

/** A 503 for a request that waited too long for a slot, sent with `Retry-After: 5`. */
export function busy(): KnownError {
  return new KnownError('unavailable', 'The service is busy with long answers; try again in a few seconds.', {
    retryAfter: 5,
    reason: 'busy-long-answers',
  });
}
