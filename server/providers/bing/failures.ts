import { addDays, dayOf } from '../../domain/dates.ts';
import { type ClientErrors, type FailureKind, ProviderFailure } from '../failures.ts';
import type { Pacing } from '../pauses.ts';

const RESTS = 'The rate limit of Bing is reached: the API key rests for ten minutes; try again later.';

export const BING_ERRORS: ClientErrors = {
  accessLost: 'bing_access_lost',
  sentences: {
    'access-lost': 'Bing no longer accepts the API key of this project, or the account of the key lost the site.',
    'load-quota': RESTS,
    'rate-limit': RESTS,
    'not-covered': 'Bing does not have all days of this range; use another range.',
    misconfigured: 'Bing cannot be read; the log of this service contains the reason.',
    broken: 'Bing cannot be reached right now; try again later.',
  },
};

/** A response that is not data. */
export interface Refusal {
  readonly status: number;
  readonly body: string;
}

/** A request that exceeds a limit makes the key rest: further requests prolong it. */
const REST = 600_000;
export const BING_PACING: Pacing = {
  quotaPause: REST,
  ratePause: REST,
  dayOf,
  endOfDay: (now) => Date.parse(addDays(dayOf(now), 1)),
};
const MAX_MESSAGE = 300;

/** Codes of errors (`ApiErrorCode` of the documentation). */
const INTERNAL = [1, 2];
const INVALID_KEY = 3;
const THROTTLED = [4, 5];
const NOT_AUTHORIZED = 14;

/** Classifies a response that is not data: refusals have status 400 and a code. */
export function refusalFailure({ status, body }: Refusal, key: string): ProviderFailure {
  const { code, message } = readError(body);
  const kind = kindOf(status, code);
  const words = [`status ${status}`, ...(code === undefined ? [] : [`error ${code}`]), message];
  const passing =
    kind === 'broken' && (status >= 500 || status === 408 || (code !== undefined && INTERNAL.includes(code)));
  return new ProviderFailure(kind, textOf(words, key), {
    passing,
    ...(code === INVALID_KEY || status === 401 ? { step: 'credentials' } : {}),
  });
}

/** Classifies an error without a response. Such errors may contain the address, and with it the key. */
export function connectionFailure(error: unknown, key: string): ProviderFailure {
  if (error instanceof ProviderFailure) return error;
  const { name, message, cause } = error as Error;
  const { code } = (cause ?? error) as NodeJS.ErrnoException;
  const what = name === 'TimeoutError' ? 'it did not answer in time' : typeof code === 'string' ? code : message;
  return new ProviderFailure('broken', textOf(['no answer', what], key));
}

function kindOf(status: number, code: number | undefined): FailureKind {
  if (status === 429 || (code !== undefined && THROTTLED.includes(code))) return 'rate-limit';
  if (status === 401 || code === INVALID_KEY || code === NOT_AUTHORIZED) return 'access-lost';
  return 'broken';
}

function readError(body: string): { code: number | undefined; message: string } {
  try {
    const { ErrorCode: code, Message: message } = JSON.parse(body) as { ErrorCode?: unknown; Message?: unknown };
    return {
      code: typeof code === 'number' ? code : undefined,
      message: typeof message === 'string' ? message : '',
    };
  } catch {
    // A page of a proxy.
    return { code: undefined, message: '' };
  }
}

function textOf(words: readonly string[], key: string): string {
  const text = words.filter((word) => word !== '').join(', ');
  return text.replaceAll(key, '…').replaceAll(/\s+/g, ' ').slice(0, MAX_MESSAGE);
}
