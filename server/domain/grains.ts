import type { Interval } from './intervals.ts';

/** The dimensions of a question. */
export const DIMENSIONS = [
  'date',
  'week',
  'month',
  'query',
  'page',
  'country',
  'device',
  'appearance',
  'brand',
  'group',
  'pageGroup',
  'keyword',
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Dimensions of time; every grain has days. */
const TIMES = ['date', 'week', 'month'] as const satisfies readonly Dimension[];
export type Time = (typeof TIMES)[number];

export function isTime(dimension: Dimension): dimension is Time {
  return TIMES.some((time) => time === dimension);
}

/** The length of what rows of a dimension of time are about. */
export function intervalOf(time: Time): Interval {
  return time === 'date' ? 'day' : time;
}

/** How impressions are counted: a search once for the property, or once for each page that it showed. */
export type Aggregation = 'property' | 'page';

interface GrainRules {
  readonly aggregation: Aggregation;
  /** The columns of a row besides its day. */
  readonly columns: readonly Dimension[];
}

/** What is stored, coarsest first. A question is answered from the first grain that has all its dimensions. */
export const GRAINS = {
  site_daily: { aggregation: 'property', columns: ['device'] },
  brand_daily: { aggregation: 'property', columns: ['brand'] },
  appearance_daily: { aggregation: 'property', columns: ['appearance'] },
  country_daily: { aggregation: 'property', columns: ['country'] },
  keyword_daily: { aggregation: 'property', columns: ['keyword', 'device'] },
  query_daily: { aggregation: 'property', columns: ['query', 'country'] },
  page_daily: { aggregation: 'page', columns: ['page', 'country'] },
  keyword_page_daily: { aggregation: 'page', columns: ['keyword', 'page'] },
} as const satisfies Readonly<Record<string, GrainRules>>;
export type Grain = keyof typeof GRAINS;
export const GRAIN_NAMES = Object.keys(GRAINS) as Grain[];

/** The stored column that decides a dimension. */
export function columnOf(dimension: Dimension): Dimension {
  if (dimension === 'group') return 'keyword';
  return dimension === 'pageGroup' ? 'page' : dimension;
}

/** Whether a grain has the column of a dimension. */
export function hasDimension(grain: Grain, dimension: Dimension): boolean {
  const columns: readonly Dimension[] = GRAINS[grain].columns;
  return isTime(dimension) || columns.includes(columnOf(dimension));
}

/** The coarsest grain that has all dimensions of a question, those of its filters among them; undefined if none has. */
export function grainOf(dimensions: readonly Dimension[]): Grain | undefined {
  return GRAIN_NAMES.find((grain) => dimensions.every((dimension) => hasDimension(grain, dimension)));
}
