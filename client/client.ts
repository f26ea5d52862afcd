import type { components, operations } from './openapi.ts';
import { PATHS, ROWS } from './operations.ts';

/** The named schemas of the OpenAPI document, such as `Schemas['Metrics']`. */
export type Schemas = components['schemas'];
/** The operations of the API that answer JSON. */
export type Operation = keyof typeof PATHS;
/** Those whose rows come in pages. */
export type PagedOperation = keyof typeof ROWS;

/** The parameters of an operation that are sent in a part of the request; none restrict nothing. */
type Given<Sent, Part extends string> = Sent extends { readonly [_ in Part]?: infer Values }
  ? [NonNullable<Values>] extends [never]
    ? unknown
    : NonNullable<Values>
  : unknown;

/** The parameters of an operation, those of its path among them. */
export type Parameters<O extends Operation> = Given<operations[O]['parameters'], 'path'> &
  Omit<Given<operations[O]['parameters'], 'query'>, 'format' | 'bom'>;

/** The JSON that an operation answers. */
export type Answer<O extends Operation> = operations[O]['responses'][200]['content']['application/json'];

/** A row of an operation that answers in pages. */
export type Row<O extends PagedOperation> =
  Answer<O> extends Readonly<Record<(typeof ROWS)[O], readonly (infer One)[]>> ? One : never;

export interface RequestOptions {
  /** Aborts the request, and the wait before it is repeated. */
  readonly signal?: AbortSignal;
}

/** Parameters may be left out where an operation needs none. */
type Arguments<O extends Operation> =
  Record<never, never> extends Parameters<O>
    ? [parameters?: Parameters<O>, options?: RequestOptions]
    : [parameters: Parameters<O>, options?: RequestOptions];

type Operations = { readonly [O in Operation]: (...given: Arguments<O>) => Promise<Answer<O>> };
type Sequences = { readonly [O in PagedOperation]: (...given: Arguments<O>) => AsyncGenerator<Row<O>, void> };

/** A method for each operation; `all` has those that answer in pages, and gives their rows one after the other. */
export type Client = Operations & { readonly all: Sequences };

export interface ClientOptions {
  /** Where the server is, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** An API key. */
  readonly key: string;
  /** How often a request is repeated that was answered with 429 or 503; 3 unless given. */
  readonly retries?: number;
  /** Sends requests; the global `fetch` unless given. */
  readonly fetch?: typeof fetch;
  /** Waits before a request is repeated; a timer unless given. */
  readonly wait?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** An answer that is an error of the API. */
export class OrdinateError extends Error {
  /** Of the answer. */
  readonly status: number;
  /** Undefined where something between the client and the server answered. */
  readonly code: Schemas['ErrorCode'] | undefined;

  constructor(status: number, error: Partial<Schemas['ErrorDetails']> | undefined) {
    super(error?.message ?? `The server answered ${status}.`);
    this.name = 'OrdinateError';
    this.status = status;
    this.code = error?.code;
  }
}

/**
 * A client of a server. Its methods have the names of the operations in the OpenAPI document, and throw `OrdinateError`.
 * Requests that are answered with 429 or 503 are repeated after the seconds that `Retry-After` names.
 *
 *     const ordinate = createClient({ url: 'http://127.0.0.1:3000', key });
 *     const { totals } = await ordinate.getSite({ id: 'Fw7kd', period: '3m' });
 *     for await (const { query, clicks } of ordinate.all.listQueries({ id: 'Fw7kd' })) …
 */
export function createClient(options: ClientOptions): Client {
  const methods = Object.keys(PATHS).map((operation) => [
    operation,
    (parameters?: Values, request?: RequestOptions) => ask(options, operation as Operation, parameters, request),
  ]);
  const all = Object.keys(ROWS).map((operation) => [
    operation,
    (parameters?: Values, request?: RequestOptions) =>
      rowsOf(options, operation as PagedOperation, parameters, request),
  ]);
  return { ...(Object.fromEntries(methods) as Operations), all: Object.fromEntries(all) as Sequences };
}

type Values = Readonly<Record<string, string | number | boolean | undefined>>;
interface Page extends Readonly<Record<string, unknown>> {
  readonly paging: Schemas['Paging'];
}

async function* rowsOf(
  options: ClientOptions,
  operation: PagedOperation,
  parameters: Values = {},
  request: RequestOptions = {},
): AsyncGenerator<unknown, void> {
  let offset = Number(parameters['offset'] ?? 0);
  for (;;) {
    const page = (await ask(options, operation, { ...parameters, offset }, request)) as Page;
    yield* page[ROWS[operation]] as unknown[];
    offset += page.paging.limit;
    if (offset >= page.paging.total) return;
  }
}

async function ask(
  { url, key, retries = 3, fetch: send = fetch, wait = pause }: ClientOptions,
  operation: Operation,
  parameters: Values = {},
  { signal }: RequestOptions = {},
): Promise<unknown> {
  const address = addressOf(url, PATHS[operation], parameters);
  const init = { headers: { authorization: `Bearer ${key}`, accept: 'application/json' }, ...(signal && { signal }) };
  for (let repeated = 0; ; repeated++) {
    const response = await send(address, init);
    if (response.ok) return response.json();
    const error = await errorOf(response);
    if ((error.status !== 429 && error.status !== 503) || repeated >= retries) throw error;
    const seconds = Number(response.headers.get('retry-after') ?? 2 ** repeated);
    await wait((Number.isFinite(seconds) ? seconds : 60) * 1000, signal);
  }
}

function addressOf(url: string, path: string, parameters: Values): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue;
    const text = String(value);
    if (path.includes(`{${name}}`)) filled = filled.replace(`{${name}}`, () => encodeURIComponent(text));
    else query.set(name, text);
  }
  const search = query.toString();
  return `${url.replace(/\/+$/, '')}${filled}${search && `?${search}`}`;
}

async function errorOf(response: Response): Promise<OrdinateError> {
  // A proxy may answer anything.
  const body = (await response.json().catch(() => undefined)) as { error?: Schemas['ErrorDetails'] } | undefined;
  return new OrdinateError(response.status, body?.error);
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done, failed) => {
    const stop = (): void => {
      clearTimeout(timer);
      failed(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      done();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
