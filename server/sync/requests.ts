import { type Day, eachDay } from '../domain/dates.ts';
import type { AnalyticsQuery } from '../providers/analytics-query.ts';
import { type AnalyticsRow, sumPositionOf } from '../providers/search-analytics.ts';
import { batchesOf, brandExpressions, type SyncedKeyword } from './batches.ts';
import type { FetchedRow } from './day-files.ts';
import type { Ask } from './plan.ts';

/** What a project's requests have in common. */
export interface QueriedProject {
  readonly property: string;
  readonly country: string | null;
  readonly brandTerms: readonly string[];
}

/** A question to the API, and what its rows are as facts; rows that no fact can hold are left out. */
export interface FactQuery {
  readonly query: AnalyticsQuery;
  readonly toFacts: (row: AnalyticsRow) => FetchedRow[];
}

type Filter = NonNullable<AnalyticsQuery['filters']>[number];
type Shape = Pick<AnalyticsQuery, 'dimensions' | 'aggregation'> & { readonly filters?: readonly Filter[] };

const DEVICES: readonly string[] = ['desktop', 'mobile', 'tablet'];
const COUNTRY = /^[a-z]{3}$/;
const APPEARANCE = /^[A-Z][A-Z0-9_]*$/;
const URL_TEXT = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/./s;
/** Bytes of a text in a fact. */
const MAX_TEXT = 65_536;
/** Finds every query: any filter by query leaves anonymised ones out. */
const ANY = '.*';

/**
 * The queries of an ask, but for appearances, whose values have to be asked for first. The rows of each group belong
 * together.
 */
export function queriesOf(project: QueriedProject, ask: Ask): FactQuery[][] {
  switch (ask.table) {
    case 'site_daily':
      return [[siteQuery(project, ask)]];
    case 'country_daily':
      return [[countryQuery(project, ask)]];
    case 'brand_daily':
      return [brandQueries(project, ask)];
    case 'keyword_daily':
    case 'keyword_page_daily':
      return keywordQueries(project, ask).map((query) => [query]);
    case 'query_daily':
    case 'page_daily':
      return eachDay(ask.from, ask.to).map((day) => [listQuery(project, ask, day)]);
    case 'appearance_daily':
      throw new Error('appearances are asked for by value');
  }
}

/** The question which appearances a range has. */
export function appearancesQuery(project: QueriedProject, ask: Ask): AnalyticsQuery {
  return queryOf(project, ask, { dimensions: ['searchAppearance'], aggregation: 'auto' });
}

export function appearanceQuery(project: QueriedProject, ask: Ask, appearance: string): FactQuery | undefined {
  const name = appearance.toUpperCase();
  if (!APPEARANCE.test(name)) return undefined;
  const filters = [{ dimension: 'searchAppearance', operator: 'equals', expression: appearance }] as const;
  return factQuery(project, ask, { dimensions: ['date'], aggregation: 'auto', filters }, (row, [day]) =>
    fact(row, day, { appearance: name }),
  );
}

function siteQuery(project: QueriedProject, ask: Ask): FactQuery {
  const shape: Shape = { dimensions: ['date', 'device'], aggregation: 'byProperty' };
  return factQuery(project, ask, shape, (row, [day, name = '']) => {
    const device = name.toLowerCase();
    return fact(row, day, { device }, DEVICES.includes(device));
  });
}

function countryQuery(project: QueriedProject, ask: Ask): FactQuery {
  const shape: Shape = { dimensions: ['date', 'country'], aggregation: 'byProperty' };
  return factQuery(project, ask, shape, (row, [day, name = '']) => {
    const country = name.toLowerCase();
    return fact(row, day, { country }, COUNTRY.test(country));
  });
}

function brandQueries(project: QueriedProject, ask: Ask): FactQuery[] {
  const expressions = brandExpressions(project.brandTerms);
  const of = (segment: string, filters: readonly Filter[], change = (found: FetchedRow): FetchedRow => found) =>
    factQuery(project, ask, { dimensions: ['date'], aggregation: 'byProperty', filters }, (row, [day]) =>
      fact(row, day, { segment }).map(change),
    );
  const filter = (operator: Filter['operator'], expression: string): Filter => ({
    dimension: 'query',
    operator,
    expression,
  });
  if (expressions.length === 0) return [of('non_brand', [filter('includingRegex', ANY)])];
  const others = expressions.map((expression) => filter('excludingRegex', expression));
  if (expressions.length === 1) {
    return [of('brand', [filter('includingRegex', expressions[0]!)]), of('non_brand', others)];
  }
  // Filters hold together: with more terms than one expression takes, brand is all less the others.
  return [of('brand', [filter('includingRegex', ANY)]), of('brand', others, negative), of('non_brand', others)];
}

function negative({ clicks, impressions, sumPosition, ...row }: FetchedRow): FetchedRow {
  return { ...row, clicks: -clicks, impressions: -impressions, sumPosition: -sumPosition };
}

function keywordQueries(project: QueriedProject, ask: Ask): FactQuery[] {
  const isByPage = ask.table === 'keyword_page_daily';
  const byQuery = Map.groupBy(ask.keywords, ({ query }: SyncedKeyword) => query.toLowerCase());
  return batchesOf(ask.keywords, eachDay(ask.from, ask.to).length).map(({ expression }) => {
    const shape: Shape = {
      dimensions: ['date', 'query', isByPage ? 'page' : 'device'],
      aggregation: isByPage ? 'byPage' : 'byProperty',
      filters: [{ dimension: 'query', operator: 'includingRegex', expression }],
    };
    return factQuery(project, ask, shape, (row, [day, query = '', value = '']) =>
      (byQuery.get(query.toLowerCase()) ?? []).flatMap(({ id }) =>
        isByPage
          ? fact(row, day, { keyword_id: id, url: value }, isUrl(value))
          : fact(row, day, { keyword_id: id, device: value.toLowerCase() }, DEVICES.includes(value.toLowerCase())),
      ),
    );
  });
}

function listQuery(project: QueriedProject, ask: Ask, day: Day): FactQuery {
  const isQueries = ask.table === 'query_daily';
  const shape: Shape = {
    dimensions: [isQueries ? 'query' : 'page', 'country'],
    aggregation: isQueries ? 'byProperty' : 'byPage',
  };
  return factQuery(project, { ...ask, from: day, to: day }, shape, (row, [text, name = '']) => {
    const country = name.toLowerCase();
    const isRight = COUNTRY.test(country) && (isQueries ? isWords(text) : isUrl(text));
    return fact(row, day, { [isQueries ? 'query' : 'url']: text, country }, isRight);
  });
}

function factQuery(
  project: QueriedProject,
  ask: Ask,
  shape: Shape,
  toFacts: (row: AnalyticsRow, keys: readonly [string, ...string[]]) => FetchedRow[],
): FactQuery {
  return {
    query: queryOf(project, ask, shape),
    toFacts: (row) => toFacts(row, row.keys as [string, ...string[]]),
  };
}

function queryOf({ property, country }: QueriedProject, { from, to, dataState }: Ask, shape: Shape): AnalyticsQuery {
  const { dimensions, aggregation = 'auto', filters = [] } = shape;
  const ofCountry: Filter[] =
    country === null ? [] : [{ dimension: 'country', operator: 'equals', expression: country }];
  return { property, from, to, dimensions, aggregation, filters: [...ofCountry, ...filters], dataState, type: 'web' };
}

function fact(row: AnalyticsRow, day: Day, key: Readonly<Record<string, string>>, isRight = true): FetchedRow[] {
  const { clicks, impressions } = row;
  return isRight ? [{ day, key, clicks, impressions, sumPosition: sumPositionOf(row) }] : [];
}

function isUrl(text: string): boolean {
  return URL_TEXT.test(text) && isShort(text);
}

function isWords(text: string): boolean {
  return text.trim() !== '' && isShort(text);
}

function isShort(text: string): boolean {
  return text.length * 3 <= MAX_TEXT || Buffer.byteLength(text) <= MAX_TEXT;
}
