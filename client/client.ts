import type { components, operations } from './openapi.ts';
import { PATHS, POSTS, ROWS } from './operations.ts';

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

/** A condition of a question on rows: true for any of the values. */
type QuestionCondition = readonly [
  operator: 'equals' | 'contains' | 'starts_with' | 'ends_with' | 'matches',
  dimension: Schemas['QuestionDimension'],
  values: readonly string[],
];
/** What the rows of a question must be like. */
export type QuestionFilter =
  | QuestionCondition
  | readonly ['and' | 'or', QuestionFilter, ...QuestionFilter[]]
  | readonly ['not', QuestionFilter];

type Sorted = Schemas['QuestionDimension'] | Schemas['MetricName'];

/** Any question: the body of `postQuery`. */
export interface Question extends Partial<Omit<Schemas['Question'], 'filters' | 'sort' | 'compare' | 'include'>> {
  /** All must hold. */
  readonly filters?: readonly QuestionFilter[];
  /** From the lowest, or with `-` from the highest. */
  readonly sort?: readonly (Sorted | `-${Sorted}`)[];
  readonly include?: Partial<Schemas['QuestionParts']>;
  readonly compare?: 'previous' | 'year' | Schemas['QuestionRange'];
}

/** The fields of the body of an operation. */
type Body<O extends Operation> = operations[O] extends { readonly requestBody: object } ? Question : unknown;

/** The parameters of an operation, those of its path and the fields of its body among them. */
export type Parameters<O extends Operation> = Given<operations[O]['parameters'], 'path'> &
  Omit<Given<operations[O]['parameters'], 'query'>, 'format' | 'bom'> &
  Body<O>;

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
 *     const { rows } = await ordinate.postQuery({ id: 'Fw7kd', dimensions: ['month', 'device'], filters: [['equals', 'country', ['usa']]] });
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

type Values = Readonly<Record<string, unknown>>;
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
  const headers = { authorization: `Bearer ${key}`, accept: 'application/json' };
  const [address, others] = addressOf(url, PATHS[operation], parameters);
  const search =
    others.length > 0 ? `?${new URLSearchParams(others.map(([name, value]) => [name, String(value)])).toString()}` : '';
  const [target, sent] = (POSTS as readonly string[]).includes(operation)
    ? [address, { method: 'POST', ...jsonOf(others, headers) }]
    : [address + search, { headers }];
  const init = { ...sent, ...(signal && { signal }) };
  for (let repeated = 0; ; repeated++) {
    const response = await send(target, init);
    if (response.ok) return response.json();
    const error = await errorOf(response);
    if ((error.status !== 429 && error.status !== 503) || repeated >= retries) throw error;
    const seconds = Number(response.headers.get('retry-after') ?? 2 ** repeated);
    await wait((Number.isFinite(seconds) ? seconds : 60) * 1000, signal);
  }
}

/** The address of an operation, and the parameters that are not part of its path. */
function addressOf(url: string, path: string, parameters: Values): [address: string, others: [string, unknown][]] {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const isOfPath = ([name]: [string, unknown]): boolean => path.includes(`{${name}}`);
  const filled = given.filter(isOfPath).reduce((text, [name, value]) => {
    return text.replace(`{${name}}`, () => encodeURIComponent(String(value)));
  }, path);
  return [url.replace(/\/+$/, '') + filled, given.filter((each) => !isOfPath(each))];
}

function jsonOf(fields: readonly [string, unknown][], headers: Readonly<Record<string, string>>) {
  return {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(fields)),
  };
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
