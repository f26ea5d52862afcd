import { readRankingRecord } from '../catalog/alerts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { type Covered, filesOf } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import { readReconciledAt } from '../catalog/sync-projects.ts';
import { type Day, eachDay } from '../domain/dates.ts';
import { isoInstantOrNull, type Microseconds } from '../domain/instants.ts';
import { hasUnknown, type Measures, NOTHING, roundRatio, sum } from '../domain/metrics.ts';
import { eventsIn, eventsOf, type ProviderEvent } from '../domain/provider-events.ts';
import type { Quality } from '../domain/quality.ts';
import { type Range, rangesOf, within } from '../domain/range.ts';
import { type KnownRankingUpdates, rankingUpdatesIn } from '../domain/ranking-updates.ts';
import type { Facts, FactsQuery, NamedMeasures } from '../facts/facts.ts';
import { EVERY_ROW } from '../facts/sums.ts';
import type { Surface } from '../model/surfaces.ts';
import { type FactTable, tableFor } from '../model/tables.ts';
import { KnownDays, type KnownDaysPlan, planKnownDays, type RowSource } from './known-days.ts';

export interface QualityPlan {
  readonly rankings: KnownRankingUpdates;
  readonly project: Project;
  /** The days of the range up to the last synced one. */
  readonly expected: Range | null;
  readonly known: KnownDaysPlan;
  readonly siteFiles: FactsQuery['files'];
  /** Null if none was ever loaded. */
  readonly brandFiles: FactsQuery['files'] | null;
  readonly reconciledAt: Microseconds | null;
  readonly range: Range;
  /** The device of the response; null for all. */
  readonly device: ProviderEvent['device'];
  /** Events of the provider besides those of the days. */
  readonly moreEvents: readonly ProviderEvent[];
}

interface QualityQuery extends Range {
  /** The table that the response is read from. */
  readonly table: FactTable;
  /** The device of the response; null for all. */
  readonly device: ProviderEvent['device'];
  /** The surface of the response, web if left out: only of web, queries and comparisons are known. */
  readonly type?: Surface | undefined;
  /** What the rows of the response are read from; the stored facts if left out. */
  readonly source?: RowSource | undefined;
  /** Whether the response has search appearances. */
  readonly hasAppearances?: boolean;
  /** The coverage of the project. */
  readonly coverage: Covered;
}

/** Plans what to read about the quality of a response. */
export async function planQuality(
  catalog: Catalog,
  project: Project,
  { from, to, table, device, type = 'web', source, hasAppearances = false, coverage }: QualityQuery,
): Promise<QualityPlan> {
  const range = { from, to };
  const isWeb = type === 'web';
  const segments = segmentTable(type);
  const files = (of: FactTable) => filesOf(catalog, project.id, of, range);
  const known = await planKnownDays(catalog, project, table, { ranges: [range], coverage, source });
  return {
    project,
    expected: expectedDays(project, range),
    known,
    siteFiles: known.siteFiles,
    brandFiles: segments === undefined || coverage[segments] === undefined ? null : await files(segments),
    reconciledAt: isWeb ? await readReconciledAt(catalog, project.id) : null,
    rankings: rankingUpdatesIn(await readRankingRecord(catalog), [range], {
      surface: type,
      syncedThrough: project.syncedThrough,
    }),
    range,
    device,
    moreEvents: hasAppearances ? eventsOf('appearances') : [],
  };
}

/** The days of a range up to the last synced one; null for none. */
export function expectedDays({ syncedThrough }: Project, range: Range): Range | null {
  return syncedThrough === null ? null : within(range, range.from, syncedThrough);
}

/** The property of a response; none unless requested. */
export async function qualityOf(
  facts: Facts,
  plan: QualityPlan | null,
  signal: AbortSignal,
): Promise<{ readonly quality?: Quality }> {
  return plan === null ? {} : { quality: await readQuality(facts, plan, signal) };
}

async function readQuality(facts: Facts, plan: QualityPlan, signal: AbortSignal): Promise<Quality> {
  const { expected, known, siteFiles, brandFiles } = plan;
  const query = (files: FactsQuery['files']): FactsQuery => ({ files, range: expected!, signal });
  const [siteDays, segments] =
    expected === null
      ? [[], []]
      : await Promise.all([
          facts.siteDays(query(siteFiles), 'all'),
          brandFiles === null ? [] : segmentsOf(facts, query(brandFiles)),
        ]);
  const days = await KnownDays.read(facts, known, signal, new Set(siteDays.map(({ date }) => date)));
  const isKnown = brandFiles !== null && !hasUnknown(segments);
  return qualityFrom(plan, { days, site: sum(siteDays), queries: isKnown ? sum(segments) : null });
}

/**
 * The quality of the data that was read. `site`: all devices over the expected days; `queries`: brand, non-brand and
 * other queries over the same days, null if none was ever loaded.
 */
export function qualityFrom(
  {
    project,
    expected,
    reconciledAt,
    range,
    device,
    moreEvents,
    rankings,
  }: Omit<QualityPlan, 'known' | 'siteFiles' | 'brandFiles'>,
  { days, site, queries }: { days: KnownDays; site: Measures; queries: Measures | null },
): Quality {
  const all = expected === null ? [] : eachDay(expected.from, expected.to);
  const count = (test: (day: Day) => boolean): number => all.filter(test).length;
  return {
    finalThrough: project.provisionalAfter,
    daysExpected: all.length,
    daysStored: count((day) => days.isStored(day)),
    daysProvisional: count((day) => days.isProvisional(day)),
    daysCutOff: count((day) => days.isCutOff(day)),
    missing: rangesOf(all.filter((day) => !days.isStored(day))),
    ...sharesOf(site, queries),
    reconciledAt: isoInstantOrNull(reconciledAt),
    events: eventsIn([range], device, [...days.events, ...moreEvents]),
    ...rankings,
  };
}

/** The shares of the site that queries with and without brand terms have. @param queries null if unknown */
function sharesOf(site: Measures, queries: Measures | null): Pick<Quality, 'anonymousClicksShare' | 'queryCoverage'> {
  const share = (part: number, whole: number): number | null =>
    queries === null || whole === 0 ? null : Math.min(1, roundRatio(part, whole, 10_000));
  const { clicks, impressions } = queries ?? NOTHING;
  return {
    anonymousClicksShare: share(Math.max(0, site.clicks - clicks), site.clicks),
    queryCoverage: { clicks: share(clicks, site.clicks), impressions: share(impressions, site.impressions) },
  };
}

/** The table of queries with a brand term and without. */
function segmentTable(surface: Surface): FactTable | undefined {
  return tableFor(surface, ['brand']);
}

/** The sums of queries with a brand term and without, and of days whose queries are not known. */
async function segmentsOf(facts: Facts, query: FactsQuery): Promise<NamedMeasures[]> {
  const sums = { table: segmentTable('web')!, by: ['segment'], test: EVERY_ROW, hasZeros: true } as const;
  const { rows } = await facts.sums({ ...query, ...sums });
  return rows.map(({ names: [name], now }) => ({ name: name!, ...now }));
}
