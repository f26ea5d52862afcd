import { type FailureKind, ProviderFailure } from './failures.ts';

/** The parts of an error answer of Google's APIs and of the token endpoint that tell what happened. */
interface Answer {
  readonly status: number | undefined;
  readonly reasons: readonly string[];
  readonly message: string;
  /** It is one of Google's error documents, and not a page of something between. */
  readonly isDocument: boolean;
  readonly retryAfter: number | undefined;
}

const QUOTA = [
  'quotaExceeded',
  'dailyLimitExceeded',
  'rateLimitExceeded',
  'userRateLimitExceeded',
  'usageLimits',
  'RESOURCE_EXHAUSTED',
  'RATE_LIMIT_EXCEEDED',
];
const QUOTA_WORDS = /quota|rate limit/i;
const ACCESS = ['forbidden', 'insufficientPermissions', 'accessDenied', 'PERMISSION_DENIED'];
const ACCESS_WORDS = /does not have (sufficient )?permission|is not a verified|Access Denied/i;
const DISABLED = /has not been used in project|it is disabled|SERVICE_DISABLED|accessNotConfigured/i;
const LONGEST_MESSAGE = 300;

/**
 * What an error of Google's client libraries means. `secrets` are struck from the message, whatever put them there.
 */
export function toFailure(error: unknown, secrets: readonly string[]): ProviderFailure {
  if (error instanceof ProviderFailure) return error;
  const answer = readAnswer(error);
  const kind = meaningOf(answer);
  const { status, reasons, retryAfter } = answer;
  const words = [status === undefined ? 'no answer' : `status ${status}`, ...new Set(reasons), answer.message];
  const message = strike(words.filter((word) => word !== '').join(', '), secrets).slice(0, LONGEST_MESSAGE);
  // A refusal that will be the same a moment later is not asked for again.
  const refused = status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;
  const passing = kind === 'rate-limit' || (kind === 'broken' && !refused);
  return new ProviderFailure(kind, message, { passing, retryAfter });
}

function meaningOf({ status, reasons, message, isDocument }: Answer): FailureKind {
  const all = [...reasons, message].join(' ');
  if (reasons.includes('invalid_grant')) return 'access-lost';
  if (status === 401) return reasons.includes('invalid_client') ? 'misconfigured' : 'access-lost';
  if (DISABLED.test(all)) return 'misconfigured';
  // Quota goes before access: a 403 that tells of quota has been taken for lost access by others.
  if (status === 429) return reasons.includes('quotaExceeded') ? 'load-quota' : 'rate-limit';
  if (reasons.some((reason) => QUOTA.includes(reason)) || (status === 403 && QUOTA_WORDS.test(message))) {
    return 'load-quota';
  }
  // A private key that OpenSSL cannot read never leaves this machine.
  if (reasons.some((reason) => reason === 'bytesBilledLimitExceeded' || reason.startsWith('ERR_OSSL'))) {
    return 'misconfigured';
  }
  if (!isDocument) return 'broken';
  if (status === 403 && (reasons.some((reason) => ACCESS.includes(reason)) || ACCESS_WORDS.test(message))) {
    return 'access-lost';
  }
  if (status === 404) return 'access-lost';
  return 'broken';
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
    // The body of what is not a document is a page for people, and can be long.
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

/** `Retry-After` in milliseconds; it is a number of seconds or a date. The client libraries differ in their headers. */
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

function strike(text: string, secrets: readonly string[]): string {
  return secrets.reduce((struck, secret) => struck.replaceAll(secret, '…'), text).replaceAll(/\s+/g, ' ');
}
