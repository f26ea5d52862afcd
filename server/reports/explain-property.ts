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
import type { Series } from '../facts/series.ts';
import type { FactTable } from '../model/tables.ts';
import { KnownDays, type KnownDaysPlan, planKnownDays } from './known-days.ts';
import type { OfType } from './search-type.ts';
import { planSeries, readSeries, type SeriesPlan, tableOf } from './site-series.ts';

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
  readonly series: SeriesPlan;
  readonly known: KnownDaysPlan;
  /** The days before, of which the usual change is computed. */
  readonly past: { readonly range: Range; readonly series: SeriesPlan } | null;
}

/** @param hasUsual whether the usual change is wanted */
export async function planProperty(
  catalog: Catalog,
  project: Project,
  { now, base, country, type }: TwoRanges,
  { hasUsual, coverage }: { hasUsual: boolean; coverage: Readonly<Partial<Record<FactTable, Coverage>>> },
): Promise<PropertyPlan> {
  const past = hasUsual ? usualDays(base, project.provisionalAfter) : null;
  const series = (range: Range) => planSeries(catalog, project, { range, country, coverage, ...(type && { type }) });
  const ranges = [now, base, ...(past ? [past] : [])];
  return {
    now,
    base,
    country,
    series: await series(spanOf([now, base])),
    known: await planKnownDays(catalog, project, tableOf({ country, ...(type && { type }) }), { ranges, coverage }),
    past: past && { range: past, series: await series(past) },
  };
}

/** Throws `invalid_request` for a country on days of which the countries are unknown. */
export async function readProperty(facts: Facts, plan: PropertyPlan, signal: AbortSignal): Promise<PropertyChange> {
  const { now, base, country, past } = plan;
  const of = { device: 'all', country, signal } as const;
  const [series, before, known] = await Promise.all([
    readSeries(facts, plan.series, of),
    past && readSeries(facts, past.series, of).catch(unknownCountries),
    KnownDays.read(facts, plan.known, signal),
  ]);
  const over = (range: Range): number => clicksOver(series, plan.series, range);
  const clicks = changeOf(over(now), over(base));
  // Days of a month that is stored as one total are all alike, and say nothing of what is usual.
  const { monthlyThrough } = past?.series ?? plan.series;
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
    isSpread: [now, base].some((range) => isSpread(range, series, plan.series)),
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

function clicksOver(series: Series, { days }: SeriesPlan, range: Range): number {
  const stored = days && within(range, days.from, days.to);
  return stored === null ? 0 : series.over(stored).measures.clicks;
}

/** Whether a range has a part of a month that is stored as one total, or a month that has none of the country. */
function isSpread(range: Range, series: Series, { monthlyThrough }: SeriesPlan): boolean {
  const monthly = monthlyThrough === null ? null : within(range, range.from, monthlyThrough);
  if (monthly === null) return false;
  return (
    hasPartOfMonth(range, monthlyThrough) || eachDay(monthly.from, monthly.to).some((day) => !series.hasMonthOf(day))
  );
}
