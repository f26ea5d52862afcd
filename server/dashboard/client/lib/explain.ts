import { describeReasons } from '../../../domain/unsafe-texts.ts';
import { formatCount } from './format.ts';
import type { ExplainAnswer } from './types.ts';

export type ExplainBy = ExplainAnswer['by'];

/** What the rows are, as the address and people name it. */
export const EXPLAIN_BY: readonly (readonly [ExplainBy, string])[] = [
  ['page', 'Pages'],
  ['query', 'Queries'],
  ['keyword', 'Keywords'],
  ['device', 'Devices'],
  ['country', 'Countries'],
  ['brand', 'Brand'],
];

/** The parts of a change in their order: name, heading, and what it means. */
export const PARTS = [
  ['impressions', 'Impressions', 'Clicks from more or fewer impressions'],
  ['position', 'Positions', 'Clicks from better or worse positions, by the CTR that your own rows have at them'],
  ['ctr', 'CTR', 'Clicks that impressions and positions do not explain'],
  ['clicks', 'In both periods', 'Clicks of rows of both periods: what they come from cannot be said'],
  ['gained', 'New', 'Clicks of rows that were not shown before'],
  ['lost', 'Gone', 'Clicks of rows that are no longer shown'],
  ['notAttributed', 'Not in any row', 'Clicks that belong to no row'],
] as const;

/** `+12`, `−3`, `0`. */
export function signed(value: number): string {
  const size = formatCount(Math.abs(value));
  return value === 0 ? size : `${value > 0 ? '+' : '−'}${size}`;
}

const ANONYMOUS = 'queries that the search engine counts but does not name';
const NO_ROW: Readonly<Record<ExplainBy, string>> = {
  page: 'the search engine counts clicks of pages in another way than those of the property',
  query: ANONYMOUS,
  brand: ANONYMOUS,
  keyword: 'queries that are not tracked',
  device: 'days of which the devices are not known',
  country: 'days of which the countries are not known',
};

/** What no row can say, plainly. */
export function notAttributedText(by: ExplainBy, clicks: number): string {
  return `${signed(clicks)} clicks are not in any row: ${NO_ROW[by]}.`;
}

const WHAT: Readonly<Record<string, string>> = { parts: 'The parts', change: 'The change', rows: 'The rows' };
const REASONS: Readonly<Record<string, string>> = {
  missing_days: 'days of one of the periods are not stored',
  cut_off: 'a list is as long as it may be, so that rows may be missing',
  weekday_mix: 'the periods have other weekdays',
  low_base: 'fewer than 20 clicks before',
};

/** What may mislead, in words. */
export function unsafeText(what: string, reason: string): string {
  return `${WHAT[what] ?? what} may mislead: ${REASONS[reason] ?? describeReasons([reason])}.`;
}
