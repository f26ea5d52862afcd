import { type ClientErrors, type FailureKind, ProviderFailure, type SetupStep } from '../failures.ts';

export const GOOGLE_ERRORS: ClientErrors = {
  accessLost: 'google_access_lost',
  sentences: {
    'access-lost': 'The search provider no longer grants access to the property of this project.',
    'load-quota': 'The quota of the search provider for this property is exhausted for now; try again later.',
    'rate-limit': 'The rate limit of the search provider is reached; try again later.',
    'not-covered': 'The data warehouse of this project does not have all days of this range; use another range.',
    misconfigured: 'The search provider cannot be read; the log of this service contains the reason.',
    broken: 'The search provider cannot be reached right now; try again later.',
  },
};

/** The relevant parts of an error response of Google's APIs or the token endpoint. */
interface Answer {
  readonly status: number | undefined;
  readonly reasons: readonly string[];
  readonly message: string;
  /** The body is a Google error document, not a page of a proxy. */
  readonly isDocument: boolean;
  readonly retryAfter: number | undefined;
}

/** The load quota is exhausted. */
const LOAD = ['quotaExceeded', 'dailyLimitExceeded'];
/** The rate limit is reached. */
const RATE = ['rateLimitExceeded', 'userRateLimitExceeded', 'RATE_LIMIT_EXCEEDED'];
/** Either quota or rate limit. */
const QUOTA = ['usageLimits', 'RESOURCE_EXHAUSTED'];
const DISABLED = ['accessNotConfigured', 'SERVICE_DISABLED'];
const ACCESS = ['insufficientPermissions', 'accessDenied'];
/** Generic reasons; the message distinguishes the cause. */
const REFUSED = ['forbidden', 'PERMISSION_DENIED'];
/** Problems of the grant or its scope, not of the property. */
const SIGN_IN = ['invalid_grant', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT'];
const SCOPE_WORDS = /authentication scopes/i;
/** Messages are matched last, because they can contain names chosen by users. */
const DISABLED_WORDS = /has not been used in project|it is disabled/i;
const ACCESS_WORDS = /does not have (sufficient )?permission|is not a verified|Access Denied/i;
const QUOTA_WORDS = /\b(quotas?|rate limits?)\b/i;
const MAX_MESSAGE = 300;

/**
 * Classifies an error of Google's client libraries.
 * @param secrets texts to redact from the message
 * @param names names of properties and datasets, which are ignored when matching messages
 */
export function toFailure(error: unknown, secrets: readonly string[], names: readonly string[]): ProviderFailure {
  if (error instanceof ProviderFailure) return error;
  if (
    (error as { type?: unknown }).type === 'max-size' ||
    (error as { cause?: { type?: unknown } }).cause?.type === 'max-size'
  ) {
    return new ProviderFailure('broken', 'the response is too long', { passing: false });
  }
  const answer = readAnswer(error);
  const plain = withoutNames(answer.message, names);
  const kind = meaningOf(answer, plain);
  const { status, reasons, retryAfter } = answer;
  const words = [status === undefined ? 'no answer' : `status ${status}`, ...new Set(reasons), answer.message];
  const message = redact(words.filter((word) => word !== '').join(', '), secrets).slice(0, MAX_MESSAGE);
  // Other 4xx responses would be the same for a retry.
  const refused = status !== undefined && status >= 400 && status < 500 && status !== 408;
  const passing = kind === 'broken' && !refused;
  return new ProviderFailure(kind, message, { passing, retryAfter, step: stepOf(answer, plain, kind) });
}

/** Codes take precedence over the status, and both over the message. */
function meaningOf({ status, reasons, isDocument }: Answer, words: string): FailureKind {
  const has = (codes: readonly string[]): boolean => reasons.some((reason) => codes.includes(reason));
  if (has(['invalid_grant'])) return 'access-lost';
  if (status === 401) return has(['invalid_client']) ? 'misconfigured' : 'access-lost';
  if (has(DISABLED)) return 'misconfigured';
  // Quota is checked before access, because quota errors may have status 403, too.
  if (has(LOAD)) return 'load-quota';
  if (status === 429 || has(RATE)) return 'rate-limit';
  if (has(QUOTA)) return 'load-quota';
  // OpenSSL errors mean an unreadable private key.
  if (reasons.some((reason) => reason === 'bytesBilledLimitExceeded' || reason.startsWith('ERR_OSSL'))) {
    return 'misconfigured';
  }
  if (status === 403 && isDocument) {
    if (has(ACCESS) || ACCESS_WORDS.test(words)) return 'access-lost';
    if (DISABLED_WORDS.test(words)) return 'misconfigured';
    if (QUOTA_WORDS.test(words)) return 'load-quota';
    return has(REFUSED) ? 'access-lost' : 'broken';
  }
  return status === 404 && isDocument ? 'access-lost' : 'broken';
}

/** The missing setup step that an error identifies. */
function stepOf({ status, reasons }: Answer, words: string, kind: FailureKind): SetupStep | undefined {
  const has = (codes: readonly string[]): boolean => reasons.some((reason) => codes.includes(reason));
  if (kind === 'access-lost')
    return has(SIGN_IN) || status === 401 || SCOPE_WORDS.test(words) ? 'credentials' : undefined;
  if (kind !== 'misconfigured') return undefined;
  if (has(DISABLED) || DISABLED_WORDS.test(words)) return 'api';
  return has(['bytesBilledLimitExceeded']) ? undefined : 'credentials';
}

/** Removes names in all spellings, URLs and quoted texts from a message. */
function withoutNames(message: string, names: readonly string[]): string {
  const written = names
    .flatMap((name) => [
      name,
      encodeURIComponent(name),
      name.replace(/^(sc-domain:|https?:\/\/)/, '').replace(/\/$/, ''),
    ])
    .filter((name) => name !== '')
    .sort((a, b) => b.length - a.length);
  const named = written.reduce((text, name) => text.replaceAll(name.toLowerCase(), ' '), message.toLowerCase());
  return named.replaceAll(/\w+:\/\/\S+|sc-domain:\S+|(?<!\w)'[^']*'|"[^"]*"/g, ' ');
}

function readAnswer(error: unknown): Answer {
  const { status, code, response, errors, message = '' } = (error ?? {}) as LibraryError;
  const data = response?.data ?? response?.body;
  const body = (typeof data === 'object' && data !== null ? data : parse(data)) as ErrorDocument | undefined;
  const document = typeof body?.error === 'object' ? body.error : undefined;
  const listed = [...(document?.errors ?? []), ...(document?.details ?? []), ...(errors ?? [])];
  const reasons = [
    typeof body?.error === 'string' ? body.error : undefined,
    ...listed.flatMap(({ domain, reason }) => [reason, domain === 'usageLimits' ? domain : undefined]),
    document?.status,
    typeof code === 'string' ? code : undefined,
  ].filter((reason) => typeof reason === 'string');
  const isDocument = document !== undefined || typeof body?.error === 'string' || (errors ?? []).length > 0;
  return {
    status: numberOf(response?.status) ?? numberOf(response?.statusCode) ?? numberOf(status) ?? numberOf(code),
    reasons,
    // Other bodies are HTML pages and can be long.
    message: document?.message ?? body?.error_description ?? (isDocument || response === undefined ? message : ''),
    isDocument,
    retryAfter: retryAfterOf(response?.headers),
  };
}

interface LibraryError {
  readonly status?: unknown;
  readonly code?: unknown;
  readonly message?: string;
  readonly errors?: readonly Reason[];
  readonly response?: { status?: unknown; statusCode?: unknown; data?: unknown; body?: unknown; headers?: unknown };
}

interface Reason {
  readonly domain?: string;
  readonly reason?: string;
}

interface ErrorDocument {
  readonly error?:
    | string
    | { message?: string; status?: string; errors?: readonly Reason[]; details?: readonly Reason[] };
  readonly error_description?: string;
}

function parse(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function numberOf(value: unknown): number | undefined {
  const number = Number(value);
  return Number.isInteger(number) && number >= 100 && number < 600 ? number : undefined;
}

/** `Retry-After` in milliseconds, from seconds or a date. The client libraries have different header types. */
function retryAfterOf(headers: unknown): number | undefined {
  const { get } = (headers ?? {}) as { get?: unknown };
  const text: unknown =
    typeof get === 'function'
      ? (headers as Headers).get('retry-after')
      : (headers as Readonly<Record<string, unknown>> | undefined)?.['retry-after'];
  if (typeof text !== 'string') return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '…'), text).replaceAll(/\s+/g, ' ');
}
