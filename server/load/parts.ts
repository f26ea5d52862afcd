import type { Part } from '../catalog/manifest.ts';
import type { FactTableSchema } from './tables.ts';

/** The sum of up to this many parts is always exact in JSON; a range has up to 17 months. */
export const PARTS_WITHOUT_CHECK = 20;
/** The largest allowed sum of a part. */
export const MAX_PER_PART = Math.floor(Number.MAX_SAFE_INTEGER / PARTS_WITHOUT_CHECK);

/** Part numbers while staging: `202603` is a month. Numeric partitions are faster to write. */
export const WRONG_PART = 0;
const WHOLE_PART = 1;

/** SQL of the number of the part that a row belongs to. */
export function partOf({ day, split }: FactTableSchema): string {
  if (split === 'none') return String(WHOLE_PART);
  if (split === 'period') return `(${digits('first_day')} * 100000000 + ${digits('last_day')})`;
  return `(year("${day}") * 100 + month("${day}"))`;
}

/** `20260302` for a day. */
function digits(day: string): string {
  return `(year("${day}")::bigint * 10000 + month("${day}") * 100 + day("${day}"))`;
}

/** The columns of the first and the last day that a row is about. */
export function daysOf({ day }: FactTableSchema): { first: string; last: string } {
  return { first: day === 'last_day' ? '"first_day"' : `"${day}"`, last: `"${day}"` };
}

/** 202603 to `2026-03`, 2026030220260331 to `2026-03-02_2026-03-31`. */
export function partName(part: number): Part {
  if (part === WHOLE_PART) return 'all';
  return String(part)
    .replace(/^(\d{8})(\d{8})$/, '$1_$2')
    .replaceAll(/(\d{4})(\d{2})(\d{2})?/g, (_, year, month, day) => [year, month, day].filter(Boolean).join('-'));
}
