import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from '../../../server/runtime/http.ts';
import { ApiError, unauthorized } from './errors.ts';
import type { LogEntry, ProviderModel } from './provider.ts';
import { type AnalyticsRequest, readRequest } from './request.ts';

/** A failure instead of an answer. `hang` never ends; `reset` closes the connection. */
export type Failure =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'hang'
  | 'reset';

export interface ServerOptions {
  readonly port?: number;
  /** Latency of each answer, in milliseconds. */
  readonly latency?: () => number;
  /** The failure of a request, if any. */
  readonly intercept?: (entry: LogEntry) => Failure | undefined | Promise<Failure | undefined>;
}

export interface RunningProvider {
  /** Root of the reporting API, with a slash. */
  readonly url: string;
  /** The token endpoint. */
  readonly tokenUrl: string;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly rows?: number;
}

/** Serves a model on loopback, on a free port unless one is given. */
export async function startProvider(model: ProviderModel, options: ServerOptions = {}): Promise<RunningProvider> {
  const server = createServer((request, response) => {
    handle(model, options, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((done) => void server.listen(options.port ?? 0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    tokenUrl: `${url}token`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function handle(
  model: ProviderModel,
  { latency, intercept }: ServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await text(request);
  const entry = entryOf(model, request, body);
  if (entry === undefined) {
    send(response, { status: 404, body: '<h1>Not Found</h1>' });
    return;
  }
  model.log.push(entry);
  const delay = latency?.() ?? 0;
  if (delay > 0) await sleep(delay);
  const failure = await intercept?.(entry);
  if (failure === 'hang') return;
  if (failure === 'reset') {
    response.destroy();
    return;
  }
  const answer = failure === undefined ? answerOf(model, entry, request, body) : answerOfFailure(failure);
  entry.status = answer.status;
  entry.rows = answer.rows ?? 0;
  send(response, answer);
}

function entryOf(model: ProviderModel, { url = '', method }: IncomingMessage, body: string): LogEntry | undefined {
  const entry = { at: model.now(), status: 0, rows: 0 };
  if (url === '/token' && method === 'POST') return { ...entry, kind: 'token' };
  if (url === '/webmasters/v3/sites' && method === 'GET') return { ...entry, kind: 'sites' };
  const listed = /^\/webmasters\/v3\/sites\/([^/]+)\/sitemaps$/.exec(url)?.[1];
  if (listed !== undefined && method === 'GET') {
    return { ...entry, kind: 'sitemaps', property: decodeURIComponent(listed) };
  }
  if (url === '/v1/urlInspection/index:inspect' && method === 'POST') {
    const { siteUrl: property = '', inspectionUrl: page = '' } = inspectionIn(body);
    return { ...entry, kind: 'inspection', property, page };
  }
  const name = /^\/webmasters\/v3\/sites\/([^/]+)\/searchAnalytics\/query$/.exec(url)?.[1];
  if (name === undefined || method !== 'POST') return undefined;
  const asked = understood(body);
  return {
    ...entry,
    kind: 'query',
    property: decodeURIComponent(name),
    ...(asked === undefined ? {} : { request: asked }),
  };
}

function inspectionIn(body: string): { siteUrl?: string; inspectionUrl?: string } {
  try {
    return JSON.parse(body) as object;
  } catch {
    return {};
  }
}

function understood(body: string): AnalyticsRequest | undefined {
  try {
    return readRequest(JSON.parse(body));
  } catch {
    return undefined;
  }
}

function answerOf(
  model: ProviderModel,
  { kind, property = '', page = '' }: LogEntry,
  request: IncomingMessage,
  body: string,
): Answer {
  try {
    if (kind === 'token') {
      const granted = model.accounts.grant(new URLSearchParams(body));
      return { status: granted.status, body: JSON.stringify(granted.body) };
    }
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const account = model.accounts.ofToken(token);
    if (account === undefined) throw unauthorized();
    if (kind === 'sites') return { status: 200, body: JSON.stringify(model.sites(account)) };
    if (kind === 'sitemaps') return { status: 200, body: JSON.stringify(model.sitemaps(account, property)) };
    if (kind === 'inspection') return { status: 200, body: JSON.stringify(model.inspect(account, property, page)) };
    return { status: 200, ...model.query(account, property, JSON.parse(body)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { status: error.status, body: JSON.stringify(error.body), headers: error.headers };
  }
}

function answerOfFailure({ status, body, headers = {} }: Exclude<Failure, string>): Answer {
  return { status, body: typeof body === 'string' ? body : JSON.stringify(body), headers };
}

function send(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  const type = body.startsWith('<') ? 'text/html' : 'application/json; charset=UTF-8';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(body);
}
