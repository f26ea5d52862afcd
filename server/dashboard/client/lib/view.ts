import { useLocation } from 'preact-iso/router';
import { monthsMoved } from '../../../domain/compared-days.ts';
import { isOtherEngine, OTHER_ENGINES, SEARCH_TYPES, SURFACES, type Surface } from '../../../model/surfaces.ts';
import { addDays, CALENDAR_PERIODS, comparedRange, countDays, isDay, periodRange, yesterday } from './dates.ts';
import { partOfFilter } from './filter.ts';
import { type Day, type Interval, METRICS, type Metric, type Project, type Range } from './types.ts';

/** What the address says of the view; what is the default is not in it. */
export interface View {
  /** `28d`, `3m`, `last-month`, …; null where the address names two days. */
  readonly period: string | null;
  readonly from: Day | null;
  readonly to: Day | null;
  /** Whether the days that may still change are counted. */
  readonly isNewest: boolean;
  readonly compare: 'previous' | 'year' | 'custom' | 'none';
  /** The days to compare with; null unless the address names them. */
  readonly comparedDays: Range | null;
  readonly device: string;
  readonly country: string;
  /** The search type, or another engine; `web` for usual results. */
  readonly type: Surface;
  readonly metric: Metric;
  /** Any other parameter; empty where it is missing. */
  readonly get: (name: string) => string;
  /** The address of this view with some parameters changed; null or an empty text removes one. */
  readonly with: (changes: Changes) => string;
  /** Goes there. With `replace` the view before is not in the history. */
  readonly change: (changes: Changes, options?: { replace?: boolean }) => void;
}
type Changes = Readonly<Record<string, string | null>>;

const DEFAULTS: Readonly<Record<string, string>> = {
  period: '28d',
  compare: 'previous',
  device: 'all',
  type: 'web',
  engine: 'google',
  metric: 'clicks',
  offset: '0',
};
/** What stays when one goes from screen to screen. */
const SHARED = ['period', 'from', 'to', 'newest', 'compare', 'cfrom', 'cto', 'device', 'country'];

export function useView(): View {
  const { path, query, route } = useLocation();
  const get = (name: string): string => query[name] ?? '';
  const days = daysOf(get('from'), get('to'));
  const comparedDays = get('compare') === 'custom' ? daysOf(get('cfrom'), get('cto')) : null;
  const period = get('period');
  const isPeriod = /^[1-9]\d{0,2}[dm]$/.test(period) || period in CALENDAR_PERIODS;
  return {
    period: days === null ? (isPeriod ? period : '28d') : null,
    from: days?.from ?? null,
    to: days?.to ?? null,
    isNewest: get('newest') === 'yes',
    compare: comparedDays === null ? readCompare(get('compare')) : 'custom',
    comparedDays,
    device: ['desktop', 'mobile', 'tablet'].includes(get('device')) ? get('device') : 'all',
    country: /^[a-z]{3}$/.test(get('country')) ? get('country') : '',
    type: surfaceOf(query),
    metric: METRICS.find((name) => name === get('metric')) ?? 'clicks',
    get,
    with: (changes) => addressOf(path, { ...query, ...changes }),
    change: (changes, { replace = false } = {}) => {
      // The address of this moment: another control may have changed it since this one was drawn.
      const { pathname, search } = location;
      const now = Object.fromEntries(new URLSearchParams(search));
      route(addressOf(pathname, { ...now, ...changes }), replace);
    },
  };
}

/** The surface that an address or an answer names. On some screens the address has types of something else. */
export function surfaceOf({ engine, type }: { readonly engine?: string; readonly type?: string }): Surface {
  const other = OTHER_ENGINES.find((name) => name === engine);
  return other ?? SEARCH_TYPES.find((name) => name === type) ?? 'web';
}

/** The parameters of a surface, in addresses and requests; null for web. */
export function surfaceParameters(surface: Surface): Readonly<Record<'type' | 'engine', string | null>> {
  return isOtherEngine(surface)
    ? { type: null, engine: surface }
    : { type: surface === 'web' ? null : surface, engine: null };
}

/** Two days in order; null for anything else. */
function daysOf(from: string, to: string): Range | null {
  return isDay(from) && isDay(to) && from <= to ? { from, to } : null;
}

function readCompare(name: string): 'previous' | 'year' | 'none' {
  return name === 'year' || name === 'none' ? name : 'previous';
}

function addressOf(path: string, parameters: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(parameters).filter(
    (pair): pair is [string, string] => pair[1] !== null && pair[1] !== '' && DEFAULTS[pair[0]] !== pair[1],
  );
  const query = new URLSearchParams(given).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** The address of another screen with the same range, comparison and filters, but for those on numbers. */
export function useScreenLink(): (path: string, changes?: Changes) => string {
  const { query } = useLocation();
  const shared = Object.fromEntries(SHARED.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
  const { filter: all = '' } = query;
  const isJson = all.trimStart().startsWith('{');
  const filter = isJson ? '' : partOfFilter(all, ({ field }) => field === 'query' || field === 'url');
  const surface = surfaceParameters(surfaceOf(query));
  return (path, changes = {}) => addressOf(path, { ...shared, ...surface, filter, ...changes });
}

/**
 * The address of the screen that explains a change of clicks; undefined where there is none.
 * @param by what its rows are; otherwise what the rows of this screen are
 */
export function useExplainLink(by?: string): string | undefined {
  const { path, query } = useLocation();
  const link = useScreenLink();
  const surface = surfaceOf(query);
  if (isOtherEngine(surface)) return undefined;
  const [, root, screen] = /^(\/app\/p\/[^/]+)(?:\/(queries|keywords))?/.exec(path) ?? [];
  // Of other types, pages and queries are not stored.
  const usual = surface === 'web' ? null : 'country';
  const rows = by ?? { queries: 'query', keywords: 'keyword' }[screen as string] ?? usual;
  return root && link(`${root}/explain`, { by: rows === 'page' ? null : rows, device: null });
}

/** The last day of a period: the last final one, or the last one where the newest days are wanted. */
function lastDayOf({ isNewest }: View, project: Project | undefined): Day {
  return (isNewest ? project?.syncedThrough : project?.finalThrough) ?? project?.syncedThrough ?? yesterday();
}

/** The days of a view. */
export function rangeOf(view: View, project: Project | undefined): Range {
  const { period, from, to } = view;
  if (period === null) return { from: from!, to: to! };
  const last = lastDayOf(view, project);
  return CALENDAR_PERIODS[period]?.range(last) ?? periodRange(period, last);
}

/** The range before or after, of as many days or whole months; undefined after the last day. */
export function movedRange(view: View, project: Project | undefined, by: 1 | -1): Range | undefined {
  const range = rangeOf(view, project);
  const days = countDays(range);
  const moved = monthsMoved(range, by) ?? { from: addDays(range.from, by * days), to: addDays(range.to, by * days) };
  return moved.to > (project?.syncedThrough ?? yesterday()) ? undefined : moved;
}

/** The parameters of a request for the range of a view. Periods of the calendar depend on the project's last day. */
export function rangeParameters(view: View, project: Project | undefined): Record<string, string | null> {
  const { period, isNewest } = view;
  if (period === null || period in CALENDAR_PERIODS) return { ...rangeOf(view, project) };
  return { period: period === '28d' ? null : period, to: isNewest ? null : 'final' };
}

/** Whether results of the view's type are shown for queries. */
export function hasQueries({ type }: View): boolean {
  return SURFACES[type].hasQueries;
}

/** Whether a request for the view's range needs to know the project. */
export function needsProject({ period }: View): boolean {
  return period !== null && period in CALENDAR_PERIODS;
}

/**
 * The `compare` parameter of a view; null for none. The other days are the months before whole months, or whole weeks
 * earlier, so that weekdays lie on weekdays. Undefined where that depends on a project that is not known yet.
 */
export function compareParameter(view: View, project: Project | undefined): string | null | undefined {
  const { compare, comparedDays, period } = view;
  if (comparedDays !== null) return `${comparedDays.from}..${comparedDays.to}`;
  if (compare !== 'previous') return compare === 'year' ? compare : null;
  if (period?.endsWith('d') && Number.parseInt(period, 10) % 7 === 0) return compare;
  if (period !== null && project === undefined) return undefined;
  const range = rangeOf(view, project);
  if (monthsMoved(range, -1) !== undefined) return compare;
  const { from, to } = comparedRange(range, compare);
  return `${from}..${to}`;
}

/** The same for keywords: null also where the plan has no keyword data of those days, which the API refuses. */
export function keywordCompareParameter(view: View, project: Project): string | null {
  if (view.compare === 'none') return null;
  const { to } = view.comparedDays ?? comparedRange(rangeOf(view, project), view.compare);
  return to >= project.keywordHistoryFrom ? (compareParameter(view, project) ?? null) : null;
}

/** The most days of which sparklines show every one. */
const MAX_SPARKLINE_DAYS = 92;

/** The `interval` parameter for sparklines; null for days. */
export function sparklineInterval(view: View): 'week' | null {
  return countDays(rangeOf(view, undefined)) > MAX_SPARKLINE_DAYS ? 'week' : null;
}

const INTERVALS = [
  ['day', 1, 200],
  ['week', 14, Number.POSITIVE_INFINITY],
  ['month', 62, Number.POSITIVE_INFINITY],
] as const;

/** What the days of a chart can be summed to, and what they are. Long ranges are shown by week unless one chooses. */
export function intervalOf(view: View): { interval: Interval; choices: readonly Interval[] } {
  const days = countDays(rangeOf(view, undefined));
  const choices = INTERVALS.filter(([, least]) => days >= least).map(([name]) => name);
  const usual = INTERVALS.find(([, , most]) => days <= most)![0];
  return { interval: choices.find((name) => name === view.get('interval')) ?? usual, choices };
}
