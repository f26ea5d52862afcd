import { type CrawlDay, mergeCrawlDays } from '../domain/crawl.ts';
import type { Day } from '../domain/dates.ts';
import { INDEX_FIELDS, INDEXED, type IndexState, type Inspection } from '../domain/index-state.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Sitemap } from '../domain/sitemap.ts';
import type { Catalog } from './catalog.ts';

/** What is known of a page from its last inspection. */
export interface InspectedPage extends Inspection {
  readonly url: string;
  readonly inspectedAt: Microseconds;
  /** Since when the verdict is this one. */
  readonly since: Microseconds;
}

/** When the pages of a property are inspected again. */
export interface InspectionSchedule {
  readonly dueAt: Microseconds;
  /** Why the last inspections ended early, for users; null if they did not. */
  readonly reason: string | null;
}

/** The inspections of a page so far. */
export interface InspectionAttempts {
  readonly url: string;
  /** Null before the first answer. */
  readonly inspectedAt: Microseconds | null;
  /** Since when it is not in the index: null if it is, 0 before the first answer. */
  readonly goneSince: Microseconds | null;
  readonly firstAt: Microseconds | null;
  /** How often its state changed. */
  readonly changes: number;
  /** Inspections in a row with its state. */
  readonly repeats: number;
  /** The last attempt, and how many failed in a row. */
  readonly triedAt: Microseconds;
  readonly failures: number;
}

/** The result of an attempt. */
export interface InspectionResult {
  readonly url: string;
  readonly at: Microseconds;
  /** Clicks of the page in the 28 days before. */
  readonly clicks: number;
  readonly isWatched: boolean;
  /** Null if it failed. */
  readonly inspection: Inspection | null;
}

/** States of a page that are kept: more than it can have in the days that alerts replay, inspected daily. */
const MAX_STATES = 200;

/** A state of a page, and its first inspections with it. */
export interface InspectionChange {
  readonly since: Microseconds;
  readonly state: IndexState;
}

interface PageRow extends Omit<InspectionAttempts, 'goneSince'> {
  readonly state: string | null;
  readonly lastCrawlTime: string | null;
  readonly since: Microseconds | null;
}

/** Undefined if pages of the property were never inspected. */
export async function readInspectionSchedule(
  catalog: Catalog,
  project: string,
  property: string,
): Promise<InspectionSchedule | undefined> {
  return catalog.statements.get('inspections.one', { project, property });
}

/** Ids of connected projects whose inspections are due, those never inspected first. */
export async function listDueInspections(catalog: Catalog, now: Microseconds, limit: number): Promise<string[]> {
  const rows = await catalog.statements.all<{ id: string }>('inspections.due', { now, limit });
  return rows.map(({ id }) => id);
}

/** What decides when each page is inspected again. */
export async function listInspectionAttempts(catalog: Catalog, project: string): Promise<InspectionAttempts[]> {
  return catalog.statements.all('inspections.attempts', { project, indexed: verdictPattern(INDEXED.toLowerCase()) });
}

/** The pages of a project that were inspected, by address, in batches. */
export async function* eachInspectedPage(catalog: Catalog, project: string): AsyncGenerator<InspectedPage[]> {
  for await (const rows of catalog.statements.each<InspectedRow>('inspections.pages', { project })) {
    yield rows.map(inspectedPage);
  }
}

/** What the database selects of inspected pages. Texts are in lower case. */
export interface InspectedPagesQuery {
  /** The verdict, and one that it is not; null for any. */
  readonly verdict: string | null;
  readonly other: string | null;
  /** A part of the address; null for any. */
  readonly part: string | null;
  /** One of `url`, `since`, `inspectedAt`, `lastCrawlTime`, after `-` for descending. */
  readonly sort: string;
  readonly limit: number;
  readonly offset: number;
}

/** A page of a list of inspected pages, their number, and the newest inspection of any page of the project. */
export async function listInspectedPages(
  catalog: Catalog,
  project: string,
  { limit, offset, sort, verdict, other, part }: InspectedPagesQuery,
): Promise<{ pages: InspectedPage[]; total: number; newest: Microseconds | null }> {
  const values = {
    project,
    verdict: verdict && verdictPattern(verdict),
    other: other && verdictPattern(other),
    part: part && `%${escaped(part)}%`,
  };
  const [rows, counted] = await Promise.all([
    catalog.statements.all<InspectedRow>('inspections.some_pages', { ...values, sort, limit, offset }),
    catalog.statements.get<{ pages: number; newest: Microseconds | null }>('inspections.count_pages', values),
  ]);
  return { pages: rows.map(inspectedPage), total: counted!.pages, newest: counted!.newest };
}

/** A pattern of states, which are stored with the verdict first. */
function verdictPattern(verdict: string): string {
  return `${escaped(`{"${INDEX_FIELDS[0]}":${JSON.stringify(verdict)},`)}%`;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}

/** Undefined if it was not inspected. */
export async function findInspectedPage(
  catalog: Catalog,
  project: string,
  url: string,
): Promise<InspectedPage | undefined> {
  const row = await catalog.statements.get<PageRow>('inspections.page', { project, url });
  return row === undefined || row.inspectedAt === null ? undefined : inspectedPage(row as InspectedRow);
}

/** The states that a page had, newest first. */
export async function listInspectionChanges(
  catalog: Catalog,
  project: string,
  url: string,
): Promise<InspectionChange[]> {
  type Row = { since: Microseconds; state: string };
  const rows = await catalog.statements.all<Row>('inspections.changes', { project, url });
  return rows.map(({ since, state }) => ({ since, state: JSON.parse(state) as IndexState }));
}

/** A state of a page, for alerts. */
export interface PageState extends InspectionChange {
  readonly url: string;
  /** The second inspection with it; null before. */
  readonly secondAt: Microseconds | null;
  /** In the 28 days before. */
  readonly clicks: number;
  readonly isWatched: boolean;
}

/** The states of the pages whose state has changed, by address, oldest first. */
export async function listChangedPages(catalog: Catalog, project: string): Promise<PageState[]> {
  type Row = Omit<PageState, 'state' | 'isWatched'> & { state: string; watched: number };
  const rows = await catalog.statements.all<Row>('inspections.histories', { project });
  return rows.map(({ state, watched, ...row }) => {
    return { ...row, state: JSON.parse(state) as IndexState, isWatched: watched === 1 };
  });
}

/**
 * Stores results and when the next inspections are due, and forgets pages, in one transaction. What was known of another
 * property is forgotten, too.
 */
export async function putInspections(
  catalog: Catalog,
  { id: project, property }: { readonly id: string; readonly property: string },
  results: readonly InspectionResult[],
  { dueAt, reason, forgotten = [] }: InspectionSchedule & { readonly forgotten?: readonly string[] },
): Promise<void> {
  await catalog.transaction(async (tx) => {
    await tx.statements.run('inspections.forget', { project, property });
    await tx.statements.run('inspections.put', { project, property, dueAt, reason });
    for (const result of results) await putResult(tx, project, result);
    for (const url of forgotten) {
      await tx.statements.run('inspections.forget_page', { project, url });
      await tx.statements.run('inspections.keep_changes', { project, url, newest: 0 });
    }
  });
}

async function putResult(tx: Catalog, project: string, result: InspectionResult): Promise<void> {
  const { url, at, clicks, isWatched, inspection } = result;
  const before = (await tx.statements.get<PageRow>('inspections.page', { project, url })) ?? NEVER_INSPECTED;
  const tried = { ...before, project, url, triedAt: at };
  if (inspection === null) {
    await tx.statements.run('inspections.put_page', { ...tried, failures: before.failures + 1 });
    return;
  }
  const { state: told, lastCrawlTime } = inspection;
  const state = JSON.stringify(told);
  const isSame = state === before.state;
  const known = before.state === null ? null : (JSON.parse(before.state) as IndexState);
  await tx.statements.run('inspections.put_page', {
    ...tried,
    state,
    lastCrawlTime,
    inspectedAt: at,
    since: known?.verdict === told.verdict ? before.since : at,
    firstAt: before.firstAt ?? at,
    changes: before.changes + Number(known !== null && !isSame),
    repeats: isSame ? before.repeats + 1 : 1,
    failures: 0,
  });
  if (!isSame) {
    const change = { project, url, state, since: at, clicks, watched: Number(isWatched) };
    await tx.statements.run('inspections.add_change', change);
    await tx.statements.run('inspections.keep_changes', { project, url, newest: MAX_STATES });
  } else if (before.repeats === 1) {
    await tx.statements.run('inspections.repeat_change', { project, url, at });
  }
}

const NEVER_INSPECTED = {
  state: null,
  lastCrawlTime: null,
  inspectedAt: null,
  since: null,
  firstAt: null,
  changes: 0,
  repeats: 0,
  failures: 0,
};

type InspectedRow = Pick<InspectedPage, 'url' | 'lastCrawlTime' | 'inspectedAt' | 'since'> & { readonly state: string };

function inspectedPage({ url, state, lastCrawlTime, inspectedAt, since }: InspectedRow): InspectedPage {
  return { url, state: JSON.parse(state) as IndexState, lastCrawlTime, inspectedAt, since };
}

/** What is known of the sitemaps of a property. */
export interface StoredSitemaps {
  /** Null before they were read. */
  readonly sitemaps: readonly Sitemap[] | null;
  readonly fetchedAt: Microseconds | null;
  /** Why the last request failed, for users; null if it succeeded. */
  readonly reason: string | null;
}

/** Undefined if they were never asked for. */
export async function readSitemaps(
  catalog: Catalog,
  project: string,
  property: string,
): Promise<StoredSitemaps | undefined> {
  type Row = Omit<StoredSitemaps, 'sitemaps'> & { readonly sitemaps: string | null };
  const row = await catalog.statements.get<Row>('sitemaps.one', { project, property });
  return row && { ...row, sitemaps: row.sitemaps === null ? null : (JSON.parse(row.sitemaps) as Sitemap[]) };
}

/** Ids of connected projects whose sitemaps are due, those never read first. */
export async function listDueSitemaps(catalog: Catalog, now: Microseconds, limit: number): Promise<string[]> {
  const rows = await catalog.statements.all<{ id: string }>('sitemaps.due', { now, limit });
  return rows.map(({ id }) => id);
}

/** Stores the sitemaps of a property, or why they could not be read: then those of before stay. */
export async function putSitemaps(
  catalog: Catalog,
  project: string,
  property: string,
  { sitemaps, dueAt, ...state }: StoredSitemaps & { readonly dueAt: Microseconds },
): Promise<void> {
  const text = sitemaps && JSON.stringify(sitemaps);
  await catalog.statements.run('sitemaps.put', { project, property, sitemaps: text, dueAt, ...state });
}

/** Whose crawler days they are: they tell nothing of another property that a project had. */
interface CrawledProperty {
  readonly project: string;
  readonly property: string;
}

/** The stored days of the crawler, in order. */
export async function readCrawlDays(catalog: Catalog, of: CrawledProperty): Promise<CrawlDay[]> {
  const rows = await catalog.statements.all<{ day: Day; counts: string }>('crawl-days.of_property', { ...of });
  return rows.map(({ day: date, counts }) => ({ date, ...(JSON.parse(counts) as Omit<CrawlDay, 'date'>) }));
}

/**
 * Stores what a provider tells of the crawler now. Days that it no longer tells stay.
 * @param keptFrom earlier days are not kept; null for all
 * @param now microseconds
 */
export async function storeCrawlDays(
  catalog: Catalog,
  of: CrawledProperty,
  told: readonly CrawlDay[],
  { keptFrom, now }: { readonly keptFrom: Day | null; readonly now: Microseconds },
): Promise<void> {
  const stored = await readCrawlDays(catalog, of);
  const before = new Map(stored.map((day) => [day.date, JSON.stringify(day)]));
  const changed = mergeCrawlDays(stored, told, now / 1000).filter(
    (day) => (keptFrom === null || day.date >= keptFrom) && before.get(day.date) !== JSON.stringify(day),
  );
  if (changed.length === 0) return;
  const rows = changed.map(({ date: day, ...counts }) => ({ ...of, day, counts: JSON.stringify(counts) }));
  await catalog.transaction((tx) => tx.statements.runEach('crawl-days.put', rows));
}

export async function forgetCrawlDaysBefore(tx: Catalog, project: string, before: Day): Promise<void> {
  await tx.statements.run('crawl-days.forget_before', { project, before });
}
