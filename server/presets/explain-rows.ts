import type { Catalog } from '../catalog/catalog.ts';
import type { Covered } from '../catalog/fact-files.ts';
import type { TrackedKeyword, TrackedRead } from '../catalog/keywords.ts';
import type { Project } from '../catalog/projects.ts';
import type { StoredList } from '../catalog/stored-lists.ts';
import type { UnsafeReason } from '../domain/comparison.ts';
import { countDays, type Day, eachDay, later } from '../domain/dates.ts';
import { KnownError } from '../domain/errors.ts';
import { mostChanged, RowSums } from '../domain/explained-rows.ts';
import { type ExactMeasures, isKnown, NOTHING } from '../domain/metrics.ts';
import type { ProviderEvent } from '../domain/provider-events.ts';
import { type Range, spanOf, within } from '../domain/range.ts';
import { hasPartOfMonth } from '../domain/spread.ts';
import { type UsualChange, usualChange, usualDays } from '../domain/usual-change.ts';
import type { Facts, FactsQuery } from '../facts/facts.ts';
import { type FactTable, monthsOf, siteTableOf } from '../model/tables.ts';
import { areKeywordsUnknown, planKeywordDays, planTotals, readTotals } from '../query/keyword-totals.ts';
import { KnownDays, type KnownDaysPlan, planKnownDays } from '../query/known-days.ts';
import { type Plan, plan } from '../query/plan.ts';
import { queryOf, tableOf } from '../query/query.ts';
import { lacksMonth, monthsIn, type NamedSeries, ownSeries, readSeries } from '../query/read.ts';
import type { Series } from '../query/series.ts';
import { inTurns } from '../runtime/turns.ts';
import { beginsBeforeApi, eventsOfLists, type ListSource, sourceOf } from './lists.ts';
import type { PresetSources } from './preset.ts';
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
  { hasUsual, coverage }: { hasUsual: boolean; coverage: Covered },
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

/** What the rows of an explanation are. */
export const EXPLAIN_BY = ['page', 'query', 'keyword', 'device', 'country', 'brand'] as const;
export type ExplainBy = (typeof EXPLAIN_BY)[number];

/** What a row is about: the property of its kind. */
type RowKey =
  | { readonly page: string }
  | { readonly query: string }
  | { readonly keyword: { readonly id: string; readonly query: string } }
  | { readonly device: string }
  | { readonly country: string }
  | { readonly segment: 'brand' | 'nonBrand' };

/** A row of two ranges. Without impressions in a range its measures there are zeros. */
export interface RangesRow {
  readonly key: RowKey;
  readonly now: ExactMeasures;
  readonly base: ExactMeasures;
}

/** Why rows of two ranges are unsafe to compare. */
export type RowsReason = Extract<UnsafeReason, 'missing_days' | 'monthly_spread' | 'cut_off' | 'different_source'>;

/** All rows of two ranges. */
interface RangesRows {
  readonly sums: RowSums;
  /** Those whose clicks changed most in either direction, then by key. */
  readonly most: readonly RangesRow[];
  /** The lists that were read, if rows are read from lists. */
  readonly source: (ListSource & { readonly comparison: ListSource }) | null;
  readonly reasons: ReadonlySet<RowsReason>;
  /** The events of the provider that concern what the rows were read from. */
  readonly events: readonly ProviderEvent[];
}

/** Reads planned rows. @param limit of `most` */
export type ReadRows = (sources: PresetSources, limit: number, signal: AbortSignal) => Promise<RangesRows>;

/** The rows to read. */
interface AskedRows extends TwoRanges {
  /** That has the days of such rows of the web. */
  readonly table: FactTable;
  readonly coverage: Covered;
  /** The first day of keyword data that the plan of the workspace can read. */
  readonly historyFrom: Day;
}

/** Plans to read the rows of two ranges. Throws what lists throw for a project without a source of them. */
export function planRows(
  by: ExplainBy,
  read: TrackedRead & Pick<PresetSources, 'lists'>,
  asked: AskedRows,
): Promise<ReadRows> {
  if (by === 'keyword') return planKeywords(read, asked);
  if (by === 'page' || by === 'query') return planLists(by, read, asked);
  return planNames(by, read, asked);
}

/** The totals of tracked keywords, without days before the keyword history. */
async function planKeywords({ catalog, project, tracked }: TrackedRead, asked: AskedRows): Promise<ReadRows> {
  const { table, now, base, coverage, historyFrom } = asked;
  const ranges = [now, base];
  const totals = await planTotals(catalog, project, spanOf(ranges));
  const days = await planRowDays(catalog, project, table, { ranges, coverage, notBefore: historyFrom });
  const known = await Promise.all(
    ranges.map((range) => planKeywordDays(catalog, project, range, { tracked, coverage })),
  );
  return async ({ facts }, limit, signal) => {
    const read = ({ from, to }: Range) =>
      readTotals(facts, totals, { from: later(from, historyFrom), to }, tracked, signal);
    const [ofNow, ofBase, { lacks, events }, ...areUnknown] = await Promise.all([
      read(now),
      read(base),
      readRowDays(facts, days, signal),
      ...known.map((one) => areKeywordsUnknown(facts, one, signal)),
    ]);
    // Those of one range alone would look lost.
    const isShown = (keyword: TrackedKeyword): boolean => isKnown(ofNow.of(keyword)) && isKnown(ofBase.of(keyword));
    const shown = areUnknown.includes(true) ? [] : tracked.keywords.filter(isShown);
    const rows = shown.map((keyword) => ({
      key: { keyword: { id: keyword.id, query: keyword.query } },
      now: ofNow.of(keyword),
      base: ofBase.of(keyword),
    }));
    const reasons = new Set<RowsReason>(lacks || totals.gaps.size > 0 ? ['missing_days'] : []);
    return { ...(await orderedRows(rows, limit)), source: null, reasons, events };
  };
}

const KEYS: Readonly<Record<'device' | 'brand' | 'country', (name: string) => RowKey>> = {
  device: (device) => ({ device }),
  brand: (name) => ({ segment: name === 'brand' ? 'brand' : 'nonBrand' }),
  country: (country) => ({ country }),
};

/** Devices, the brand split or countries. Days that are stored as monthly totals of countries get an even share of them. */
async function planNames(
  by: keyof typeof KEYS,
  { catalog, project }: TrackedRead,
  { now, base, type, coverage }: AskedRows,
): Promise<ReadRows> {
  const ranges = [now, base];
  const query = queryOf({ ...spanOf(ranges), surface: type ?? 'web', by: [by], days: 'all' });
  const planned = await plan(catalog, project, query, project.syncedThrough === null ? {} : coverage);
  const { table, monthlyThrough } = planned;
  const days = await planRowDays(catalog, project, table, { ranges, coverage });
  return async ({ facts }, limit, signal) => {
    const [ofNow, ofBase, { lacks, events }] = await Promise.all([
      readSeries(facts, planned, now, signal),
      readSeries(facts, planned, base, signal),
      readRowDays(facts, days, signal),
    ]);
    const both = [ofNow, ofBase];
    // The names of some imported days are unknown. Those of one range alone would look lost.
    const isUnknown = both.some((series) => series.has('unknown'));
    const reasons = new Set<RowsReason>(lacks || isUnknown ? ['missing_days'] : []);
    const hasPart = ranges.some((range) => hasPartOfMonth(range, monthlyThrough));
    if (hasPart || both.some(hasOthers)) reasons.add('monthly_spread');
    const rows = isUnknown ? [] : joined({ now: ofNow, base: ofBase }, { now, base }, KEYS[by]);
    return { ...(await orderedRows(rows, limit)), source: null, reasons, events };
  };
}

/** Whether some countries of a month are one row together. */
function hasOthers(series: NamedSeries): boolean {
  const months = monthsIn(series);
  return months.size > 0 && [...series].some(([name, one]) => name === 'other' || lacksMonth(one, months));
}

type Both<Of> = { readonly now: Of; readonly base: Of };

/** The rows of two ranges by name. */
function joined(series: Both<NamedSeries>, ranges: Both<Range>, keyOf: (name: string) => RowKey): RangesRow[] {
  const sumsOf = (of: keyof Both<unknown>, name: string): ExactMeasures =>
    series[of].get(name)?.over(ranges[of]).measures ?? NOTHING;
  const names = [...new Set([...series.now.keys(), ...series.base.keys()])].sort();
  return names.map((name) => ({ key: keyOf(name), now: sumsOf('now', name), base: sumsOf('base', name) }));
}

const KINDS = { page: 'pages', query: 'queries' } as const;

/** Whole page or query lists, as `/pages` and `/queries` answer them. */
async function planLists(
  by: keyof typeof KINDS,
  { catalog, project, lists }: Parameters<typeof planRows>[1],
  { table, now, base, country, type, coverage }: AskedRows,
): Promise<ReadRows> {
  const kind = KINDS[by];
  const requests = {
    now: await lists.plan(project, { kind, country, type, range: now }, catalog),
    base: await lists.plan(project, { kind, country, type, range: base, parameters: { compare: base } }, catalog),
  };
  const { fromProvider } = requests.now;
  const days = fromProvider ? null : await planRowDays(catalog, project, table, { ranges: [now, base], coverage });
  return async ({ lists: read, facts }, limit, signal) => {
    const joined = await read.pages.joined(requests, limit, signal);
    const both = [
      { list: joined.now, range: now },
      { list: joined.base, range: base },
    ];
    const reasons = new Set<RowsReason>();
    // Lists that were exported as a whole have no days.
    const ofDays = both.filter(({ list }) => list.source !== 'gsc').map(({ range: each }) => each);
    const { lacks, events } =
      days === null
        ? {
            lacks: both.some(({ list, range: each }) => beginsBeforeApi(list, each)),
            events: eventsOfLists(both),
          }
        : await readRowDays(facts, { ...days, ranges: ofDays }, signal);
    if (lacks) reasons.add('missing_days');
    if (both.some(({ list }) => list.capped)) reasons.add('cut_off');
    if (joined.now.source !== joined.base.source) reasons.add('different_source');
    return {
      sums: joined.sums,
      most: joined.most.map(({ text, ...measures }) => ({
        key: by === 'page' ? { page: text } : { query: text },
        ...measures,
      })),
      source: sourcesOf(joined),
      reasons,
      events,
    };
  };
}

function sourcesOf({ now, base }: { readonly now: StoredList; readonly base: StoredList }) {
  return { ...sourceOf(now), comparison: sourceOf(base) };
}

/** Rows in the order of their keys, of which those without impressions in both ranges are left out. */
async function orderedRows(rows: readonly RangesRow[], limit: number): Promise<Pick<RangesRows, 'sums' | 'most'>> {
  return inTurns(ordered(rows, limit));
}

function* ordered(rows: readonly RangesRow[], limit: number): Generator<void, Pick<RangesRows, 'sums' | 'most'>> {
  const shown: RangesRow[] = [];
  for (const { key, now, base } of rows) {
    if (now.impressions > 0 || base.impressions > 0) shown.push({ key, now: shownOf(now), base: shownOf(base) });
    yield;
  }
  const sums = RowSums.of(shown);
  return { sums, most: (yield* mostChanged(sums, limit)).map((row) => shown[row]!) };
}

/** A row without impressions is not in a range. */
function shownOf(measures: ExactMeasures): ExactMeasures {
  return measures.impressions === 0 ? NOTHING : measures;
}

/** What to read to know on which days the rows of an explanation are stored. */
interface RowDaysPlan extends KnownDaysPlan {
  readonly files: FactsQuery['files'];
  /** Days that are stored as monthly totals. */
  readonly months: Range | null;
}

async function planRowDays(
  catalog: Catalog,
  project: Project,
  table: FactTable,
  days: {
    readonly ranges: readonly Range[];
    readonly coverage: Covered;
    readonly notBefore?: Day;
  },
): Promise<RowDaysPlan> {
  const months = monthsOf(table);
  const monthly = months && days.coverage[months];
  const known = await planKnownDays(catalog, project, table, { ...days, hasEvents: false });
  return {
    ...known,
    files: table === siteTableOf(table) ? known.siteFiles : known.ownFiles,
    months: monthly === undefined ? null : { from: monthly.firstDay, to: monthly.lastDay },
  };
}

/** What is known of the days of rows. */
interface RowDays {
  /**
   * Whether a day of the ranges has no rows, unless the sync knows that it is empty. Unlike in comparisons, rows of the site
   * alone do not prove that a day of its rows is stored: what they lack would look like a loss.
   */
  readonly lacks: boolean;
  /** The events of the provider that concern what the days came from. */
  readonly events: readonly ProviderEvent[];
}

async function readRowDays(facts: Facts, plan: RowDaysPlan, signal: AbortSignal): Promise<RowDays> {
  const { ranges, files, months } = plan;
  if (ranges.length === 0) return { lacks: false, events: [] };
  const days = new Set(await facts.storedDays({ files, range: spanOf(ranges), signal }));
  const isMonthly = (day: Day): boolean => months !== null && months.from <= day && day <= months.to;
  const known = new KnownDays(plan, { has: (day) => days.has(day) || isMonthly(day) });
  const lacks = ranges.some(({ from, to }) => eachDay(from, to).some((day) => !known.isStored(day)));
  return { lacks, events: known.events };
}
