import { addDays, type Day, dayOf, weekdayOf } from '../../domain/dates.ts';
import type { Range } from '../../domain/range.ts';
import { ProviderFailure } from '../failures.ts';
import type { ProviderRow, WholeTableRow } from '../provider.ts';

/** Dates up to this one are none: it is the first day of the calendar, in some time zone. Milliseconds. */
const NO_DATE = -62_135_568_000_000;
const DATE = /^\/Date\((-?\d+)([+-])?(\d{2})?(\d{2})?\)\/$/;

/** The days of a response; rows without a date are left out. Throws `ProviderFailure`. */
export function readDays(data: unknown): WholeTableRow[] {
  return added(
    rowsOf(data).flatMap((row) => {
      const day = readDate(row['Date']);
      return day === null ? [] : [{ day, key: { device: 'unknown' }, ...countsOf(row), sumPosition: 0 }];
    }),
  );
}

/**
 * The weeks of a response, each by its last day. A row has the seven days before its date. Nobody says on which weekday weeks
 * end: all dates must agree. Throws `ProviderFailure`.
 * @param column where the text of a row belongs
 */
export function readWeeks(data: unknown, column: 'query' | 'url'): WholeTableRow[] {
  const rows = rowsOf(data).flatMap((row): WholeTableRow[] => {
    const date = readDate(row['Date']);
    const text = row['Query'];
    if (typeof text !== 'string') throw invalid('has a row without its text');
    if (date === null || text.trim() === '') return [];
    const counts = countsOf(row);
    const position = readPosition(row['AvgImpressionPosition']);
    const sumPosition = position === null ? null : Math.round((position - 1) * counts.impressions);
    return [{ day: addDays(date, -1), key: { [column]: text }, ...counts, sumPosition }];
  });
  const weekdays = new Set(rows.map(({ day }) => weekdayOf(day)));
  if (weekdays.size > 1) throw invalid('has weeks that end on different weekdays');
  return added(rows);
}

/** The sums of whole weeks by text. Throws `ProviderFailure` if weeks end on another weekday than the range. */
export function sumOfWeeks(weeks: readonly WholeTableRow[], { from, to }: Range): ProviderRow[] {
  if (weeks.some(({ day }) => weekdayOf(day) !== weekdayOf(to))) {
    throw invalid('has weeks that end on another weekday than those of the site');
  }
  const ofRange = weeks.filter(({ day }) => day >= from && day <= to).map((row) => ({ ...row, day: to }));
  return added(ofRange).map(({ key, clicks, impressions, sumPosition }) => {
    return [Object.values(key)[0]!, clicks, impressions, sumPosition ?? -1];
  });
}

/** The day of `/Date(ms±hhmm)/`: midnight at that offset. Null for no date. Throws `ProviderFailure`. */
export function readDate(value: unknown): Day | null {
  const told = readTime(value);
  return told && dayOf(told.at + told.offset);
}

/** The instant of `/Date(ms±hhmm)/`. Null for no date. Throws `ProviderFailure`. */
export function readInstant(value: unknown): string | null {
  const told = readTime(value);
  return told && new Date(told.at).toISOString();
}

/** In milliseconds. */
function readTime(value: unknown): { readonly at: number; readonly offset: number } | null {
  const [all, ms, sign, hours = '0', minutes = '0'] = typeof value === 'string' ? (DATE.exec(value) ?? []) : [];
  if (all === undefined) throw invalid('has a date that is none');
  const at = Number(ms);
  if (at <= NO_DATE) return null;
  const ahead = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const offset = sign === '-' ? -ahead : ahead;
  if ([at, at + offset].some((time) => Number.isNaN(new Date(time).getTime())))
    throw invalid('has a date that is none');
  return { at, offset };
}

function readPosition(value: unknown): number | null {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw invalid('has a row without its numbers');
  return value < 1 ? null : value;
}

function countsOf(row: Row): { clicks: number; impressions: number } {
  const { Clicks: clicks, Impressions: impressions } = row;
  if (!isCount(clicks) || !isCount(impressions)) throw invalid('has a row without its numbers');
  return { clicks, impressions };
}

/** Whether it is a whole number from 0. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Rows of the same day and text are added up. */
function added(rows: readonly WholeTableRow[]): WholeTableRow[] {
  const sums = new Map<string, WholeTableRow>();
  for (const row of rows) {
    const key = JSON.stringify([row.day, ...Object.values(row.key)]);
    const known = sums.get(key);
    if (known === undefined) sums.set(key, row);
    else
      sums.set(key, {
        ...row,
        clicks: known.clicks + row.clicks,
        impressions: known.impressions + row.impressions,
        sumPosition:
          known.sumPosition === null || row.sumPosition === null ? null : known.sumPosition + row.sumPosition,
      });
  }
  return [...sums.values()];
}

type Row = Readonly<Record<string, unknown>>;

/** The rows of a list. Throws `ProviderFailure`. */
export function rowsOf(data: unknown): Row[] {
  if (!Array.isArray(data)) throw invalid('has no list of rows');
  return data.map((row: unknown) => {
    if (typeof row !== 'object' || row === null) throw invalid('has a row that is none');
    return row as Row;
  });
}

/** The verified sites of a response, sorted. Nothing else of it is kept: it has the codes of verification. */
export function readSites(data: unknown): string[] {
  return rowsOf(data)
    .flatMap(({ Url: url, IsVerified: isVerified }) => {
      if (typeof url !== 'string' || typeof isVerified !== 'boolean') throw invalid('has a site without its address');
      return isVerified ? [url] : [];
    })
    .toSorted();
}

/** The failure for a response that is not as documented. */
export function invalid(what: string): ProviderFailure {
  return new ProviderFailure('broken', `the response ${what}`, { passing: false });
}
