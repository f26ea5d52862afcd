import { readKeywordTargets } from '../catalog/alerts.ts';
import { filesOf } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import type { Group } from '../domain/groups.ts';
import { isKnown, type Measures } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import { type KeywordsResult, keywordsPreset } from '../presets/keywords.ts';
import { askPreset, type PresetRequest, type PresetSources } from '../presets/preset.ts';
import { groupMembers } from '../query/keyword-totals.ts';
import { inTurns } from '../runtime/turns.ts';

/** The last positions of bands; what is beyond the last one is in a band of its own. */
const BAND_ENDS = [3, 10, 20, 50];
/** The bands, and last those that do not rank. */
const COUNTS = BAND_ENDS.length + 2;

/** A line of a chart: the average position on each day, null without impressions. */
type Line = readonly (number | null)[];

/** What the rank tracker shows besides its list. */
export interface Tracker {
  readonly range: KeywordsResult['head']['range'];
  /** The days, or the first days of weeks or months. */
  readonly days: readonly string[];
  /** Keywords of the chosen group and filter: by position bands (to 3, 10, 20, 50, beyond) and not ranking. */
  readonly now: readonly number[];
  /** The same of the compared days; null without them. */
  readonly before: readonly number[] | null;
  /** By day, the keywords of each band; those without impressions on a day are in none. */
  readonly distribution: readonly (readonly number[])[];
  readonly groups: readonly { readonly id: string; readonly keywords: number; readonly positions: Line }[];
  /** By the id of a keyword that has a target page. */
  readonly targets: Readonly<Record<string, TargetPage>>;
}

interface TargetPage {
  /** The page that should rank. */
  readonly target: string;
  /** The page with most impressions in these days, over all devices; null without any. */
  readonly ranking: string | null;
  /** Whether they are the same page; a fragment (`#…`) makes no other one. */
  readonly isSame: boolean;
}

/**
 * How many keywords rank where, by day, and the average position of each group by day.
 * @param sent the parameters of the list of keywords, without `daily`, `sort` and pages
 */
export async function readTracker(
  sources: PresetSources,
  project: Project,
  sent: Readonly<Record<string, string>>,
  request: PresetRequest,
): Promise<Tracker> {
  const { interval = 'day', group: _group, filter: _filter, sort: _sort, ...range } = sent;
  const report = (asked: object) => askPreset(keywordsPreset, sources, request, { ...asked, format: 'ndjson' });
  const { interval: _interval, sort: _order, ...chosen } = sent;
  const shown = await report(chosen);
  const all = await report({ ...range, compare: undefined, daily: '1', interval });
  const read = await sources.trackedCache.read(request.workspace, project.id, async ({ catalog, tracked }) => ({
    tracked,
    targets: await readKeywordTargets(catalog, project.id),
  }));
  const { tracked, targets } = read!;
  const members = await Promise.all(
    tracked.groups.map(async (group) => {
      const found = await groupMembers(sources.trackedCache, tracked, group, all.rows.totals);
      return { group, ids: new Set(found.map(({ id }) => id)) };
    }),
  );
  const { keywords, totals, other } = shown.rows;
  const lines = await readLines(all, new Set(keywords.map(({ id }) => id)), members);
  return {
    range: shown.head.range,
    days: all.daily!.buckets.map(({ from }) => from),
    now: countBands(keywords.map((keyword) => totals.of(keyword))),
    before: other ? countBands(keywords.map((keyword) => other.totals.of(keyword))) : null,
    ...lines,
    targets: await readTargetPages(sources, project, { range: shown.head.range, targets, signal: request.signal }),
  };
}

interface AskedTargets {
  readonly range: Range;
  /** The wanted pages by the ids of keywords. */
  readonly targets: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
}

async function readTargetPages(
  { catalog, facts }: PresetSources,
  project: Project,
  { range: { from, to }, targets, signal }: AskedTargets,
): Promise<Tracker['targets']> {
  if (targets.size === 0) return {};
  const range = { from, to };
  const files = await filesOf(catalog, project.id, 'keyword_page_daily', range);
  const found = await facts.keywordTopPages({ files, range, signal }, [...targets.keys()]);
  const ranking = new Map(found.map(({ keyword, url }) => [keyword, url]));
  return Object.fromEntries(
    [...targets].map(([id, target]) => {
      const url = ranking.get(id) ?? null;
      return [id, { target, ranking: url, isSame: url === target.split('#', 1)[0] }];
    }),
  );
}

interface Members {
  readonly group: Group;
  readonly ids: ReadonlySet<string>;
}

/** Sums the days of all keywords, some keywords at a time. */
async function readLines(
  { daily }: KeywordsResult,
  shown: ReadonlySet<string>,
  members: readonly Members[],
): Promise<Pick<Tracker, 'distribution' | 'groups'>> {
  const { buckets, sets } = daily!;
  const width = buckets.length;
  const distribution = buckets.map(() => Array.from({ length: COUNTS - 1 }, () => 0));
  const sums = members.map(() => ({ impressions: new Float64Array(width), positions: new Float64Array(width) }));
  for await (const days of sets) {
    await inTurns(
      (function* () {
        for (const [index, { id }] of days.keywords.entries()) {
          const mine = members.flatMap(({ ids }, at) => (ids.has(id) ? [sums[at]!] : []));
          for (let row = days.starts[index]!; row < days.starts[index + 1]!; row++) {
            const measures = days.now(row);
            if (measures.impressions === 0) continue;
            const part = days.part(row);
            if (shown.has(id)) distribution[part]![bandOf(measures)]!++;
            for (const sum of mine) {
              sum.impressions[part]! += measures.impressions;
              sum.positions[part]! += measures.sumPosition;
            }
          }
          yield;
        }
      })(),
    );
  }
  const groups = members.map(({ group, ids }, at) => ({
    id: group.id,
    keywords: ids.size,
    positions: Array.from(sums[at]!.impressions, (impressions, day) =>
      impressions === 0 ? null : Math.round(10 * (sums[at]!.positions[day]! / impressions + 1)) / 10,
    ),
  }));
  return { distribution, groups };
}

function countBands(rows: readonly Measures[]): number[] {
  const counts = Array.from({ length: COUNTS }, () => 0);
  for (const row of rows) if (isKnown(row)) counts[bandOf(row)]!++;
  return counts;
}

/** The band of a row as filters on its position have it; the last one without impressions. */
function bandOf({ impressions, sumPosition }: Measures): number {
  if (impressions === 0) return COUNTS - 1;
  const position = (sumPosition + impressions) / impressions;
  const band = BAND_ENDS.findIndex((end) => position <= end);
  return band < 0 ? BAND_ENDS.length : band;
}
