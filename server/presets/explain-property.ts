import type { Catalog } from '../catalog/catalog.ts';
import type { Coverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { countDays, type Day, eachDay } from '../domain/dates.ts';
import { KnownError } from '../domain/errors.ts';
import type { ProviderEvent } from '../domain/provider-events.ts';
import { type Range, spanOf, within } from '../domain/range.ts';
import { hasPartOfMonth } from '../domain/spread.ts';
import { type UsualChange, usualChange, usualDays } from '../domain/usual-change.ts';
import type { Facts } from '../facts/facts.ts';
import type { FactTable } from '../model/tables.ts';
import { KnownDays, type KnownDaysPlan, planKnownDays } from '../query/known-days.ts';
import { type Plan, plan } from '../query/plan.ts';
import { queryOf, tableOf } from '../query/query.ts';
import { ownSeries, readSeries } from '../query/read.ts';
import type { Series } from '../query/series.ts';
import type { OfType } from './search-type.ts';

/** Two ranges of a property, or of one of its countries. */
export interface TwoRanges extends OfType {
  readonly now: Range;
  readonly base: Range;
  readonly country: string | null;
}

export interface ClicksChange {
  readonly now: number;
  readonly base: number;
  readonly difference: number;
}

/** The change of a property. */
export interface PropertyChange {
  readonly clicks: ClicksChange;
  /** Null unless it is planned, and if too few days are stored. */
  readonly usual: UsualChange | null;
  readonly lacksDays: boolean;
  readonly isSpread: boolean;
  /** The events of the provider that concern the property. */
  readonly events: readonly ProviderEvent[];
}

interface PropertyPlan extends TwoRanges {
  readonly series: Plan;
  readonly known: KnownDaysPlan;
  /** The days before, of which the usual change is computed. */
  readonly past: { readonly range: Range; readonly series: Plan } | null;
}

/** @param hasUsual whether the usual change is wanted */
export async function planProperty(
  catalog: Catalog,
  project: Project,
  { now, base, country, type }: TwoRanges,
  { hasUsual, coverage }: { hasUsual: boolean; coverage: Readonly<Partial<Record<FactTable, Coverage>>> },
): Promise<PropertyPlan> {
  const past = hasUsual ? usualDays(base, project.provisionalAfter) : null;
  const of = { surface: type ?? 'web', country } as const;
  const series = (range: Range): Promise<Plan> => plan(catalog, project, queryOf({ ...range, ...of }), coverage);
  const ranges = [now, base, ...(past ? [past] : [])];
  return {
    now,
    base,
    country,
    series: await series(spanOf([now, base])),
    known: await planKnownDays(catalog, project, tableOf(queryOf({ ...now, ...of })), { ranges, coverage }),
    past: past && { range: past, series: await series(past) },
  };
}

/** Throws `invalid_request` for a country on days of which the countries are unknown. */
export async function readProperty(facts: Facts, planned: PropertyPlan, signal: AbortSignal): Promise<PropertyChange> {
  const { now, base, past } = planned;
  const read = async (of: Plan): Promise<Series> => ownSeries(await readSeries(facts, of, of.query, signal));
  const [series, before, known] = await Promise.all([
    read(planned.series),
    past && read(past.series).catch(unknownCountries),
    KnownDays.read(facts, planned.known, signal),
  ]);
  const over = (range: Range): number => clicksOver(series, planned.series, range);
  const clicks = changeOf(over(now), over(base));
  // Days of a month that is stored as one total are all alike, and say nothing of what is usual.
  const { monthlyThrough } = past?.series ?? planned.series;
  const isKnownDay = (day: Day): boolean => known.isStored(day) && (monthlyThrough === null || day > monthlyThrough);
  const clicksOf = (day: Day): number | null =>
    isKnownDay(day) ? before!.over({ from: day, to: day }).measures.clicks : null;
  const days = before && eachDay(past!.range.from, past!.range.to).map(clicksOf);
  const each = [now, base].flatMap(({ from, to }) => eachDay(from, to));
  return {
    clicks,
    usual:
      days &&
      usualChange(days, countDays(now.from, now.to), { clicks: clicks.base, days: countDays(base.from, base.to) }),
    lacksDays: each.some((day) => !known.isStored(day)),
    isSpread: [now, base].some((range) => isSpread(range, series, planned.series)),
    events: known.events,
  };
}

export function changeOf(now: number, base: number): ClicksChange {
  return { now, base, difference: now - base };
}

/** What usually happens is not said of countries that are unknown on some days before. */
function unknownCountries(error: unknown): null {
  if (error instanceof KnownError && error.code === 'invalid_request') return null;
  throw error;
}

function clicksOver(series: Series, { stored }: Plan, range: Range): number {
  const days = stored && within(range, stored.from, stored.to);
  return days === null ? 0 : series.over(days).measures.clicks;
}

/** Whether a range has a part of a month that is stored as one total, or a month that has none of the country. */
function isSpread(range: Range, series: Series, { monthlyThrough }: Plan): boolean {
  const monthly = monthlyThrough === null ? null : within(range, range.from, monthlyThrough);
  if (monthly === null) return false;
  return (
    hasPartOfMonth(range, monthlyThrough) || eachDay(monthly.from, monthly.to).some((day) => !series.hasMonthOf(day))
  );
}
