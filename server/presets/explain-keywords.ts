import { readKeywordGaps, unknownIn } from '../catalog/keyword-gaps.ts';
import { type Coverage, keywordFilesUntil } from '../catalog/manifest.ts';
import type { TrackedKeyword, TrackedRead } from '../catalog/tracked.ts';
import { type Day, later } from '../domain/dates.ts';
import { isKnown } from '../domain/metrics.ts';
import { type Range, spanOf } from '../domain/range.ts';
import type { FactTable } from '../model/tables.ts';
import { areKeywordsUnknown, planKeywordDays } from '../query/strict-days.ts';
import { planRowDays, readRowDays } from './explain-days.ts';
import type { TwoRanges } from './explain-property.ts';
import { orderedRows, type ReadRows } from './explain-rows.ts';

/** Plans to read the totals of tracked keywords over two ranges, without days before the plan's keyword history. */
export async function planKeywordRows(
  { catalog, project, tracked }: TrackedRead,
  { now, base }: Pick<TwoRanges, 'now' | 'base'>,
  { coverage, historyFrom }: { coverage: Readonly<Partial<Record<FactTable, Coverage>>>; historyFrom: Day },
): Promise<ReadRows> {
  const planned = async ({ from, to }: Range) => {
    const range = { from: later(from, historyFrom), to };
    const isEmpty = project.syncedThrough === null || range.from > to;
    return { files: isEmpty ? null : await keywordFilesUntil(catalog, project.id, to, true), range };
  };
  const totals = { now: await planned(now), base: await planned(base) };
  const ranges = [now, base];
  const days = await planRowDays(catalog, project, 'keyword_daily', { ranges, coverage, notBefore: historyFrom });
  const gaps = await readKeywordGaps(catalog, project.id, spanOf(ranges));
  const known = await Promise.all(ranges.map((range) => planKeywordDays(catalog, project, range, tracked)));
  const { keywords, indexes } = tracked;
  return async ({ facts }, limit, signal) => {
    const [ofNow, ofBase, { lacks, events }, ...areUnknown] = await Promise.all([
      facts.keywordTotals({ ...totals.now, unknown: unknownIn(gaps, totals.now.range), signal }, 'all', indexes),
      facts.keywordTotals({ ...totals.base, unknown: unknownIn(gaps, totals.base.range), signal }, 'all', indexes),
      readRowDays(facts, days, signal),
      ...known.map((plan) => areKeywordsUnknown(facts, plan, signal)),
    ]);
    // Those of one range alone would look lost.
    const isShown = (keyword: TrackedKeyword): boolean => isKnown(ofNow.of(keyword)) && isKnown(ofBase.of(keyword));
    const shown = areUnknown.includes(true) ? [] : keywords.filter(isShown);
    const rows = shown.map((keyword) => ({
      key: { keyword: { id: keyword.id, query: keyword.query } },
      now: ofNow.of(keyword),
      base: ofBase.of(keyword),
    }));
    return {
      ...(await orderedRows(rows, limit)),
      source: null,
      reasons: new Set(lacks || gaps.size > 0 ? ['missing_days'] : []),
      events,
    };
  };
}
