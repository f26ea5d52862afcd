import { Comparer, UNSAFE_REASONS, type UnsafeReason } from '../domain/comparison.ts';
import { type ExactMeasures, NOTHING, toMetrics } from '../domain/metrics.ts';
import { portfolioPreset } from '../presets/portfolio.ts';
import { askPreset, type PresetRequest, type PresetSources } from '../presets/preset.ts';

/**
 * The sums of all projects of a portfolio that match its filter, compared like the rows. What makes one project unsafe to
 * compare makes the sum so.
 */
export async function readPortfolioTotals(
  sources: PresetSources,
  sent: Readonly<Record<string, string>>,
  request: PresetRequest,
): Promise<object> {
  const { sort: _sort, limit: _limit, offset: _offset, daily: _daily, interval: _interval, ...asked } = sent;
  const result = await askPreset(portfolioPreset, sources, request, { ...asked, format: 'ndjson' });
  let now: ExactMeasures = NOTHING;
  let base: ExactMeasures = NOTHING;
  let isCompared = false;
  const reasons = new Set<UnsafeReason>();
  for await (const rows of result.batches) {
    for (const { site } of rows) {
      if ('error' in site) continue;
      const { now: sums, base: others, comparer } = site.total;
      now = plus(now, sums);
      if (!comparer || !others) continue;
      isCompared = true;
      base = plus(base, others);
      const { impressions = [] } = comparer.unsafe(others);
      for (const reason of impressions) reasons.add(reason);
    }
  }
  const ordered = UNSAFE_REASONS.filter((reason) => reasons.has(reason));
  return {
    projects: result.paging.total,
    totals: { ...toMetrics(now), ...(isCompared ? new Comparer(new Set(ordered)).compare(now, base) : {}) },
  };
}

function plus(a: ExactMeasures, b: ExactMeasures): ExactMeasures {
  return {
    clicks: a.clicks + b.clicks,
    impressions: a.impressions + b.impressions,
    sumPosition: a.sumPosition + b.sumPosition,
  };
}
