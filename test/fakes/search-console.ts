import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import { FIELDS } from '../../cli/demo/provider/request.ts';
import type { Failure } from './search-console-failures.ts';
import { serve } from './serve.ts';

/** The body of a request, as the API's reference has it. */
interface Query {
  readonly startDate: string;
  readonly endDate: string;
  readonly dimensions: readonly string[];
  readonly rowLimit?: number;
  readonly startRow?: number;
  readonly dimensionFilterGroups?: readonly { readonly filters: readonly Filter[] }[];
}

interface Filter {
  readonly dimension: string;
  readonly expression: string;
}

/** What the fake has of one day: a value of each dimension that matters to a test. */
type DayRow = Readonly<Record<'date' | 'query' | 'page' | 'country' | 'device', string>> & Omit<FakeRow, 'key'>;

/** A row that the fake has of one day and country. */
export interface FakeRow {
  readonly key: string;
  readonly clicks: number;
  readonly impressions: number;
  readonly position: number;
  readonly country?: string;
}

export type FakeSearchConsole = Awaited<ReturnType<typeof fakeSearchConsole>>;
interface Failing {
  readonly how: Failure;
  times: number;
}

/** The fake Search Analytics API with its token endpoint, on a port of its own, until the test ends. */
export async function fakeSearchConsole(t: Test) {
  const origin = await serve(t, (request, response) => void answer(fake, request, response));
  const held = new Set<ServerResponse>();
  const fake = {
    url: `${origin}/`,
    tokenUrl: `${origin}/token`,
    /** Bodies of the data requests, in order. */
    requests: [] as Readonly<Record<string, unknown>>[],
    /** Properties that were asked for. */
    properties: [] as string[],
    /** Forms that the token endpoint got. */
    grants: [] as URLSearchParams[],
    /** Access tokens given out; all of them are valid until they are taken away. */
    tokens: new Set<string>(),
    pages: [] as readonly FakeRow[],
    queries: [] as readonly FakeRow[],
    /** In place of pages and queries. */
    rows: undefined as readonly DayRow[] | undefined,
    /** The properties that the caller can read. */
    sites: [] as readonly { readonly siteUrl: string; readonly permissionLevel: string }[],
    /** How many of the next data requests fail, and how; the failure tells the caller's own token, as careless ones do. */
    failure: undefined as Failing | undefined,
    tokenFailure: undefined as Failing | undefined,
    /** Called with each request for a token. */
    onToken: (): void => {},
    /** Milliseconds that each data request takes. */
    delay: 0,
    /** Data requests that are being answered. */
    underWay: 0,
    mostUnderWay: 0,
    /** Bytes, before compression, of answers that are too long. */
    flooded: 0,
    /** Properties whose requests are never answered. */
    silent: new Set<string>(),
    /** Requests that are not answered. */
    held,
    /** Ends the connections of requests that are not answered. */
    release: (): void => {
      for (const response of held) response.socket?.destroy();
      held.clear();
    },
  };
  return fake;
}

async function answer(fake: FakeSearchConsole, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  if (request.url === '/token') {
    answerToken(fake, body, response);
    return;
  }
  if (request.url === '/webmasters/v3/sites' && request.method === 'GET') {
    if (isRefused(fake, request, response)) return;
    send(response, 200, fake.sites.length === 0 ? {} : { siteEntry: fake.sites });
    return;
  }
  const [, property] = /^\/webmasters\/v3\/sites\/([^/]+)\/searchAnalytics\/query$/.exec(request.url ?? '') ?? [];
  if (property === undefined || request.method !== 'POST') {
    send(response, 404, '<h1>Not Found</h1>');
    return;
  }
  fake.properties.push(decodeURIComponent(property));
  fake.requests.push(JSON.parse(body) as Record<string, unknown>);
  fake.underWay += 1;
  fake.mostUnderWay = Math.max(fake.mostUnderWay, fake.underWay);
  if (fake.silent.has(decodeURIComponent(property))) {
    fake.held.add(response);
    return;
  }
  if (fake.delay > 0) await sleep(fake.delay);
  fake.underWay -= 1;
  if (isRefused(fake, request, response)) return;
  answerQuery(fake, JSON.parse(body) as Query, response);
}

/** Answers a request that is to fail, or whose token is not valid. */
function isRefused(fake: FakeSearchConsole, request: IncomingMessage, response: ServerResponse): boolean {
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (fail(fake, 'failure', response, token)) return true;
  if (fake.tokens.has(token)) return false;
  send(response, 401, { error: { code: 401, message: 'Invalid Credentials', errors: [{ reason: 'authError' }] } });
  return true;
}

function answerToken(fake: FakeSearchConsole, body: string, response: ServerResponse): void {
  const form = new URLSearchParams(body);
  fake.grants.push(form);
  fake.onToken();
  if (fail(fake, 'tokenFailure', response, form.get('refresh_token') ?? '')) return;
  const token = `ya29.secret-access-token-${fake.tokens.size + 1}-${Math.random().toString(36).slice(2)}`;
  fake.tokens.add(token);
  send(response, 200, { access_token: token, expires_in: 3599, token_type: 'Bearer' });
}

function answerQuery(fake: FakeSearchConsole, query: Query, response: ServerResponse): void {
  const { dimensions, rowLimit = 1000, startRow = 0, dimensionFilterGroups = [] } = query;
  const unknown = Object.keys(query).filter((name) => !FIELDS.includes(name));
  if (unknown.length > 0 || !(rowLimit >= 1 && rowLimit <= 25_000) || startRow < 0 || query.startDate > query.endDate) {
    send(response, 400, { error: { code: 400, message: `Bad request ${unknown.join()}`, status: 'INVALID_ARGUMENT' } });
    return;
  }
  const filters = dimensionFilterGroups.flatMap((group) => group.filters);
  const kind = dimensions[0]?.toLowerCase() === 'page' ? 'page' : 'query';
  const listed = (kind === 'page' ? fake.pages : fake.queries).filter(({ country }) =>
    filters.every(({ expression }) => expression.toLowerCase() === country),
  );
  const rows = (fake.rows === undefined ? listed : grouped(fake.rows, kind, query))
    .map((row) => ({ row, tie: Math.random() }))
    // Ties come in another order each time.
    .sort((a, b) => b.row.clicks - a.row.clicks || a.tie - b.tie)
    .slice(startRow, startRow + rowLimit)
    .map(({ row: { key, clicks, impressions, position } }) => ({
      keys: [key],
      clicks,
      impressions,
      ctr: impressions === 0 ? 0 : clicks / impressions,
      position,
    }));
  // Nothing is not an empty list: the key is not there.
  send(response, 200, { ...(rows.length > 0 ? { rows } : {}), responseAggregationType: 'byPage' });
}

/** The rows of the days of a query that pass all its filters, by pages or queries. */
function grouped(rows: readonly DayRow[], by: 'page' | 'query', query: Query): FakeRow[] {
  const filters = (query.dimensionFilterGroups ?? []).flatMap((group) => group.filters);
  const passes = (row: DayRow): boolean =>
    filters.every(({ dimension, expression }) => row[dimension as 'page'].toLowerCase() === expression.toLowerCase());
  const passing = rows.filter((row) => row.date >= query.startDate && row.date <= query.endDate && passes(row));
  return [...Map.groupBy(passing, (row) => row[by])].map(([key, all]) => {
    const sum = (measure: (row: DayRow) => number): number => all.reduce((total, row) => total + measure(row), 0);
    const impressions = sum((row) => row.impressions);
    const position = sum((row) => row.position * row.impressions) / impressions;
    return { key, clicks: sum(({ clicks }) => clicks), impressions, position };
  });
}

function fail(
  fake: FakeSearchConsole,
  which: 'failure' | 'tokenFailure',
  response: ServerResponse,
  secret: string,
): boolean {
  const failure = fake[which];
  if (failure === undefined || failure.times === 0) return false;
  failure.times -= 1;
  const { how } = failure;
  if (how === 'reset') response.socket?.destroy();
  else if (how === 'drip') drip(response);
  else if (how === 'flood' || how === 'bomb') flood(fake, response, how === 'bomb');
  else if (how === 'hang') fake.held.add(response);
  else {
    // Careless servers repeat what they were sent.
    const body = typeof how.body === 'string' ? how.body : JSON.stringify(how.body).replace('Error', `Error ${secret}`);
    const told = body.replace(/"message":"/g, `"message":"(${secret}) `);
    response.writeHead(how.status, {
      'content-type': body.startsWith('{') ? 'application/json' : 'text/html',
      ...('headers' in how ? how.headers : {}),
    });
    response.end(told);
  }
  return true;
}

/** A body that never ends. */
function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
}

/** A body that is far too long: rows without end, up to a gigabyte. */
function flood(fake: FakeSearchConsole, response: ServerResponse, isCompressed: boolean): void {
  const encoding = isCompressed ? { 'content-encoding': 'gzip' } : {};
  response.writeHead(200, { 'content-type': 'application/json', ...encoding });
  const chunk = Buffer.alloc(1_000_000, ' ');
  // One after the other, they are one archive. Compressed once: a busy machine would take seconds for all.
  const sent = isCompressed ? gzipSync(chunk) : chunk;
  const rows = Readable.from(
    (function* () {
      for (let count = 0; count < 1000; count++) {
        fake.flooded += chunk.length;
        yield sent;
      }
    })(),
  );
  pipeline(rows, response).catch(() => {});
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json; charset=UTF-8' });
  response.end(isText ? body : JSON.stringify(body));
}
