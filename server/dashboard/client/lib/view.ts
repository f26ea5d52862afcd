import { useLocation } from 'preact-iso/router';
import { comparedRange, countDays, periodRange, yesterday } from './dates.ts';
import { type Interval, METRICS, type Metric, type Project, type Range } from './types.ts';

/** What the address says of the view; what is the default is not in it. */
export interface View {
  /** `28d`, `3m`, …; null where the address names two days. */
  readonly period: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly compare: 'previous' | 'year' | 'none';
  readonly device: string;
  readonly country: string;
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
  metric: 'clicks',
  offset: '0',
};
/** What stays when one goes from screen to screen. */
const SHARED = ['period', 'from', 'to', 'compare', 'device', 'country'];

const DAY = /^\d{4}-\d\d-\d\d$/;

export function useView(): View {
  const { path, query, route } = useLocation();
  const get = (name: string): string => query[name] ?? '';
  const from = DAY.test(get('from')) ? get('from') : null;
  const to = DAY.test(get('to')) ? get('to') : null;
  const isCustom = from !== null && to !== null && from <= to;
  const withChanges = (changes: Changes): string => addressOf(path, { ...query, ...changes });
  return {
    period: isCustom ? null : /^\d+[dm]$/.test(get('period')) ? get('period') : '28d',
    from: isCustom ? from : null,
    to: isCustom ? to : null,
    compare: get('compare') === 'year' ? 'year' : get('compare') === 'none' ? 'none' : 'previous',
    device: ['desktop', 'mobile', 'tablet'].includes(get('device')) ? get('device') : 'all',
    country: /^[a-z]{3}$/.test(get('country')) ? get('country') : '',
    metric: METRICS.find((name) => name === get('metric')) ?? 'clicks',
    get,
    with: withChanges,
    change: (changes, { replace = false } = {}) => route(withChanges(changes), replace),
  };
}

function addressOf(path: string, parameters: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(parameters).filter(
    (pair): pair is [string, string] => pair[1] !== null && pair[1] !== '' && DEFAULTS[pair[0]] !== pair[1],
  );
  const query = new URLSearchParams(given).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** The address of another screen with the same range, comparison and device. */
export function useScreenLink(): (path: string, changes?: Changes) => string {
  const { query } = useLocation();
  const shared = Object.fromEntries(SHARED.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
  return (path, changes = {}) => addressOf(path, { ...shared, ...changes });
}

/** The days of a view. */
export function rangeOf({ period, from, to }: View, project: Project | undefined): Range {
  return period === null ? { from: from!, to: to! } : periodRange(period, project?.syncedThrough ?? yesterday());
}

/** The parameters of a request for the range of a view. */
export function rangeParameters({ period, from, to }: View): Record<string, string | null> {
  return period === null ? { from, to } : { period: period === '28d' ? null : period };
}

/**
 * The `compare` parameter of a view; null for none. The other days are whole weeks earlier, so that weekdays lie on
 * weekdays. Undefined where that depends on a project that is not known yet.
 */
export function compareParameter(view: View, project: Project | undefined): string | null | undefined {
  const { compare, period } = view;
  if (compare !== 'previous') return compare === 'year' ? compare : null;
  if (period?.endsWith('d') && Number.parseInt(period, 10) % 7 === 0) return compare;
  if (period !== null && project === undefined) return undefined;
  const { from, to } = comparedRange(rangeOf(view, project), compare);
  return `${from}..${to}`;
}

/** The same for keywords: null also where the plan has no keyword data of those days, which the API refuses. */
export function keywordCompareParameter(view: View, project: Project): string | null {
  const isReadable =
    view.compare !== 'none' && comparedRange(rangeOf(view, project), view.compare).to >= project.keywordHistoryFrom;
  return isReadable ? (compareParameter(view, project) ?? null) : null;
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
