import type { Day } from '../../../server/domain/dates.ts';
import type { AnalyticsRequest, Dimension } from './request.ts';
import { addTo, type Measures, type Result, type Search } from './searches.ts';

/** Which rows the API gives of those that it has, and in what order. */
export interface RowOptions {
  /** The most rows of one day. */
  rowsPerDay: number;
  /** Best first in all, or by day and then best first: the API has been seen to do both. */
  order: 'clicks' | 'date';
}

/** A row of an answer; its keys are JSON already. */
interface Group extends Measures {
  readonly keys: string;
}

/** What measures were counted of. */
interface Counted {
  readonly search: Search;
  readonly result?: Result;
  readonly appearance?: string;
}

/** Groups what is counted by the dimensions of a request, and puts the rows into the order of an answer. */
export class Groups {
  readonly #request: AnalyticsRequest;
  readonly #options: RowOptions;
  /** Rows of days that are done. */
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

  /** What comes belongs to another day: rows of days before are complete, and no more of one day are given than there may be. */
  endDay(): void {
    const rows = this.#closed(this.#options.rowsPerDay);
    // One by one: so many arguments would not fit.
    for (const row of rows) this.#rows.push(row);
  }

  /** The rows that a request asks for, after so many days. Rows with equal clicks come in another order each time. */
  page(days: number): string[] {
    const { startRow, rowLimit } = this.#request;
    const rows = [...this.#rows, ...this.#closed(this.#options.rowsPerDay * days)];
    shuffle(rows);
    rows.sort((a, b) => b.clicks - a.clicks);
    if (this.#options.order === 'date' && this.#request.dimensions[0] === 'date') {
      rows.sort((a, b) => compare(a.keys.slice(0, 12), b.keys.slice(0, 12)));
    }
    return rows.slice(startRow, startRow + rowLimit).map(toJson);
  }

  /** The rows that are open, the best ones if there are too many: which those are is the same each time. */
  #closed(most: number): Group[] {
    const rows = [...this.#open.values()];
    this.#open = new Map();
    if (rows.length <= most) return rows;
    return rows.sort((a, b) => b.clicks - a.clicks || compare(a.keys, b.keys)).slice(0, most);
  }
}

function keyOf(dimension: Dimension, day: Day, { search, result, appearance }: Counted): string {
  switch (dimension) {
    case 'date':
      return day;
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

function toJson({ keys, clicks, impressions, positions }: Group): string {
  const told = keys === '' ? '' : `"keys":[${keys}],`;
  return `{${told}"clicks":${clicks},"impressions":${impressions},"ctr":${clicks / impressions},"position":${positions / impressions}}`;
}

/** Sorting keeps the order of equals, so that this is the order of ties. */
function shuffle(rows: Group[]): void {
  for (let at = rows.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    const row = rows[at]!;
    rows[at] = rows[other]!;
    rows[other] = row;
  }
}

const written = new Map<string, string>();

/** The same texts are written over and over. */
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
