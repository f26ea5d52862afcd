import type { Day } from '../../../server/domain/dates.ts';
import { SURFACES } from '../../../server/model/surfaces.ts';
import type { AnalyticsRequest, Dimension } from './request.ts';
import { addTo, type Measures, type Result, type Search } from './searches.ts';

/** The limit and order of the rows of the API. */
export interface RowOptions {
  /** Max rows of one day. */
  rowsPerDay: number;
  /** Best first overall, or by day and then best first: the API does both. */
  order: 'clicks' | 'date';
}

/** A row of an answer; its keys are already JSON. */
interface Group extends Measures {
  readonly keys: string;
}

/** A counted unit: a search, or one of its results or appearances. */
export interface Counted {
  readonly search: Search;
  readonly result?: Result;
  readonly appearance?: string;
  readonly hour?: string;
}

/** Groups measures by the dimensions of a request, and orders the rows. */
export class Groups {
  readonly #request: AnalyticsRequest;
  readonly #options: RowOptions;
  /** Rows of completed days. */
  #rows: Group[] = [];
  #open = new Map<string, Group>();

  constructor(request: AnalyticsRequest, options: RowOptions) {
    this.#request = request;
    this.#options = options;
  }

  add(day: Day, counted: Counted, measures: Measures): void {
    let keys = '';
    for (const dimension of this.#request.dimensions) {
      const key = json(keyOf(dimension, day, counted));
      keys = keys === '' ? key : `${keys},${key}`;
    }
    const group = this.#open.get(keys);
    if (group === undefined) this.#open.set(keys, { keys, ...measures });
    else addTo(group, measures);
  }

  /** Starts the next day: completes the rows of the previous one and applies the limit per day. */
  endDay(): void {
    const rows = this.#closed(this.#options.rowsPerDay);
    // One by one: `push` cannot take this many arguments.
    for (const row of rows) this.#rows.push(row);
  }

  /** The requested rows after all days. Rows with equal clicks are in a different order each time. */
  page(days: number): string[] {
    const { startRow, rowLimit } = this.#request;
    const rows = [...this.#rows, ...this.#closed(this.#options.rowsPerDay * days)];
    shuffle(rows);
    rows.sort((a, b) => b.clicks - a.clicks);
    if (this.#options.order === 'date' && this.#request.dimensions[0] === 'date') {
      rows.sort((a, b) => compare(a.keys.slice(0, 12), b.keys.slice(0, 12)));
    }
    const hasPositions = SURFACES[this.#request.type].hasQueries;
    return rows.slice(startRow, startRow + rowLimit).map((row) => toJson(row, hasPositions));
  }

  /** The rows of the current day; if there are too many, the best ones, always the same. */
  #closed(most: number): Group[] {
    const rows = [...this.#open.values()];
    this.#open = new Map();
    if (rows.length <= most) return rows;
    return rows.sort((a, b) => b.clicks - a.clicks || compare(a.keys, b.keys)).slice(0, most);
  }
}

function keyOf(dimension: Dimension, day: Day, { search, result, appearance, hour }: Counted): string {
  switch (dimension) {
    case 'date':
      return day;
    case 'hour':
      return hour ?? '';
    case 'query':
      return search.query ?? '';
    case 'page':
      return result?.page ?? '';
    case 'country':
      return search.country;
    case 'device':
      return search.device;
    case 'searchAppearance':
      return appearance ?? '';
  }
}

function toJson({ keys, clicks, impressions, positions }: Group, hasPositions: boolean): string {
  const position = hasPositions ? `,"position":${positions / impressions}` : '';
  const told = keys === '' ? '' : `"keys":[${keys}],`;
  return `{${told}"clicks":${clicks},"impressions":${impressions},"ctr":${clicks / impressions}${position}}`;
}

/** Sorting is stable, so this is the order of ties. */
function shuffle(rows: Group[]): void {
  for (let at = rows.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    const row = rows[at]!;
    rows[at] = rows[other]!;
    rows[other] = row;
  }
}

const written = new Map<string, string>();

/** Caches the JSON of repeated texts. */
function json(text: string): string {
  const known = written.get(text);
  if (known !== undefined) return known;
  if (written.size > 500_000) written.clear();
  const fresh = JSON.stringify(text);
  written.set(text, fresh);
  return fresh;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
