import { invalidRequest } from './errors.ts';
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

/**
 * The coarsest grain that has all dimensions of a question, those of its filters among them. Throws `invalid_request`,
 * which names what is not stored together and the nearest questions.
 */
export function grainOf(dimensions: readonly Dimension[]): Grain {
  const found = GRAIN_NAMES.find((grain) => dimensions.every((dimension) => hasDimension(grain, dimension)));
  if (found !== undefined) return found;
  const wanted = [...new Set(dimensions.filter((dimension) => !isTime(dimension)))];
  const nearest = nearestTo(wanted).map((names) => names.join(' by '));
  throw invalidRequest(
    `dimensions: ${wanted.join(' by ')} is not stored${pairsOf(wanted)}. Nearest questions: ${nearest.join('; ')}.`,
  );
}

/** The first two dimensions that no grain has together, if the question has more. */
function pairsOf(wanted: readonly Dimension[]): string {
  if (wanted.length < 3) return '';
  for (const [at, one] of wanted.entries()) {
    for (const other of wanted.slice(at + 1)) {
      const isStored = GRAIN_NAMES.some((grain) => hasDimension(grain, one) && hasDimension(grain, other));
      if (!isStored) return ` (no table has ${one} and ${other})`;
    }
  }
  return '';
}

/** Questions of dimensions that are stored together, with the most wanted ones first. A keyword may stand for a query. */
function nearestTo(wanted: readonly Dimension[]): Dimension[][] {
  const found = GRAIN_NAMES.map((grain) => {
    const names = wanted.flatMap((dimension): Dimension[] => {
      if (hasDimension(grain, dimension)) return [dimension];
      return dimension === 'query' && hasDimension(grain, 'keyword') ? ['keyword'] : [];
    });
    const kept = names.filter((name) => wanted.includes(name)).length;
    return { names: [...new Set(names)], kept };
  });
  const best = found.filter(({ names }) => names.length > 0);
  best.sort((a, b) => b.names.length - a.names.length || b.kept - a.kept);
  const most = best[0]?.names.length ?? 0;
  const texts = new Map(best.filter(({ names }) => names.length >= most).map(({ names }) => [names.join(), names]));
  return [...texts.values()];
}
