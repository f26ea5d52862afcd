import { CRAWL_COUNTS, type CrawlDay } from '../domain/crawl.ts';
import { INDEX_FIELDS } from '../domain/index-state.ts';
import type { AiResult } from '../reports/ai.ts';
import type { AlertsResult } from '../reports/alerts.ts';
import type { CrawlResult } from '../reports/crawl.ts';
import type { IndexHistoryResult, IndexResult } from '../reports/index-state.ts';
import type { NotesResult } from '../reports/notes.ts';
import type { ListedProject } from '../reports/projects.ts';
import type { SitemapsResult } from '../reports/sitemaps.ts';
import { batchOf, type Cell, type Column, type RowsAnswer } from './rows.ts';

/** A column and its cell in a row. */
type Read<Row> = readonly [name: string, type: Column['type'], read: (row: Row) => Cell];

function table<Row>(name: string, rows: readonly Row[], reads: readonly Read<Row>[]): RowsAnswer {
  return {
    head: { name, total: rows.length },
    columns: reads.map(([column, type]) => ({ name: column, type })),
    batches: [
      batchOf(
        rows,
        reads.map(([, , read]) => read),
      ),
    ],
  };
}

/** The properties of a project. */
export const PROJECT_COLUMNS: readonly Read<ListedProject>[] = [
  ['id', 'text', ({ id }) => id],
  ['domain', 'text', ({ domain }) => domain],
  ['property', 'text', ({ property }) => property],
  ['country', 'text', ({ country }) => country],
  ['language', 'text', ({ language }) => language],
  ['syncStatus', 'text', ({ syncStatus }) => syncStatus],
  ['lastSyncedAt', 'instant', ({ lastSyncedAt }) => lastSyncedAt],
  ['syncedThrough', 'day', ({ syncedThrough }) => syncedThrough],
  ['keywordHistoryFrom', 'day', (project) => project.keywordHistoryFrom],
  ['historyBackfilling', 'boolean', ({ historyBackfilling }) => historyBackfilling],
  ['trackedKeywords', 'count', ({ trackedKeywords }) => trackedKeywords],
];

/** One row per project. */
export function projectRows({ projects }: { readonly projects: readonly ListedProject[] }): RowsAnswer {
  return table('projects', projects, PROJECT_COLUMNS);
}

/** One row per alert. */
export function alertRows({ project, alerts }: AlertsResult): RowsAnswer {
  return table(`${project.domain}-alerts`, alerts, [
    ['id', 'text', ({ id }) => id],
    ['type', 'text', ({ type }) => type],
    ['kind', 'text', ({ kind }) => kind],
    ['severity', 'text', ({ severity }) => severity],
    ['title', 'text', ({ title }) => title],
    ['body', 'text', ({ body }) => body],
    ['date', 'day', ({ date }) => date],
    ['keywordId', 'text', ({ keywordId }) => keywordId],
    ['url', 'text', ({ url }) => url],
    ['createdAt', 'instant', ({ createdAt }) => createdAt],
    ['resolvedAt', 'instant', ({ resolvedAt }) => resolvedAt],
  ]);
}

/** One row per note. */
export function noteRows({ project, notes }: NotesResult): RowsAnswer {
  return table(`${project.domain}-notes`, notes, [
    ['id', 'text', ({ id }) => id],
    ['scope', 'text', ({ scope }) => scope],
    ['date', 'day', ({ date }) => date],
    ['endDate', 'day', ({ endDate }) => endDate],
    ['category', 'text', ({ category }) => category],
    ['text', 'text', ({ text }) => text],
    ['clientVisible', 'boolean', ({ clientVisible }) => clientVisible],
    ['author', 'text', ({ author }) => author],
    ['group_id', 'text', ({ group }) => group?.id ?? null],
    ['group_name', 'text', ({ group }) => group?.name ?? null],
    ['keyword_id', 'text', ({ keyword }) => keyword?.id ?? null],
    ['keyword_query', 'text', ({ keyword }) => keyword?.query ?? null],
    ['page', 'text', ({ page }) => page],
    ['createdAt', 'instant', ({ createdAt }) => createdAt],
    ['updatedAt', 'instant', ({ updatedAt }) => updatedAt],
  ]);
}

/** One row per day or page. */
export function aiRows({ project, range, paging, rows }: AiResult): RowsAnswer {
  const flat = table<AiResult['rows'][number]>(`${project.domain}-ai`, rows, [
    ['date', 'day', ({ date }) => date],
    ['page', 'text', ({ page }) => page],
    ['aiImpressions', 'count', ({ aiImpressions }) => aiImpressions],
    ['citations', 'count', ({ citations }) => citations],
  ]);
  return { ...flat, head: { ...flat.head, range, total: paging.total } };
}

/** One row per sitemap. */
export function sitemapRows({ project, sitemaps }: SitemapsResult): RowsAnswer {
  return table(`${project.domain}-sitemaps`, sitemaps, [
    ['path', 'text', ({ path }) => path],
    ['type', 'text', ({ type }) => type],
    ['isIndex', 'boolean', ({ isIndex }) => isIndex],
    ['lastSubmitted', 'instant', ({ lastSubmitted }) => lastSubmitted],
    ['lastDownloaded', 'instant', ({ lastDownloaded }) => lastDownloaded],
    ['isPending', 'boolean', ({ isPending }) => isPending],
    ['warnings', 'count', ({ warnings }) => warnings],
    ['errors', 'count', ({ errors }) => errors],
    ['urls', 'count', ({ urls }) => urls],
  ]);
}

/** One row per day, or one of the page that was asked for. */
export function crawlRows({ answer: { project, days, page }, isOfPage }: CrawlResult): RowsAnswer {
  const name = `${project.domain}-crawl`;
  if (!isOfPage) {
    return table<CrawlDay>(name, days, [
      ['date', 'day', ({ date }) => date],
      ...CRAWL_COUNTS.map((count): Read<CrawlDay> => [count, 'count', (row) => row[count]]),
    ]);
  }
  return table<NonNullable<typeof page>>(name, page === null ? [] : [page], [
    ['url', 'text', ({ url }) => url],
    ['isFolder', 'boolean', ({ isFolder }) => isFolder],
    ['discoveredAt', 'instant', ({ discoveredAt }) => discoveredAt],
    ['lastCrawlTime', 'instant', ({ lastCrawlTime }) => lastCrawlTime],
    ['httpStatus', 'count', ({ httpStatus }) => httpStatus],
    ['documentSize', 'count', ({ documentSize }) => documentSize],
  ]);
}

type IndexRow = IndexResult['pages'][number];
const STATE_COLUMNS = INDEX_FIELDS.map(
  (field): Read<Pick<IndexRow, typeof field>> => [field, 'text', (row) => row[field]],
);

/** One row per page. */
export function indexRows({ project, paging, pages }: IndexResult): RowsAnswer {
  const rows = table<IndexRow>(`${project.domain}-index`, pages, [
    ['url', 'text', ({ url }) => url],
    ...STATE_COLUMNS,
    ['lastCrawlTime', 'instant', ({ lastCrawlTime }) => lastCrawlTime],
    ['inspectedAt', 'instant', ({ inspectedAt }) => inspectedAt],
    ['since', 'instant', ({ since }) => since],
  ]);
  return { ...rows, head: { ...rows.head, total: paging.total } };
}

/** One row per state of a page. */
export function indexHistoryRows({ project, history }: IndexHistoryResult): RowsAnswer {
  return table<IndexHistoryResult['history'][number]>(`${project.domain}-index-history`, history, [
    ['since', 'instant', ({ since }) => since],
    ...STATE_COLUMNS,
  ]);
}
