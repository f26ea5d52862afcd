import type { BrandTerm } from '../domain/brand-terms.ts';
import { type Day, eachDay } from '../domain/dates.ts';
import { isNonblank, isUrl } from '../domain/fact-values.ts';
import { sumPositionOf } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import { type OtherType, type SearchType, SURFACES } from '../model/surfaces.ts';
import type { AnalyticsQuery } from '../providers/search-console/analytics-query.ts';
import type { AnalyticsRow } from '../providers/search-console/search-analytics.ts';
import { batchesOf, brandExpressions, type KeywordQuery } from './batches.ts';
import type { FetchedRow } from './day-files.ts';
import type { DayQuery } from './plan.ts';

/** The common parameters of a project's requests. */
export interface QueriedProject {
  readonly property: string;
  readonly country: string | null;
  readonly brandTerms: readonly BrandTerm[];
}

/** A query and the conversion of its rows to facts; rows that are invalid as facts are skipped. */
export interface FactQuery {
  readonly query: AnalyticsQuery;
  readonly toFacts: (row: AnalyticsRow) => FetchedRow[];
}

type Filter = NonNullable<AnalyticsQuery['filters']>[number];
type QuerySchema = Pick<AnalyticsQuery, 'dimensions' | 'aggregation' | 'type'> & {
  readonly filters?: readonly Filter[];
};
type QueryDays = Pick<DayQuery, 'from' | 'to' | 'dataState'>;

// These rules are those of sql/load/types/, as in domain/fact-values.ts.
const DEVICES: readonly string[] = ['desktop', 'mobile', 'tablet'];
const COUNTRY = /^[a-z]{3}$/;
/** Before it is written in capitals: those of `ß` are two other letters. */
const APPEARANCE = /^[A-Za-z][A-Za-z0-9_]*$/;
/** Matches all queries. A filter by query excludes anonymised queries. */
const ANY = '.*';

/**
 * The API queries for days of one table, except appearances, whose values must be read first. Rows of a group are summed
 * by key.
 */
export function queriesOf(project: QueriedProject, dayQuery: DayQuery): FactQuery[][] {
  switch (dayQuery.table) {
    case 'site_daily':
      return [[siteQuery(project, dayQuery)]];
    case 'country_daily':
      return [[countryQuery(project, dayQuery)]];
    case 'brand_daily':
      return [brandQueries(project, dayQuery)];
    case 'keyword_daily':
    case 'keyword_page_daily':
      return keywordQueries(project, dayQuery).map((query) => [query]);
    case 'query_daily':
    case 'page_daily':
      return eachDay(dayQuery.from, dayQuery.to).map((day) => [listQuery(project, dayQuery, day)]);
    case 'appearance_daily':
      throw new Error('appearances are queried by value');
  }
}

/** The query for the appearances of a range. */
export function appearancesQuery(project: QueriedProject, dayQuery: DayQuery): AnalyticsQuery {
  return queryOf(project, dayQuery, { dimensions: ['searchAppearance'], aggregation: 'auto' });
}

export function appearanceQuery(
  project: QueriedProject,
  dayQuery: DayQuery,
  appearance: string,
): FactQuery | undefined {
  if (!APPEARANCE.test(appearance)) return undefined;
  const name = appearance.toUpperCase();
  const filters = [{ dimension: 'searchAppearance', operator: 'equals', expression: appearance }] as const;
  return factQuery(project, dayQuery, { dimensions: ['date'], aggregation: 'auto', filters }, (row, [day]) =>
    fact(row, day, { appearance: name }),
  );
}

/** The query for all days of a search type other than web, by device, if it has them, or by country. */
export function typeQuery(project: QueriedProject, type: OtherType, by: 'site' | 'country', range: Range): FactQuery {
  const dayQuery = { ...range, dataState: 'all' } as const;
  if (by === 'country') return countryQuery(project, dayQuery, type);
  if (SURFACES[type].hasDevices) return siteQuery(project, dayQuery, type);
  return factQuery(project, dayQuery, { dimensions: ['date'], type }, (row, [day]) =>
    fact(row, day, { device: 'unknown' }),
  );
}

function siteQuery(project: QueriedProject, dayQuery: QueryDays, type: SearchType = 'web'): FactQuery {
  const schema: QuerySchema = { dimensions: ['date', 'device'], ...totalsOf(type) };
  return factQuery(project, dayQuery, schema, (row, [day, name = '']) => {
    const device = name.toLowerCase();
    return fact(row, day, { device }, DEVICES.includes(device));
  });
}

function countryQuery(project: QueriedProject, dayQuery: QueryDays, type: SearchType = 'web'): FactQuery {
  const schema: QuerySchema = { dimensions: ['date', 'country'], ...totalsOf(type) };
  return factQuery(project, dayQuery, schema, (row, [day, name = '']) => {
    const country = name.toLowerCase();
    return fact(row, day, { country }, COUNTRY.test(country));
  });
}

/** Types without queries are counted by page only. */
function totalsOf(type: SearchType): Pick<AnalyticsQuery, 'aggregation' | 'type'> {
  return { aggregation: SURFACES[type].hasQueries ? 'byProperty' : 'auto', type };
}

function brandQueries(project: QueriedProject, dayQuery: DayQuery): FactQuery[] {
  const expressions = brandExpressions(project.brandTerms);
  const of = (filters: readonly Filter[], rowsOf: (of: (segment: string) => FetchedRow[]) => FetchedRow[]) =>
    factQuery(project, dayQuery, { dimensions: ['date'], aggregation: 'byProperty', filters }, (row, [day]) =>
      rowsOf((segment) => fact(row, day, { segment })),
    );
  const brand = (filters: readonly Filter[]): FactQuery => of(filters, (rows) => rows('brand'));
  const nonBrand = (filters: readonly Filter[]): FactQuery => of(filters, (rows) => rows('non_brand'));
  const filter = (operator: Filter['operator'], expression: string): Filter => ({
    dimension: 'query',
    operator,
    expression,
  });
  if (expressions.length === 0) return [nonBrand([filter('includingRegex', ANY)])];
  const others = expressions.map((expression) => filter('excludingRegex', expression));
  if (expressions.length === 1) {
    return [brand([filter('includingRegex', expressions[0]!)]), nonBrand(others)];
  }
  // Filters are combined with AND, so with several expressions brand is all queries minus the others.
  const either = of(others, (rows) => [...rows('brand').map(negative), ...rows('non_brand')]);
  return [brand([filter('includingRegex', ANY)]), either];
}

function negative({ clicks, impressions, sumPosition, ...row }: FetchedRow): FetchedRow {
  return { ...row, clicks: -clicks, impressions: -impressions, sumPosition: -sumPosition };
}

function keywordQueries(project: QueriedProject, dayQuery: DayQuery): FactQuery[] {
  const isByPage = dayQuery.table === 'keyword_page_daily';
  const byQuery = Map.groupBy(dayQuery.keywords, ({ query }: KeywordQuery) => query.toLowerCase());
  return batchesOf(dayQuery.keywords, eachDay(dayQuery.from, dayQuery.to).length).map(({ expression }) => {
    const schema: QuerySchema = {
      dimensions: ['date', 'query', isByPage ? 'page' : 'device'],
      aggregation: isByPage ? 'byPage' : 'byProperty',
      filters: [{ dimension: 'query', operator: 'includingRegex', expression }],
    };
    return factQuery(project, dayQuery, schema, (row, [day, query = '', value = '']) =>
      (byQuery.get(query.toLowerCase()) ?? []).flatMap(({ id }) =>
        isByPage
          ? fact(row, day, { keyword_id: id, url: value }, isUrl(value))
          : fact(row, day, { keyword_id: id, device: value.toLowerCase() }, DEVICES.includes(value.toLowerCase())),
      ),
    );
  });
}

function listQuery(project: QueriedProject, dayQuery: DayQuery, day: Day): FactQuery {
  const isQueries = dayQuery.table === 'query_daily';
  const schema: QuerySchema = {
    dimensions: [isQueries ? 'query' : 'page', 'country'],
    aggregation: isQueries ? 'byProperty' : 'byPage',
  };
  return factQuery(project, { ...dayQuery, from: day, to: day }, schema, (row, [text, name = '']) => {
    const country = name.toLowerCase();
    const isRight = COUNTRY.test(country) && (isQueries ? isNonblank(text) : isUrl(text));
    return fact(row, day, { [isQueries ? 'query' : 'url']: text, country }, isRight);
  });
}

function factQuery(
  project: QueriedProject,
  dayQuery: QueryDays,
  schema: QuerySchema,
  toFacts: (row: AnalyticsRow, keys: readonly [string, ...string[]]) => FetchedRow[],
): FactQuery {
  const days = new Set(eachDay(dayQuery.from, dayQuery.to));
  return {
    query: queryOf(project, dayQuery, schema),
    toFacts: (row) => toFacts(row, row.keys as [string, ...string[]]).filter(({ day }) => days.has(day)),
  };
}

function queryOf(
  { property, country }: QueriedProject,
  { from, to, dataState }: QueryDays,
  schema: QuerySchema,
): AnalyticsQuery {
  const { dimensions, aggregation = 'auto', filters = [], type = 'web' } = schema;
  const ofCountry: Filter[] =
    country === null ? [] : [{ dimension: 'country', operator: 'equals', expression: country }];
  return { property, from, to, dimensions, aggregation, filters: [...ofCountry, ...filters], dataState, type };
}

function fact(row: AnalyticsRow, day: Day, key: Readonly<Record<string, string>>, isRight = true): FetchedRow[] {
  const { clicks, impressions } = row;
  const sumPosition = sumPositionOf(row);
  return isRight && Number.isSafeInteger(sumPosition) ? [{ day, key, clicks, impressions, sumPosition }] : [];
}
