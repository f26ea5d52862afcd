import type { Catalog } from '../catalog/catalog.ts';
import { readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { invalidRequest } from '../domain/errors.ts';
import type { Interval } from '../domain/intervals.ts';
import { comparedRange, oneDevice, siteRange } from '../domain/project-ranges.ts';
import { type Range, spanOf } from '../domain/range.ts';
import type { Device } from '../facts/facts.ts';
import { siteTable } from '../model/tables.ts';
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
import { projectReference, projectReport } from './report.ts';
import {
  checkDevice,
  noDaysOfBing,
  type OfSurface,
  ofType,
  readProjectOf,
  searchEngine,
  searchType,
  surfaceOf,
} from './search-type.ts';
import { SiteAnswer, siteMetrics, siteRow } from './site-answer.ts';
import { planSeries, readSeries, tableOf } from './site-series.ts';

const parameters = {
  ...rangeParameters,
  engine: searchEngine,
  type: searchType,
  device,
  country,
  compare,
  interval,
  quality,
  ...formatParameters,
};

interface SiteQuery extends Range, OfSurface {
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
    const { engine, type, device: chosen, country: named = null, compare: other, interval, quality, ...range } = values;
    checkDevice(type, chosen);
    const surface = surfaceOf(engine, type, { device: chosen !== 'all', country: named !== null }, project);
    if (named !== null && chosen !== 'all') {
      throw invalidRequest(`country cannot be combined with device '${chosen}'; send one of them.`);
    }
    const days = siteRange(range, project, now);
    const comparison = comparedRange(days, other);
    return { ...days, ...ofType(surface), device: chosen, country: named, interval, comparison, quality };
  },
  plan: async (query, { catalog, project: stored }) => {
    const project = await readProjectOf(catalog, query.type, stored);
    return { query, project, ...(await planSite(catalog, project, query)) };
  },
  run: async ({ query, project, series: plan, known, quality }, { facts }, { signal }) => {
    const series = await readSeries(facts, plan, { ...query, signal });
    const siteDays = query.country === null ? series.days : undefined;
    const days = known && (await KnownDays.read(facts, known, signal, siteDays));
    const site = new SiteAnswer({
      ...query,
      project,
      days: plan.days,
      series,
      known: days,
      monthlyThrough: plan.monthlyThrough,
    });
    const rows = site.series(query.interval);
    const answer = {
      project: projectReference(project),
      range: site.range,
      ...(await qualityOf(facts, quality, signal)),
      totals: siteMetrics(site.total),
      daily: rows.map(siteRow),
    };
    return { answer, rows, interval: query.interval, events: days?.events ?? [] };
  },
});

/** The JSON response, the sums behind its days, and the events of the provider that concern a comparison. */
export type SiteResult = Awaited<ReturnType<typeof siteReport.run>>;

async function planSite(catalog: Catalog, project: Project, query: SiteQuery) {
  const { from, to, country: named, comparison, type } = query;
  const coverage = await readCoverage(catalog, project.id);
  if (type === 'bing' && coverage[siteTable('bing')] === undefined) throw noDaysOfBing();
  const ranges = [{ from, to }, ...(comparison === null ? [] : [comparison])];
  const table = tableOf(query);
  return {
    series: await planSeries(catalog, project, {
      ...(type && { type }),
      range: spanOf(ranges),
      country: named,
      coverage,
    }),
    known: comparison && (await planKnownDays(catalog, project, table, { ranges, coverage })),
    quality: query.quality
      ? await planQuality(catalog, project, {
          from,
          to,
          table,
          device: oneDevice(query.device),
          type,
          coverage,
        })
      : null,
  };
}
