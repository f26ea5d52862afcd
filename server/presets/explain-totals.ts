import type { Project } from '../catalog/projects.ts';
import type { ChangeParts } from '../domain/change-parts.ts';
import { eachDay } from '../domain/dates.ts';
import type { metricsWithEvents } from '../domain/provider-events.ts';
import type { Range } from '../domain/range.ts';
import { type ClicksChange, changeOf, type PropertyChange } from './explain-property.ts';
import type { RowsReason } from './explain-rows.ts';

interface Explained {
  readonly clicks: ClicksChange;
  readonly parts: ChangeParts;
}

/** All rows without the listed ones. It also has what rounding each row by itself leaves. */
export function restOf(all: Explained & { readonly rows: number }, listed: readonly Explained[]) {
  const sum = (of: (row: Explained) => number): number => listed.reduce((total, row) => total + of(row), 0);
  const { now, base } = all.clicks;
  const restOfPart = <Part extends number | null>(name: keyof ChangeParts, part: Part): Part =>
    part === null ? part : ((part - sum(({ parts }) => parts[name] ?? 0)) as Part);
  const { impressions, position, ctr, gained, lost, clicks } = all.parts;
  return {
    rows: all.rows - listed.length,
    clicks: changeOf(now - sum((row) => row.clicks.now), base - sum((row) => row.clicks.base)),
    parts: {
      impressions: restOfPart('impressions', impressions),
      position: restOfPart('position', position),
      ctr: restOfPart('ctr', ctr),
      gained: restOfPart('gained', gained),
      lost: restOfPart('lost', lost),
      clicks: restOfPart('clicks', clicks),
    },
  };
}

/** Why parts of an explanation may mislead, in the order of responses. */
export const EXPLAIN_REASONS = [
  'provider_event',
  'provisional',
  'missing_days',
  'monthly_spread',
  'cut_off',
  'different_source',
  'weekday_mix',
  'low_base',
] as const;
type ExplainReason = (typeof EXPLAIN_REASONS)[number];

/** What may mislead, in the order of responses. */
export const EXPLAIN_WHAT = ['parts', 'change', 'rows'] as const;

interface Unsafe {
  readonly what: (typeof EXPLAIN_WHAT)[number];
  readonly reason: ExplainReason;
}

/** Clicks of the other range below which a change says little. */
const MIN_BASE = 20;

/** What of an answer may mislead. @param rows why its rows are unsafe */
export function unsafeOf({
  range,
  comparison,
  project: { provisionalAfter },
  property,
  rows,
  isSafe,
  changed,
}: {
  readonly range: Range;
  readonly comparison: Range;
  readonly project: Project;
  readonly property: PropertyChange;
  readonly rows: ReadonlySet<RowsReason>;
  readonly isSafe: boolean;
  /** The metrics that events of the provider make unsafe. */
  readonly changed: ReturnType<typeof metricsWithEvents>;
}): Unsafe[] {
  const isProvisional = ({ to }: Range): boolean => provisionalAfter !== null && to > provisionalAfter;
  const found: Readonly<Record<Unsafe['what'], ReadonlySet<ExplainReason>>> = {
    parts: new Set(isSafe ? [] : ['provider_event']),
    change: new Set<ExplainReason>([
      ...(changed.has('clicks') ? (['provider_event'] as const) : []),
      ...([range, comparison].some(isProvisional) ? (['provisional'] as const) : []),
      ...(property.lacksDays ? (['missing_days'] as const) : []),
      ...(property.isSpread ? (['monthly_spread'] as const) : []),
      ...(weekdaysOf(range) === weekdaysOf(comparison) ? [] : (['weekday_mix'] as const)),
      ...(property.clicks.base < MIN_BASE ? (['low_base'] as const) : []),
    ]),
    rows,
  };
  return EXPLAIN_REASONS.flatMap((reason) =>
    EXPLAIN_WHAT.filter((what) => found[what].has(reason)).map((what) => ({ what, reason })),
  );
}

/** How often each weekday is in a range, as a text. */
function weekdaysOf({ from, to }: Range): string {
  const counts = Array<number>(7).fill(0);
  for (const day of eachDay(from, to)) counts[new Date(day).getUTCDay()]!++;
  return counts.join();
}
