import type { Coverage } from '../catalog/manifest.ts';
import type { TrackedKeyword, TrackedRead } from '../catalog/tracked.ts';
import { type Day, later } from '../domain/dates.ts';
import { isKnown } from '../domain/metrics.ts';
import { type Range, spanOf } from '../domain/range.ts';
import type { FactTable } from '../model/tables.ts';
import { areKeywordsUnknown, planKeywordDays, planRowDays, readRowDays } from '../query/strict-days.ts';
import { planTotals, readTotals } from '../query/tracked.ts';
import type { TwoRanges } from './explain-property.ts';
import { orderedRows, type ReadRows } from './explain-rows.ts';

/** Plans to read the totals of tracked keywords over two ranges, without days before the plan's keyword history. */
export async function planKeywordRows(
  { catalog, project, tracked }: TrackedRead,
  { now, base }: Pick<TwoRanges, 'now' | 'base'>,
  { coverage, historyFrom }: { coverage: Readonly<Partial<Record<FactTable, Coverage>>>; historyFrom: Day },
): Promise<ReadRows> {
  const ranges = [now, base];
  const totals = await planTotals(catalog, project, spanOf(ranges));
  const days = await planRowDays(catalog, project, 'keyword_daily', { ranges, coverage, notBefore: historyFrom });
  const known = await Promise.all(ranges.map((range) => planKeywordDays(catalog, project, range, tracked)));
  return async ({ facts }, limit, signal) => {
    const read = ({ from, to }: Range) =>
      readTotals(facts, totals, { from: later(from, historyFrom), to }, tracked, signal);
    const [ofNow, ofBase, { lacks, events }, ...areUnknown] = await Promise.all([
      read(now),
      read(base),
      readRowDays(facts, days, signal),
      ...known.map((plan) => areKeywordsUnknown(facts, plan, signal)),
    ]);
    // Those of one range alone would look lost.
    const isShown = (keyword: TrackedKeyword): boolean => isKnown(ofNow.of(keyword)) && isKnown(ofBase.of(keyword));
    const shown = areUnknown.includes(true) ? [] : tracked.keywords.filter(isShown);
    const rows = shown.map((keyword) => ({
      key: { keyword: { id: keyword.id, query: keyword.query } },
      now: ofNow.of(keyword),
      base: ofBase.of(keyword),
    }));
    return {
      ...(await orderedRows(rows, limit)),
      source: null,
      reasons: new Set(lacks || totals.gaps.size > 0 ? ['missing_days'] : []),
      events,
    };
  };
}
