import { filesOf, isLoaded, readCoverage } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import { pairingOf } from '../domain/compared-days.ts';
import { ComparedRanges } from '../domain/compared-ranges.ts';
import { eachDay } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { bucketsOf, type Interval } from '../domain/intervals.ts';
import { type ExactMeasures, NOTHING, toMetrics } from '../domain/metrics.ts';
import { comparedRange, siteRange } from '../domain/project-ranges.ts';
import type { Range } from '../domain/range.ts';
import { daySums } from '../facts/days.ts';
import type { DayMeasures } from '../facts/facts.ts';
import { rowsWith } from '../facts/sums.ts';
import { compare, exactText, interval, rangeParameters, readParameters } from '../presets/parameters.ts';
import type { PresetSources } from '../presets/preset.ts';
import { KnownDays, planKnownDays } from '../query/known-days.ts';

const TABLES = { page: 'page_daily', query: 'query_daily' } as const;

interface DaysQuestion {
  readonly project: Project;
  readonly of: keyof typeof TABLES;
  readonly parameters: unknown;
  readonly signal: AbortSignal;
}

/**
 * The archived days of one page or query, over all countries and devices. Days without a row are left out. `comparison`
 * has the days of the compared range by the days of this range that they stand beside; null without one.
 */
export async function readArchivedDays(sources: PresetSources, { project, of, parameters, signal }: DaysQuestion) {
  const { catalog, facts, trackedCache, now } = sources;
  const name = exactText(`The ${of}.`);
  const {
    interval: length,
    compare: other,
    ...sent
  } = readParameters({ ...rangeParameters, interval, compare }, parameters);
  const { [of]: text } = readParameters({ [of]: name }, parameters);
  if (text === undefined) throw invalidRequest(`${of} is missing: whose days are wanted?`);
  const range = siteRange(sent, project, now());
  const comparison = comparedRange(range, other);
  const table = TABLES[of];
  const readDays = async (days: Range): Promise<DayMeasures[]> => {
    const asked = { files: await filesOf(catalog, project.id, table, days), range: days, signal };
    return daySums(facts, asked, { table, test: rowsWith(of === 'page' ? 'url' : 'query', [text]) });
  };
  const readCompared = async (base: Range): Promise<ComparedRanges> => {
    const coverage = await readCoverage(catalog, project.id);
    const known = await planKnownDays(catalog, project, table, { ranges: [range, base], coverage });
    return new ComparedRanges(range, base, await KnownDays.read(facts, known, signal), null);
  };
  const [isArchived, days, before, compared] = await Promise.all([
    isLoaded(catalog, project.id, table),
    readDays(range),
    comparison && readDays(comparison),
    comparison && readCompared(comparison),
  ]);
  const total = sumOf(days);
  const read =
    of === 'query'
      ? await trackedCache.read(project.workspaceId, project.id, async (found) => found.tracked)
      : undefined;
  return {
    range: { ...range, provisionalAfter: project.provisionalAfter, ...(comparison && { comparison }) },
    /** Whether the project has an archive of them. */
    isArchived,
    keywordId: read?.idByQuery.get(text.toLowerCase()) ?? null,
    totals: { ...toMetrics(total), ...compared?.total.compare(total, sumOf(before!)) },
    daily: dailyOf(days, range, length),
    comparison: comparison && dailyOf(before!, range, length, pairingOf(range, comparison)),
  };
}

/**
 * The days of a range that have rows, or the weeks or months that have any.
 * @param daysOf the days whose rows count for a part of the range; its own if left out
 */
export function dailyOf(
  days: readonly DayMeasures[],
  range: Range,
  length: Interval,
  daysOf: (part: Range) => readonly Range[] = (part) => [part],
) {
  const byDay = new Map(days.map((day) => [day.date, day]));
  return bucketsOf(range, length).flatMap((bucket) => {
    const found = daysOf(bucket).flatMap(({ from, to }) => eachDay(from, to).flatMap((day) => byDay.get(day) ?? []));
    return found.length === 0 ? [] : [{ date: bucket.from, ...toMetrics(sumOf(found)) }];
  });
}

function sumOf(days: readonly DayMeasures[]): ExactMeasures {
  return days.reduce<ExactMeasures>(
    (sum, day) => ({
      clicks: sum.clicks + day.clicks,
      impressions: sum.impressions + day.impressions,
      sumPosition: sum.sumPosition + day.sumPosition,
    }),
    NOTHING,
  );
}
