import { Type } from 'typebox';
import type { Project } from '../catalog/projects.ts';
import { countDays, type Day, dayOf } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { UNKNOWN } from '../domain/metrics.ts';
import { siteRange } from '../domain/project-ranges.ts';
import { MAX_DAYS } from '../domain/range.ts';
import { selectRows } from '../domain/select-rows.ts';
import type { Cell, Column, RowsAnswer } from '../formats/rows.ts';
import { DAYS, dimension, MEASURED, type ObjectColumn, ofRows, table } from '../formats/table.ts';
import { SURFACES } from '../model/surfaces.ts';
import { siteTable } from '../model/tables.ts';
import { metricsOfTable } from '../query/query.ts';
import { type KnownMetrics, metricsOf, type ObjectSet, type Row, rowSet } from '../query/rows.ts';
import { inOneBatch, inTurns } from '../runtime/turns.ts';
import * as parameter from './parameters.ts';
import { type PlannedProject, type PortfolioQuery, planPortfolio } from './portfolio-plan.ts';
import { type PortfolioRow, portfolioRows, RATED } from './portfolio-rows.ts';
import { workspacePreset } from './preset.ts';
import {
  columnsOf,
  dayMetrics,
  errorDetails,
  nullable,
  object,
  paging,
  projectDetails,
  projectProperties,
  quality,
  range,
  totalMetrics,
} from './schemas.ts';
import { checkDevice, ofType, refusePositions, searchEngine, searchType, surfaceOf } from './search-type.ts';
import { siteRow } from './site.ts';

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

const portfolioProject = Type.Object(
  {
    ...projectProperties,
    range: nullable(range, 'The days of this project: by default they end with its own last synced day.'),
    quality,
    totals: nullable(totalMetrics, 'Null with `error`.'),
    daily: Type.Optional(
      Type.Array(dayMetrics, { description: 'Only when daily is requested; with interval, weeks or months.' }),
    ),
    error: Type.Optional(errorDetails),
  },
  {
    title: 'PortfolioProject',
    description:
      'A project, and what `/projects/{id}/site` answers about it: `error` where that is an error, such as a range that begins after the last synced day.',
    additionalProperties: false,
  },
);

const answer = object('PortfolioAnswer', { paging, projects: Type.Array(portfolioProject) });

/** All projects of a workspace, each with its response of `/site`. */
export const portfolioPreset = workspacePreset({
  path: '/portfolio',
  operation: 'getPortfolio',
  tag: 'Projects',
  summary: 'All projects with totals of the whole property',
  description:
    'For each project of the workspace its sync state and what the site endpoint answers. Oldest first. Each project has a range of its own.',
  answer,
  content: 'The projects.',
  examples: {
    200: '/portfolio?period=7d&compare=previous&sort=-clicks',
    400: '/portfolio?sort=-traffic',
  },
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
  json: portfolioJson,
  isStreamed: isLongPortfolio,
  jsonChunks: portfolioChunks,
  rows: portfolioTable,
  isLong: isLongPortfolio,
});

/** Up to this many days a response takes about 3 MB. */
const MAX_DAYS_OF_SHORT_RESULT = 30_000;

/** Whether a result may be so long that concurrency must be limited. */
function isLongPortfolio({ maxDays }: PortfolioQuery): boolean {
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

/** All projects of a response. */
export async function portfolioJson(result: Pick<PortfolioResult, 'paging' | 'batches'>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(portfolioChunks(result)));
}

/** Projects in chunks, for responses that are too long for memory. */
async function* portfolioChunks({
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
function portfolioTable({ query, paging, batches }: PortfolioResult): RowsAnswer {
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
        ...columnsOf(projectDetails).map(
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
