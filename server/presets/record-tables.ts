import { CRAWL_COUNTS, type CrawlDay } from '../domain/crawl.ts';
import { INDEX_FIELDS } from '../domain/index-state.ts';
import type { Cell, Column, RowsAnswer } from '../formats/rows.ts';
import { type ObjectColumn, objects } from '../formats/table.ts';
import type { AiResult } from './ai.ts';
import type { AlertsResult } from './alerts.ts';
import type { CrawlResult } from './crawl.ts';
import type { EffectsResult } from './effects.ts';
import type { ExplainResult } from './explain.ts';
import type { ExplainBy } from './explain-rows.ts';
import type { AnsweredFinding, FindingsResult } from './findings.ts';
import type { IndexHistoryResult, IndexResult } from './index-state.ts';
import type { FindingEvidence } from './listed-finding.ts';
import type { NotesResult } from './notes.ts';
import type { ListedProject } from './projects.ts';
import type { SitemapsResult } from './sitemaps.ts';

/** The properties of a project. */
export const PROJECT_COLUMNS: readonly ObjectColumn<ListedProject>[] = [
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
  return objects({ name: 'projects' }, projects, PROJECT_COLUMNS);
}

/** One row per alert. */
export function alertRows({ project, alerts }: AlertsResult): RowsAnswer {
  return objects({ name: `${project.domain}-alerts` }, alerts, [
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
  return objects({ name: `${project.domain}-notes` }, notes, [
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
  const head = { name: `${project.domain}-ai`, total: paging.total, range };
  return objects<AiResult['rows'][number]>(head, rows, [
    ['date', 'day', ({ date }) => date],
    ['page', 'text', ({ page }) => page],
    ['aiImpressions', 'count', ({ aiImpressions }) => aiImpressions],
    ['citations', 'count', ({ citations }) => citations],
  ]);
}

/** One row per sitemap. */
export function sitemapRows({ project, sitemaps }: SitemapsResult): RowsAnswer {
  return objects({ name: `${project.domain}-sitemaps` }, sitemaps, [
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
    return objects<CrawlDay>({ name }, days, [
      ['date', 'day', ({ date }) => date],
      ...CRAWL_COUNTS.map((count): ObjectColumn<CrawlDay> => [count, 'count', (row) => row[count]]),
    ]);
  }
  return objects<NonNullable<typeof page>>({ name }, page === null ? [] : [page], [
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
  (field): ObjectColumn<Pick<IndexRow, typeof field>> => [field, 'text', (row) => row[field]],
);

/** One row per page. */
export function indexRows({ project, paging, pages }: IndexResult): RowsAnswer {
  return objects<IndexRow>({ name: `${project.domain}-index`, total: paging.total }, pages, [
    ['url', 'text', ({ url }) => url],
    ...STATE_COLUMNS,
    ['lastCrawlTime', 'instant', ({ lastCrawlTime }) => lastCrawlTime],
    ['inspectedAt', 'instant', ({ inspectedAt }) => inspectedAt],
    ['since', 'instant', ({ since }) => since],
  ]);
}

/** One row per state of a page. */
export function indexHistoryRows({ project, history }: IndexHistoryResult): RowsAnswer {
  return objects<IndexHistoryResult['history'][number]>({ name: `${project.domain}-index-history` }, history, [
    ['since', 'instant', ({ since }) => since],
    ...STATE_COLUMNS,
  ]);
}

const EVIDENCE: readonly (readonly [Exclude<keyof FindingEvidence, 'pages' | 'pageImpressions'>, Column['type']])[] = [
  ['clicks', 'count'],
  ['clicksBefore', 'count'],
  ['expectedClicks', 'ratio'],
  ['impressions', 'count'],
  ['impressionsBefore', 'count'],
  ['expectedImpressions', 'ratio'],
  ['ctr', 'ratio'],
  ['expectedCtr', 'ratio'],
  ['position', 'ratio'],
  ['betterPosition', 'ratio'],
  ['weeklyChange', 'ratio'],
  ['change', 'ratio'],
  ['shownDays', 'count'],
  ['mainPageChanges', 'count'],
];

const FINDING_COLUMNS: readonly ObjectColumn<AnsweredFinding>[] = [
  ['type', 'text', ({ type }) => type],
  ['page', 'text', ({ page }) => page ?? null],
  ['query', 'text', ({ query }) => query ?? null],
  ...EVIDENCE.map(
    ([name, type]) =>
      ['evidence_'.concat(name), type, ({ evidence }: AnsweredFinding) => evidence[name] ?? null] as const,
  ),
  ['evidence_pages', 'ids', ({ evidence }) => evidence.pages ?? []],
  ['evidence_pageImpressions', 'ids', ({ evidence }) => (evidence.pageImpressions ?? []).map(String)],
  ['gain_clicks', 'count', ({ gain }) => gain?.clicks ?? null],
  ['gain_low', 'count', ({ gain }) => gain?.low ?? null],
  ['gain_high', 'count', ({ gain }) => gain?.high ?? null],
  ['p', 'ratio', ({ p }) => p],
  ['adjusted', 'ratio', ({ adjusted }) => adjusted],
  ['since', 'day', ({ since }) => since],
  ['text', 'text', ({ text }) => text],
  ['dismissedAt', 'instant', ({ dismissedAt }) => dismissedAt ?? null],
  ['dismissedBy', 'text', ({ dismissedBy }) => dismissedBy ?? null],
];

/** One row per finding. */
export function findingRows({ project, range, findings, paging, quality }: FindingsResult): RowsAnswer {
  const head = { name: `${project.domain}-findings`, total: paging.total, range, ...(quality && { quality }) };
  return objects(head, findings, FINDING_COLUMNS);
}

/** One row per day: clicks, and those expected without the change. */
export function effectRows({ project, windows: { before, after }, daily }: EffectsResult): RowsAnswer {
  const head = { name: `${project.domain}-effects`, range: { from: before.from, to: after.to } };
  return objects(head, daily, [
    ['date', 'day', ({ date }) => date],
    ['actual', 'count', ({ actual }) => actual],
    ['expected', 'share', ({ expected }) => expected],
  ]);
}

/** Columns of the key of a row, the readable one last. */
const EXPLAINED: Readonly<Record<ExplainBy, readonly string[]>> = {
  page: ['page'],
  query: ['query'],
  keyword: ['keyword_id', 'keyword_query'],
  device: ['device'],
  country: ['country'],
  brand: ['segment'],
};

const EXPLAINED_NUMBERS: readonly Column[] = [
  ...['clicks', 'impressions'].flatMap((name) =>
    ['now', 'base', 'difference'].map((of): Column => ({ name: `${name}_${of}`, type: 'count' })),
  ),
  { name: 'position_now', type: 'ratio' },
  { name: 'position_base', type: 'ratio' },
  ...['impressions', 'position', 'ctr', 'gained', 'lost', 'clicks', 'notAttributed'].map(
    (name): Column => ({ name: `parts_${name}`, type: 'count' }),
  ),
];

/** Cells by the name of their column; those left out are empty. */
type FlatRow = Readonly<Record<string, Cell>>;

/**
 * The rows, then `_rest` for those that are left out and `_not_attributed` for what no row can say, so that the sum of a
 * column is that of the property.
 */
export function explainRows(answer: ExplainResult): RowsAnswer {
  const { project, range, change, by, quality, parts, rows, rest } = answer;
  const keys = EXPLAINED[by];
  const named = (key: string): FlatRow => ({ [keys.at(-1)!]: key });
  const hasRest = rest.rows > 0 || Object.values(rest.parts).some((part) => part !== null && part !== 0);
  const listed = [...rows, ...(hasRest ? [rest] : [])];
  const sumOf = (of: 'now' | 'base'): number => listed.reduce((sum, { clicks }) => sum + clicks[of], 0);
  const clicks = { now: change.clicks.now - sumOf('now'), base: change.clicks.base - sumOf('base') };
  const notAttributed = {
    clicks: { ...clicks, difference: parts.notAttributed },
    parts: { notAttributed: parts.notAttributed },
  };
  const flat: FlatRow[] = [
    ...rows.map((row) => flattened(row)),
    ...(hasRest ? [{ ...named('_rest'), ...flattened({ clicks: rest.clicks, parts: rest.parts }) }] : []),
    { ...named('_not_attributed'), ...flattened(notAttributed) },
  ];
  const columns = [...keys.map((name): Column => ({ name, type: 'text' })), ...EXPLAINED_NUMBERS];
  return objects(
    { name: `${project.domain}-explain`, total: rows.length + rest.rows, range, ...(quality && { quality }) },
    flat,
    columns.map(({ name, type }): ObjectColumn<FlatRow> => [name, type, (row) => row[name] ?? null]),
  );
}

/** The properties of objects, with the names of the objects before theirs. */
function flattened(row: object): FlatRow {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]: [string, Cell | Readonly<Record<string, Cell>>]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value).map(([inner, cell]) => [nested(name, inner), cell as Cell] as const)
        : [[name, value as Cell] as const],
    ),
  );
}

function nested(name: string, inner: string): string {
  return `${name}_${inner}`;
}
