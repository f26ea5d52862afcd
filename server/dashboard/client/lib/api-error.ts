/** An answer that is an error, in the words of the API. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Seconds after which to try again; null where that would not help. */
  readonly retryAfter: number | null;
  /** Whether it is a state that only somebody can change, and no failure: a list without a source. */
  readonly isLasting: boolean;
  /** Of a question that cannot be answered: parts to replace, so that it can. */
  readonly nearest: readonly unknown[];

  constructor(
    status: number,
    code: string,
    message: string,
    retryAfter: number | null,
    { isLasting = false, nearest = [] }: { isLasting?: boolean; nearest?: readonly unknown[] } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = isLasting ? null : retryAfter;
    this.isLasting = isLasting;
    this.nearest = nearest;
  }
}

/** What an answer says besides its body. */
interface AnswerHead {
  readonly status: number;
  /** Seconds, as the header `Retry-After`. */
  readonly retryAfter: number | null;
  /** Why it is unavailable. */
  readonly reason: string | null;
}

/** The error of a request that got no answer. */
export function offline(): ApiError {
  return new ApiError(0, 'offline', 'The server cannot be reached. Is it running, and are you online?', null);
}

/** The error of an answer, from the server or from a proxy before it. */
export async function readError(response: Response): Promise<ApiError> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return errorOf(await response.json().catch(() => ({})), {
    status: response.status,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
    reason: response.headers.get('x-unavailable-reason'),
  });
}

/** The error that a body has. */
export function errorOf(body: unknown, { status, retryAfter, reason }: AnswerHead): ApiError {
  const { error, nearest = [] } = (body ?? {}) as {
    error?: { code?: string; message?: string };
    nearest?: readonly unknown[];
  };
  const message = error?.message ?? `The server answered with status ${status}.`;
  return new ApiError(status, error?.code ?? 'unknown', message, retryAfter, {
    isLasting: reason === 'list-without-source',
    nearest,
  });
}
