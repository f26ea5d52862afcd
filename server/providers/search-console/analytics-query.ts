import type { Day } from '../../domain/dates.ts';
import type { SearchType } from '../../model/surfaces.ts';

type Dimension = 'date' | 'hour' | 'query' | 'page' | 'country' | 'device' | 'searchAppearance';

export interface AnalyticsFilter {
  readonly dimension: Exclude<Dimension, 'date' | 'hour'>;
  readonly operator: 'equals' | 'notEquals' | 'contains' | 'notContains' | 'includingRegex' | 'excludingRegex';
  /** A value, or an RE2 expression of at most 4,096 characters. The API ignores case. */
  readonly expression: string;
}

/** A query of the reporting API, without paging. */
export interface AnalyticsQuery {
  readonly property: string;
  /** Pacific days, both included. */
  readonly from: Day;
  readonly to: Day;
  /** The dimensions that rows are grouped by, and their keys. Without dimensions there is one row of totals. */
  readonly dimensions: readonly Dimension[];
  /** Combined with AND. */
  readonly filters?: readonly AnalyticsFilter[];
  /** Aggregation, by default `auto`: by page if grouped or filtered by page, else by property. */
  readonly aggregation?: 'auto' | 'byProperty' | 'byPage';
  /** `all` includes provisional days; rows by hour need `hourly_all`. Default: `final`. */
  readonly dataState?: 'final' | 'all' | 'hourly_all';
  /** The search type. Default: `web`. */
  readonly type?: SearchType;
}

const MAX_EXPRESSION = 4096;

/** Throws a `RangeError` for a query that the API would reject with a less specific message. */
export function checkQuery({ dimensions, filters = [], aggregation, dataState, from, to }: AnalyticsQuery): void {
  if (from > to) throw new RangeError(`from (${from}) is after to (${to})`);
  if (new Set(dimensions).size < dimensions.length) {
    throw new RangeError(`a dimension is given twice: ${dimensions.join(', ')}`);
  }
  if (dimensions.includes('searchAppearance') && dimensions.length > 1) {
    throw new RangeError('searchAppearance cannot be grouped with other dimensions; filter by one of its values');
  }
  if (dimensions.includes('hour') !== (dataState === 'hourly_all')) {
    throw new RangeError('rows by hour need the data state hourly_all, which has no other rows');
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

/** The body of a request, without paging. */
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
