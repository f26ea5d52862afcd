import pRetry from 'p-retry';
import { readTrinoAddress } from './address.ts';
import { queryFailure, type TrinoError, trinoUnavailable } from './failures.ts';

/** How long the rows of one response may take, in milliseconds. */
const REQUEST_TIMEOUT = 30_000;
/** How long a response may take to begin, retries included: Trino answers within a second, with rows or without. */
const FIRST_ANSWER = 5000;
const RETRIES = { retries: 3, factor: 3, randomize: true };
/** Milliseconds before a request is sent again. */
const FIRST_PAUSE = 100;
/** Trino stops a query after this time, even if this process was killed. */
const MAX_RUN_TIME = '15m';
/** Statuses after which the protocol asks to send a request again. */
const BUSY = new Set([429, 502, 503, 504]);

/** Some rows of a result. */
export interface TrinoPage {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/** A response of the protocol (https://trino.io/docs/current/develop/client-protocol.html). */
interface Answer {
  readonly id: string;
  readonly nextUri?: string;
  readonly columns?: readonly { readonly name: string }[];
  readonly data?: readonly (readonly unknown[])[];
  readonly error?: TrinoError;
}

/** Sends statements to Trino. */
export class TrinoClient {
  readonly #origin: string;
  readonly #headers: Record<string, string>;
  readonly #firstPause: number;
  readonly #firstAnswer: number;

  /** @param address `http://USER@HOST:PORT/CATALOG/SCHEMA` */
  constructor(address: string, { firstPause = FIRST_PAUSE, firstAnswer = FIRST_ANSWER } = {}) {
    const { origin, user, password, catalog, schema } = readTrinoAddress(address);
    this.#origin = origin;
    this.#firstPause = firstPause;
    this.#firstAnswer = firstAnswer;
    this.#headers = {
      'x-trino-user': user,
      'x-trino-source': 'ordinate',
      'x-trino-catalog': catalog,
      'x-trino-schema': schema,
      'x-trino-time-zone': 'UTC',
      'x-trino-session': `query_max_run_time=${MAX_RUN_TIME}`,
    };
    if (password !== '') {
      const pair = Buffer.from(`${user}:${password}`).toString('base64');
      this.#headers['authorization'] = `Basic ${pair}`;
    }
  }

  /**
   * Runs a statement. The query is cancelled when `signal` is aborted, or when its rows are no longer read. Throws 503 if
   * Trino cannot answer now.
   */
  async *pages(statement: string, signal: AbortSignal): AsyncGenerator<TrinoPage, void> {
    let answer = await this.#start(statement, signal);
    try {
      for (;;) {
        const { id, error, columns, data, nextUri } = answer;
        if (error !== undefined) throw queryFailure(error, id);
        if (data !== undefined && columns !== undefined) yield { columns: columns.map(({ name }) => name), rows: data };
        if (nextUri === undefined) return;
        answer = await this.#send('GET', nextUri, signal);
      }
    } finally {
      this.#cancel(answer);
    }
  }

  /** The request itself is not aborted: only its response says how to cancel the query. */
  async #start(statement: string, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    const started = this.#send('POST', '/v1/statement', new AbortController().signal, statement);
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = (): void => {
      reject(signal.reason);
      started.then(
        (answer) => this.#cancel(answer),
        () => {},
      );
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await Promise.race([started, aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Cancels a running query, without waiting: Trino also ends queries whose rows are not read. */
  #cancel({ nextUri, error }: Answer): void {
    if (nextUri === undefined || error !== undefined) return;
    void this.#fetch('DELETE', nextUri, AbortSignal.timeout(REQUEST_TIMEOUT)).catch(() => {});
  }

  /** Sends a request, with retries after transient failures. */
  async #send(method: 'POST' | 'GET', path: string, signal: AbortSignal, body?: string): Promise<Answer> {
    const until = performance.now() + this.#firstAnswer;
    const send = async (): Promise<Answer> => {
      const silence = new AbortController();
      const left = Math.max(0, until - performance.now());
      const timer = setTimeout(() => silence.abort(new Silent(`no answer in ${this.#firstAnswer} ms`)), left);
      const limited = AbortSignal.any([signal, silence.signal, AbortSignal.timeout(REQUEST_TIMEOUT)]);
      const response = await this.#fetch(method, path, limited, body).finally(() => clearTimeout(timer));
      if (response.ok) return (await response.json()) as Answer;
      const problem = `Trino answered ${response.status}: ${(await response.text()).slice(0, 200)}`;
      if (BUSY.has(response.status)) throw new Busy(problem);
      // A restarted coordinator does not know the query.
      const isForgotten = method === 'GET' && (response.status === 404 || response.status === 410);
      throw isForgotten ? trinoUnavailable('the query engine was started again', problem) : new Error(problem);
    };
    try {
      return await pRetry(send, {
        ...RETRIES,
        minTimeout: this.#firstPause,
        signal,
        shouldRetry: ({ error }) => isPassing(error) && !(error instanceof Silent),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw isPassing(error) ? trinoUnavailable('the query engine does not answer', error) : error;
    }
  }

  #fetch(method: string, path: string, signal: AbortSignal, body?: string): Promise<Response> {
    // Behind a proxy, Trino may name itself by another address; all requests go to the configured one.
    const { pathname, search } = new URL(path, this.#origin);
    return fetch(`${this.#origin}${pathname}${search}`, { method, headers: this.#headers, signal, body: body ?? null });
  }
}

class Busy extends Error {}
class Silent extends Error {}

/** Whether a failure is transient: no connection, a lost one, no response in time, or a busy server. */
function isPassing(error: unknown): boolean {
  return (
    error instanceof Busy ||
    error instanceof Silent ||
    error instanceof TypeError ||
    (error as Error).name === 'TimeoutError'
  );
}
