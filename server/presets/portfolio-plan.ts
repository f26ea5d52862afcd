import { readRankingRecord } from '../catalog/alerts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { type FactFile, manifestOfWorkspace } from '../catalog/fact-files.ts';
import type { Project, WorkspaceProjects } from '../catalog/projects.ts';
import {
  type LastDays,
  listUnusualDaysOfWorkspace,
  readBulkExportDaysOfWorkspace,
  readLastDaysOfWorkspace,
  type UnusualDay,
} from '../catalog/sync-days.ts';
import { readReconciledOfWorkspace } from '../catalog/sync-projects.ts';
import type { Compare } from '../domain/comparison.ts';
import { type Day, earlier, later } from '../domain/dates.ts';
import { type ErrorCode, KnownError } from '../domain/errors.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Interval } from '../domain/intervals.ts';
import { comparedRange, oneDevice, siteRange } from '../domain/project-ranges.ts';
import { dependsOnProperty, eventsOf, WATCHED_DAYS } from '../domain/provider-events.ts';
import { type Range, type RangeParameters, spanOf, within } from '../domain/range.ts';
import { type RankingRecord, rankingUpdatesIn } from '../domain/ranking-updates.ts';
import type { Selection } from '../domain/select-rows.ts';
import type { Device, StoredRange } from '../facts/facts.ts';
import { isOtherEngine, type Surface } from '../model/surfaces.ts';
import { meetExportEvents, type PlannedDays } from '../query/known-days.ts';
import { storedDays } from '../query/plan.ts';
import { expectedDays, type QualityPlan } from '../query/quality.ts';
import { rangesIn } from '../query/query.ts';
import { inTurns } from '../runtime/turns.ts';
import { type ListedProject, listedProject } from './projects.ts';
import { hasNoCountry, hasNoDays, type OfSurface, projectOf, tablesOfType } from './search-type.ts';

export interface PortfolioQuery extends Selection, OfSurface {
  /** As sent: each project resolves them to its own days. */
  readonly range: RangeParameters & { readonly compare: Compare | undefined };
  /** The day of the request (UTC), which ranges of projects that were never synced depend on. */
  readonly today: Day;
  readonly device: Device;
  readonly daily: boolean;
  readonly interval: Interval;
  readonly quality: boolean;
  /** Null for all. */
  readonly limit: number | null;
  readonly offset: number;
  /** Max days in the response, over all projects. */
  readonly maxDays: number;
}

/** The range of a project, or the error for the parameters. */
type ProjectRange =
  | { readonly range: Range; readonly comparison: Range | null }
  | { readonly error: { readonly code: ErrorCode; readonly message: string } };

/** The range of a project as `/site` resolves it. */
function rangeOfProject(project: Project, { compare, ...sent }: PortfolioQuery['range'], now: number): ProjectRange {
  try {
    const range = siteRange(sent, project, now);
    return { range, comparison: comparedRange(range, compare) };
  } catch (error) {
    return { error: errorOfProject(error) };
  }
}

/** The error that `/site` sends for a project; rethrows others. */
export function errorOfProject(error: unknown): { readonly code: ErrorCode; readonly message: string } {
  if (!(error instanceof KnownError) || error.code !== 'invalid_request') throw error;
  return { code: error.code, message: error.message };
}

/** What to read of a project. */
export interface PlannedProject {
  readonly project: Project;
  readonly listed: ListedProject;
  readonly asked: ProjectRange;
  /** See `Plan.stored`. */
  readonly days: Range | null;
  /** Without files if nothing is stored. */
  readonly site: StoredRange;
  /** Null without a comparison. */
  readonly known: PlannedDays | null;
  readonly quality: PlannedQuality | null;
  /** The days that tell which events of the provider the property shows; without files where that is not needed. */
  readonly watched: StoredRange['files'];
}

interface PlannedQuality extends Omit<QualityPlan, 'known' | 'siteFiles' | 'brandFiles'> {
  readonly known: PlannedDays;
  /** The expected days. */
  readonly site: StoredRange;
  /** The same for queries; null if none were ever loaded. */
  readonly brand: StoredRange | null;
}

/** Catalog data of all projects of a workspace, by project. */
interface Stored {
  readonly site: ReadonlyMap<string, readonly FactFile[]>;
  readonly brand: ReadonlyMap<string, readonly FactFile[]>;
  readonly unusual: ReadonlyMap<string, ReadonlyMap<Day, UnusualDay>>;
  readonly bulkExportDays: ReadonlyMap<string, readonly Range[]>;
  /** What the sync knows of a surface other than web. */
  readonly lastDays: ReadonlyMap<string, LastDays>;
  readonly reconciled: ReadonlyMap<string, Microseconds>;
  /** Null unless the quality is requested. */
  readonly rankings: RankingRecord | null;
}

/**
 * Plans what to read of each project, with a few statements for all of them.
 * @param now milliseconds
 */
export async function planPortfolio(
  catalog: Catalog,
  { workspaceId, projects }: WorkspaceProjects,
  query: PortfolioQuery,
  now: number,
): Promise<PlannedProject[]> {
  const asked = projects.map((project) => rangeOfProject(project, query.range, now));
  const ranges = asked.flatMap((one) => ('error' in one ? [] : [one.range, one.comparison ?? one.range]));
  const none = new Map<string, never>();
  const readsDays = ranges.length > 0 && (query.range.compare !== undefined || query.quality);
  const { site: table } = tablesOfType(query.type);
  const isWeb = query.type === undefined;
  const stored: Stored = {
    site: await manifestOfWorkspace(catalog, workspaceId, table),
    brand: query.quality && isWeb ? await manifestOfWorkspace(catalog, workspaceId, 'brand_daily') : none,
    unusual: readsDays ? await listUnusualDaysOfWorkspace(catalog, workspaceId, table, spanOf(ranges)) : none,
    bulkExportDays:
      readsDays && meetExportEvents(ranges) ? await readBulkExportDaysOfWorkspace(catalog, workspaceId, table) : none,
    lastDays: isWeb ? none : await readLastDaysOfWorkspace(catalog, workspaceId, table),
    rankings: query.quality ? await readRankingRecord(catalog) : null,
    reconciled: query.quality && isWeb ? await readReconciledOfWorkspace(catalog, workspaceId) : none,
  };
  return inTurns(
    (function* () {
      const planned: PlannedProject[] = [];
      for (const [place, project] of projects.entries()) {
        planned.push(planProject(project, asked[place]!, query, stored, now));
        yield;
      }
      return planned;
    })(),
  );
}

/** Why a project has no numbers of an engine; undefined if it has. */
function refusalOf(
  surface: Surface | undefined,
  { country }: Project,
  files: readonly FactFile[],
): KnownError | undefined {
  if (surface === undefined || !isOtherEngine(surface)) return undefined;
  if (country !== null) return hasNoCountry(surface, country);
  return files.length === 0 ? hasNoDays(surface) : undefined;
}

function planProject(
  planned: Project,
  ofProject: ProjectRange,
  query: PortfolioQuery,
  stored: Stored,
  now: number,
): PlannedProject {
  const files = stored.site.get(planned.id) ?? [];
  const last = files.map(({ lastDay }) => lastDay).reduce(later, '');
  const project = projectOf(query.type, planned, last === '' ? undefined : last, stored.lastDays.get(planned.id));
  const first = files.map(({ firstDay }) => firstDay).reduce(earlier, '9999-12-31');
  const days = storedDays(project, files.length === 0 ? undefined : first);
  const refusal = refusalOf(query.type, planned, files);
  const asked = refusal === undefined ? ofProject : { error: errorOfProject(refusal) };
  const common = { project, listed: listedProject(planned, now), asked, days };
  if ('error' in asked) {
    return { ...common, site: NOTHING_STORED, known: null, quality: null, watched: [] };
  }
  const { range, comparison } = asked;
  const ranges = rangesIn({ ...range, comparison });
  const unusual = stored.unusual.get(project.id) ?? NO_DAYS;
  const isComparedOrRated = comparison !== null || query.quality;
  const isWatched = query.type === undefined && isComparedOrRated && dependsOnProperty(spanOf(ranges));
  const known = {
    project,
    firstDay: files.length === 0 ? null : first,
    unusual,
    exported: [],
    events: eventsOf(query.type ?? 'web'),
    bulkExportDays: stored.bulkExportDays.get(project.id) ?? [],
  };
  return {
    ...common,
    site: partOf(files, days && within(spanOf(ranges), days.from, days.to)),
    known: comparison && { ...known, ranges },
    quality: query.quality ? planQuality(project, { ...known, ranges: [range] }, query, stored) : null,
    watched: isWatched
      ? files.filter(({ firstDay, lastDay }) => firstDay <= WATCHED_DAYS.to && lastDay >= WATCHED_DAYS.from)
      : [],
  };
}

function planQuality(
  project: Project,
  known: PlannedDays,
  { type, device }: PortfolioQuery,
  stored: Stored,
): PlannedQuality {
  const range = known.ranges[0]!;
  const expected = expectedDays(project, range);
  const brand = stored.brand.get(project.id);
  return {
    project,
    expected,
    reconciledAt: stored.reconciled.get(project.id) ?? null,
    range,
    device: oneDevice(device),
    moreEvents: [],
    rankings: rankingUpdatesIn(stored.rankings!, [range], {
      surface: type ?? 'web',
      syncedThrough: project.syncedThrough,
    }),
    known,
    site: partOf(stored.site.get(project.id) ?? [], expected),
    brand: brand === undefined ? null : partOf(brand, expected),
  };
}

function partOf(files: readonly FactFile[], range: Range | null): StoredRange {
  return range === null ? NOTHING_STORED : { files, range };
}

/** Without files, the range is ignored. */
const NOTHING_STORED: StoredRange = { files: [], range: { from: '2000-01-01', to: '2000-01-01' } };
const NO_DAYS: ReadonlyMap<Day, UnusualDay> = new Map();
