// Days, numbers and parameters as the contract defines them, with exact integers and fractions, and no code of the server.
import type { Row } from '../world.ts';

/** The expected answer: its body, or for an error its status, code and the parameter that it names. */
export type Expected =
  | { readonly status: 200; readonly body: unknown }
  | { readonly status: number; readonly code: string; readonly named?: string };

export class Refusal extends Error {
  readonly expected: Expected;

  constructor(status: number, code: string, named?: string) {
    super(code);
    this.expected = { status, code, ...(named === undefined ? {} : { named }) };
  }
}

export const bad = (named: string): Refusal => new Refusal(400, 'invalid_request', named);
export const missing = (): Refusal => new Refusal(404, 'not_found');

// Days

export const DAY = 86_400_000;
export const number = (day: string): number => Date.parse(day) / DAY;
export const text = (days: number): string => new Date(days * DAY).toISOString().slice(0, 10);
const lengthOf = (year: number, month: number): number => new Date(Date.UTC(year, month + 1, 0)).getUTCDate();

/** The days of the month whose first day is given. */
export function monthSpan(first: string): { from: number; to: number; length: number } {
  const [year = 0, month = 0] = first.split('-').map(Number);
  const length = lengthOf(year, month - 1);
  return { from: number(first), to: number(first) + length - 1, length };
}

// Numbers

/** clicks, impressions, and impressions times (position - 1) as a fraction. */
export interface Sum {
  clicks: bigint;
  impressions: bigint;
  top: bigint;
  bottom: bigint;
}

export const zero = (): Sum => ({ clicks: 0n, impressions: 0n, top: 0n, bottom: 1n });

function addTo(sum: Sum, clicks: bigint, impressions: bigint, top: bigint, bottom = 1n): void {
  sum.clicks += clicks;
  sum.impressions += impressions;
  sum.top = sum.top * bottom + top * sum.bottom;
  sum.bottom *= bottom;
}

export function addRow(sum: Sum, row: Row): void {
  addTo(
    sum,
    BigInt(row['clicks'] as number),
    BigInt(row['impressions'] as number),
    BigInt(row['sum_position'] as number),
  );
}

/** A month's row on one of its days: floor(T d / n) - floor(T (d - 1) / n), at the month's average position. */
export function addDayOfMonth(sum: Sum, row: Row, day: number): void {
  const { from, length } = monthSpan(String(row['month']));
  const share = (name: string): bigint => {
    const total = BigInt(row[name] as number);
    const d = BigInt(day - from + 1);
    return (total * d) / BigInt(length) - (total * (d - 1n)) / BigInt(length);
  };
  const impressions = share('impressions');
  const all = BigInt(row['impressions'] as number);
  addTo(
    sum,
    share('clicks'),
    impressions,
    all === 0n ? 0n : BigInt(row['sum_position'] as number) * impressions,
    all || 1n,
  );
}

export function addUp(rows: readonly Row[]): Sum {
  const sum = zero();
  for (const row of rows) addRow(sum, row);
  return sum;
}

/** Rounded to this many decimals, half away from zero. */
export function rounded(top: bigint, bottom: bigint, decimals: number): number {
  const scaled = top * 10n ** BigInt(decimals);
  return Number((2n * scaled + bottom) / (2n * bottom)) / 10 ** decimals;
}

export function metrics({ clicks, impressions, top, bottom }: Sum) {
  const none = impressions === 0n;
  return {
    clicks: Number(clicks),
    impressions: Number(impressions),
    ctr: none ? null : rounded(clicks, impressions, 4),
    position: none ? null : rounded(top + impressions * bottom, impressions * bottom, 1),
  };
}

/** The sums behind objects of answers, which formats with exact types have too. */
export const sumsBehind = new WeakMap<object, { readonly now: Sum | null; readonly base: Sum | null }>();

export function withSums<Of extends object>(row: Of, now: Sum | null, base: Sum | null = null): Of {
  sumsBehind.set(row, { now, base });
  return row;
}

// Order

export const byText = (a: unknown, b: unknown): number =>
  Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
export const descending = (a: number, b: number): number => b - a;

// Parameters

export interface Query {
  get(name: string): string | undefined;
  /** All values of a parameter that may be sent several times. */
  all(name: string): readonly string[];
}

export function readQuery(path: string): Query {
  const sent = new URLSearchParams(path.split('?')[1] ?? '');
  return {
    all: (name) => sent.getAll(name),
    get: (name) => {
      const values = sent.getAll(name);
      if (values.length > 1 || values[0] === '') throw bad(name);
      return values[0];
    },
  };
}

export function dayIn(query: Query, name: string): number | undefined {
  const sent = query.get(name);
  if (sent === undefined) return undefined;
  if (!/^\d{4}-\d\d-\d\d$/.test(sent) || Number.isNaN(number(sent)) || text(number(sent)) !== sent) throw bad(name);
  return number(sent);
}

export function wholeIn(query: Query, name: string, byDefault: number, least: number, most: number): number {
  const sent = query.get(name) ?? String(byDefault);
  if (!/^\d+$/.test(sent) || Number(sent) < least || Number(sent) > most) throw bad(name);
  return Number(sent);
}

/** How many rows a page has: without `limit` and `offset`, formats of flat rows have all, which is undefined. */
export function limitIn(query: Query, most: number): number | undefined {
  const isWhole =
    query.get('format') !== undefined && query.get('limit') === undefined && query.get('offset') === undefined;
  const limit = wholeIn(query, 'limit', Math.min(1000, most), 1, most);
  return isWhole ? undefined : limit;
}

export function oneIn(query: Query, name: string, allowed: readonly string[]): string | undefined {
  const sent = query.get(name);
  if (sent !== undefined && !allowed.includes(sent)) throw bad(name);
  return sent;
}

export function flagIn(query: Query, name: string): boolean {
  return ['1', 'true'].includes(oneIn(query, name, ['1', 'true', '0', 'false']) ?? '0');
}

export function countryIn(query: Query): string | null {
  const sent = query.get('country');
  if (sent !== undefined && !/^[A-Za-z]{3}$/.test(sent)) throw bad('country');
  return sent?.toLowerCase() ?? null;
}

export interface Days {
  readonly from: number;
  readonly to: number;
}

export function eachDay({ from, to }: Days): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);
}

/** The range of `from`, `to` and `period`; it ends with `last` by default, and with the last `final` day if asked. */
export function rangeIn(query: Query, last: number, final = last): Days {
  const isFinal = query.get('to') === 'final';
  const [from, end] = [dayIn(query, 'from'), isFinal ? final : dayIn(query, 'to')];
  const to = end ?? last;
  const period = query.get('period');
  if (period === undefined) {
    const start = from ?? to - 27;
    if (start > to || to - start + 1 > 486) throw bad('from');
    return { from: start, to };
  }
  const [, digits, unit] = /^(\d+)([dm])$/.exec(period) ?? [];
  const count = Number(digits);
  if (from !== undefined || !(count >= 1 && count <= (unit === 'd' ? 486 : 16))) throw bad('period');
  if (unit === 'd') return { from: to - count + 1, to };
  const [year = 0, month = 0, date = 0] = text(to).split('-').map(Number);
  const earlier = Date.UTC(year, month - 1 - count, 1);
  const length = lengthOf(new Date(earlier).getUTCFullYear(), new Date(earlier).getUTCMonth());
  return { from: Math.max(earlier / DAY + Math.min(date, length), to - 485), to };
}

export function dayOrNull(day: number): string | null {
  return Number.isFinite(day) ? text(day) : null;
}
