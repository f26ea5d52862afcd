import { cacheKey } from '../domain/cache-key.ts';
import { ComparedRanges } from '../domain/compared-ranges.ts';
import type { UnsafeReason } from '../domain/comparison.ts';
import { type Day, monthsEarlier, pacificDayOf } from '../domain/dates.ts';
import { NOTHING } from '../domain/metrics.ts';
import { HISTORY_MONTHS } from '../domain/range.ts';
import type { Facts } from '../facts/facts.ts';
import type { Rendering } from '../lists/blocks.ts';
import type { RangeList } from '../lists/list-pages.ts';
import { KnownDays, type KnownDaysPlan } from './known-days.ts';

interface ComparedLists {
  /** How rows are written without a comparison. */
  readonly rendering: Rendering;
  readonly open: RangeList;
  readonly other: RangeList;
  /** The days of own facts; null where the lists come from a provider. */
  readonly known: KnownDaysPlan | null;
  readonly signal: AbortSignal;
}

/** How rows of a list are written that is compared with another one. */
export async function comparedRendering(
  facts: Facts,
  { rendering, open, other, known, signal }: ComparedLists,
): Promise<Rendering> {
  const ranges = [open.range, other.range] as const;
  const days = known === null ? NO_REASONS : await KnownDays.read(facts, { ...known, ranges }, signal);
  const reasons = new Set<UnsafeReason>(known === null ? [open, other].flatMap(providerReasons) : []);
  if (open.list.source !== other.list.source) reasons.add('different_source');
  const total = new ComparedRanges(...ranges, days, null).total.with(reasons);
  // What a list was too short for may have any numbers.
  const absent = other.list.truncated ? total.with(['cut_off']) : total;
  const { file, fetchedAt } = other.list;
  return {
    ...rendering,
    variant: cacheKey(rendering.variant, file, fetchedAt, ranges, [...total.common]),
    render: (row) => ({
      ...rendering.render(row),
      ...(row.base === undefined ? absent : total).compare(row, row.base ?? NOTHING),
    }),
  };
}

const NO_REASONS = { reasonsOn: () => [] };

function providerReasons({ list: { final, source, fetchedAt }, range }: RangeList): UnsafeReason[] {
  const reasons: UnsafeReason[] = final ? [] : ['provisional'];
  if (source === 'gsc' && range.from < firstDayOfApi(fetchedAt)) reasons.push('missing_days');
  return reasons;
}

/** @param fetchedAt microseconds */
function firstDayOfApi(fetchedAt: number): Day {
  return monthsEarlier(pacificDayOf(fetchedAt / 1000), HISTORY_MONTHS);
}
