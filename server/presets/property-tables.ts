import { UNKNOWN } from '../domain/metrics.ts';
import type { RowsAnswer } from '../formats/rows.ts';
import { DAYS, dimension, exactSum, MEASURED, ofRows, table } from '../formats/table.ts';
import type { Answer } from '../query/ask.ts';
import { type ObjectSet, type Row, rowSet } from '../query/rows.ts';
import type { BreakdownsResult } from './breakdowns.ts';
import type { HoursResult } from './hours.ts';
import type { SiteResult } from './site.ts';
import type { SurfacesResult } from './surfaces.ts';

/** One row per day, or longer interval, of the property. */
export function siteTable({ answer: { project, range, quality }, rows, metrics, interval }: SiteResult): RowsAnswer {
  const isSpread = (of: 'now' | 'base'): boolean => rows.some((row) => row[of]?.fraction !== undefined);
  return table({
    head: { name: `${project.domain}-site`, total: rows.length, range, ...(quality && { quality }) },
    columns: [dimension('date', 'day'), ...(interval === 'day' ? [] : [DAYS]), ...MEASURED],
    sets: [rowSet(rows, metrics)],
    isCompared: range.comparison !== undefined,
    isSpread: { now: isSpread('now'), base: isSpread('base') },
  });
}

interface SurfaceRow extends Row {
  readonly surface: SurfacesResult['answer']['surfaces'][number];
}

/** One row per stored search type, one for Bing, and one for each report about AI answers. */
export function surfacesTable({ answer: { project, range, surfaces }, rows }: SurfacesResult): RowsAnswer {
  // Reports about AI answers have no totals.
  const sets = surfaces.map((surface, at): ObjectSet<SurfaceRow> => {
    const row = rows[at];
    return rowSet([{ ...(row?.total ?? { now: UNKNOWN }), surface, names: [] }], row?.metrics);
  });
  return table({
    head: { name: `${project.domain}-surfaces`, total: surfaces.length, range },
    columns: [
      ...ofRows<SurfaceRow>(
        ['engine', 'text', ({ surface }) => surface.engine],
        ['type', 'text', ({ surface }) => surface.type],
        ['grain', 'text', ({ surface }) => surface.grain],
        ['firstDay', 'day', ({ surface }) => surface.firstDay],
        ['lastDay', 'day', ({ surface }) => surface.lastDay],
        ['provisionalAfter', 'day', ({ surface }) => surface.provisionalAfter],
      ),
      'metrics',
      'comparison',
      ...ofRows<SurfaceRow>(
        [
          'aiImpressions',
          'count',
          ({ surface }) => ('aiImpressions' in surface ? surface.aiImpressions : null) ?? null,
        ],
        ['citations', 'count', ({ surface }) => ('citations' in surface ? surface.citations : null) ?? null],
        ['stale', 'boolean', ({ surface }) => surface.stale],
      ),
      'sum_position',
    ],
    sets,
    isCompared: range.comparison !== undefined,
  });
}

/** One row per hour of the property. */
export function hoursTable({ answer: { project, range }, rows }: HoursResult): RowsAnswer {
  return table({
    head: { name: `${project.domain}-hours`, total: rows.length, range },
    columns: [dimension('hour'), ...MEASURED],
    sets: [rowSet(rows.map(({ hour, measures }): Row => ({ names: [hour], now: measures })))],
    isCompared: false,
  });
}

/** All breakdowns in one table: the breakdown of each row, and its value. */
export function breakdownsTable({
  answer: { project, range, quality },
  parts: { countries, devices, appearances, segments },
}: BreakdownsResult): RowsAnswer {
  const setOf = (kind: string, { rows, metrics }: Pick<Answer, 'rows' | 'metrics'>): ObjectSet =>
    rowSet(
      rows.map((row): Row => ({ ...row, names: [kind, ...row.names] })),
      metrics,
    );
  const segment = (name: keyof NonNullable<typeof segments>): Row => ({ names: [name], ...segments![name] });
  const sets = [
    setOf('country', countries),
    setOf('device', devices),
    ...(appearances ? [setOf('appearance', appearances)] : []),
    ...(segments
      ? [
          setOf('segment', { rows: [segment('brand'), segment('nonBrand')], metrics: 'all' }),
          setOf('segment', { rows: [segment('anonymous')], metrics: 'counts' }),
        ]
      : []),
  ];
  const isSpread = (of: 'now' | 'base'): boolean =>
    sets.some(
      (set) => set.known === 'all' && set.rows.some((row) => row[of] != null && !Number.isInteger(exactSum(row[of]))),
    );
  return table({
    head: {
      name: `${project.domain}-breakdowns`,
      total: sets.reduce((sum, { length }) => sum + length, 0),
      range,
      ...(quality && { quality }),
    },
    columns: [dimension('kind', 'text', 0), dimension('value', 'text', 1), ...MEASURED],
    sets,
    isCompared: range.comparison !== undefined,
    isSpread: { now: isSpread('now'), base: isSpread('base') },
  });
}
