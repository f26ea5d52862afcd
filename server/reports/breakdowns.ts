import type { Catalog } from '../catalog/catalog.ts';
import { type FactTable, filesOf, readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { earlier, later } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import { breakdowns as readBreakdowns } from '../facts/breakdowns.ts';
import { formatParameters, rangeParameters, readParameters } from './parameters.ts';
import { siteRange } from './ranges.ts';
import { projectReference, projectReport } from './report.ts';

const parameters = { ...rangeParameters, ...formatParameters };

/** The tables whose stored days determine the available range. */
const TABLES: readonly FactTable[] = [
  'site_daily',
  'country_daily',
  'country_monthly',
  'appearance_daily',
  'brand_daily',
];

/** Site totals by country, device, appearance and brand. */
export const breakdownsReport = projectReport({
  operation: 'getBreakdowns',
  parameters,
  parse: (sent, project, now) => siteRange(readParameters(rangeParameters, sent), project, now),
  plan: async (query, { catalog, project }) => ({ query, project, ...(await planFiles(catalog, project, query)) }),
  run: async ({ query, project, ...plan }, { facts }, { signal }) => {
    const range = { from: query.from, to: query.to };
    const found = await readBreakdowns(facts, { ...plan, range, signal });
    const answer = {
      project: projectReference(project),
      range: {
        ...range,
        availableFrom: plan.availableFrom,
        availableThrough: plan.availableThrough,
        provisionalAfter: project.provisionalAfter,
        countryMonthlyThrough: plan.monthlyThrough,
      },
      countries: found.countries.map(({ name, metrics }) => ({ country: name, ...metrics })),
      devices: found.devices.map(({ name, metrics }) => ({ device: name, ...metrics })),
      appearances: found.appearances.map(({ name, metrics }) => ({ appearance: name, ...metrics })),
      brand: found.brand,
    };
    return { answer, found };
  },
});

/** The JSON response, and the data it is based on. */
export type BreakdownsResult = Awaited<ReturnType<typeof breakdownsReport.run>>;

async function planFiles(catalog: Catalog, project: Project, range: Range) {
  // Before the first sync no data is available.
  const coverage = project.syncedThrough === null ? {} : await readCoverage(catalog, project.id);
  const stored = TABLES.flatMap((table) => coverage[table] ?? []);
  const files = (table: FactTable) => (coverage[table] ? filesOf(catalog, project.id, table, range) : []);
  return {
    availableFrom: stored.map(({ firstDay }) => firstDay).reduce(earlierOf, null),
    availableThrough: stored.map(({ lastDay }) => lastDay).reduce(laterOf, null),
    monthlyThrough: coverage.country_monthly?.lastDay ?? null,
    files: {
      site: await files('site_daily'),
      country: await files('country_daily'),
      countryMonths: await files('country_monthly'),
      appearance: await files('appearance_daily'),
      brand: await files('brand_daily'),
    },
  };
}

const earlierOf = (a: string | null, b: string): string => (a === null ? b : earlier(a, b));
const laterOf = (a: string | null, b: string): string => (a === null ? b : later(a, b));
