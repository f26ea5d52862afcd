import { searchconsole } from '@googleapis/searchconsole';
import type { Connection } from '../catalog/connections.ts';
import type { ListKind } from '../catalog/kept-lists.ts';
import type { Engine } from '../facts/engine.ts';
import { ProviderFailure } from './failures.ts';
import { FetchedRows } from './fetched-rows.ts';
import type { Identities } from './google-auth.ts';
import { requestAs } from './google-request.ts';
import type { Attempts } from './retries.ts';
import type { Question, Source, Written } from './source.ts';

/** The longest lists of the reporting API (contract, 4.8). */
const MOST: Record<ListKind, number> = { pages: 25_000, queries: 50_000 };

/** The most rows that one request may ask for. */
const ROWS_A_REQUEST = 25_000;

/**
 * Most requests of a list. Each walk through rows that are tied without end finds only a part of them, so it can take
 * several; a provider that repeats itself for ever is left there.
 */
const MOST_REQUESTS = 60;

/** Walks in a row that find nothing new: what is still missing is not there to be found. */
const VAIN_WALKS = 3;

const SHAPES: Record<ListKind, { dimensions: string[]; aggregationType: string }> = {
  pages: { dimensions: ['page'], aggregationType: 'byPage' },
  queries: { dimensions: ['query'], aggregationType: 'byProperty' },
};

type Row = readonly [text: string, clicks: number, impressions: number, sumPosition: number];

export interface SearchConsoleOptions {
  readonly engine: Engine;
  readonly identities: Identities;
  /** Milliseconds that one request may take. */
  readonly timeLimit: number;
}

/** Lists from the search engine's reporting API, through its own client library. */
export class SearchConsole implements Source {
  readonly kind = 'gsc';
  readonly name = 'search-console';
  readonly #connection: Connection;
  readonly #options: SearchConsoleOptions;

  constructor(connection: Connection, options: SearchConsoleOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  async write(question: Question, target: string, attempts: Attempts): Promise<Written> {
    using fetched = await FetchedRows.open(this.#options.engine);
    const most = MOST[question.kind];
    const known = new Set<string>();
    let offered = 0;
    let ended = false;
    for (let requests = 0, vain = 0; requests < MOST_REQUESTS && vain < VAIN_WALKS; ) {
      const before = known.size;
      ended = false;
      for (let start = 0; !ended && known.size < most && requests < MOST_REQUESTS; requests++) {
        const rows = await this.page(question, { start, limit: ROWS_A_REQUEST }, attempts);
        await fetched.add(rows.filter(([text]) => !known.has(text) && known.add(text)));
        offered = start + rows.length;
        ended = rows.length < ROWS_A_REQUEST;
        start += step(rows);
      }
      if (known.size >= Math.min(offered, most)) break;
      vain = known.size === before ? vain + 1 : 0;
    }
    const capped = known.size >= most;
    let truncated = capped && offered > most;
    // All rows asked for came: only one more request tells whether there is a row behind them.
    if (capped && !truncated && !ended) {
      truncated = (await this.page(question, { start: offered, limit: 1 }, attempts)).length > 0;
    }
    return { rows: await fetched.write(target, most), truncated, capped, complete: true };
  }

  /** Some rows of a list, in the provider's order; fewer than `limit` at its end. */
  async page(question: Question, { start, limit }: { start: number; limit: number }, attempts: Attempts) {
    const { property, range, kind, country } = question;
    const identity = await this.#options.identities.of(this.#connection);
    const { endpoint } = this.#connection;
    const api = searchconsole({ version: 'v1', ...(endpoint === null ? {} : { rootUrl: endpoint }) });
    const filters = country === null ? [] : [{ dimension: 'country', operator: 'equals', expression: country }];
    const requestBody = {
      startDate: range.from,
      endDate: range.to,
      ...SHAPES[kind],
      type: 'web',
      dataState: 'all',
      rowLimit: limit,
      startRow: start,
      ...(filters.length > 0 ? { dimensionFilterGroups: [{ groupType: 'and', filters }] } : {}),
    };
    const ask = async (): Promise<Row[]> => {
      // The library's own sign-in would repeat requests that are refused, those over quota too.
      const headers = await identity.client.getRequestHeaders();
      const { data } = await api.searchanalytics.query(
        { siteUrl: property, requestBody },
        { headers, timeout: this.#options.timeLimit, signal: attempts.signal, retry: false, responseType: 'json' },
      );
      return readRows(data);
    };
    return requestAs(identity, attempts, ask);
  }
}

/**
 * How far to go on behind a full answer. Rows with the same clicks come in any order, another one each time, so that an
 * answer can end in the middle of them and the next leave some out: it starts again with the first of them, unless
 * there are more than one answer holds.
 */
function step(rows: readonly Row[]): number {
  const clicks = rows.at(-1)?.[1];
  const before = rows.findLastIndex((row) => row[1] !== clicks);
  return before === -1 ? rows.length : before + 1;
}

/** The rows of an answer; it has none where there is nothing. Averages become sums, so that nothing is lost to them. */
function readRows(data: unknown): Row[] {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw new ProviderFailure('broken', 'the answer is not a JSON document');
  }
  const { rows = [] } = data as { rows?: unknown };
  if (!Array.isArray(rows)) throw new ProviderFailure('broken', 'the answer has rows that are no list');
  return rows.map(readRow);
}

function readRow(row: unknown): Row {
  const { keys, clicks, impressions, position } = (row ?? {}) as Readonly<Record<string, unknown>>;
  const text: unknown = Array.isArray(keys) ? keys[0] : undefined;
  if (typeof text !== 'string' || !isMeasure(clicks) || !isMeasure(impressions) || !isMeasure(position)) {
    throw new ProviderFailure('broken', 'the answer has a row without its key or numbers');
  }
  const views = Math.round(impressions);
  return [text, Math.round(clicks), views, Math.max(0, Math.round((position - 1) * views))];
}

function isMeasure(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
