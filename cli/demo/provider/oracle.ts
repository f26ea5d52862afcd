import type { BrandTerm } from '../../../server/domain/brand-terms.ts';
import { type Day, eachDay } from '../../../server/domain/dates.ts';
import { stageOf } from './days.ts';
import type { Search } from './searches.ts';
import type { Site } from './site.ts';

/** A row of a snapshot. */
type Row = Readonly<Record<string, unknown>>;

/** The sync parameters of a project. */
export interface OracleProject {
  readonly id: string;
  readonly country?: string | null;
  readonly brandTerms?: readonly BrandTerm[];
  /** Active keywords. */
  readonly keywords?: readonly { readonly id: string; readonly query: string }[];
}

export interface OracleRange {
  readonly from: Day;
  readonly to: Day;
  /** Time of the sync, milliseconds. */
  readonly now: number;
}

export type SyncedTable =
  | 'site_daily'
  | 'country_daily'
  | 'appearance_daily'
  | 'brand_daily'
  | 'keyword_daily'
  | 'keyword_page_daily'
  | 'query_daily'
  | 'page_daily';

const KEYS: Readonly<Record<SyncedTable, readonly string[]>> = {
  site_daily: ['date', 'device'],
  country_daily: ['date', 'country'],
  appearance_daily: ['date', 'appearance'],
  brand_daily: ['date', 'segment'],
  keyword_daily: ['keyword_id', 'date', 'device'],
  keyword_page_daily: ['keyword_id', 'date', 'url'],
  query_daily: ['date', 'query', 'country'],
  page_daily: ['date', 'url', 'country'],
};

type Sums = [clicks: number, impressions: number, sumPosition: number];

/**
 * The rows that each fact table of a project must have after a sync of a range, in snapshot format, ordered by key.
 * Computed from the searches, independently of the model's responses and the server. No table is cut off.
 */
export function oracle(
  site: Site,
  { id, country = null, brandTerms = [], keywords = [] }: OracleProject,
  { from, to, now }: OracleRange,
): Record<SyncedTable, Row[]> {
  const tables = Object.fromEntries(Object.keys(KEYS).map((table) => [table, new Map<string, Sums>()])) as Record<
    SyncedTable,
    Map<string, Sums>
  >;
  const add = (table: SyncedTable, keys: readonly string[], sums: Sums): void => {
    const key = JSON.stringify(keys);
    const before = tables[table].get(key) ?? [0, 0, 0];
    tables[table].set(key, [before[0] + sums[0], before[1] + sums[1], before[2] + sums[2]]);
  };
  const keywordOf = new Map(keywords.map((keyword) => [keyword.query.toLowerCase(), keyword]));
  const readable = new Set(site.days({ from, to, dataState: 'all', type: 'web' }, now));
  for (const date of eachDay(from, to)) {
    if (!readable.has(date)) continue;
    for (const search of site.source.searches(date, stageOf(date, now, site.options.timetable))) {
      const { query, device } = search;
      if (country !== null && search.country !== country) continue;
      const once = sumsOnce(search);
      add('site_daily', [date, device.toLowerCase()], once);
      add('country_daily', [date, search.country], once);
      const keyword = query === null ? undefined : keywordOf.get(query);
      if (query !== null) {
        const isBrand = brandTerms.some((term) =>
          typeof term === 'string' ? query.includes(term.toLowerCase()) : wordsOf(query).includes(wordsOf(term.text)),
        );
        add('brand_daily', [date, isBrand ? 'brand' : 'non_brand'], once);
        add('query_daily', [date, query, search.country], once);
      }
      if (keyword !== undefined) add('keyword_daily', [keyword.id, date, device.toLowerCase()], once);
      for (const { page, clicks, position, appearances = [] } of search.results) {
        const here: Sums = [clicks, search.count, search.count * (position - 1)];
        add('page_daily', [date, page, search.country], here);
        if (keyword !== undefined) add('keyword_page_daily', [keyword.id, date, page], here);
        for (const appearance of appearances) add('appearance_daily', [date, appearance], here);
      }
    }
  }
  const rowsOf = (table: SyncedTable): Row[] =>
    [...tables[table]]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, [clicks, impressions, sumPosition]]): Row => {
        const values = JSON.parse(key) as string[];
        const named: Row = Object.fromEntries(KEYS[table].map((name, index) => [name, values[index]]));
        return { project_id: id, ...named, clicks, impressions, sum_position: sumPosition };
      });
  return Object.fromEntries(Object.keys(KEYS).map((table) => [table, rowsOf(table as SyncedTable)])) as Record<
    SyncedTable,
    Row[]
  >;
}

/** A search counted by property: once, at its best position, with at most one click. */
function sumsOnce({ count, results }: Search): Sums {
  const clicks = results.reduce((sum, result) => sum + result.clicks, 0);
  const best = Math.min(...results.map(({ position }) => position));
  return [Math.min(clicks, count), count, count * (best - 1)];
}

/** The words of a text without accents, with a space around each. */
const wordsOf = (text: string): string =>
  ` ${text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .split(/[^\p{L}\p{N}]+/u)
    .join(' ')} `;
