import type { Catalog } from '../catalog/catalog.ts';
import { type FactTable, filesOf, readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import type { Day } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import type { Interval } from '../domain/intervals.ts';
import { type Range, spanOf, within } from '../domain/range.ts';
import type { Device } from '../facts/facts.ts';
import { siteSeries, siteSeriesOfCountry } from '../facts/series.ts';
import { KnownDays, planKnownDays } from './known-days.ts';
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
import { SiteAnswer, siteMetrics, siteRow } from './site-answer.ts';

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
    const { device: chosen, country: named } = query;
    const series =
      named === null
        ? await siteSeries(facts, { ...files, device: chosen, signal })
        : await siteSeriesOfCountry(facts, { ...files, country: named, signal });
    const siteDays = named === null ? series.days : undefined;
    const site = new SiteAnswer({
      ...query,
      project,
      days,
      series,
      known: known && (await KnownDays.read(facts, known, signal, siteDays)),
      monthlyThrough: files.monthlyThrough,
    });
    const rows = site.series(query.interval);
    const answer = {
      project: projectReference(project),
      range: site.range,
      ...(await qualityOf(facts, quality, signal)),
      totals: siteMetrics(site.total),
      daily: rows.map(siteRow),
    };
    return { answer, rows, interval: query.interval };
  },
});

/** The JSON response, and the sums behind its days. */
export type SiteResult = Awaited<ReturnType<typeof siteReport.run>>;

/** From a project's first stored day to its last synced one; null if there is none. */
export function storedDays({ syncedThrough }: Project, first: Day | undefined): Range | null {
  return first === undefined || syncedThrough === null ? null : { from: first, to: syncedThrough };
}

/** The stored days of the project, and the files to read for the range and for the one to compare with. */
async function planSite(catalog: Catalog, project: Project, query: SiteQuery) {
  const { from, to, country: named, comparison } = query;
  const coverage = await readCoverage(catalog, project.id);
  const first = coverage.site_daily?.firstDay;
  const days = storedDays(project, first);
  const ranges = [{ from, to }, ...(comparison === null ? [] : [comparison])];
  const hull = spanOf(ranges);
  const range = days && within(hull, days.from, days.to);
  const files = (table: FactTable) => (range ? filesOf(catalog, project.id, table, range) : []);
  const table = named === null ? 'site_daily' : 'country_daily';
  // In parallel, to wait only once for a remote database.
  const [siteFiles, countryFiles, monthFiles] = await Promise.all([
    files('site_daily'),
    files('country_daily'),
    files('country_monthly'),
  ]);
  return {
    days,
    range,
    known: comparison && (await planKnownDays(catalog, project, table, { ranges, coverage })),
    quality: query.quality
      ? await planQuality(catalog, project, { from, to, table, device: oneDevice(query.device), coverage })
      : null,
    monthlyThrough: named === null ? null : (coverage.country_monthly?.lastDay ?? null),
    siteFiles,
    countryFiles,
    monthFiles,
  };
}
