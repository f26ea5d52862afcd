type Dimension = 'date' | 'query' | 'page' | 'country' | 'device' | 'searchAppearance';

/** What the fake has of one day: a value of each dimension that matters to a test. */
export type AnalyticsRow = Partial<Readonly<Record<Dimension, string>>> & {
  readonly date: string;
  readonly clicks: number;
  readonly impressions: number;
  readonly position: number;
};

/** The body of a request, as the API's reference has it. */
export interface Query {
  readonly startDate: string;
  readonly endDate: string;
  readonly dimensions: readonly string[];
  readonly aggregationType?: string;
  readonly dataState?: string;
  readonly rowLimit?: number;
  readonly startRow?: number;
  readonly dimensionFilterGroups?: readonly { readonly filters: readonly Filter[] }[];
}

interface Filter {
  readonly dimension: string;
  readonly operator?: string;
  readonly expression: string;
}

interface Group {
  readonly keys: readonly string[];
  clicks: number;
  impressions: number;
  positions: number;
}

/** Answers a request from rows: filtered, grouped, best first, ties in another order each time. */
export function answerFrom(
  rows: readonly AnalyticsRow[],
  metadata: object | undefined,
  query: Query,
): { status: number; body: object } {
  const { dimensions, startDate, endDate, rowLimit = 1000, startRow = 0, dimensionFilterGroups = [] } = query;
  const filters = dimensionFilterGroups.flatMap((group) => group.filters);
  const named = [...dimensions, ...filters.map(({ dimension }) => dimension)];
  const isCountedByPage = named.includes('page') || named.includes('searchAppearance');
  const isMixed = dimensions.includes('searchAppearance') && dimensions.length > 1;
  if (isMixed || (query.aggregationType === 'byProperty' && isCountedByPage)) {
    return { status: 400, body: { error: { code: 400, message: 'Invalid combination', status: 'INVALID_ARGUMENT' } } };
  }
  const groups = new Map<string, Group>();
  for (const row of rows) {
    if (row.date < startDate || row.date > endDate || !filters.every((filter) => passes(row, filter))) continue;
    const keys = dimensions.map((dimension) => row[dimension as Dimension] ?? '');
    const key = JSON.stringify(keys);
    const group = groups.get(key) ?? { keys, clicks: 0, impressions: 0, positions: 0 };
    groups.set(key, group);
    group.clicks += row.clicks;
    group.impressions += row.impressions;
    group.positions += row.position * row.impressions;
  }
  const answered = [...groups.values()]
    .map((group) => ({ group, tie: Math.random() }))
    .sort((a, b) => b.group.clicks - a.group.clicks || a.tie - b.tie)
    .slice(startRow, startRow + rowLimit)
    .map(({ group: { keys, clicks, impressions, positions } }) => ({
      ...(keys.length > 0 ? { keys } : {}),
      clicks,
      impressions,
      ctr: impressions === 0 ? 0 : clicks / impressions,
      position: impressions === 0 ? 0 : positions / impressions,
    }));
  const isTold = query.dataState === 'all' && dimensions.includes('date') && metadata !== undefined;
  return { status: 200, body: { ...(answered.length > 0 ? { rows: answered } : {}), ...(isTold ? { metadata } : {}) } };
}

function passes(row: AnalyticsRow, { dimension, operator = 'equals', expression }: Filter): boolean {
  const value = (row[dimension as Dimension] ?? '').toLowerCase();
  const wanted = expression.toLowerCase();
  // The API searches for an expression; it is not one for the whole text.
  const isFound = (): boolean => new RegExp(expression, 'i').test(value);
  switch (operator) {
    case 'equals':
      return value === wanted;
    case 'notEquals':
      return value !== wanted;
    case 'contains':
      return value.includes(wanted);
    case 'notContains':
      return !value.includes(wanted);
    case 'includingRegex':
      return isFound();
    case 'excludingRegex':
      return !isFound();
    default:
      throw new Error(`the fake knows no operator ${operator}`);
  }
}
