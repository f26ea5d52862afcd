// Two ranges beside each other: which days are compared, why a ratio would mislead, and what is known of the days.
import type { Row } from '../world.ts';
import {
  bad,
  type Days,
  dayIn,
  eachDay,
  metrics,
  monthSpan,
  number,
  type Query,
  rounded,
  type Sum,
  text,
} from './oracle-terms.ts';
import type { OracleWorld, Project } from './oracle-world.ts';

const NAMES = ['clicks', 'impressions', 'ctr', 'position'] as const;
type Metric = (typeof NAMES)[number];
const REASONS = [
  'low_base',
  'provisional',
  'missing_days',
  'different_length',
  'cut_off',
  'monthly_spread',
  'different_source',
  'provider_event',
];
const NO_CLICKS = ['impressions', 'ctr', 'position'];
/** How the provider came to count differently (surfaces.md). */
const EVENTS = [
  { from: '2025-05-13', to: '2026-04-27', kind: 'span', affects: NO_CLICKS, device: null },
  { from: '2025-06-16', to: '2025-06-17', kind: 'change', affects: NO_CLICKS, device: null },
  { from: '2025-09-10', to: '2025-09-14', kind: 'change', affects: NO_CLICKS, device: 'desktop' },
  { from: '2026-04-03', to: '2026-04-27', kind: 'change', affects: NO_CLICKS, device: null },
] as const;

type Device = string | null;
const concerns = (event: (typeof EVENTS)[number], device: Device): boolean =>
  event.device === null || device === null || event.device === device;

/** The range that `compare` names. */
export function comparedIn(query: Query, { from, to }: Days): Days | null {
  const sent = query.get('compare');
  if (sent === undefined) return null;
  const months = monthsOf({ from, to })?.length;
  if (sent === 'previous' || sent === 'year') {
    const back = sent === 'year' ? 12 : months!;
    if (months !== undefined) return { from: monthsEarlier(from, back), to: monthsEarlier(to + 1, back) - 1 };
    const days = sent === 'year' ? 364 : to - from + 1;
    return { from: from - days, to: to - days };
  }
  const [, begin = '', end = ''] = /^([^.]+)\.\.([^.]+)$/.exec(sent) ?? [];
  const named = { get: (name: string) => (name === 'compare' ? begin : end), all: () => [] };
  const range = {
    from: dayIn(named, 'compare') ?? Number.NaN,
    to: dayIn({ ...named, get: () => end }, 'compare') ?? Number.NaN,
  };
  if (!(range.from <= range.to && range.to - range.from < 486)) throw bad('compare');
  return range;
}

function monthsEarlier(day: number, months: number): number {
  const [year = 0, month = 0, date = 0] = text(day).split('-').map(Number);
  return Date.UTC(year, month - 1 - months, date) / 86_400_000;
}

/** The months of a range; undefined if it has a part of one. */
export function monthsOf({ from, to }: Days): Days[] | undefined {
  const months: Days[] = [];
  for (let day = from; day <= to; day = months.at(-1)!.to + 1) {
    const month = monthSpan(`${text(day).slice(0, 7)}-01`);
    if (month.from !== day || month.to > to) return undefined;
    months.push(month);
  }
  return months;
}

/** The day, week or month of a range that a day is in. */
export function bucketOf(interval: string, day: number, range: Days): Days {
  const cut = (from: number, to: number): Days => ({ from: Math.max(from, range.from), to: Math.min(to, range.to) });
  if (interval === 'day' || interval === 'date') return { from: day, to: day };
  if (interval === 'month') {
    const { from, to } = monthSpan(`${text(day).slice(0, 7)}-01`);
    return cut(from, to);
  }
  // 1970-01-01 was a Thursday.
  const monday = day - ((day + 3) % 7);
  return cut(monday, monday + 6);
}

export function bucketsOf(interval: string, range: Days): Days[] {
  const buckets: Days[] = [];
  for (let { from } = range; from <= range.to; from = buckets.at(-1)!.to + 1)
    buckets.push(bucketOf(interval, from, range));
  return buckets;
}

/** Days that follow each other, as ranges. */
function runsOf(days: readonly number[]): Days[] {
  const runs: { from: number; to: number }[] = [];
  for (const day of days) {
    if (runs.at(-1)?.to === day - 1) runs.at(-1)!.to = day;
    else runs.push({ from: day, to: day });
  }
  return runs;
}

/** The table of the whole property that the rows of a table are parts of. */
const siteTableOf = (table: string): string =>
  table.replace(/^(?!(?:site|country)_daily_).*/, 'site_daily').replace(/^country/, 'site');

/** What is known of the days of a table: those on which it or the property has rows, from its first one on. */
export class KnownDays {
  readonly #first: number;
  readonly #with: ReadonlySet<number>;
  readonly synced: number;
  readonly final: number;
  readonly hasEvents: boolean;

  constructor(world: OracleWorld, project: Project, table: string, notBefore = -Infinity) {
    const siteTable = siteTableOf(table);
    this.hasEvents = siteTable === 'site_daily';
    const site = world.daysOf(project, siteTable);
    const own = world.daysOf(project, table);
    const months =
      table === 'country_daily' ? world.rows(project, 'country_monthly').map(({ month }) => number(String(month))) : [];
    this.#first = Math.max(Math.min(...(table === 'appearance_daily' ? site : own), ...months), notBefore);
    this.#with = new Set([...site, ...own]);
    const dayOf = (name: string, none: number): number => {
      const day = project[name] as string | null;
      return day === null ? none : number(day);
    };
    this.synced = dayOf('synced_through', -Infinity);
    this.final = dayOf('provisional_after', Infinity);
  }

  isStored(day: number): boolean {
    return day <= this.synced && day >= this.#first && this.#with.has(day);
  }

  isProvisional(day: number): boolean {
    return day > this.final && day <= this.synced;
  }

  reasonsOn(day: number): string[] {
    return [...(this.isProvisional(day) ? ['provisional'] : []), ...(this.isStored(day) ? [] : ['missing_days'])];
  }
}

/** What makes the days of ranges incomparable. */
interface DayReasons {
  reasonsOn(day: number): readonly string[];
  /** Whether events of the provider concern them: all known ones are of web search. */
  readonly hasEvents: boolean;
}

/** A range beside another one. */
export class Beside {
  readonly now: Days;
  readonly base: Days;
  readonly #days: DayReasons;
  readonly #device: Device;
  /** Up to this day, there are totals of months only. */
  readonly #monthly: number;

  constructor(now: Days, base: Days, days: DayReasons, device: Device = null, monthly = -Infinity) {
    this.now = now;
    this.base = base;
    this.#days = days;
    this.#device = device;
    this.#monthly = monthly;
  }

  /** The days of the other range that a part of this one is compared with: in the same place, or of the same number in the same month. */
  counterpart(part: Days): number[] {
    const [here, there] = [monthsOf(this.now), monthsOf(this.base)];
    if (here === undefined || there === undefined) {
      return eachDay(part)
        .map((day) => day - this.now.from + this.base.from)
        .filter((day) => day <= this.base.to);
    }
    return here.flatMap((month, at) => {
      const other = there[at];
      const days = eachDay(part).filter((day) => day >= month.from && day <= month.to);
      if (other === undefined || days.length === 0) return [];
      if (days.length === month.to - month.from + 1) return eachDay(other);
      return days.map((day) => day - month.from + other.from).filter((day) => day <= other.to);
    });
  }

  /** Why numbers over the ranges, or over a part and the days beside it, are not comparable, by metric. */
  reasons(part: Days = this.now, device = this.#device): (metric: Metric) => Set<string> {
    const base = part === this.now ? eachDay(this.base) : this.counterpart(part);
    const days = [...eachDay(part), ...base];
    const ranges = [part, ...runsOf(base)];
    const common = new Set(days.flatMap((day) => this.#days.reasonsOn(day)));
    if (base.length !== part.to - part.from + 1) common.add('different_length');
    const isPart = ({ from, to }: Days): boolean =>
      from <= this.#monthly && (!text(from).endsWith('-01') || (to < this.#monthly && !text(to + 1).endsWith('-01')));
    if (ranges.some(isPart)) common.add('monthly_spread');
    const events = (this.#days.hasEvents ? EVENTS : [])
      .filter((event) => concerns(event, device))
      .filter(({ from, to, kind }) => {
        const phases = new Set(days.map((day) => Number(day >= number(from)) + Number(day > number(to))));
        return phases.size > 1 ? kind === 'change' || phases.has(1) : kind === 'change' && phases.has(1);
      });
    return (metric) => {
      const isEvent = events.some(({ affects }) => (affects as readonly string[]).includes(metric));
      return new Set([...common, ...(isEvent ? ['provider_event'] : [])]);
    };
  }
}

/** The comparison of what has no such days in the other range. */
export const NOT_COMPARED = {
  comparison: null,
  change: null,
  unsafe: Object.fromEntries(NAMES.map((name) => [name, ['missing_days']])),
};

/** What stands beside metrics. */
export function beside(now: Sum, base: Sum, reasons: (metric: Metric) => ReadonlySet<string>) {
  const unsafe: Partial<Record<Metric, string[]>> = {};
  for (const metric of NAMES) {
    const all = new Set(reasons(metric));
    const least = metric === 'clicks' ? base.clicks : base.impressions;
    if (least < 10n || (metric === 'ctr' && base.clicks === 0n)) all.add('low_base');
    // Averages do not depend on the number of days.
    if (metric === 'ctr' || metric === 'position') all.delete('different_length');
    if (all.size > 0) unsafe[metric] = REASONS.filter((reason) => all.has(reason));
  }
  const change = Object.fromEntries(
    NAMES.map((metric) => {
      const [a, b] = [quotient(now, metric), quotient(base, metric)];
      if (a[1] === 0n || b[1] === 0n) return [metric, { difference: null, ratio: null }];
      const top = a[0] * b[1] - b[0] * a[1];
      const decimals = metric === 'ctr' ? 4 : metric === 'position' ? 1 : 0;
      const hasRatio = unsafe[metric] === undefined && b[0] > 0n;
      const ratio = hasRatio ? signed(top, b[0] * a[1], 4) : null;
      return [metric, { difference: signed(top, a[1] * b[1], decimals), ratio }];
    }),
  );
  return { comparison: metrics(base), change, unsafe };
}

/** A metric as a fraction, unrounded; its denominator is 0 without impressions. */
export function quotient({ clicks, impressions, top, bottom }: Sum, metric: string): readonly [bigint, bigint] {
  if (metric === 'clicks') return [clicks, 1n];
  if (metric === 'impressions') return [impressions, 1n];
  return metric === 'ctr' ? [clicks, impressions] : [top + impressions * bottom, impressions * bottom];
}

function signed(top: bigint, bottom: bigint, decimals: number): number {
  const size = rounded(top < 0n ? -top : top, bottom, decimals);
  return top < 0n && size !== 0 ? -size : size;
}

interface Rated {
  readonly world: OracleWorld;
  readonly project: Project;
  readonly range: Days;
  readonly table: string;
  readonly device?: Device;
}

/** The events of the provider that overlap a range. */
export function eventsIn({ from, to }: Days, device: Device = null): Row[] {
  return EVENTS.filter((event) => concerns(event, device) && number(event.from) <= to && number(event.to) >= from);
}

/** The quality of the data of an answer. */
export function quality({ world, project, range, table, device = null }: Rated): Row {
  const known = new KnownDays(world, project, table);
  const days = eachDay({ from: range.from, to: Math.min(range.to, known.synced) });
  const isWeb = siteTableOf(table) === 'site_daily';
  const rowsOf = (of: string): Sum => world.sum(project, of, days);
  const site = rowsOf(siteTableOf(table));
  const hasBrand = isWeb && world.rows(project, 'brand_daily').length > 0;
  const queries = rowsOf('brand_daily');
  const share = (part: bigint, whole: bigint): number | null =>
    !hasBrand || whole === 0n ? null : part >= whole ? 1 : rounded(part, whole, 4);
  const anonymous = site.clicks > queries.clicks ? site.clicks - queries.clicks : 0n;
  return {
    finalThrough: project['provisional_after'],
    daysExpected: days.length,
    daysStored: days.filter((day) => known.isStored(day)).length,
    daysProvisional: days.filter((day) => known.isProvisional(day)).length,
    daysCutOff: 0,
    missing: runsOf(days.filter((day) => !known.isStored(day))).map(({ from, to }) => ({
      from: text(from),
      to: text(to),
    })),
    anonymousClicksShare: share(anonymous, site.clicks),
    queryCoverage: {
      clicks: share(queries.clicks, site.clicks),
      impressions: share(queries.impressions, site.impressions),
    },
    reconciledAt: null,
    events: isWeb ? eventsIn(range, device) : [],
  };
}
