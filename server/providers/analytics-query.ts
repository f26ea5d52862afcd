import type { Day } from '../domain/dates.ts';

type Dimension = 'date' | 'query' | 'page' | 'country' | 'device' | 'searchAppearance';

interface AnalyticsFilter {
  readonly dimension: Exclude<Dimension, 'date'>;
  readonly operator: 'equals' | 'notEquals' | 'contains' | 'notContains' | 'includingRegex' | 'excludingRegex';
  /** A value, or an RE2 expression of at most 4,096 characters. Cases do not matter to the API. */
  readonly expression: string;
}

/** What the reporting API is asked: everything that a request of its can say about rows. */
export interface AnalyticsQuery {
  readonly property: string;
  /** Pacific days, both included. */
  readonly from: Day;
  readonly to: Day;
  /** What rows are grouped by, and what their keys are; none: one row of totals. */
  readonly dimensions: readonly Dimension[];
  /** All of them hold for each row that is counted. */
  readonly filters?: readonly AnalyticsFilter[];
  /** What is counted; `auto` where it is left out: by page where a page is grouped or filtered by, else by property. */
  readonly aggregation?: 'auto' | 'byProperty' | 'byPage';
  /** `all` includes days that still change. `final` where it is left out. */
  readonly dataState?: 'final' | 'all';
  /** The kind of search; `web` where it is left out. */
  readonly type?: 'web' | 'image' | 'video' | 'news' | 'discover' | 'googleNews';
}

const MAX_EXPRESSION = 4096;

/** Throws a `RangeError` for a query that the API does not take: its own answer would cost a request, and say less. */
export function checkQuery({ dimensions, filters = [], aggregation, from, to }: AnalyticsQuery): void {
  if (from > to) throw new RangeError(`from (${from}) is after to (${to})`);
  if (new Set(dimensions).size < dimensions.length) {
    throw new RangeError(`a dimension is named twice: ${dimensions.join(', ')}`);
  }
  if (dimensions.includes('searchAppearance') && dimensions.length > 1) {
    throw new RangeError('searchAppearance cannot be grouped with other dimensions; filter by one of its values');
  }
  const isOf = (dimension: Dimension): boolean =>
    dimensions.includes(dimension) || filters.some((filter) => filter.dimension === dimension);
  if (aggregation === 'byProperty' && (isOf('page') || isOf('searchAppearance'))) {
    throw new RangeError('rows with a page or an appearance cannot be aggregated by property');
  }
  for (const { dimension, expression } of filters) {
    if (expression.length > MAX_EXPRESSION) {
      const length = expression.length;
      throw new RangeError(`the expression for ${dimension} has ${length} characters, more than ${MAX_EXPRESSION}`);
    }
  }
}

/** The body of a request, but for its paging. */
export function toRequestBody(query: AnalyticsQuery) {
  const { from, to, dimensions, filters = [], aggregation = 'auto', dataState = 'final', type = 'web' } = query;
  return {
    startDate: from,
    endDate: to,
    dimensions: [...dimensions],
    aggregationType: aggregation,
    type,
    dataState,
    ...(filters.length > 0 ? { dimensionFilterGroups: [{ groupType: 'and', filters: [...filters] }] } : {}),
  };
}
