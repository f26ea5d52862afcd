import { computed, signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, errorOf, offline, readError } from './api-error.ts';
import type { Session } from './types.ts';

export { ApiError, readError } from './api-error.ts';

/** Where this page asks: a shared link has an API of its own. */
export const share = /^\/share\/[^/]+/.exec(location.pathname)?.[0];
const ROOT = share === undefined ? '/app/api' : `${share}/api`;

/** Who is signed in; null: nobody; undefined: not known yet. */
export const session = signal<Session | null | undefined>(undefined);

/** Whether the session may do what owners and admins do. */
export const isManager = computed(() => session.value?.role === 'owner' || session.value?.role === 'admin');
/** Why the sign-in page is shown to somebody who was signed in. */
export const signedOutBecause = signal('');

/** Sends a request to the dashboard's own API. Throws `ApiError`; a session that has ended shows the sign-in page. */
export async function request<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await send(path, init);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** The text of a file of the API, and the name that the API gives it. Throws `ApiError`. */
export async function requestFile(path: string): Promise<{ readonly text: string; readonly name: string }> {
  const response = await send(path, {});
  const [, name = 'rows.csv'] = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? [];
  return { text: await response.text(), name };
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(ROOT + path, init);
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw offline();
  }
  if (response.ok) return response;
  const error = await readError(response);
  if (error.status === 401 && share === undefined) {
    if (session.value) signedOutBecause.value = 'Your session has ended. Sign in again to go on where you were.';
    session.value = null;
    forgetAnswers();
  }
  throw error;
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
  return waitFor(path, request<unknown>(path, { signal: leaving.signal }), leaving);
}

function waitFor(path: string, asked: Promise<unknown>, leaving: AbortController): Pending {
  const answer = asked.then((data) => {
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

/** Requests what a screen will need in one request, before the parts of the screen do; null is left out. */
function ask(paths: readonly (string | null)[]): void {
  const wanted = paths.filter((path) => path !== null && !isFresh(path) && !pending.has(path)) as string[];
  if (wanted.length < 2 || share !== undefined) {
    for (const path of wanted) join(path);
    return;
  }
  const answers = wanted.map(() => Promise.withResolvers<unknown>());
  const all = new AbortController();
  for (const [index, path] of wanted.entries()) {
    const leaving = new AbortController();
    // The request goes on for the others.
    leaving.signal.addEventListener('abort', () => {
      if (wanted.every((other) => !pending.has(other) || pending.get(other)!.leaving.signal.aborted)) all.abort();
    });
    waitFor(path, answers[index]!.promise, leaving);
  }
  requestTogether(wanted, answers, all.signal).catch((error: unknown) => {
    for (const { reject } of answers) reject(error);
  });
}

/** Requests what a screen needs in one request, whenever its paths change. */
export function useAskFor(paths: readonly (string | null)[]): void {
  const key = paths.join(' ');
  const last = useRef('');
  if (key === last.current) return;
  last.current = key;
  ask(paths);
}

/** What the server says about one of several paths. */
interface Part {
  readonly index: number;
  readonly status: number;
  readonly retryAfter: number | null;
  readonly reason: string | null;
  readonly body: unknown;
}

async function requestTogether(
  paths: readonly string[],
  answers: readonly PromiseWithResolvers<unknown>[],
  signal: AbortSignal,
): Promise<void> {
  const query = new URLSearchParams(paths.map((path) => ['get', path]));
  const response = await send(`/together?${query}`, { signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read().catch(() => {
      throw offline();
    });
    const lines = (text + (value ?? '')).split('\n');
    text = lines.pop()!;
    for (const line of lines) {
      const { index, status, retryAfter, reason, body } = JSON.parse(line) as Part;
      if (status < 300) answers[index]!.resolve(body);
      else answers[index]!.reject(errorOf(body, { status, retryAfter, reason }));
    }
    if (done) throw offline();
  }
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

/** Whether there is an answer, or an error in its stead. */
export const isAnswered = ({ data, error }: Resource<unknown>): boolean => data !== undefined || error !== undefined;

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

/** The last answer at a path, if it is remembered; does not request it. */
export function remembered<T>(path: string | null): T | undefined {
  return path === null ? undefined : (answers.get(path)?.data as T | undefined);
}

/** The address of a path, for links. */
export function apiAddress(path: string): string {
  return ROOT + path;
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
