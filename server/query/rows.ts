import {
  type Compared,
  type Comparer,
  type Counted,
  countsOf,
  METRIC_NAMES,
  type MetricName,
  NO_CHANGE,
  NOT_COMPARED,
  type NotCompared,
  type Unsafe,
} from '../domain/comparison.ts';
import { type ExactMeasures, type Metrics, toMetrics } from '../domain/metrics.ts';
import type { Count } from '../model/tables.ts';

/** Sums over a range, and over the other range of a comparison. */
export interface Sums {
  readonly now: ExactMeasures;
  /** With `comparer`. */
  readonly base?: ExactMeasures | undefined;
  /** Left out without a comparison. */
  readonly comparer?: Comparer | undefined;
}

/** Sums over a part of the range. */
export interface PartSums {
  /** NaN if they are unknown (`isKnown`). */
  readonly now: ExactMeasures;
  /** Null where the other range has no such part; NaN if they are unknown. */
  readonly base?: ExactMeasures | null | undefined;
  readonly comparer?: Comparer | null | undefined;
}

/** A row of an answer. */
export interface Row extends PartSums {
  /** What it is about: a value of each dimension. */
  readonly names: readonly string[];
  /** Of weeks and months: their days in the range, up to the last synced one (`daysUntil`). */
  readonly days?: number | undefined;
}

/** Which metrics rows have: some surfaces have no positions, and of anonymised queries only counts are known. */
export type KnownMetrics = 'all' | 'no_position' | 'counts';

/** Equal for rows of the same names. */
export const keyOf = (names: readonly string[]): string => JSON.stringify(names);

/**
 * Rows of an answer, or a part of them. All formats read rows through it. It may lie over columns, so that 500,000 rows
 * need no objects: then sums may be one object that the next call overwrites.
 */
export interface RowSet {
  readonly length: number;
  readonly known: KnownMetrics;
  /** What rows count in place of searches; their sums have these names. */
  readonly counts?: Counts | null | undefined;
  /** The value of a dimension, by its index. */
  readonly name: (row: number, dimension: number) => string;
  /** See `Row.days`; left out where no row has them. */
  readonly days?: (row: number) => number;
  readonly now: (row: number) => ExactMeasures;
  /** See `PartSums`; left out without a comparison. */
  readonly comparer?: (row: number) => Comparer | null | undefined;
  /** Read only with a comparer. */
  readonly base?: (row: number) => ExactMeasures | null;
}

/** A row set over objects. */
export type ObjectSet<Of = Row> = RowSet & { readonly rows: readonly Of[] };

/** A row set over objects, for short answers. */
export function rowSet<Of extends Row>(
  rows: readonly Of[],
  known: KnownMetrics = 'all',
  counts?: Counts | null,
): ObjectSet<Of> {
  return {
    rows,
    counts,
    length: rows.length,
    known,
    name: (row, dimension) => rows[row]!.names[dimension]!,
    days: (row) => rows[row]!.days!,
    now: (row) => rows[row]!.now,
    comparer: (row) => rows[row]!.comparer,
    base: (row) => rows[row]!.base ?? null,
  };
}

/** What rows count in place of searches. */
export type Counts = readonly Count[];

/**
 * Sums of what is counted in place of searches, as in responses.
 * @param names those that were asked for
 */
export function countedOf(
  { now, base, comparer }: PartSums,
  counts: readonly Count[],
  names: readonly string[],
): object {
  const asked = counts.filter(({ name }) => names.includes(name));
  const shown = countsOf(asked, countedIn(now));
  if (comparer === undefined) return shown;
  if (comparer === null || !base) {
    const unsafe = Object.fromEntries(asked.map(({ name }) => [name, ['missing_days']]));
    return { ...shown, comparison: null, change: null, unsafe };
  }
  return { ...shown, ...comparer.compareCounts(asked, countedIn(now), countedIn(base)) };
}

/** Sums by the names of what they count. */
export function countedIn(sums: object): Counted {
  return sums as Counted;
}

/** The metrics that a set of rows has. */
export function metricsIn(known: KnownMetrics): readonly MetricName[] {
  return KNOWN[known];
}

const KNOWN: Readonly<Record<KnownMetrics, readonly MetricName[]>> = {
  all: METRIC_NAMES,
  no_position: ['clicks', 'impressions', 'ctr'],
  counts: ['clicks', 'impressions'],
};

/**
 * Known sums as in responses: metrics that rows do not have are null.
 * @param metrics those that were asked for
 */
export function metricsOf(sums: Sums, known?: KnownMetrics): Metrics & Partial<Compared>;
export function metricsOf(sums: PartSums, known?: KnownMetrics): Metrics & Partial<Compared | NotCompared>;
export function metricsOf(
  sums: PartSums,
  known: KnownMetrics,
  metrics: readonly MetricName[],
): Partial<Metrics & (Compared | NotCompared)>;
export function metricsOf(
  sums: PartSums,
  known: KnownMetrics = 'all',
  metrics: readonly MetricName[] = METRIC_NAMES,
): Partial<Metrics & (Compared | NotCompared)> {
  const shown = picked(withKnown(toMetrics(sums.now), known, null), metrics);
  const compared = comparedOf(sums, known);
  if (compared === undefined) return shown;
  const { comparison, change, unsafe } = compared;
  return {
    ...shown,
    comparison: comparison && picked(comparison, metrics),
    change: change && picked(change, metrics),
    unsafe: picked(unsafe, metrics),
  } as Partial<Compared | NotCompared>;
}

/** The comparison of known sums as in responses; undefined without one. */
function comparedOf({ now, base, comparer }: PartSums, known: KnownMetrics): Compared | NotCompared | undefined {
  if (comparer === undefined) return undefined;
  if (comparer === null || !base) return { ...NOT_COMPARED, unsafe: unsafeOf(NOT_COMPARED.unsafe, known) };
  const { comparison, change, unsafe } = comparer.compare(now, base);
  return {
    comparison: withKnown(comparison, known, null),
    change: withKnown(change, known, NO_CHANGE),
    unsafe: unsafeOf(unsafe, known),
  };
}

/** The reasons about metrics that rows have. */
export function unsafeOf(unsafe: Unsafe, known: KnownMetrics): Unsafe {
  return known === 'all' ? unsafe : picked(unsafe, KNOWN[known]);
}

function picked<Of extends object>(of: Of, metrics: readonly MetricName[]): Of {
  if (metrics.length === METRIC_NAMES.length) return of;
  return Object.fromEntries(Object.entries(of).filter(([name]) => metrics.includes(name as MetricName))) as Of;
}

function withKnown<Of extends Readonly<Record<MetricName, unknown>>, None>(
  of: Of,
  known: KnownMetrics,
  none: None,
): Of {
  if (known === 'all') return of;
  if (known === 'no_position') return { ...of, position: none };
  return { ...of, ctr: none, position: none };
}
