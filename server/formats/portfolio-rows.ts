import type { PortfolioResult } from '../reports/portfolio.ts';
import type { PortfolioRow } from '../reports/portfolio-rows.ts';
import { metricsOf, type SiteRow, type SiteSums } from '../reports/site-answer.ts';
import { PROJECT_COLUMNS } from './entity-rows.ts';
import {
  type Batch,
  batchOf,
  type Cell,
  type Column,
  comparedColumns,
  comparedSums,
  DAY_COUNT,
  METRICS,
  positionSum,
  type RowsAnswer,
  sumPositionColumn,
} from './rows.ts';

type Answered = Exclude<PortfolioRow['site'], { readonly error: object }>;
/** A column and its cell in a row. */
type Read<Row> = readonly [column: Column, read: (row: Row) => Cell];

/** One row per project; with days, one per project and day. */
export function portfolioRows({ query, paging, batches }: PortfolioResult): RowsAnswer {
  const isCompared = query.range.compare !== undefined;
  const head = { name: 'portfolio', total: paging.total };
  if (query.daily) {
    const reads = [
      ...DAY,
      ...(query.interval === 'day' ? [] : [DAYS_OF_INTERVAL]),
      ...sumsOf<DayRow>(({ sums }) => sums, isCompared),
    ];
    return { head, columns: reads.map(([column]) => column), batches: columnBatches(batches, daysOf, reads) };
  }
  const reads = [
    ...PROJECT,
    ...RANGE,
    ...(isCompared ? COMPARED_RANGE : []),
    ...sumsOf<PortfolioRow>((row) => answered(row)?.total ?? null, isCompared),
    ...(query.quality ? QUALITY : []),
    ...ERROR,
  ];
  return { head, columns: reads.map(([column]) => column), batches: columnBatches(batches, (rows) => rows, reads) };
}

function answered({ site }: PortfolioRow): Answered | null {
  return 'error' in site ? null : site;
}

/** Reads the cells of projects without an error. */
function ofAnswer(name: string, type: Column['type'], read: (site: Answered) => Cell): Read<PortfolioRow> {
  return [
    { name, type },
    (row) => {
      const site = answered(row);
      return site && read(site);
    },
  ];
}

const PROJECT: readonly Read<PortfolioRow>[] = PROJECT_COLUMNS.map(([name, type, read]) => [
  { name, type },
  ({ planned: { listed } }) => read(listed),
]);

const RANGE = [
  ofAnswer('range_from', 'day', ({ range }) => range.from),
  ofAnswer('range_to', 'day', ({ range }) => range.to),
  ofAnswer('range_provisionalAfter', 'day', ({ range }) => range.provisionalAfter),
];

const COMPARED_RANGE = [
  ofAnswer('range_comparison_from', 'day', ({ range }) => range.comparison?.from ?? null),
  ofAnswer('range_comparison_to', 'day', ({ range }) => range.comparison?.to ?? null),
];

const QUALITY = [
  ofAnswer('quality_finalThrough', 'day', ({ quality }) => quality!.finalThrough),
  ofAnswer('quality_daysExpected', 'count', ({ quality }) => quality!.daysExpected),
  ofAnswer('quality_daysStored', 'count', ({ quality }) => quality!.daysStored),
  ofAnswer('quality_daysProvisional', 'count', ({ quality }) => quality!.daysProvisional),
  ofAnswer('quality_daysCutOff', 'count', ({ quality }) => quality!.daysCutOff),
  ofAnswer('quality_missing', 'text', ({ quality }) => JSON.stringify(quality!.missing)),
  ofAnswer('quality_anonymousClicksShare', 'ratio', ({ quality }) => quality!.anonymousClicksShare),
  ofAnswer('quality_queryCoverage_clicks', 'ratio', ({ quality }) => quality!.queryCoverage.clicks),
  ofAnswer('quality_queryCoverage_impressions', 'ratio', ({ quality }) => quality!.queryCoverage.impressions),
  ofAnswer('quality_reconciledAt', 'instant', ({ quality }) => quality!.reconciledAt),
  ofAnswer('quality_events', 'text', ({ quality }) => JSON.stringify(quality!.events)),
  ofAnswer('quality_rankingUpdates', 'text', ({ quality }) => JSON.stringify(quality!.rankingUpdates)),
  ofAnswer('quality_rankingUpdatesThrough', 'day', ({ quality }) => quality!.rankingUpdatesThrough),
];

const ERROR: readonly Read<PortfolioRow>[] = [
  [{ name: 'error_code', type: 'text' }, ({ site }) => ('error' in site ? site.error.code : null)],
  [{ name: 'error_message', type: 'text' }, ({ site }) => ('error' in site ? site.error.message : null)],
];

/** The columns of sums and of their comparison. */
function sumsOf<Row>(of: (row: Row) => SiteSums | SiteRow | null, isCompared: boolean): Read<Row>[] {
  const metric =
    (name: 'clicks' | 'impressions' | 'ctr' | 'position') =>
    (row: Row): Cell => {
      const sums = of(row);
      return sums && metricsOf(sums)[name];
    };
  const compared = comparedColumns<Row>(
    (row) => {
      const sums = of(row);
      return sums === null ? { base: null, compared: null } : comparedSums(sums);
    },
    { isCompared },
  );
  return [
    ...METRICS.map((column): Read<Row> => [column, metric(column.name as 'clicks')]),
    ...compared.columns.map((column, at): Read<Row> => [column, compared.readers[at]!]),
    [
      sumPositionColumn(),
      (row) => {
        const sums = of(row);
        return sums && positionSum(sums);
      },
    ],
  ];
}

interface DayRow {
  readonly id: string;
  readonly domain: string;
  readonly sums: SiteRow;
}

const DAY: readonly Read<DayRow>[] = [
  [{ name: 'id', type: 'text' }, ({ id }) => id],
  [{ name: 'domain', type: 'text' }, ({ domain }) => domain],
  [{ name: 'date', type: 'day' }, ({ sums }) => sums.date],
];
const DAYS_OF_INTERVAL: Read<DayRow> = [DAY_COUNT, ({ sums }) => sums.days!];

function daysOf(rows: readonly PortfolioRow[]): DayRow[] {
  return rows.flatMap((row) => {
    const { id, domain } = row.planned.listed;
    return (answered(row)?.daily ?? []).map((sums) => ({ id, domain, sums }));
  });
}

async function* columnBatches<Row>(
  batches: PortfolioResult['batches'],
  rowsOf: (rows: readonly PortfolioRow[]) => readonly Row[],
  reads: readonly Read<Row>[],
): AsyncGenerator<Batch> {
  const readers = reads.map(([, read]) => read);
  for await (const rows of batches) yield batchOf(rowsOf(rows), readers);
}
