import type { Catalog } from '../catalog/catalog.ts';
import { type Coverage, type FactTable, filesOf, readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { invalidRequest } from '../domain/errors.ts';
import { type Range, within } from '../domain/range.ts';
import { siteSeries, siteSeriesOfCountry } from '../facts/series.ts';
import { country, device, formatParameters, rangeParameters, readParameters } from './parameters.ts';
import { siteRange } from './ranges.ts';
import { projectReference, projectReport } from './report.ts';

const parameters = { ...rangeParameters, device, country, ...formatParameters };

/** Totals and days of the whole property. */
export const siteReport = projectReport({
  operation: 'getSite',
  parameters,
  parse: (sent, project, now) => {
    const { device: chosen, country: named, ...range } = readParameters(parameters, sent);
    if (named !== undefined && chosen !== 'all') {
      throw invalidRequest(`country cannot be combined with device '${chosen}'; send one of them.`);
    }
    const days = siteRange(range, project, now);
    return { ...days, device: chosen, country: named ?? null };
  },
  plan: async (query, { catalog, project }) => ({ query, project, ...(await planFiles(catalog, project, query)) }),
  run: async ({ query, project, ...files }, { facts }, { signal }) => {
    const { from, to, device: chosen, country: named } = query;
    const series =
      named === null
        ? await siteSeries(facts, { ...files, device: chosen, signal })
        : await siteSeriesOfCountry(facts, { ...files, country: named, signal });
    const { totals, daily, sumPositions, isSpread } = series;
    const answer = {
      project: projectReference(project),
      range: {
        from,
        to,
        device: chosen,
        country: named,
        provisionalAfter: project.provisionalAfter,
        ...(named === null ? {} : { countryMonthlyThrough: files.monthlyThrough }),
      },
      totals,
      daily,
    };
    return { answer, sumPositions, isSpread };
  },
});

/** The JSON response, and the sums behind its positions. */
export type SiteResult = Awaited<ReturnType<typeof siteReport.run>>;

/** The days of the series, and their files. */
async function planFiles(catalog: Catalog, project: Project, range: Range) {
  const coverage = await readCoverage(catalog, project.id);
  const days = storedDays(range, coverage.site_daily, project);
  const files = (table: FactTable) => (days ? filesOf(catalog, project.id, table, days) : []);
  return {
    days,
    monthlyThrough: coverage.country_monthly?.lastDay ?? null,
    siteFiles: await files('site_daily'),
    countryFiles: await files('country_daily'),
    monthFiles: await files('country_monthly'),
  };
}

/** The days of a range between the project's first stored and last synced day; null if there are none. */
function storedDays(range: Range, stored: Coverage | undefined, project: Project): Range | null {
  if (stored === undefined || project.syncedThrough === null) return null;
  return within(range, stored.firstDay, project.syncedThrough);
}
