// Answers about facts: clicks, impressions and positions.
import type { Row } from '../world.ts';
import { Beside, beside, bucketsOf, comparedIn, KnownDays, NOT_COMPARED, quality } from './oracle-compare.ts';
import { isIn } from './oracle-rules.ts';
import { selected } from './oracle-select.ts';
import {
  addUp,
  bad,
  byText,
  countryIn,
  type Days,
  dayIn,
  dayOrNull,
  descending,
  eachDay,
  flagIn,
  limitIn,
  metrics,
  missing,
  monthSpan,
  number,
  oneIn,
  type Query,
  Refusal,
  rangeIn,
  type Sum,
  sumsBehind,
  text,
  wholeIn,
  withSums,
  zero,
} from './oracle-terms.ts';
import { type OracleWorld, type Project, SURFACES, TYPES, WITHOUT_POSITIONS } from './oracle-world.ts';

/** Positions that are not told are unknown in every part of a row. */
function withPlaces<Of extends object>(surface: string, row: Of, now: Sum | null, base: Sum | null = null): Of {
  if (!WITHOUT_POSITIONS.includes(surface)) return withSums(row, now, base);
  const { comparison, change, unsafe } = row as Record<string, Row | null>;
  const compared = unsafe && {
    comparison: comparison && { ...comparison, position: null },
    change: change && { ...change, position: { difference: null, ratio: null } },
    unsafe: Object.fromEntries(Object.entries(unsafe).filter(([metric]) => metric !== 'position')),
  };
  return withSums({ ...row, position: null, ...compared }, null);
}

const shown = ({ from, to }: Days) => ({ from: text(from), to: text(to) });
const isAbout = (device: string) => (row: Row) => device === 'all' || row['device'] === device;
const DEVICES = ['all', 'desktop', 'mobile', 'tablet'];

function intervalIn(query: Query, daily: boolean): string {
  const interval = oneIn(query, 'interval', ['day', 'week', 'month']) ?? 'day';
  if (interval !== 'day' && !daily) throw bad('interval');
  return interval;
}

export function keywords(world: OracleWorld, project: Project, query: Query): object {
  const group = query.get('group');
  const groups = world.rows(project, 'groups');
  if (group !== undefined && !groups.some(({ id }) => id === group)) throw missing();
  const device = oneIn(query, 'device', DEVICES) ?? 'all';
  const daily = flagIn(query, 'daily');
  const interval = intervalIn(query, daily);
  const isRated = flagIn(query, 'quality');
  const [limit, offset] = [limitIn(query, 5000), wholeIn(query, 'offset', 0, 0, 2 ** 53)];
  const asked = rangeIn(query, world.lastDay(project), world.finalDay(project));
  const first = world.historyFrom(project);
  if (asked.to < first) throw bad('from|to|period');
  const range = { from: Math.max(asked.from, first), to: asked.to };
  const other = comparedIn(query, range);
  if (other !== null && other.to < first) throw bad('compare');
  const base = other && { from: Math.max(other.from, first), to: other.to };
  refuseUnknownKeywords(world, project, range);

  const known = new KnownDays(
    world,
    project,
    'keyword_daily',
    other !== null && other.from < first ? first : -Infinity,
  );
  const pair = other && new Beside(range, other, known, device === 'all' ? null : device);
  const synced = project['synced_through'] !== null;
  const rowsOf = (days: Days | null): Map<unknown, Row[]> =>
    Map.groupBy(
      days === null || !synced ? [] : world.rows(project, 'keyword_daily', days).filter(isAbout(device)),
      (row) => row['keyword_id'],
    );
  const [stored, before] = [rowsOf(range), rowsOf(base)];
  const members = world.rows(project, 'group_members');
  const all = world
    .tracked(project)
    .map((keyword) => ({
      keyword,
      texts: keyword as Record<string, string>,
      sum: addUp(stored.get(keyword['id']) ?? []),
    }))
    .filter(({ keyword, sum }) => group === undefined || isIn(keyword, group, { groups, members, total: sum }));
  const chosen = selected(all, query, 'keywords');
  const onDays = (rows: readonly Row[], days: readonly number[]): Row[] => {
    const on = new Set(days.map(text));
    return rows.filter(({ date }) => on.has(String(date)));
  };
  const dayRow = (rows: readonly Row[], others: readonly Row[], part: Days) => {
    const now = addUp(onDays(rows, eachDay(part)));
    const counterpart = pair?.counterpart(part) ?? [];
    const then = counterpart.length > 0 ? addUp(onDays(others, counterpart)) : null;
    const compared = then === null ? NOT_COMPARED : beside(now, then, pair!.reasons(part));
    const row = {
      date: text(part.from),
      ...daysOf(interval, part, world, project),
      ...metrics(now),
      ...(pair && compared),
    };
    return withSums(row, now, then);
  };
  return {
    range: {
      ...shown(range),
      device,
      clamped: asked.from < first,
      provisionalAfter: project['provisional_after'],
      ...(base && { comparison: { ...shown(base), clamped: other!.from < first } }),
    },
    ...(isRated && {
      quality: quality({ world, project, range, table: 'keyword_daily', device: device === 'all' ? null : device }),
    }),
    paging: { total: chosen.length, limit: limit ?? chosen.length, offset },
    keywords: chosen.slice(offset, offset + (limit ?? chosen.length)).map(({ keyword, sum }) => {
      const id = keyword['id'];
      const [rows, others] = [stored.get(id) ?? [], before.get(id) ?? []];
      const parts = bucketsOf(interval, range).filter((part) => onDays(rows, eachDay(part)).length > 0);
      const row = {
        id,
        query: keyword['query'],
        source: keyword['source'],
        trackedSince: keyword['tracked_since'],
        intent: keyword['intent'],
        groupIds: members
          .filter((member) => member['keyword_id'] === id)
          .map((member) => member['group_id'])
          .sort(byText),
        metrics: metrics(sum),
        ...(pair && beside(sum, addUp(others), pair.reasons())),
        ...(daily && { daily: parts.map((part) => dayRow(rows, others, part)) }),
      };
      return withSums(row, sum, pair && addUp(others));
    }),
  };
}

/** Weeks and months say how many of their days are synced. */
function daysOf(interval: string, { from, to }: Days, world: OracleWorld, project: Project): object {
  const last = project['synced_through'] === null ? to : world.lastDay(project);
  return interval === 'day' ? {} : { days: Math.max(0, Math.min(to, last) - from + 1) };
}

/** Days of the property on which no keyword is known, before its first day or after its last one, are not zeros. */
function refuseUnknownKeywords(world: OracleWorld, project: Project, { from, to }: Days): void {
  if (project['synced_through'] === null || world.tracked(project).length === 0) return;
  const own = world.daysOf(project, 'keyword_daily');
  const site = world.daysOf(project, 'site_daily').filter((day) => day >= from && day <= to);
  const unknown = site.filter(
    (day) => day <= world.lastDay(project) && !own.includes(day) && (day < Math.min(...own) || day > Math.max(...own)),
  );
  if (site.length > 0 && unknown.length === site.length && own.length > 0) throw bad('from|to');
}

/** A project as a kind of search has it: the last day is another one, and Bing tells no final one. */
function ofSurface(world: OracleWorld, project: Project, surface: string): Project {
  if (surface === 'web') return project;
  const own = world.daysOf(project, SURFACES[surface]!.site);
  const isKnown = own.length > 0 && project['synced_through'] !== null;
  const synced_through = isKnown ? text(Math.min(Math.max(...own), world.lastDay(project))) : null;
  return { ...project, synced_through, ...(surface === 'bing' && { provisional_after: null }) };
}

/** The kind of search that a question is about. */
function surfaceIn(query: Query, { device, country }: { device: string; country: string | null }): string {
  const type = oneIn(query, 'type', TYPES) ?? 'web';
  if (type === 'discover' && device !== 'all') throw bad('device');
  if (oneIn(query, 'engine', ['google', 'bing']) !== 'bing') return type;
  if (type !== 'web') throw bad('type');
  if (device !== 'all') throw bad('device');
  if (country !== null) throw bad('country');
  return 'bing';
}

/** Why a project has no numbers of Bing, which are those of all countries. */
function checkBing(world: OracleWorld, project: Project, surface: string): void {
  const isKnown = project['country'] === null && world.rows(project, 'site_daily_bing').length > 0;
  if (surface === 'bing' && !isKnown) throw bad('engine');
}

interface SiteQuestion {
  readonly range: Days;
  readonly other: Days | null;
  readonly surface: string;
  readonly device: string;
  readonly country: string | null;
  readonly interval: string;
  readonly isRated: boolean;
}

/** The days of a property with their totals, as `site`, `portfolio` and `surfaces` tell them. */
function siteOf(
  world: OracleWorld,
  stored: Project,
  { range, other, surface, device, country, interval, isRated }: SiteQuestion,
) {
  const project = ofSurface(world, stored, surface);
  const { site, country: ofCountry } = SURFACES[surface]!;
  const table = country === null ? site : ofCountry!;
  const first = Math.min(...world.daysOf(project, site));
  const last = project['synced_through'] === null ? -Infinity : world.lastDay(project);
  const isMonthly = country !== null && surface === 'web';
  const monthly = isMonthly ? world.monthlyThrough(project) : -Infinity;
  // Days that are known as a whole have countries only if their own table has some.
  const all = [range, ...(other ? [other] : [])];
  const hull = { from: Math.min(...all.map(({ from }) => from)), to: Math.max(...all.map(({ to }) => to)) };
  const asked = { from: Math.max(hull.from, first), to: Math.min(hull.to, last) };
  const divided = new Set(world.daysOf(project, table));
  const isWhole = (row: Row): boolean => row['device'] === 'unknown' && !divided.has(number(String(row['date'])));
  const behindMonths = { ...asked, from: Math.max(asked.from, monthly + 1) };
  const isAsked = (row: Row): boolean =>
    all.some(({ from, to }) => from <= number(String(row['date'])) && number(String(row['date'])) <= to);
  if (country !== null && world.rows(project, site, behindMonths).some((row) => isWhole(row) && isAsked(row))) {
    throw bad('country');
  }
  const isMeant = (row: Row): boolean => (country === null ? isAbout(device)(row) : row['country'] === country);
  const over = (days: readonly number[]): Sum => {
    const known = days.filter((day) => day >= first && day <= last);
    if (!isMonthly) return world.sum(project, table, known, isMeant);
    const sum = zero();
    for (const day of known) world.addCountryDay(sum, project, country, day);
    return sum;
  };
  const known = new KnownDays(world, project, table);
  /** A country that a month does not name, of those that have a day of the property, is among its other ones. */
  const isOther = (day: number): boolean =>
    day <= monthly &&
    !world.rows(project, 'country_monthly').some((row) => {
      const month = monthSpan(String(row['month']));
      const isRead = month.from <= asked.to && month.to >= asked.from;
      return isRead && row['country'] === country && day >= month.from && day <= month.to;
    });
  const reasonsOn = (day: number): string[] => [...known.reasonsOn(day), ...(isOther(day) ? ['monthly_spread'] : [])];
  const about = device === 'all' ? null : device;
  const pair = other && new Beside(range, other, { reasonsOn, hasEvents: known.hasEvents }, about, monthly);
  const sums = (part: Days, days: readonly number[] | null, isWhole = false) => {
    const now = over(eachDay(part));
    if (pair === null) return [metrics(now), now, null] as const;
    const then = days === null ? null : over(days);
    const compared = then === null ? NOT_COMPARED : beside(now, then, pair.reasons(isWhole ? undefined : part));
    return [{ ...metrics(now), ...compared }, now, then] as const;
  };
  const [totals, now, base] = sums(range, other && eachDay(other), true);
  const parts = bucketsOf(interval, range).filter(({ from, to }) => to >= first && from <= last);
  const daily = parts.map((part) => {
    const days = pair?.counterpart(part) ?? [];
    const [numbers, sum, then] = sums(part, days.length === 0 ? null : days);
    return withPlaces(
      surface,
      { date: text(part.from), ...daysOf(interval, part, world, project), ...numbers },
      sum,
      then,
    );
  });
  return {
    project,
    sum: now,
    range: {
      ...shown(range),
      ...(surface === 'web' ? {} : surface === 'bing' ? { engine: 'bing' } : { type: surface }),
      ...(surface === 'web' ? {} : { lastDay: project['synced_through'] }),
      device,
      country,
      provisionalAfter: project['provisional_after'],
      ...(country === null ? {} : { countryMonthlyThrough: dayOrNull(monthly) }),
      ...(other && { comparison: shown(other) }),
    },
    ...(isRated && { quality: quality({ world, project, range, table, device: about }) }),
    totals: withPlaces(surface, totals, now, base),
    daily,
  };
}

export function site(world: OracleWorld, project: Project, query: Query): object {
  const device = oneIn(query, 'device', DEVICES) ?? 'all';
  const country = countryIn(query);
  const interval = intervalIn(query, true);
  const isRated = flagIn(query, 'quality');
  const surface = surfaceIn(query, { device, country });
  if (surface === 'bing' && project['country'] !== null) throw bad('engine');
  if (country !== null && device !== 'all') throw bad('country');
  const range = rangeIn(query, world.lastDay(project), world.finalDay(project));
  const other = comparedIn(query, range);
  checkBing(world, project, surface);
  const asked = { range, other, surface, device, country, interval, isRated };
  const { project: _, sum: __, ...answer } = siteOf(world, project, asked);
  return answer;
}

/** All projects, each as `site` has it. */
export function portfolio(world: OracleWorld, query: Query): object {
  const device = oneIn(query, 'device', DEVICES) ?? 'all';
  const surface = surfaceIn(query, { device, country: null });
  const daily = flagIn(query, 'daily');
  const interval = intervalIn(query, daily);
  const isRated = flagIn(query, 'quality');
  const isPlaced = !WITHOUT_POSITIONS.includes(surface);
  if (!isPlaced && [query.get('filter'), query.get('sort')].some((sent) => /\bposition\b/.test(sent ?? '')))
    throw bad('type|engine');
  const [limit, offset] = [limitIn(query, 5000), wholeIn(query, 'offset', 0, 0, 2 ** 53)];
  const refusals: Refusal[] = [];
  const all = world.inAge().map((project) => {
    const about = world.about(project);
    const texts = Object.fromEntries(
      Object.entries(about).map(([name, value]) => [name, String((value ?? '') as string)]),
    );
    try {
      const range = rangeIn(query, world.lastDay(project), world.finalDay(project));
      const other = comparedIn(query, range);
      checkBing(world, project, surface);
      const asked = { range, other, surface, device, country: null, interval, isRated };
      const { project: _, sum, ...found } = siteOf(world, project, asked);
      return { about, texts, found, sum };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (!('named' in error.expected && error.expected.named === 'engine')) refusals.push(error);
      return { about, texts, found: null, sum: null };
    }
  });
  if (refusals.length === all.length) throw refusals[0]!;
  const chosen = selected(all, query, 'portfolio');
  return {
    paging: { total: chosen.length, limit: limit ?? chosen.length, offset },
    projects: chosen.slice(offset, offset + (limit ?? chosen.length)).map(({ about, found }) => {
      const refused = { range: null, totals: null, error: { code: 'invalid_request', message: '' } };
      if (found === null) return { ...about, ...refused };
      const { daily: days, ...rest } = found;
      return { ...about, ...rest, ...(daily && { daily: days }) };
    }),
  };
}

/** What is stored of each kind of search. */
export function surfaces(world: OracleWorld, project: Project, query: Query): object {
  const range = rangeIn(query, world.lastDay(project), world.finalDay(project));
  const other = comparedIn(query, range);
  const isSynced = project['synced_through'] !== null;
  const rows = Object.entries(SURFACES).flatMap(([surface, { site: table }]) => {
    const days = world.daysOf(project, table);
    const isBing = surface === 'bing';
    if (!isSynced || days.length === 0 || (isBing && project['country'] !== null)) return [];
    const asked = { range, other, surface, device: 'all', country: null, interval: 'day', isRated: false };
    const { project: of, totals } = siteOf(world, project, asked);
    const row = {
      engine: isBing ? 'bing' : 'google',
      type: isBing ? 'web' : surface,
      grain: 'day',
      firstDay: text(Math.min(...days)),
      lastDay: text(Math.max(...days)),
      provisionalAfter: of['provisional_after'],
      stale: world.today() - number(String(of['synced_through'])) > 14,
      ...totals,
    };
    const { now, base } = sumsBehind.get(totals)!;
    return [withSums(row, now, base)];
  });
  return {
    range: { ...shown(range), ...(other && { comparison: shown(other) }) },
    totals: { clicks: rows.reduce((sum, { clicks }) => sum + clicks, 0) },
    surfaces: rows,
  };
}

export function breakdowns(world: OracleWorld, stored: Project, query: Query): object {
  const type = oneIn(query, 'type', TYPES) ?? 'web';
  const isRated = flagIn(query, 'quality');
  if (oneIn(query, 'engine', ['google', 'bing']) === 'bing') throw bad('engine');
  const range = rangeIn(query, world.lastDay(stored), world.finalDay(stored));
  const other = comparedIn(query, range);
  const isWeb = type === 'web';
  const project = ofSurface(world, stored, type);
  const { site: siteTable, country: countryTable = '' } = SURFACES[type]!;
  const isSynced = project['synced_through'] !== null;
  const rows = (table: string, days?: Days): Row[] => (isSynced ? world.rows(project, table, days) : []);
  const tables = isWeb ? ['site_daily', 'country_daily', 'appearance_daily', 'brand_daily'] : [siteTable, countryTable];
  const days = isSynced ? tables.flatMap((table) => world.daysOf(project, table)) : [];
  const months = isWeb ? rows('country_monthly').map(({ month }) => monthSpan(String(month))) : [];
  const monthly = isSynced && isWeb ? world.monthlyThrough(project) : -Infinity;
  const known = (table: string, through = -Infinity) =>
    other && new Beside(range, other, new KnownDays(world, project, table), null, through);
  const [ofSite, ofCountry, ofAppearance, ofBrand] = [
    known(siteTable),
    known(countryTable, monthly),
    known(isWeb ? 'appearance_daily' : siteTable),
    known('brand_daily'),
  ];

  type Reasons = ReturnType<Beside['reasons']>;
  const compared = (row: object, now: Sum, base: Sum | null, reasons: Reasons | undefined) => {
    const full = { ...row, ...metrics(now), ...(base && reasons && beside(now, base, reasons)) };
    return withPlaces(type, full, now, base);
  };
  const totals = (table: string, column: string, reasons: (name: string) => Reasons | undefined) => {
    const [here, there] = [range, other].map((part) =>
      Map.groupBy(part === null ? [] : rows(table, part), (row) => String(row[column])),
    );
    return [...here!].flatMap(([name, of]) => {
      const now = addUp(of);
      if (now.clicks + now.impressions === 0n || name === 'unknown') return [];
      return [compared({ [column]: name }, now, other && addUp(there!.get(name) ?? []), reasons(name))];
    });
  };
  const names = new Set(
    [...rows(countryTable), ...(isWeb ? rows('country_monthly') : [])].map((row) => String(row['country'])),
  );
  const monthsIn = (part: Days | null, country?: string): Set<unknown> => {
    const all = part === null || !isWeb ? [] : rows('country_monthly');
    const isPart = (row: Row): boolean => {
      const { from, to } = monthSpan(String(row['month']));
      return from <= part!.to && to >= part!.from && (country === undefined || row['country'] === country);
    };
    return new Set(all.filter(isPart).map(({ month }) => month));
  };
  const countryOver = (country: string, part: Days | null): Sum => {
    const sum = zero();
    for (const day of part === null || !isSynced ? [] : eachDay(part)) {
      if (isWeb) world.addCountryDay(sum, project, country, day);
      else
        addInto(
          sum,
          world.sum(project, countryTable, [day], (row) => row['country'] === country),
        );
    }
    return sum;
  };
  const countries = [...names].flatMap((country) => {
    const [now, base] = [countryOver(country, range), countryOver(country, other)];
    if (now.clicks + now.impressions === 0n) return [];
    const lacks = (part: Days | null): boolean => monthsIn(part, country).size < monthsIn(part).size;
    const isKnown = base.clicks + base.impressions > 0n;
    const isOther = country === 'other' && monthsIn(range).size + monthsIn(other).size > 0;
    const isSpread = isOther || lacks(range) || (isKnown ? lacks(other) : monthsIn(other).size > 0);
    const reasons = ofCountry?.reasons();
    const more: Reasons | undefined =
      reasons && ((metric) => new Set([...reasons(metric), ...(isSpread ? ['monthly_spread'] : [])]));
    return [compared({ country }, now, other && base, more)];
  });
  const byClicks = (column: string) => (a: Row, b: Row) =>
    descending(a['clicks'] as number, b['clicks'] as number) ||
    descending(a['impressions'] as number, b['impressions'] as number) ||
    byText(a[column], b[column]);
  return {
    range: {
      ...shown(range),
      ...(isWeb ? {} : { type }),
      availableFrom: dayOrNull(Math.min(...days, ...months.map(({ from }) => from))),
      availableThrough: dayOrNull(Math.max(...days, ...months.map(({ to }) => to))),
      provisionalAfter: project['provisional_after'],
      countryMonthlyThrough: dayOrNull(monthly),
      ...(other && { comparison: shown(other) }),
    },
    ...(isRated && { quality: quality({ world, project, range, table: siteTable }) }),
    countries: countries.sort(byClicks('country')),
    devices: totals(siteTable, 'device', (device) => ofSite?.reasons(undefined, device)).sort(byClicks('device')),
    appearances: isWeb
      ? totals('appearance_daily', 'appearance', () => ofAppearance?.reasons()).sort(
          (a, b) =>
            descending(a.impressions, b.impressions) ||
            descending(a.clicks, b.clicks) ||
            byText((a as Row)['appearance'], (b as Row)['appearance']),
        )
      : [],
    brand: isWeb ? brandOf() : null,
  };

  function brandOf() {
    const over = (table: string, part: Days | null, segment?: string): Sum =>
      addUp(
        part === null ? [] : rows(table, part).filter((row) => segment === undefined || row['segment'] === segment),
      );
    const segment = (name: string) =>
      compared({}, over('brand_daily', range, name), other && over('brand_daily', other, name), ofBrand?.reasons());
    const rest = (part: Days | null): Sum => {
      const [whole, named] = [over('site_daily', part), over('brand_daily', part)];
      const left = (name: 'clicks' | 'impressions'): bigint =>
        whole[name] > named[name] ? whole[name] - named[name] : 0n;
      return { ...zero(), clicks: left('clicks'), impressions: left('impressions') };
    };
    const [brands, sites] = [ofBrand?.reasons(), ofSite?.reasons()];
    // Events are those of the brand's days.
    const both: Reasons | undefined =
      brands &&
      sites &&
      ((metric) => new Set([...brands(metric), ...[...sites(metric)].filter((reason) => reason !== 'provider_event')]));
    const anonymous = compared({}, rest(range), other && rest(other), both);
    return { brand: segment('brand'), nonBrand: segment('non_brand'), anonymous: withSums(countsOf(anonymous), null) };
  }
}

/** Of anonymous queries, there are counts only. */
function countsOf(row: object): object {
  const { clicks, impressions, comparison, change, unsafe } = row as Record<string, Row>;
  const counts = (of: Row | undefined): Row =>
    Object.fromEntries(Object.entries(of ?? {}).filter(([name]) => name === 'clicks' || name === 'impressions'));
  return {
    clicks,
    impressions,
    ...(comparison && { comparison: counts(comparison), change: counts(change), unsafe: counts(unsafe) }),
  };
}

function addInto(sum: Sum, { clicks, impressions, top }: Sum): void {
  sum.clicks += clicks;
  sum.impressions += impressions;
  sum.top += top * sum.bottom;
}

export function list(world: OracleWorld, project: Project, query: Query, kind: 'pages' | 'queries'): object {
  const country = countryIn(query);
  const isRated = flagIn(query, 'quality');
  const [limit, offset] = [limitIn(query, 25_000), wholeIn(query, 'offset', 0, 0, 2 ** 53)];
  const end = query.get('to') === 'final' ? undefined : dayIn(query, 'to');
  if (end !== undefined && end >= world.today()) throw bad('to');
  const range = rangeIn(query, Math.min(world.lastDay(project), world.today() - 1), world.finalDay(project));
  const other = comparedIn(query, range);
  if (other !== null && other.to >= world.today()) throw bad('compare');
  const [table, column] = kind === 'pages' ? ['page_daily', 'url'] : ['query_daily', 'query'];
  const tracked = new Map(
    world
      .tracked(project)
      .toReversed()
      .map(({ id, query: text }) => [String(text).toLowerCase(), id]),
  );
  const terms = (project['brand_terms'] as string[]).map((term) => term.toLowerCase());
  const isBranded = (name: string): boolean => terms.some((term) => name.toLowerCase().includes(term));
  const sums = (part: Days | null) => {
    const found =
      part === null
        ? []
        : world.rows(project, table!, part).filter((row) => country === null || row['country'] === country);
    return Map.groupBy(found, (row) => String(row[column!]));
  };
  const [now, base] = [sums(range), sums(other)];
  const all = [...now]
    .map(([name, rows]) => ({ name, sum: addUp(rows) }))
    .sort(
      (a, b) =>
        Number(b.sum.clicks - a.sum.clicks) || Number(b.sum.impressions - a.sum.impressions) || byText(a.name, b.name),
    )
    .map(({ name, sum }) => {
      const texts: Record<string, string> = {
        [column!]: name,
        branded: String(isBranded(name)),
        tracked: String(tracked.has(name.toLowerCase())),
      };
      return { name, sum, texts };
    });
  const chosen = selected(all, query, kind);
  if (world.rows(project, table!).length === 0) throw new Refusal(503, 'unavailable');
  const pair = other && new Beside(range, other, new KnownDays(world, project, table!));
  const source = { kind: 'bigquery', fetchedAt: 'then', truncated: false, capped: false };
  return {
    range: { ...shown(range), country, ...(other && { comparison: shown(other) }) },
    source: { ...source, ...(other && { comparison: source }) },
    ...(isRated && { quality: quality({ world, project, range, table: table! }) }),
    paging: { total: chosen.length, limit: limit ?? chosen.length, offset },
    [kind]: chosen.slice(offset, offset + (limit ?? chosen.length)).map(({ name, sum }) => {
      const then = addUp(base.get(name) ?? []);
      const row = {
        [column!]: name,
        ...metrics(sum),
        ...(kind === 'queries' && {
          branded: isBranded(name),
          trackedKeywordId: tracked.get(name.toLowerCase()) ?? null,
        }),
        ...(pair && beside(sum, then, pair.reasons())),
      };
      return withSums(row, sum, pair && then);
    }),
  };
}
