import { ComparedRanges, type DayReasons } from '../domain/compared-ranges.ts';
import type { Comparer } from '../domain/comparison.ts';
import { bucketsOf, daysUntil } from '../domain/intervals.ts';
import type { ExactMeasures } from '../domain/metrics.ts';
import { oneDevice } from '../domain/project-ranges.ts';
import { type Range, spanOf, within } from '../domain/range.ts';
import { Total } from '../domain/spread.ts';
import { compareTexts } from '../domain/texts.ts';
import type { Facts } from '../facts/facts.ts';
import { siteTableOf, TABLES } from '../model/tables.ts';
import { KnownDays } from './known-days.ts';
import type { Plan } from './plan.ts';
import { intervalIn, metricsOfTable, namesIn, rangesIn } from './query.ts';
import { lacksMonth, monthsIn, type NamedSeries, ownSeries, readSeries } from './read.ts';
import type { KnownMetrics, Row, Sums } from './rows.ts';
import type { Series } from './series.ts';

/** The name of rows whose country or segment is not known. */
const UNKNOWN_NAME = 'unknown';

export interface Answer {
  /** Of names those with clicks or impressions, in the order of answers; of time all stored days or longer intervals. */
  readonly rows: readonly Row[];
  /** Over the whole range: of all names together, also of those without a row. */
  readonly total: Sums;
  /** The sums of a name, also of one without a row. */
  readonly sumsOf: (name: string) => Sums;
  readonly metrics: KnownMetrics;
  /** In which ranges the names of some days are not known. */
  readonly hasUnknown: { readonly now: boolean; readonly base: boolean };
  /** Undefined without a comparison. */
  readonly known: KnownDays | undefined;
}

/** Answers a plan. Throws `invalid_request` for a device or country on days of which it is unknown. */
export async function ask(plan: Plan, facts: Facts, signal: AbortSignal): Promise<Answer> {
  const { query, table, known: planned } = plan;
  const { comparison } = query;
  const range = { from: query.from, to: query.to };
  const read = (part: Range): Promise<NamedSeries> => readSeries(facts, plan, part, signal);
  const isOwn = namesIn(query) === undefined;
  // Days of both ranges are read at once; sums of names are read of each.
  const [now, base] = isOwn
    ? Array<NamedSeries>(2).fill(await read(spanOf(rangesIn(query))))
    : await Promise.all([read(range), comparison === null ? new Map<string, Series>() : read(comparison)]);
  const siteDays = isOwn && siteTableOf(table) === table ? ownSeries(now!).days : undefined;
  const known = planned ? await KnownDays.read(facts, planned, signal, siteDays) : undefined;
  return answerOf(plan, { now: now!, base: base! }, known);
}

/** What was read of two ranges, as an answer. */
export function answerOf(
  plan: Pick<Plan, 'query' | 'table' | 'stored' | 'monthlyThrough'>,
  { now, base }: { readonly now: NamedSeries; readonly base: NamedSeries },
  known: KnownDays | undefined,
): Answer {
  const { query, table, stored, monthlyThrough } = plan;
  const { comparison } = query;
  const range = { from: query.from, to: query.to };
  const names = namesIn(query);
  const interval = intervalIn(query);
  const own = names === undefined ? ownSeries(now) : undefined;
  const compared =
    comparison && known
      ? new ComparedRanges(range, comparison, reasonsOf(known, own, monthlyThrough), oneDevice(query.device))
      : undefined;
  const clipped = (part: Range): Range | null =>
    query.days === 'stored' ? stored && within(part, stored.from, stored.to) : part;
  const over = (all: Iterable<Series>, parts: readonly Range[]): ExactMeasures => {
    const total = new Total();
    for (const series of all) {
      for (const part of parts) {
        const days = clipped(part);
        if (days !== null) series.over(days, total);
      }
    }
    return total.measures;
  };
  const sumsOf = (of: (series: NamedSeries) => Iterable<Series>, comparer = compared?.total): Sums => ({
    now: over(of(now), [range]),
    ...(comparison && { base: over(of(base), [comparison]) }),
    ...(comparer && { comparer }),
  });
  const ofName = (name: string, comparer?: Comparer): Sums => sumsOf((series) => seriesOf(series, name), comparer);
  return {
    rows: names === undefined ? rowsOfTime() : rowsOfNames(),
    total: sumsOf((series) => series.values()),
    sumsOf: ofName,
    metrics: metricsOfTable(table),
    hasUnknown: { now: now.has(UNKNOWN_NAME), base: base.has(UNKNOWN_NAME) },
    known,
  };

  function rowsOfTime(): Row[] {
    if (interval === undefined) return [];
    const comparerOf = compared?.ofRows(query.by);
    const rows: Row[] = [];
    for (const bucket of bucketsOf(range, interval)) {
      const part = clipped(bucket);
      if (part === null) continue;
      const common = {
        names: [bucket.from],
        ...(interval === 'day' ? {} : { days: daysUntil(bucket, stored!.to) }),
        now: own!.over(part).measures,
      };
      const comparer = comparerOf?.(common.names);
      if (comparer === undefined) rows.push(common);
      else rows.push({ ...common, base: comparer && over([own!], compared!.counterpart(bucket)), comparer });
    }
    return rows;
  }

  function rowsOfNames(): Row[] {
    const [months, monthsOfBase] = [monthsIn(now), monthsIn(base)];
    const comparers = compared?.ofRows(query.by);
    const comparerOf = (name: string): Comparer | undefined => {
      if (comparers === undefined) return undefined;
      const comparer = comparers([name])!;
      // Months that are stored as totals name few countries; the others are one row.
      const isOther = name === 'other' && months.size + monthsOfBase.size > 0;
      // A name that counts nothing there is among the others, whether it has a total of a month or not.
      const isInBase = comparison !== null && isCounted(over(seriesOf(base, name), [comparison]));
      const isSpread =
        isOther || lacksMonth(now.get(name), months) || lacksMonth(isInBase ? base.get(name) : undefined, monthsOfBase);
      return isSpread ? comparer.with(['monthly_spread']) : comparer;
    };
    const rows = [...now.keys()]
      .filter((name) => name !== UNKNOWN_NAME)
      .map((name): Row => ({ names: [name], ...ofName(name, comparerOf(name)) }));
    const [first, second] =
      TABLES[table].leavesOut?.includes('overlapping') === true
        ? (['impressions', 'clicks'] as const)
        : (['clicks', 'impressions'] as const);
    return rows
      .filter((row) => isCounted(row.now))
      .sort(
        (a, b) =>
          b.now[first] - a.now[first] || b.now[second] - a.now[second] || compareTexts(a.names[0]!, b.names[0]!),
      );
  }
}

function seriesOf(series: NamedSeries, name: string): Series[] {
  const found = series.get(name);
  return found === undefined ? [] : [found];
}

function isCounted({ clicks, impressions }: ExactMeasures): boolean {
  return clicks > 0 || impressions > 0;
}

/** If a name has no total of a month, it is among the others. */
function reasonsOf(known: KnownDays, own: Series | undefined, monthlyThrough: string | null): DayReasons {
  return {
    reasonsOn: (day) => {
      const reasons = known.reasonsOn(day);
      const isOther = own !== undefined && monthlyThrough !== null && day <= monthlyThrough && !own.hasMonthOf(day);
      return isOther ? [...reasons, 'monthly_spread'] : reasons;
    },
    monthlyThrough,
    events: known.events,
  };
}
