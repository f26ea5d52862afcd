import { type Day, parseDay } from '../../../server/domain/dates.ts';
import { SEARCH_TYPES, type SearchType, SURFACES } from '../../../server/model/surfaces.ts';
import { badRequest } from './errors.ts';

const DIMENSIONS = ['date', 'hour', 'query', 'page', 'country', 'device', 'searchAppearance'] as const;
const OPERATORS = ['equals', 'notEquals', 'contains', 'notContains', 'includingRegex', 'excludingRegex'] as const;
const AGGREGATIONS = ['auto', 'byProperty', 'byPage'] as const;
const DATA_STATES = ['final', 'all', 'hourly_all'] as const;
/** The allowed properties of a body. */
export const FIELDS = [
  'startDate',
  'endDate',
  'dimensions',
  'searchType',
  'type',
  'dimensionFilterGroups',
  'aggregationType',
  'rowLimit',
  'startRow',
  'dataState',
];
const MAX_ROWS = 25_000;
const MAX_EXPRESSION = 4096;

export type Dimension = (typeof DIMENSIONS)[number];

export interface Filter {
  readonly dimension: Dimension;
  readonly operator: (typeof OPERATORS)[number];
  readonly expression: string;
}

/** A parsed request for data. */
export interface AnalyticsRequest {
  readonly from: Day;
  readonly to: Day;
  readonly dimensions: readonly Dimension[];
  /** All must match. */
  readonly filters: readonly Filter[];
  readonly aggregation: (typeof AGGREGATIONS)[number];
  readonly dataState: (typeof DATA_STATES)[number];
  readonly type: SearchType;
  readonly rowLimit: number;
  readonly startRow: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Parses the body of a request. Throws `ApiError` for anything that the API rejects. */
export function readRequest(body: unknown): AnalyticsRequest {
  if (typeof body !== 'object' || body === null) throw badRequest('Invalid JSON payload received.');
  const fields = body as Fields;
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) throw badRequest(`Invalid JSON payload received. Unknown name "${unknown}".`);
  const request: AnalyticsRequest = {
    from: readDay(fields, 'startDate'),
    to: readDay(fields, 'endDate'),
    dimensions: listOf(fields['dimensions'], 'dimensions').map((name) => oneOf(DIMENSIONS, name, 'dimensions')),
    filters: readFilters(fields['dimensionFilterGroups']),
    aggregation: oneOf(AGGREGATIONS, fields['aggregationType'] ?? 'auto', 'aggregationType'),
    dataState: oneOf(DATA_STATES, fields['dataState'] ?? 'final', 'dataState'),
    type: oneOf(SEARCH_TYPES, fields['type'] ?? fields['searchType'] ?? 'web', 'type'),
    rowLimit: readNumber(fields, 'rowLimit', 1000, 1, MAX_ROWS),
    startRow: readNumber(fields, 'startRow', 0, 0, Number.MAX_SAFE_INTEGER),
  };
  checkCombination(request);
  return request;
}

/** Whether rows are grouped or filtered by a dimension. */
export function isAbout({ dimensions, filters }: AnalyticsRequest, dimension: Dimension): boolean {
  return dimensions.includes(dimension) || filters.some((filter) => filter.dimension === dimension);
}

/**
 * How rows are counted: by page if the request uses a page or an appearance, or its type has no queries, unless it names an
 * aggregation.
 */
export function isByPage(request: AnalyticsRequest): boolean {
  if (!SURFACES[request.type].hasQueries) return true;
  if (request.aggregation !== 'auto') return request.aggregation === 'byPage';
  return isAbout(request, 'page') || isAbout(request, 'searchAppearance');
}

function checkCombination(request: AnalyticsRequest): void {
  const { from, to, dimensions, aggregation, dataState, type } = request;
  if (from > to) throw badRequest('startDate must be before or equal to endDate.');
  if (new Set(dimensions).size < dimensions.length) throw badRequest('Dimensions cannot be repeated.');
  if (dimensions.includes('searchAppearance') && dimensions.length > 1) {
    throw badRequest('searchAppearance cannot be grouped with other dimensions.');
  }
  if (dimensions.includes('hour') !== (dataState === 'hourly_all')) {
    throw badRequest('The dimension HOUR requires the dataState HOURLY_ALL.');
  }
  if (!SURFACES[type].hasQueries && (isAbout(request, 'query') || aggregation === 'byProperty')) {
    throw badRequest(`Queries and BY_PROPERTY are not supported for the type ${type}.`);
  }
  if (!SURFACES[type].hasDevices && isAbout(request, 'device')) {
    throw badRequest(`The dimension DEVICE is not supported for the type ${type}.`);
  }
  if (aggregation === 'byProperty' && (isAbout(request, 'page') || isAbout(request, 'searchAppearance'))) {
    throw badRequest('BY_PROPERTY is not a valid aggregation type for these dimensions and filters.');
  }
}

function readFilters(groups: unknown): Filter[] {
  return listOf(groups, 'dimensionFilterGroups').flatMap((group) => {
    const { filters } = (group ?? {}) as Fields;
    return listOf(filters, 'filters').map((filter): Filter => {
      const { dimension, operator = 'equals', expression } = (filter ?? {}) as Fields;
      if (typeof expression !== 'string' || expression.length > MAX_EXPRESSION) {
        throw badRequest(`A filter needs an expression of at most ${MAX_EXPRESSION} characters.`);
      }
      const named = oneOf(DIMENSIONS, dimension, 'dimension');
      if (named === 'date' || named === 'hour') throw badRequest('Rows cannot be filtered by time.');
      return { dimension: named, operator: oneOf(OPERATORS, operator, 'operator'), expression };
    });
  });
}

function listOf(value: unknown, name: string): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw badRequest(`Invalid value at '${name}'.`);
  return value;
}

/** Enumeration values have two notations: `byPage` and `BY_PAGE`. */
function oneOf<T extends string>(values: readonly T[], value: unknown, name: string): T {
  const plain = typeof value === 'string' ? value.toLowerCase().replaceAll('_', '') : undefined;
  const found = values.find((each) => each.toLowerCase().replaceAll('_', '') === plain);
  if (found === undefined) throw badRequest(`Invalid value at '${name}': ${JSON.stringify(value)}.`);
  return found;
}

function readDay(fields: Fields, name: string): Day {
  const value = fields[name];
  const day = typeof value === 'string' ? parseDay(value) : undefined;
  if (day === undefined) throw badRequest(`Invalid value at '${name}': ${JSON.stringify(value)}.`);
  return day;
}

function readNumber(fields: Fields, name: string, fallback: number, least: number, most: number): number {
  const value = fields[name] ?? fallback;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw badRequest(`Invalid value at '${name}': ${JSON.stringify(value)}.`);
  }
  return value;
}
