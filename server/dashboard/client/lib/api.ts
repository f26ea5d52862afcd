import { computed, signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Session } from './types.ts';

/** Where this page asks: a shared link has an API of its own. */
export const share = /^\/share\/[^/]+/.exec(location.pathname)?.[0];
const ROOT = share === undefined ? '/app/api' : `${share}/api`;

/** An answer that is an error, in the words of the API. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Seconds after which to try again; null where that would not help. */
  readonly retryAfter: number | null;
  /** Whether it is a state that only somebody can change, and no failure: a list without a source. */
  readonly isLasting: boolean;

  constructor(status: number, code: string, message: string, retryAfter: number | null, isLasting = false) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = isLasting ? null : retryAfter;
    this.isLasting = isLasting;
  }
}

/** Who is signed in; null: nobody; undefined: not known yet. */
export const session = signal<Session | null | undefined>(undefined);

/** Whether the session may do what owners and admins do. */
export const isManager = computed(() => session.value?.role === 'owner' || session.value?.role === 'admin');
/** Why the sign-in page is shown to somebody who was signed in. */
export const signedOutBecause = signal('');

/** Sends a request to the dashboard's own API. Throws `ApiError`; a session that has ended shows the sign-in page. */
export async function request<T>(path: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(ROOT + path, init);
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new ApiError(0, 'offline', 'The server cannot be reached. Is it running, and are you online?', null);
  }
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T;
  const error = await readError(response);
  if (error.status === 401 && share === undefined) {
    if (session.value) signedOutBecause.value = 'Your session has ended. Sign in again to go on where you were.';
    session.value = null;
    forgetAnswers();
  }
  throw error;
}

/** The error of an answer, from the server or from a proxy before it. */
export async function readError(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as { error?: { code?: string; message?: string } };
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiError(
    response.status,
    body.error?.code ?? 'unknown',
    body.error?.message ?? `The server answered with status ${response.status}.`,
    Number.isFinite(retryAfter) ? retryAfter : null,
    response.headers.get('x-unavailable-reason') === 'list-without-source',
  );
}

/** Answers that are shown at once when a screen is visited again, while they are requested again. */
const answers = new Map<string, { readonly data: unknown; readonly at: number }>();
const MAX_ANSWERS = 60;
/** An answer this young is not requested again, in milliseconds. */
const FRESH = 20_000;

export function forgetAnswers(): void {
  answers.clear();
}

function remember(path: string, data: unknown): void {
  answers.delete(path);
  answers.set(path, { data, at: Date.now() });
  for (const oldest of answers.keys()) {
    if (answers.size <= MAX_ANSWERS) break;
    answers.delete(oldest);
  }
}

/** A request under way, which all who need its answer share. */
interface Pending {
  readonly answer: Promise<unknown>;
  readonly leaving: AbortController;
  users: number;
}
const pending = new Map<string, Pending>();

function join(path: string): Pending {
  const known = pending.get(path);
  if (known !== undefined) return known;
  const leaving = new AbortController();
  const answer = request<unknown>(path, { signal: leaving.signal }).then((data) => {
    if (!leaving.signal.aborted) remember(path, data);
    return data;
  });
  const made: Pending = { answer, leaving, users: 0 };
  pending.set(path, made);
  const forget = (): void => {
    if (pending.get(path) === made) pending.delete(path);
  };
  // Those who use the answer handle its failure.
  void answer.catch(() => undefined).finally(forget);
  return made;
}

/** Requests what a screen will need, before the parts of the screen do. */
export function ask(paths: readonly string[]): void {
  for (const path of paths) if (!isFresh(path)) join(path);
}

function isFresh(path: string): boolean {
  const known = answers.get(path);
  return known !== undefined && Date.now() - known.at < FRESH;
}

export interface Resource<T> {
  /** The last answer, also while another is awaited; undefined before the first and after a failure. */
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  /** Whether `data` answers another question than the current one, or none. */
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/**
 * The answer of the API at a path; with null nothing is requested. Stale answers stay until new ones come.
 * @param poll requests it again after so many milliseconds while the page is visible
 */
export function useResource<T>(path: string | null, { poll }: { poll?: number | undefined } = {}): Resource<T> {
  const [state, setState] = useState<{ path: string | null; data: T | undefined; error: ApiError | undefined }>({
    path: null,
    data: undefined,
    error: undefined,
  });
  const [attempt, setAttempt] = useState(0);
  const handled = useRef(0);
  const reload = (): void => setAttempt((count) => count + 1);

  useEffect(() => {
    if (path === null) return;
    const known = answers.get(path);
    if (known !== undefined) {
      setState({ path, data: known.data as T, error: undefined });
      if (isFresh(path) && handled.current === attempt) return;
    }
    handled.current = attempt;
    const shared = join(path);
    shared.users += 1;
    let hasLeft = false;
    shared.answer.then(
      (data) => {
        if (!hasLeft) setState({ path, data: data as T, error: undefined });
      },
      (error: unknown) => {
        if (hasLeft) return;
        const shown = error instanceof ApiError ? error : new ApiError(0, 'unknown', String(error), null);
        // Numbers of another question would stand under the names of this one.
        setState({ path, data: undefined, error: shown });
      },
    );
    return () => {
      hasLeft = true;
      shared.users -= 1;
      if (shared.users > 0) return;
      if (pending.get(path) === shared) pending.delete(path);
      shared.leaving.abort();
    };
  }, [path, attempt]);

  // A limit or a busy provider passes: try again without a click, once it may help.
  const wait = state.error?.retryAfter ?? poll;
  useEffect(() => {
    if (wait === undefined || wait === null || path === null) return;
    const again = (): void => {
      if (!document.hidden) reload();
    };
    const timer = setTimeout(again, state.error?.retryAfter ? Math.min(wait, 60) * 1000 : wait);
    return () => clearTimeout(timer);
  }, [state, wait, path]);

  if (path === null) return { data: undefined, error: undefined, isLoading: false, reload };
  // What is remembered of this path shows in the first frame.
  const known = state.path === path ? undefined : answers.get(path);
  if (known !== undefined) return { data: known.data as T, error: undefined, isLoading: false, reload };
  return {
    data: state.data,
    error: state.path === path ? state.error : undefined,
    isLoading: state.path !== path,
    reload,
  };
}

/** A path of the API with parameters; those without a value are left out. */
export function apiPath(
  path: string,
  parameters: Readonly<Record<string, string | number | null | undefined>> = {},
): string {
  const given = Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value === null || value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const query = new URLSearchParams(given).toString();
  return query === '' ? path : `${path}?${query}`;
}
