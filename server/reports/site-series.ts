import type { Catalog } from '../catalog/catalog.ts';
import { type Coverage, filesOf } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import type { Day } from '../domain/dates.ts';
import { type Range, within } from '../domain/range.ts';
import type { Device, Facts, FactsQuery } from '../facts/facts.ts';
import { type Series, siteSeries, siteSeriesOfCountry } from '../facts/series.ts';
import type { FactTable } from '../model/tables.ts';
import { type OfSurface, tablesOfType } from './search-type.ts';

/** The stored days of a property, or of one of its countries, and the files to read for a range. */
export interface SeriesPlan {
  /** All stored days; null if there are none. */
  readonly days: Range | null;
  /** Those of the range; null for none. */
  readonly range: Range | null;
  /** Up to this day the country has monthly totals only. */
  readonly monthlyThrough: Day | null;
  readonly siteFiles: FactsQuery['files'];
  readonly countryFiles: FactsQuery['files'];
  readonly monthFiles: FactsQuery['files'];
}

/** The table of the days of a property, or of one of its countries. */
export function tableOf({ type, country }: OfSurface & { readonly country: string | null }): FactTable {
  const { site, country: ofCountry = site } = tablesOfType(type);
  return country === null ? site : ofCountry;
}

/** From a project's first stored day to its last synced one; null if there is none. */
export function storedDays({ syncedThrough }: Project, first: Day | undefined): Range | null {
  return first === undefined || syncedThrough === null ? null : { from: first, to: syncedThrough };
}

/** @param coverage of the project */
export async function planSeries(
  catalog: Catalog,
  project: Project,
  {
    range: wanted,
    country,
    type,
    coverage,
  }: OfSurface & { range: Range; country: string | null; coverage: Readonly<Partial<Record<FactTable, Coverage>>> },
): Promise<SeriesPlan> {
  const tables = tablesOfType(type);
  const days = storedDays(project, coverage[tables.site]?.firstDay);
  const range = days && within(wanted, days.from, days.to);
  const files = (table: FactTable | undefined) => (range && table ? filesOf(catalog, project.id, table, range) : []);
  // In parallel, to wait only once for a remote database.
  const [siteFiles, countryFiles, monthFiles] = await Promise.all([
    files(tables.site),
    files(tables.country),
    type === undefined ? files('country_monthly') : [],
  ]);
  const monthlyThrough = country === null || type !== undefined ? null : (coverage.country_monthly?.lastDay ?? null);
  return { days, range, monthlyThrough, siteFiles, countryFiles, monthFiles };
}

/** Throws `invalid_request` for a device or country on days of which it is unknown. */
export function readSeries(
  facts: Facts,
  plan: SeriesPlan,
  { device, country, signal }: { device: Device; country: string | null; signal: AbortSignal },
): Promise<Series> {
  return country === null
    ? siteSeries(facts, { ...plan, device, signal })
    : siteSeriesOfCountry(facts, { ...plan, country, signal });
}
