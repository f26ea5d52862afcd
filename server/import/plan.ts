import type { Day } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import { type OtherType, type SearchType, SURFACES } from '../model/surfaces.ts';
import { countryTable, type FactTable, siteTable } from '../model/tables.ts';
import type { ExportTable } from './read-table.ts';
import { DIMENSIONS, type Dimension } from './words.ts';

/** How a table is stored. */
export interface Target {
  readonly table: FactTable;
  /** SQL of the key columns besides the project and the day; `keyword_id` is that of a tracked query. */
  readonly keys: Readonly<Record<string, string>>;
  /** Of several sources of a day or range, those with the lowest value are stored. */
  readonly priority: number;
  /** Only for tracked queries. */
  readonly isTracked?: boolean;
  /** Its keys depend on the brand terms. */
  readonly isBranded?: boolean;
}

/** A table and how it is stored. */
export interface PlannedTable {
  readonly table: ExportTable;
  readonly targets: readonly Target[];
  /** The range of a list without days; null for tables by day. */
  readonly period: Range | null;
  /** Why nothing is stored, or what remains unknown. */
  readonly remarks: readonly string[];
}

/** Days with devices take precedence. */
const UNKNOWN_DEVICES = DIMENSIONS.length;
const KEYWORD = { keyword_id: 'k.id' };
const SEGMENT =
  "case when len(list_filter($terms::varchar[], term -> contains(lower(r.query), term))) > 0 or coalesce(regexp_matches(lower(r.query), $words::varchar), false) then 'brand' else 'non_brand' end";

/** How a table with these dimensions can be stored. A sum over a dimension is exact; a split would be invented. */
export function targetsOf(dimensions: readonly Dimension[], type: SearchType, hasBrandTerms: boolean): Target[] {
  if (type !== 'web') return typeTargets(dimensions, type);
  return [...ownTargets(dimensions), ...brandTargets(dimensions, hasBrandTerms)];
}

/** Queries give the brand split of a day; on other days it is unknown, not zero. */
function brandTargets(dimensions: readonly Dimension[], hasBrandTerms: boolean): Target[] {
  const has = (dimension: Dimension): boolean => dimensions.includes(dimension);
  const table = 'brand_daily';
  if (hasBrandTerms && has('date') && has('query') && !has('page') && !has('appearance')) {
    return [{ table, keys: { segment: SEGMENT }, priority: dimensions.length, isBranded: true }];
  }
  const site = ownTargets(dimensions).find((target) => target.table === 'site_daily');
  return site ? [{ table, keys: { segment: "'unknown'" }, priority: DIMENSIONS.length + site.priority }] : [];
}

/** Search types besides web have days and countries only. */
function typeTargets(dimensions: readonly Dimension[], type: OtherType): Target[] {
  const tables = { site_daily: siteTable(type), country_daily: countryTable(type)! };
  return ownTargets(dimensions).flatMap((target) => {
    if (target.table !== 'site_daily' && target.table !== 'country_daily') return [];
    const keys = target.table === 'site_daily' && !SURFACES[type].hasDevices ? { device: "'unknown'" } : target.keys;
    return [{ ...target, table: tables[target.table], keys }];
  });
}

function ownTargets(dimensions: readonly Dimension[]): Target[] {
  const has = (dimension: Dimension): boolean => dimensions.includes(dimension);
  const priority = dimensions.length;
  if (has('appearance')) {
    const isAlone = dimensions.length === 2 && has('date');
    return isAlone ? [{ table: 'appearance_daily', keys: { appearance: 'appearance' }, priority }] : [];
  }
  if (has('query') && has('page')) {
    // Rows by query omit anonymised ones, and rows by page count a search more than once: neither are totals.
    const keys = { ...KEYWORD, url: 'page' };
    return has('date') ? [{ table: 'keyword_page_daily', keys, isTracked: true, priority }] : [];
  }
  if (has('query')) {
    const list: Target =
      has('date') && has('country')
        ? { table: 'query_daily', keys: { query: 'query', country: 'country' }, priority }
        : { table: 'query_period', keys: { query: 'query' }, priority };
    const keys = { ...KEYWORD, device: 'device' };
    return has('date') && has('device') ? [list, { table: 'keyword_daily', keys, isTracked: true, priority }] : [list];
  }
  if (has('page')) {
    return has('date') && has('country')
      ? [{ table: 'page_daily', keys: { url: 'page', country: 'country' }, priority }]
      : [{ table: 'page_period', keys: { url: 'page' }, priority }];
  }
  if (!has('date')) return [];
  const site: Target[] = has('device') ? [{ table: 'site_daily', keys: { device: 'device' }, priority }] : [];
  const countries: Target[] = has('country')
    ? [{ table: 'country_daily', keys: { country: 'country' }, priority }]
    : [];
  if (site.length + countries.length > 0) return [...site, ...countries];
  return [{ table: 'site_daily', keys: { device: "'unknown'" }, priority: UNKNOWN_DEVICES }];
}

/** Whether a target is the days of the whole site, of any search type. */
export function isOfSite({ keys }: Target): boolean {
  return Object.keys(keys).join() === 'device';
}

/** Whether a target is a list of a range. */
export function isPeriod({ table }: Target): boolean {
  return table === 'page_period' || table === 'query_period';
}

/**
 * Plans each table. Lists of the user interface have the range of the days in the same export.
 * @param named the caller's range for lists without days
 */
export function planTables(
  tables: readonly ExportTable[],
  { named, hasBrandTerms }: { named: Range | undefined; hasBrandTerms: boolean },
): PlannedTable[] {
  return tables.map((table) => {
    const planned = planTable(table, tables, { named, hasBrandTerms });
    return { ...planned, remarks: [...planned.remarks, ...table.remarks] };
  });
}

function planTable(
  table: ExportTable,
  tables: readonly ExportTable[],
  { named, hasBrandTerms }: { named: Range | undefined; hasBrandTerms: boolean },
): PlannedTable {
  if (table.rows === 0) return { table, targets: [], period: null, remarks: ['no rows'] };
  if (table.interval !== 'day') return { table, targets: [], period: null, remarks: [byInterval(table.interval)] };
  const targets = targetsOf(table.dimensions, table.type, hasBrandTerms);
  const lists = targets.filter(isPeriod);
  const period = lists.length === 0 ? null : rangeOf(table, tables, named);
  if (targets.length === 0) return { table, targets, period: null, remarks: [whyNot(table)] };
  if (lists.length > 0 && period === null) {
    const kept = targets.filter((target) => !isPeriod(target));
    return {
      table,
      targets: kept,
      period,
      remarks: ['the range of this list is not in the export; name it with --from and --to'],
    };
  }
  return { table, targets, period, remarks: [...unknowns(table, targets, period), ...cuts(table)] };
}

function rangeOf(table: ExportTable, tables: readonly ExportTable[], named: Range | undefined): Range | null {
  const ofDays = ({ firstDay, lastDay }: { firstDay: Day | null; lastDay: Day | null }): Range | null =>
    firstDay === null || lastDay === null ? null : { from: firstDay, to: lastDay };
  if (table.firstDay !== null) return ofDays(table);
  const days = tables.find(
    (other) =>
      table.isFromInterface &&
      other.isFromInterface &&
      other.file.group === table.file.group &&
      other.interval === 'day' &&
      other.dimensions.join() === 'date',
  );
  return (days && ofDays(days)) ?? named ?? null;
}

function whyNot({ dimensions }: ExportTable): string {
  if (dimensions.includes('appearance')) return 'not stored: totals of appearances need their days, and nothing else';
  if (dimensions.includes('query')) return 'not stored: queries by page need their days';
  return 'not stored: totals of a range without its days';
}

function byInterval(interval: ExportTable['interval']): string {
  return `not stored: its rows are ${interval}s, whose days are not known; export the chart by day`;
}

function unknowns(
  { dimensions, missingDays }: ExportTable,
  targets: readonly Target[],
  period: Range | null,
): string[] {
  const has = (dimension: Dimension): boolean => dimensions.includes(dimension);
  const remarks: string[] = [];
  if (period !== null) {
    const what = has('date') ? 'days are stored only with their countries' : 'single days are not known';
    remarks.push(`${what}: a list that answers exactly ${period.from} to ${period.to}, without countries`);
  }
  if (targets.some(({ keys }) => keys['device'] === "'unknown'")) remarks.push('devices of these days are not known');
  if (targets.some(({ keys }) => keys['segment'] === "'unknown'")) {
    remarks.push('the brand split needs rows by date and query, and brand terms');
  }
  if (targets.some(({ isTracked }) => isTracked)) remarks.push('only tracked queries are stored by keyword');
  const isSite = targets.some(isOfSite);
  if (isSite && missingDays.length > 0) remarks.push(withoutData(missingDays));
  return remarks;
}

/** Maximum days in a remark. */
const MAX_NAMED = 10;

function withoutData(days: readonly Day[]): string {
  const named = days.slice(0, MAX_NAMED).join(', ');
  const more = days.length > MAX_NAMED ? ` and ${days.length - MAX_NAMED} more` : '';
  const have = days.length === 1 ? 'day of the range has no data and is' : 'days of the range have no data and are';
  return `${days.length} ${have} not stored: ${named}${more}`;
}

/** Row limits of exports. */
const LONGEST = { interface: [1000], api: [25_000, 50_000] };

function cuts({ rows, isFromInterface }: ExportTable): string[] {
  const isCut = LONGEST[isFromInterface ? 'interface' : 'api'].includes(rows);
  return isCut ? [`as long as such a list can be (${rows} rows): others are probably missing`] : [];
}
