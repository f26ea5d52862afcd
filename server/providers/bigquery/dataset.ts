import { setTimeout as sleep } from 'node:timers/promises';
import { callbackify } from 'node:util';
import type { BigQuery, Query } from '@google-cloud/bigquery';
import type { Connection } from '../../catalog/connections.ts';
import type { Day } from '../../domain/dates.ts';
import { newUuid } from '../../domain/ids.ts';
import { importOptional, PackageMissing } from '../../runtime/optional-packages.ts';
import { ProviderFailure } from '../failures.ts';
import { type Identity, identityOf } from '../google/auth.ts';
import { requestAs, requestOptions } from '../google/request.ts';
import type { ProviderContext } from '../provider.ts';
import type { ProviderRun } from '../retries.ts';

/** Rows per page: a compromise between requests and memory. */
const ROWS_PER_PAGE = 20_000;
/** Timeout of a query, in milliseconds. */
const QUERY_LIMIT = 300_000;
const POLL_PAUSE = 200;

export type Cell = string | null;
/** Values to bind. */
export type Parameters = Readonly<Record<string, string | number | { readonly day: Day }>>;

const SCOPE = 'https://www.googleapis.com/auth/bigquery';

/** A dataset: its tables, and queries with bound parameters. Uses BigQuery's client library. */
export class Dataset {
  readonly #connection: Connection;
  readonly #context: ProviderContext;

  constructor(connection: Connection, context: ProviderContext) {
    this.#connection = connection;
    this.#context = context;
  }

  async tables(run: ProviderRun): Promise<ReadonlySet<string>> {
    const [, dataset = ''] = this.#names();
    const tables = await this.#request(run, async (client) => (await client.dataset(dataset).getTables())[0]);
    return new Set(tables.map(({ id }) => id ?? ''));
  }

  /** A quoted table name for SQL. Its parts were validated when the connection was created. */
  table(name: string): string {
    return `\`${this.#connection.dataset}.${name}\``;
  }

  /** Runs a query; yields its rows in batches, with values as text. */
  async *rows(query: string, parameters: Parameters, run: ProviderRun): AsyncGenerator<Cell[][]> {
    const jobId = `ordinate-${newUuid()}`;
    const request: Query = {
      query,
      params: await toParams(parameters),
      jobId,
      jobTimeoutMs: QUERY_LIMIT,
      maximumBytesBilled: String(this.#context.settings.maximumBytesBilled),
      ...(this.#connection.location === null ? {} : { location: this.#connection.location }),
    };
    const location = await this.#request(run, (client) => startJob(client, request));
    const until = performance.now() + QUERY_LIMIT;
    for (let pageToken: string | undefined, complete = false; !complete || pageToken !== undefined; ) {
      if (performance.now() > until) throw new ProviderFailure('broken', 'the query took too long');
      const options = {
        maxResults: ROWS_PER_PAGE,
        autoPaginate: false,
        skipParsing: true,
        ...(pageToken === undefined ? {} : { pageToken }),
      };
      const [rows, , answer] = await this.#request(run, (client) =>
        client.job(jobId, location === undefined ? {} : { location }).getQueryResults(options),
      );
      complete = answer?.jobComplete !== false;
      pageToken = answer?.pageToken ?? undefined;
      if (!complete) await sleep(POLL_PAUSE, undefined, { signal: run.signal });
      if (rows.length > 0) yield rows.map(readRow);
    }
  }

  #names(): string[] {
    return (this.#connection.dataset ?? '').split('.');
  }

  /** Sends one request with retries, and once with a new token if the current one has expired. */
  async #request<T>(run: ProviderRun, work: (client: BigQuery) => Promise<T>): Promise<T> {
    const identity = await identityOf(this.#connection, SCOPE, this.#context);
    const client = await this.#client(identity, run);
    return requestAs(identity, run, this.#names(), () => work(client));
  }

  async #client(identity: Identity, run: ProviderRun): Promise<BigQuery> {
    const { BigQuery } = await importLibrary();
    const { endpoint, location } = this.#connection;
    const client = new BigQuery({
      projectId: this.#names()[0] ?? '',
      authClient: identity.client,
      retryOptions: { autoRetry: false },
      ...(endpoint === null ? {} : { apiEndpoint: endpoint }),
      ...(location === null ? {} : { location }),
    });
    // The library's own transport supports neither cancellation nor a limit on the response size.
    const options = requestOptions(this.#context, run);
    const sendComposed = callbackify((request: ComposedRequest) => send(identity, request, options));
    client.makeAuthenticatedRequest = sendComposed as unknown as BigQuery['makeAuthenticatedRequest'];
    return client;
  }
}

/** Loaded on first use, because many servers have no such connections; not all have the package. */
async function importLibrary(): Promise<typeof import('@google-cloud/bigquery')> {
  const load = () => import('@google-cloud/bigquery');
  try {
    return await importOptional('A connection to BigQuery', /^@google-cloud\//, load);
  } catch (error) {
    throw error instanceof PackageMissing ? new ProviderFailure('misconfigured', error.message) : error;
  }
}

/** Starts a query and returns its location. A retry does not start it again. */
async function startJob(client: BigQuery, request: Query): Promise<string | undefined> {
  try {
    return (await client.createQueryJob(request))[0].location;
  } catch (error) {
    if (Number((error as { status?: unknown }).status) !== 409) throw error;
    return request.location;
  }
}

/** Parameters for the client library, with days as typed values. */
async function toParams(parameters: Parameters): Promise<NonNullable<Query['params']>> {
  const { BigQuery } = await importLibrary();
  const values = Object.entries(parameters).map(([name, value]) => [
    name,
    typeof value === 'object' ? BigQuery.date(value.day) : value,
  ]);
  return Object.fromEntries(values) as NonNullable<Query['params']>;
}

function readRow(row: unknown): Cell[] {
  const { f: cells } = row as { f?: { v: Cell }[] };
  if (cells === undefined) throw new ProviderFailure('broken', 'the response has a row without cells');
  return cells.map(({ v }) => v);
}

/** A request prepared by the client library. */
interface ComposedRequest {
  readonly uri: string;
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly qs?: Readonly<Record<string, unknown>>;
  readonly json?: unknown;
}

async function send(
  { client }: Identity,
  { uri: url, method = 'GET', qs = {}, json }: ComposedRequest,
  options: ReturnType<typeof requestOptions>,
): Promise<unknown> {
  const { gaxios } = await import('google-auth-library');
  const { data } = await new gaxios.Gaxios().request<unknown>({
    url,
    method,
    params: Object.fromEntries(Object.entries(qs).filter(([, value]) => value !== undefined)),
    ...(json === undefined ? {} : { data: json }),
    headers: await client.getRequestHeaders(),
    ...options,
  });
  if (typeof data !== 'object' || data === null) {
    throw new ProviderFailure('broken', 'the response is not a JSON document');
  }
  return data;
}
