import type { Catalog } from '../catalog/catalog.ts';
import { type FactTable, filesOf, readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { ComparedRanges, type DayReasons } from '../domain/compared-ranges.ts';
import type { Compared, Comparer } from '../domain/comparison.ts';
import { invalidRequest } from '../domain/errors.ts';
import { type Bucket, bucketsOf, type Interval } from '../domain/intervals.ts';
import { type ExactMeasures, NOTHING, toMetrics } from '../domain/metrics.ts';
import { type Range, within } from '../domain/range.ts';
import type { Device } from '../facts/facts.ts';
import { type Series, siteSeries, siteSeriesOfCountry } from '../facts/series.ts';
import { hullOf, KnownDays, planKnownDays } from './known-days.ts';
import {
  compare,
  country,
  device,
  formatParameters,
  interval,
  quality,
  rangeParameters,
  readParameters,
} from './parameters.ts';
import { planQuality, qualityOf } from './quality.ts';
import { comparedRange, oneDevice, siteRange } from './ranges.ts';
import { projectReference, projectReport } from './report.ts';

const parameters = { ...rangeParameters, device, country, compare, interval, quality, ...formatParameters };

interface SiteQuery extends Range {
  readonly device: Device;
  readonly country: string | null;
  readonly interval: Interval;
  readonly comparison: Range | null;
  readonly quality: boolean;
}

/** Totals and days of the whole property. */
export const siteReport = projectReport({
  operation: 'getSite',
  parameters,
  parse: (sent, project, now): SiteQuery => {
    const values = readParameters(parameters, sent);
    const { device: chosen, country: named = null, compare: other, interval, quality, ...range } = values;
    if (named !== null && chosen !== 'all') {
      throw invalidRequest(`country cannot be combined with device '${chosen}'; send one of them.`);
    }
    const days = siteRange(range, project, now);
    return { ...days, device: chosen, country: named, interval, comparison: comparedRange(days, other), quality };
  },
  plan: async (query, { catalog, project }) => ({ query, project, ...(await planSite(catalog, project, query)) }),
  run: async ({ query, project, days, known, quality, ...files }, { facts }, { signal }) => {
    const { from, to, device: chosen, country: named, comparison } = query;
    const series =
      named === null
        ? await siteSeries(facts, { ...files, device: chosen, signal })
        : await siteSeriesOfCountry(facts, { ...files, country: named, signal });
    const siteDays = named === null ? series.days : undefined;
    const reasons =
      known && reasonsOf(await KnownDays.read(facts, known, signal, siteDays), series, files.monthlyThrough);
    const compared = comparison && new ComparedRanges({ from, to }, comparison, reasons!, oneDevice(chosen));
    const over = (part: Range | null): ExactMeasures => {
      const stored = part && days && within(part, days.from, days.to);
      return stored === null ? NOTHING : series.over(stored).measures;
    };
    const row = (now: Range, base: Range | null, comparer: Comparer | undefined): SiteRow => {
      const sums = { now: over(now), base: over(base) };
      return { ...sums, compared: comparer?.compare(sums.now, sums.base) ?? null };
    };
    const dayRow = (bucket: Bucket): SiteRow & { readonly date: string } => ({
      date: bucket.from,
      ...row(bucket, compared?.counterpart(bucket) ?? null, compared?.part(bucket)),
    });
    const hasDays = (bucket: Range): boolean => days !== null && within(bucket, days.from, days.to) !== null;
    const rows = bucketsOf({ from, to }, query.interval).filter(hasDays).map(dayRow);
    const answer = {
      project: projectReference(project),
      range: {
        from,
        to,
        device: chosen,
        country: named,
        provisionalAfter: project.provisionalAfter,
        ...(named === null ? {} : { countryMonthlyThrough: files.monthlyThrough }),
        ...(comparison === null ? {} : { comparison }),
      },
      ...(await qualityOf(facts, quality, signal)),
      totals: metricsOf(row({ from, to }, comparison, compared?.total)),
      daily: rows.map(({ date, ...rest }) => ({ date, ...metricsOf(rest) })),
    };
    return { answer, rows };
  },
});

/** What JSON answers, and the sums behind its days. */
export type SiteResult = Awaited<ReturnType<typeof siteReport.run>>;

/** Sums over some days, and over those of the other range. */
interface SiteRow {
  readonly now: ExactMeasures;
  readonly base: ExactMeasures;
  readonly compared: Compared | null;
}

function metricsOf({ now, compared }: SiteRow) {
  return { ...toMetrics(now), ...compared };
}

/** Where a country has no total of a month, it is among the others. */
function reasonsOf(known: KnownDays, series: Series, monthlyThrough: string | null): DayReasons {
  return {
    reasonsOn: (day) => {
      const reasons = known.reasonsOn(day);
      const isOther = monthlyThrough !== null && day <= monthlyThrough && !series.hasMonthOf(day);
      return isOther ? [...reasons, 'monthly_spread'] : reasons;
    },
    monthlyThrough,
  };
}

/** The stored days of the project, and the files to read of the range and of the one that it is compared with. */
async function planSite(catalog: Catalog, project: Project, query: SiteQuery) {
  const { from, to, country: named, comparison } = query;
  const coverage = await readCoverage(catalog, project.id);
  const first = coverage.site_daily?.firstDay;
  // From the project's first stored day to its last synced one.
  const days =
    first === undefined || project.syncedThrough === null ? null : { from: first, to: project.syncedThrough };
  const ranges = [{ from, to }, ...(comparison === null ? [] : [comparison])];
  const hull = hullOf(ranges);
  const range = days && within(hull, days.from, days.to);
  const files = (table: FactTable) => (range ? filesOf(catalog, project.id, table, range) : []);
  const table = named === null ? 'site_daily' : 'country_daily';
  return {
    days,
    range,
    known: comparison && (await planKnownDays(catalog, project, table, { ranges, coverage })),
    quality: query.quality
      ? await planQuality(catalog, project, { from, to, table, device: oneDevice(query.device), coverage })
      : null,
    monthlyThrough: named === null ? null : (coverage.country_monthly?.lastDay ?? null),
    siteFiles: await files('site_daily'),
    countryFiles: await files('country_daily'),
    monthFiles: await files('country_monthly'),
  };
}
