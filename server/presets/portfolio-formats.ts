import { UNKNOWN } from '../domain/metrics.ts';
import type { Cell, Column, RowsAnswer } from '../formats/rows.ts';
import { DAYS, dimension, MEASURED, type ObjectColumn, ofRows, table } from '../formats/table.ts';
import { siteTable } from '../model/tables.ts';
import { metricsOfTable } from '../query/query.ts';
import { type KnownMetrics, metricsOf, type ObjectSet, type Row, rowSet } from '../query/rows.ts';
import { inTurns } from '../runtime/turns.ts';
import type { PortfolioResult } from './portfolio.ts';
import type { PortfolioRow } from './portfolio-rows.ts';
import { PROJECT_COLUMNS } from './record-tables.ts';
import { siteRow } from './site.ts';

/** All projects of a response. */
export async function portfolioJson(result: Pick<PortfolioResult, 'paging' | 'batches'>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(portfolioChunks(result)));
}

/** Projects in chunks, for responses that are too long for memory. */
export async function* portfolioChunks({
  paging,
  batches,
}: Pick<PortfolioResult, 'paging' | 'batches'>): AsyncGenerator<Buffer, void> {
  let start = `{"paging":${JSON.stringify(paging)},"projects":[`;
  for await (const rows of batches) {
    for (let at = 0; at < rows.length; at += ROWS_PER_CHUNK) {
      const json = await inTurns(rowsJson(rows.slice(at, at + ROWS_PER_CHUNK)));
      yield Buffer.from(start + json);
      start = ',';
    }
  }
  yield Buffer.from(start === ',' ? ']}' : `${start}]}`);
}

/** With days of 16 months, a row is up to 200 kB long. */
const ROWS_PER_CHUNK = 20;

function* rowsJson(rows: readonly PortfolioRow[]): Generator<void, string> {
  const texts: string[] = [];
  for (const row of rows) {
    texts.push(JSON.stringify(rowJson(row)));
    yield;
  }
  return texts.join(',');
}

function rowJson({ planned: { listed }, site }: PortfolioRow): object {
  if ('error' in site) return { ...listed, range: null, totals: null, error: site.error };
  const { range, quality, total, metrics, daily } = site;
  return {
    ...listed,
    range,
    ...(quality && { quality }),
    totals: metricsOf(total, metrics),
    ...(daily && { daily: daily.map((row) => siteRow(row, metrics)) }),
  };
}

function metricsOfSurface({ type = 'web' }: PortfolioResult['query']): KnownMetrics {
  return metricsOfTable(siteTable(type));
}

type Answered = Exclude<PortfolioRow['site'], { readonly error: object }>;
type ProjectRow = Row & PortfolioRow;

/** One row per project; with days, one per project and day. */
export function portfolioTable({ query, paging, batches }: PortfolioResult): RowsAnswer {
  const { range, daily, interval, quality } = query;
  const known = metricsOfSurface(query);
  const isCompared = range.compare !== undefined;
  const head = { name: 'portfolio', total: paging.total };
  async function* setsOf<Of extends Row>(rowsOf: (row: PortfolioRow) => readonly Of[]): AsyncGenerator<ObjectSet<Of>> {
    for await (const rows of batches) yield rowSet(rows.flatMap(rowsOf), known);
  }
  if (daily) {
    return table({
      head,
      columns: [
        dimension('id'),
        dimension('domain', 'text', 1),
        dimension('date', 'day', 2),
        ...(interval === 'day' ? [] : [DAYS]),
        ...MEASURED,
      ],
      sets: setsOf(daysOf),
      isCompared,
    });
  }
  return table({
    head,
    columns: [
      ...ofRows<ProjectRow>(
        ...PROJECT_COLUMNS.map(
          ([name, kind, read]): ObjectColumn<ProjectRow> => [name, kind, ({ planned }) => read(planned.listed)],
        ),
        ...RANGE,
        ...(isCompared ? COMPARED_RANGE : []),
      ),
      ...MEASURED,
      ...ofRows<ProjectRow>(
        ...(quality ? QUALITY : []),
        ['error_code', 'text', ({ site }) => ('error' in site ? site.error.code : null)],
        ['error_message', 'text', ({ site }) => ('error' in site ? site.error.message : null)],
      ),
    ],
    sets: setsOf((row): ProjectRow[] => [
      { ...row, ...('error' in row.site ? { now: UNKNOWN } : row.site.total), names: [] },
    ]),
    isCompared,
  });
}

function daysOf({ planned: { listed }, site }: PortfolioRow): Row[] {
  if ('error' in site) return [];
  return (site.daily ?? []).map((row) => ({ ...row, names: [listed.id, listed.domain, ...row.names] }));
}

/** Cells of projects without an error. */
function ofAnswer(name: string, type: Column['type'], read: (site: Answered) => Cell): ObjectColumn<ProjectRow> {
  return [name, type, ({ site }) => ('error' in site ? null : read(site))];
}

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
