import { countDays } from '../domain/dates.ts';
import { type Measures, sum, UNKNOWN } from '../domain/metrics.ts';
import type { UnseenEvents } from '../domain/provider-events.ts';
import type { Quality } from '../domain/quality.ts';
import type { RowTexts } from '../domain/rules.ts';
import type { Device, Facts, SiteDayMeasures, StoredRange } from '../facts/facts.ts';
import { answerOf } from '../query/ask.ts';
import { KnownDays, readUnseenEvents } from '../query/known-days.ts';
import { qualityFrom } from '../query/quality.ts';
import { queryOf, rangesIn, tableOf } from '../query/query.ts';
import { refuseUnknownDevices } from '../query/read.ts';
import type { KnownMetrics, Row, Sums } from '../query/rows.ts';
import { Series } from '../query/series.ts';
import { readAhead } from '../runtime/promises.ts';
import { inTurns } from '../runtime/turns.ts';
import { errorOfProject, type PlannedProject, type PortfolioQuery } from './portfolio-plan.ts';
import { siteRangeOf, timeOf } from './site.ts';

/** A project with its answer, as in `/site`, or its error. */
export interface PortfolioRow {
  readonly planned: PlannedProject;
  readonly site: RowAnswer | { readonly error: ReturnType<typeof errorOfProject> };
}

interface RowAnswer {
  readonly range: ReturnType<typeof siteRangeOf>;
  readonly total: Sums;
  readonly metrics: KnownMetrics;
  readonly quality?: Quality;
  readonly daily?: readonly Row[];
}

/** Max days per read, over all properties: reading the files of few at a time takes DuckDB a third longer. */
const MAX_DAYS_READ = 60_000;

type How = Pick<PortfolioQuery, 'type' | 'device' | 'daily' | 'interval'>;

/** Reads projects in batches, each while the previous one is written. */
export async function* portfolioRows(
  facts: Facts,
  projects: readonly PlannedProject[],
  how: How,
  signal: AbortSignal,
): AsyncGenerator<readonly PortfolioRow[]> {
  const groups = readAhead([...groupsOf(projects)], (group) => readGroup(facts, group, how, signal));
  for await (const read of groups) yield await inTurns(rowsOf(read, how));
}

async function readGroup(facts: Facts, group: readonly PlannedProject[], { device }: How, signal: AbortSignal) {
  const ranges = group.map(({ site }) => site);
  const days = await facts.siteDaysOfEach(ranges, device, signal);
  const watched = group.map((planned) => planned.watched);
  const unseen = await readUnseenEvents(facts, watched, signal);
  return { group, days, unseen, quality: await readQuality(facts, group, unseen, signal) };
}

function* rowsOf(
  { group, days, unseen, quality }: Awaited<ReturnType<typeof readGroup>>,
  how: How,
): Generator<void, PortfolioRow[]> {
  const rows: PortfolioRow[] = [];
  for (const [index, planned] of group.entries()) {
    rows.push(rowOf(planned, { days: days[index]!, unseen: unseen[index]!, quality: quality[index] }, how));
    yield;
  }
  return rows;
}

/** What was read of a project. */
interface ReadProject {
  readonly days: readonly SiteDayMeasures[];
  readonly unseen: UnseenEvents;
  readonly quality: Quality | undefined;
}

function rowOf(
  planned: PlannedProject,
  { days, unseen, quality }: ReadProject,
  { type, device, daily, interval }: How,
): PortfolioRow {
  const { asked, project, known } = planned;
  if ('error' in asked) return { planned, site: asked };
  const { range, comparison } = asked;
  try {
    refuseUnknownDevices(days, device, rangesIn({ ...range, comparison }));
  } catch (error) {
    return { planned, site: { error: errorOfProject(error) } };
  }
  const series = new Series(days);
  const by = daily ? [timeOf(interval)] : [];
  const query = queryOf({ ...range, surface: type ?? 'web', by, device, comparison });
  const of = { query, table: tableOf(query), project, stored: planned.days, monthlyThrough: null };
  const own = new Map([['', series]]);
  const { rows, total, metrics } = answerOf(
    of,
    { now: own, base: own },
    known ? new KnownDays(known, series, unseen) : undefined,
  );
  return {
    planned,
    site: { range: siteRangeOf(of), ...(quality && { quality }), total, metrics, ...(daily && { daily: rows }) },
  };
}

/** The quality of each project; undefined unless requested. */
async function readQuality(
  facts: Facts,
  group: readonly PlannedProject[],
  unseen: readonly UnseenEvents[],
  signal: AbortSignal,
): Promise<(Quality | undefined)[]> {
  if (group.every(({ quality }) => quality === null)) return [];
  const ranges = (of: 'site' | 'brand'): StoredRange[] =>
    group.map(({ quality, site }) => quality?.[of] ?? { ...site, files: [] });
  const days = await facts.siteDaysOfEach(ranges('site'), ALL, signal);
  const queries = await facts.queryTotalsOfEach(ranges('brand'), signal);
  return inTurns(
    (function* () {
      const all: (Quality | undefined)[] = [];
      for (const [index, { quality }] of group.entries()) {
        all.push(
          quality ? qualityFrom(quality, sumsOf(quality, days[index]!, queries[index]!, unseen[index])) : undefined,
        );
        yield;
      }
      return all;
    })(),
  );
}

const ALL: Device = 'all';

function sumsOf(
  { known, brand }: NonNullable<PlannedProject['quality']>,
  days: readonly SiteDayMeasures[],
  queries: Measures | null,
  unseen: UnseenEvents | undefined,
): Parameters<typeof qualityFrom>[1] {
  const withRows = new Set(days.map(({ date }) => date));
  return { days: new KnownDays(known, withRows, unseen), site: sum(days), queries: brand === null ? null : queries };
}

function* groupsOf(projects: readonly PlannedProject[]): Generator<readonly PlannedProject[]> {
  let group: PlannedProject[] = [];
  let days = 0;
  for (const project of projects) {
    const { from, to } = project.site.range;
    const more = countDays(from, to);
    if (days + more > MAX_DAYS_READ && group.length > 0) {
      yield group;
      group = [];
      days = 0;
    }
    group.push(project);
    days += more;
  }
  if (group.length > 0) yield group;
}

/** Reads rows for filters and sorting. */
export const RATED = {
  measuresOf: ({ site }: PortfolioRow): Measures => ('error' in site ? UNKNOWN : site.total.now),
  textsOf: ({ planned: { project } }: PortfolioRow): RowTexts => {
    const { domain, property, country, language, syncStatus } = project;
    return { domain, property, country: country ?? '', language: language ?? '', syncStatus };
  },
};
