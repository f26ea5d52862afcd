import type { Catalog } from '../catalog/catalog.ts';
import { groupExists } from '../catalog/keywords.ts';
import { filesOf, keywordFilesUntil } from '../catalog/manifest.ts';
import type { TrackedKeyword, TrackedKeywords } from '../catalog/tracked.ts';
import { countDays } from '../domain/dates.ts';
import { notFound } from '../domain/errors.ts';
import { withDescendants } from '../domain/groups.ts';
import type { Range } from '../domain/range.ts';
import type { Selection } from '../domain/select-rows.ts';
import type { DayGrid } from '../facts/day-grid.ts';
import type { Device } from '../facts/facts.ts';
import { NO_KEYWORD_TOTALS, planKeywordTotals } from '../facts/keyword-plan.ts';
import type { KeywordTotals } from '../facts/keyword-totals.ts';
import { keywordDays, keywordPage } from '../facts/keywords.ts';
import * as parameter from './parameters.ts';
import { keywordRange } from './ranges.ts';
import { projectReference, trackedReport } from './report.ts';

const parameters = {
  ...parameter.rangeParameters,
  device: parameter.device,
  daily: parameter.flag('Adds the days of each keyword.'),
  group: parameter.group,
  ...parameter.paging(1000, 5000),
  ...parameter.selectionParameters('keywords'),
  ...parameter.formatParameters,
};

interface KeywordsParameters extends Range, Selection {
  /** Whether the range was limited to the keyword history of the plan. */
  readonly clamped: boolean;
  readonly device: Device;
  readonly daily: boolean;
  readonly group: string | null;
  /** Null for all. */
  readonly limit: number | null;
  readonly offset: number;
}

/** A batch of keywords with their days. */
export interface KeywordDays {
  readonly keywords: readonly TrackedKeyword[];
  readonly days: DayGrid;
}

export interface KeywordsResult {
  /** Metadata before the keywords. */
  readonly head: {
    readonly project: { readonly id: string; readonly domain: string };
    readonly range: Range & { device: Device; clamped: boolean; provisionalAfter: string | null };
    readonly paging: { readonly total: number; readonly limit: number; readonly offset: number };
  };
  readonly tracked: Pick<TrackedKeywords, 'keywords' | 'membership'>;
  /** The keywords of the page. */
  readonly keywords: readonly TrackedKeyword[];
  readonly totals: KeywordTotals;
  /** The days of the page in batches of keywords, read lazily; undefined without `daily`. */
  readonly days: AsyncIterable<KeywordDays> | undefined;
}

/** Tracked keywords with totals over a range, and their days. */
export const keywordsReport = trackedReport({
  operation: 'listKeywords',
  parameters,
  parse: (sent, project, now): KeywordsParameters => {
    const values = parameter.readParameters(parameters, sent);
    const { device, daily, group, filter, sort, limit: sentLimit, offset, from, to, period } = values;
    const limit = parameter.rowLimit(sent, sentLimit);
    const days = keywordRange({ from, to, period }, project, now);
    return { ...days, device, daily, group: group ?? null, filter, sort, limit, offset };
  },
  checkIds: async (sent, project, catalog) => {
    const { group } = sent as { group?: unknown };
    if (typeof group === 'string' && group !== '' && !(await groupExists(catalog, project.id, group))) {
      throw unknownGroup();
    }
  },
  plan: async (query, { catalog, project, tracked }) => {
    const group = tracked.groups.find(({ id }) => id === query.group);
    if (query.group !== null && group === undefined) throw unknownGroup();
    const groups = group && withDescendants(group, tracked.groups);
    const files = project.syncedThrough === null ? NO_FILES : await planFiles(catalog, project.id, query);
    return { query, project, tracked, groups, ...files };
  },
  run: async (
    { query, project, tracked, groups, ...files },
    { facts, tracked: cache },
    { signal },
  ): Promise<KeywordsResult> => {
    const { from, to, device, clamped, daily, filter, sort, limit, offset } = query;
    const selection = { filter, sort };
    const matches = groups && (await cache.matches(tracked, groups));
    const pageQuery = { ...files, tracked, matches, selection, range: { from, to }, device, limit, offset, signal };
    const { total, keywords, totals } = await keywordPage(facts, pageQuery);
    return {
      head: {
        project: projectReference(project),
        range: { from, to, device, clamped, provisionalAfter: project.provisionalAfter },
        paging: { total, limit: limit ?? total, offset },
      },
      tracked,
      keywords,
      totals,
      days: daily ? keywordDays(facts, pageQuery, keywords) : undefined,
    };
  },
});

/** Up to this many days a result takes about 3 MB. */
const MAX_DAYS_OF_SHORT_RESULT = 30_000;

/** Whether a result may be so long that concurrency must be limited. */
export function isLongResult({ daily, limit, from, to }: KeywordsParameters): boolean {
  return daily && (limit === null || limit * countDays(from, to) > MAX_DAYS_OF_SHORT_RESULT);
}

const NO_FILES = { totals: NO_KEYWORD_TOTALS, dayFiles: [] };

async function planFiles(catalog: Catalog, project: string, { from, to, device, daily }: KeywordsParameters) {
  const allDevices = device === 'all';
  const range = { from, to };
  return {
    totals: planKeywordTotals(await keywordFilesUntil(catalog, project, range.to, allDevices), range),
    dayFiles: daily ? await filesOf(catalog, project, allDevices ? 'keyword_all' : 'keyword_daily', range) : [],
  };
}

function unknownGroup(): Error {
  return notFound('group: the project has no such group or folder.');
}
