import type { Project } from '../catalog/projects.ts';
import { countDays, type Day, dayOf } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { siteRange } from '../domain/project-ranges.ts';
import { MAX_DAYS } from '../domain/range.ts';
import { selectRows } from '../domain/select-rows.ts';
import { SURFACES } from '../model/surfaces.ts';
import { inOneBatch, inTurns } from '../runtime/turns.ts';
import * as parameter from './parameters.ts';
import { type PlannedProject, type PortfolioQuery, planPortfolio } from './portfolio-plan.ts';
import { type PortfolioRow, portfolioRows, RATED } from './portfolio-rows.ts';
import { workspaceReport } from './report.ts';
import { checkDevice, ofType, refusePositions, searchEngine, searchType, surfaceOf } from './search-type.ts';

const parameters = {
  ...parameter.rangeParameters,
  engine: searchEngine,
  type: searchType,
  device: parameter.device,
  compare: parameter.compare,
  daily: parameter.flag('Adds the days of each project.'),
  interval: parameter.interval,
  quality: parameter.quality,
  ...parameter.selectionParameters('portfolio'),
  ...parameter.paging(1000, 5000),
  ...parameter.formatParameters,
};

export interface PortfolioResult {
  readonly query: PortfolioQuery;
  readonly paging: { readonly total: number; readonly limit: number; readonly offset: number };
  /** Some projects at a time, each part read on demand. */
  readonly batches: AsyncIterable<readonly PortfolioRow[]>;
}

/** All projects of a workspace, each with its response of `/site`. */
export const portfolioReport = workspaceReport({
  operation: 'getPortfolio',
  parameters,
  parse: (sent, { projects }, now): PortfolioQuery => {
    const values = parameter.readParameters(parameters, sent);
    const { from, to, period, compare, engine, type, device, daily, interval, quality, filter, sort, offset } = values;
    checkDevice(type, device);
    const surface = surfaceOf(engine, type, { device: device !== 'all' });
    if (!SURFACES[surface].hasDailyPositions) refusePositions(surface, { filter, sort });
    if (interval !== 'day' && !daily) throw invalidRequest(`interval=${interval} adds up days; send daily=1 with it.`);
    const range = { from, to, period, compare };
    const limit = parameter.rowLimit(sent, values.limit);
    const today = dayOf(now);
    checkRanges(projects, range, now);
    return {
      range,
      today,
      ...ofType(surface),
      device,
      daily,
      interval,
      quality,
      filter,
      sort,
      limit,
      offset,
      maxDays: daily ? Math.min(limit ?? projects.length, projects.length) * longestRange(range, today) : 0,
    };
  },
  plan: async (query, { catalog, workspace }, { now }) => ({
    query,
    projects: await planPortfolio(catalog, workspace, query, now()),
  }),
  run: async ({ query, projects }, { facts }, { signal }): Promise<PortfolioResult> => {
    const { filter, sort, limit, offset, daily } = query;
    const read = (of: readonly PlannedProject[], how: { daily: boolean }) =>
      portfolioRows(facts, of, { ...query, ...how }, signal);
    const end = offset + (limit ?? Number.POSITIVE_INFINITY);
    const head = (total: number) => ({ query, paging: { total, limit: limit ?? total, offset } });
    if (filter === null && sort === null) {
      return { ...head(projects.length), batches: read(projects.slice(offset, end), { daily }) };
    }
    const all = (await Array.fromAsync(read(projects, { daily: false }))).flat();
    const selected = await inTurns(selectRows(all, { filter, sort }, RATED), signal);
    const page = selected.slice(offset, end);
    // Days of all projects would not fit in memory.
    const batches = daily
      ? read(
          page.map(({ planned }) => planned),
          { daily },
        )
      : inOneBatch(page);
    return { ...head(selected.length), batches };
  },
});

/** Up to this many days a response takes about 3 MB. */
const MAX_DAYS_OF_SHORT_RESULT = 30_000;

/** Whether a result may be so long that concurrency must be limited. */
export function isLongPortfolio({ maxDays }: PortfolioQuery): boolean {
  return maxDays > MAX_DAYS_OF_SHORT_RESULT;
}

type SentRange = PortfolioQuery['range'];
/** Throws `invalid_request` for a range that no project can have. */
function checkRanges(
  projects: readonly Pick<Project, 'syncedThrough' | 'provisionalAfter'>[],
  sent: SentRange,
  now: number,
): void {
  let failure: unknown;
  for (const project of projects.length > 0 ? projects : [NEVER_SYNCED]) {
    try {
      siteRange(sent, project, now);
      return;
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

const NEVER_SYNCED = { syncedThrough: null, provisionalAfter: null };

/** The maximum number of days of a project's range. */
function longestRange({ from, to, period }: SentRange, today: Day): number {
  if (period?.endsWith('d')) return Number(period.slice(0, -1));
  if (period !== undefined) return Math.min(MAX_DAYS, Number(period.slice(0, -1)) * 31);
  const last = to === undefined || to === 'final' ? today : to;
  return from === undefined ? 28 : Math.min(MAX_DAYS, Math.max(1, countDays(from, last)));
}
