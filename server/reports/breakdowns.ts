import type { Catalog } from '../catalog/catalog.ts';
import { filesOf, readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { earlier, later } from '../domain/dates.ts';
import { comparedRange, siteRange } from '../domain/project-ranges.ts';
import { type Range, spanOf } from '../domain/range.ts';
import { breakdowns as readBreakdowns } from '../facts/breakdowns.ts';
import type { FactTable } from '../model/tables.ts';
import { anonymousOf, comparedRows, metricsOf, readComparers, rowsOfType } from './compared-breakdowns.ts';
import { planKnownDays } from './known-days.ts';
import { compare, formatParameters, quality, rangeParameters, readParameters } from './parameters.ts';
import { planQuality, qualityOf } from './quality.ts';
import { projectReference, projectReport } from './report.ts';
import {
  checkEngine,
  type OfType,
  ofType,
  readProjectOf,
  searchEngine,
  searchType,
  tablesOfType,
} from './search-type.ts';

const parameters = {
  ...rangeParameters,
  engine: searchEngine,
  type: searchType,
  compare,
  quality,
  ...formatParameters,
};

/** The tables whose stored days determine the available range. */
const TABLES: readonly FactTable[] = [
  'site_daily',
  'country_daily',
  'country_monthly',
  'appearance_daily',
  'brand_daily',
];

interface BreakdownsQuery extends Range, OfType {
  readonly comparison: Range | null;
  readonly quality: boolean;
}

/** Site totals by country, device, appearance and brand. */
export const breakdownsReport = projectReport({
  operation: 'getBreakdowns',
  parameters,
  parse: (sent, project, now): BreakdownsQuery => {
    const { engine, type, compare: other, quality, ...range } = readParameters(parameters, sent);
    checkEngine(engine, 'Bing tells no countries, devices and appearances');
    const days = siteRange(range, project, now);
    return { ...days, ...ofType(type), comparison: comparedRange(days, other), quality };
  },
  plan: async (query, { catalog, project: stored }) => {
    const project = await readProjectOf(catalog, query.type, stored);
    return { query, project, ...(await planBreakdowns(catalog, project, query)) };
  },
  run: async ({ query, project, known, quality, ...plan }, { facts }, { signal }) => {
    const { comparison, type } = query;
    const range = { from: query.from, to: query.to };
    const [now, base, comparers] = await Promise.all([
      readBreakdowns(facts, { ...plan, range, signal }),
      comparison && readBreakdowns(facts, { ...plan, range: comparison, signal }),
      comparison &&
        known &&
        readComparers(facts, known, {
          now: range,
          base: comparison,
          monthlyThrough: plan.monthlyThrough,
          signal,
        }),
    ]);
    const found = comparedRows(now, base && comparers && { base, comparers });
    const rows = type === undefined ? found : rowsOfType(found, type);
    const { segments } = rows;
    const answer = {
      project: projectReference(project),
      range: {
        ...range,
        ...(type && { type }),
        availableFrom: plan.availableFrom,
        availableThrough: plan.availableThrough,
        provisionalAfter: project.provisionalAfter,
        countryMonthlyThrough: plan.monthlyThrough,
        ...(comparison === null ? {} : { comparison }),
      },
      ...(await qualityOf(facts, quality, signal)),
      countries: rows.countries.map((row) => ({ country: row.name, ...metricsOf(row) })),
      devices: rows.devices.map((row) => ({ device: row.name, ...metricsOf(row) })),
      appearances: rows.appearances.map((row) => ({ appearance: row.name, ...metricsOf(row) })),
      brand: segments && {
        brand: metricsOf(segments.brand),
        nonBrand: metricsOf(segments.nonBrand),
        anonymous: anonymousOf(segments.anonymous),
      },
    };
    return { answer, rows };
  },
});

/** The JSON response, and the data it is based on. */
export type BreakdownsResult = Awaited<ReturnType<typeof breakdownsReport.run>>;

async function planBreakdowns(catalog: Catalog, project: Project, query: BreakdownsQuery) {
  const { from, to, type, comparison } = query;
  const tables = tablesOfType(type);
  const isWeb = type === undefined;
  // Before the first sync nothing counts as collected.
  const coverage = project.syncedThrough === null ? {} : await readCoverage(catalog, project.id);
  const stored = (isWeb ? TABLES : Object.values(tables)).flatMap((table) => coverage[table] ?? []);
  const ranges = [{ from, to }, ...(comparison === null ? [] : [comparison])];
  const hull = spanOf(ranges);
  const files = (table: FactTable) => (coverage[table] ? filesOf(catalog, project.id, table, hull) : []);
  const ofWeb = (table: FactTable) => (isWeb ? files(table) : []);
  const known = (table: FactTable) => planKnownDays(catalog, project, table, { ranges, coverage });
  // In parallel, to wait only once for a remote database.
  const [site, country, countryMonths, appearance, brand] = await Promise.all([
    files(tables.site),
    files(tables.country),
    ofWeb('country_monthly'),
    ofWeb('appearance_daily'),
    ofWeb('brand_daily'),
  ]);
  return {
    availableFrom: stored.map(({ firstDay }) => firstDay).reduce(earlierOf, null),
    availableThrough: stored.map(({ lastDay }) => lastDay).reduce(laterOf, null),
    monthlyThrough: isWeb ? (coverage.country_monthly?.lastDay ?? null) : null,
    files: { site, country, countryMonths, appearance, brand },
    quality: query.quality
      ? await planQuality(catalog, project, {
          from,
          to,
          table: tables.site,
          device: null,
          type,
          hasAppearances: isWeb,
          coverage,
        })
      : null,
    known: comparison && {
      site: await known(tables.site),
      country: await known(tables.country),
      appearance: await known(isWeb ? 'appearance_daily' : tables.site),
      brand: await known(isWeb ? 'brand_daily' : tables.site),
    },
  };
}

const earlierOf = (a: string | null, b: string): string => (a === null ? b : earlier(a, b));
const laterOf = (a: string | null, b: string): string => (a === null ? b : later(a, b));
