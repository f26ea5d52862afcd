import type { Interval } from '../domain/intervals.ts';
import type { Range } from '../domain/range.ts';
import type { Device } from '../facts/facts.ts';
import type { Surface } from '../model/surfaces.ts';
import { type Dimension, type FactTable, intervalOf, isTime, TABLES, tableFor } from '../model/tables.ts';
import type { KnownMetrics } from './rows.ts';

/** What an answer about facts is asked by: plain data. */
export interface Query extends Range {
  readonly surface: Surface;
  /** What rows are about: a dimension of time, or one of names. None: only the total. */
  readonly by: readonly Dimension[];
  readonly device: Device;
  /** Null for all. */
  readonly country: string | null;
  /** The other range; null for none. */
  readonly comparison: Range | null;
  /**
   * Which days count: `stored` are those from the first stored to the last synced one, and each is a row; `all` also counts
   * rows of days that are stored after the last synced one.
   */
  readonly days: 'stored' | 'all';
}

/** A query; what is left out is asked of all. */
export function queryOf(asked: Partial<Query> & Range): Query {
  return { surface: 'web', by: [], device: 'all', country: null, comparison: null, days: 'stored', ...asked };
}

/** The table that answers a query: the first that has all its dimensions, those of its filters among them. */
export function tableOf({
  surface,
  by,
  device,
  country,
}: Pick<Query, 'surface' | 'by' | 'device' | 'country'>): FactTable {
  const filters: Dimension[] = [
    ...(device === 'all' ? [] : ['device' as const]),
    ...(country === null ? [] : ['country' as const]),
  ];
  const table = tableFor(surface, [...by, ...filters]);
  if (table === undefined) throw new Error(`no table of ${surface} has ${[...by, ...filters].join(' by ')}`);
  return table;
}

/** The range of a query, and the one to compare with if there is one. */
export function rangesIn({ from, to, comparison }: Pick<Query, 'from' | 'to' | 'comparison'>): readonly Range[] {
  return [{ from, to }, ...(comparison === null ? [] : [comparison])];
}

/** The length of what rows of time are about; undefined for rows of names. */
export function intervalIn({ by }: Query): Interval | undefined {
  const time = by.find(isTime);
  return time && intervalOf(time);
}

/** The dimension of rows of names; undefined for those of time. */
export function namesIn({ by }: Query): Dimension | undefined {
  return by.find((dimension) => !isTime(dimension));
}

/** The metrics that rows of a table have. */
export function metricsOfTable(table: FactTable): KnownMetrics {
  return TABLES[table].positions === 'none' ? 'no_position' : 'all';
}
