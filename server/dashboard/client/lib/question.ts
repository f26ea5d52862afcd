import type { components } from '../../../../client/openapi.ts';
import { formatDay, formatRange } from './dates.ts';
import { NUMBER_OPERATORS } from './filter.ts';
import { appearanceName, countryName, DEVICE_NAMES, formatCount } from './format.ts';
import { METRICS, type Metric, type Project, type Range } from './types.ts';
import { compareParameter, rangeParameters, type View } from './view.ts';

type Schemas = components['schemas'];
export type QuestionAnswer = Schemas['QuestionAnswer'];
export type QuestionRow = Schemas['QuestionRow'];
export type Dimension = Schemas['QuestionDimension'];

export const TIMES = ['date', 'week', 'month'] as const satisfies readonly Dimension[];
export type Time = (typeof TIMES)[number];

/** What rows can be about besides days, with the names that people read. */
export const SUBJECTS = [
  ['query', 'Query'],
  ['page', 'Page'],
  ['keyword', 'Keyword'],
  ['group', 'Keyword group'],
  ['pageGroup', 'Page group'],
  ['country', 'Country'],
  ['device', 'Device'],
  ['appearance', 'Appearance'],
  ['brand', 'Brand'],
] as const satisfies readonly (readonly [Dimension, string])[];
export const TIME_NAMES = { date: 'Day', week: 'Week', month: 'Month' } as const;
const BRAND_NAMES: Readonly<Record<string, string>> = { brand: 'Brand', non_brand: 'Not brand' };

/** A filter as the API takes it: `[OPERATOR, DIMENSION, [VALUES]]`, or `and`, `or` and `not` of others. */
export type QuestionFilter = readonly [op: string, ...rest: readonly unknown[]];

/** The parts of a question that only this screen has. */
export interface Asked {
  readonly dimensions: readonly Dimension[];
  readonly metrics: readonly Metric[];
  readonly filters: readonly QuestionFilter[];
  /** A metric or one of the dimensions, with `-` for descending; empty for the usual order. */
  readonly sort: string;
  readonly limit: number;
}

/** The most rows that can be asked for here, and the usual numbers: days of several rows need many. */
export const LIMITS = [50, 100, 500, 1000] as const;

export function dimensionName(dimension: string): string {
  return SUBJECTS.find(([name]) => name === dimension)?.[1] ?? TIME_NAMES[dimension as Time] ?? dimension;
}

export function isTime(dimension: string): dimension is Time {
  return TIMES.some((time) => time === dimension);
}

/** The question of an address. What it does not know is left out. */
export function askedOf(view: View): Asked {
  const by = view.get('by') || 'date';
  const named = by.split(',');
  const known = [...TIMES, ...SUBJECTS.map(([name]) => name)];
  const dimensions = known.filter((name) => named.includes(name)).sort((a, b) => named.indexOf(a) - named.indexOf(b));
  const metrics = METRICS.filter((name) => view.get('metrics').split(',').includes(name));
  const shown = metrics.length === 0 ? METRICS : metrics;
  const sort = view.get('sort');
  const field = sort.replace(/^-/, '');
  const isSortable = dimensions.some((name) => name === field) || shown.some((name) => name === field);
  const limit = LIMITS.find((count) => String(count) === view.get('rows'));
  return {
    dimensions,
    metrics: shown,
    filters: filtersOf(view.get('where')),
    sort: isSortable ? sort : '',
    limit: limit ?? (dimensions.some(isTime) ? 1000 : 100),
  };
}

function filtersOf(text: string): readonly QuestionFilter[] {
  try {
    const filters: unknown = JSON.parse(text || '[]');
    return Array.isArray(filters) ? filters.filter(isFilter) : [];
  } catch {
    return [];
  }
}

function isFilter(one: unknown): one is QuestionFilter {
  return Array.isArray(one) && one.length > 1;
}

/** The parameter `where` of an address; null for no filters. */
export function whereOf(filters: readonly QuestionFilter[]): string | null {
  return filters.length === 0 ? null : JSON.stringify(filters);
}

/** The question as JSON; undefined where its days depend on a project that is not known yet. */
export function questionText(
  view: View,
  project: Project | undefined,
  { isLimited = true }: { isLimited?: boolean } = {},
): string | undefined {
  const compare = compareParameter(view, project);
  if (compare === undefined) return undefined;
  const [from, to] = compare?.split('..') ?? [];
  const { dimensions, metrics, filters, sort, limit } = askedOf(view);
  return JSON.stringify({
    range: Object.fromEntries(Object.entries(rangeParameters(view, project)).filter(([, value]) => value !== null)),
    dimensions,
    ...(metrics.length < METRICS.length && { metrics }),
    ...(filters.length > 0 && { filters }),
    ...(sort && { sort: [sort] }),
    ...(isLimited && { limit }),
    ...(compare !== null && { compare: to === undefined ? compare : { from, to } }),
  });
}

/** Parts of a question to replace; null for those to leave out. */
export interface Nearest {
  readonly range?: Range;
  readonly dimensions?: readonly Dimension[];
  readonly filters?: readonly QuestionFilter[] | null;
  readonly compare?: null;
}

/** What a nearest question is, in a few words. */
export function nearestName({ range, dimensions, filters, compare }: Nearest): string {
  if (range !== undefined) return formatRange(range);
  if (dimensions === undefined) return compare === null ? 'Without a comparison' : 'Without these keywords';
  const names = dimensions.map(dimensionName).join(' by ') || 'Totals';
  const asked = filters?.map(describeFilter) ?? [];
  return asked.length === 0 ? names : `${names} (${asked.join(', ')})`;
}

/** How it changes the address. */
export function nearestChanges({ range, dimensions, filters, compare }: Nearest): Record<string, string | null> {
  return {
    ...(range !== undefined && { ...range, period: null }),
    ...(dimensions !== undefined && { by: dimensions.join(',') || 'all', sort: null }),
    ...(filters !== undefined && { where: whereOf(filters ?? []) }),
    ...(compare === null && { compare: 'none', cfrom: null, cto: null }),
  };
}

export const OPERATORS = [
  ['equals', 'is'],
  ['contains', 'contains'],
  ['starts_with', 'begins with'],
  ['ends_with', 'ends with'],
  ['matches', 'matches regex'],
] as const;

/** `page begins with /a or /b`. */
export function describeFilter([op, ...rest]: QuestionFilter): string {
  if (op === 'not' || op === 'and' || op === 'or') {
    const parts = rest.filter(isFilter).map(describeFilter);
    const between = ` ${op} `;
    return op === 'not' ? `not: ${parts.join()}` : parts.join(between);
  }
  // The address may have anything; the server says what is wrong with it.
  const dimension = String(rest[0]);
  const values = Array.isArray(rest[1]) ? (rest[1] as readonly unknown[]).map(String) : [];
  const texts = values.map((value) => valueName(dimension, value));
  const verb = [...OPERATORS, ...NUMBER_OPERATORS].find(([name]) => name === op)?.[1] ?? op;
  const isExact = (rest[2] as { readonly caseSensitive?: unknown } | undefined)?.caseSensitive === true;
  const name = METRICS.find((metric) => metric === dimension) ?? dimensionName(dimension).toLowerCase();
  return `${name} ${verb}${isExact ? ' exactly' : ''} ${texts.join(' or ')}`;
}

/** What a text of a dimension is called. */
export function valueName(dimension: string, value: string): string {
  if (dimension === 'country') return countryName(value);
  if (dimension === 'brand') return BRAND_NAMES[value] ?? value;
  if (dimension === 'device') return DEVICE_NAMES[value] ?? value;
  if (dimension === 'appearance') return appearanceName(value);
  return value;
}

/** What a row is about in a dimension of time: its days. */
export function timeName(time: Time, row: QuestionRow, range: Range): string {
  const from = row[time]!;
  if (time === 'date') return formatDay(from);
  const last = new Date(Date.parse(from) + Math.max(0, (row.days ?? 1) - 1) * 86_400_000).toISOString().slice(0, 10);
  return formatRange({ from, to: last > range.to ? range.to : last });
}

/** Why rows do not add up to the property. */
const WHY: Readonly<Record<string, string>> = {
  filtered: 'the filters leave it out',
  anonymised: 'queries that the search engine does not name',
  not_tracked: 'queries that are not tracked',
  not_grouped: 'what is in no group',
  not_reported: 'rows that the search engine does not report',
  cut_off: 'the search engine cut off rows',
};

/** What the property has more than the rows; empty where it has no more, or they cannot be compared. */
export function remainderText({ remainder, aggregation }: Pick<QuestionAnswer, 'remainder' | 'aggregation'>): string {
  const { clicks, impressions, why } = remainder;
  if (aggregation === 'page')
    return 'A search counts once for each page that it showed: impressions do not add up to the property.';
  if (why.includes('overlapping'))
    return 'A result can have several appearances: these rows do not add up to the property.';
  if (clicks === null || impressions === null || (clicks === 0 && impressions === 0)) return '';
  const reasons = why.flatMap((reason) => WHY[reason] ?? []);
  const numbers = `${formatCount(clicks)} clicks and ${formatCount(impressions)} impressions`;
  return `In no row: ${numbers} of the property${reasons.length > 0 ? ` (${reasons.join(', ')})` : ''}.`;
}
