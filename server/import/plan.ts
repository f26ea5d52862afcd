import type { FactTable } from '../catalog/manifest.ts';
import type { Day } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import type { ExportTable } from './read-table.ts';
import { DIMENSIONS, type Dimension } from './words.ts';

/** What is stored of a table. */
export interface Target {
  readonly table: FactTable;
  /** SQL of the key columns besides the project and the day; `keyword_id` is that of a tracked query. */
  readonly keys: Readonly<Record<string, string>>;
  /** Of several sources of a day, or of a range, the ones with the least are stored. */
  readonly priority: number;
  /** Only for tracked queries. */
  readonly isTracked?: boolean;
}

/** A table and what becomes of it. */
export interface PlannedTable {
  readonly table: ExportTable;
  readonly targets: readonly Target[];
  /** The range of a list without days; null for tables by day. */
  readonly period: Range | null;
  /** Why nothing is stored, or what cannot be known of what is. */
  readonly remarks: readonly string[];
}

/** Days with devices go before days without. */
const UNKNOWN_DEVICES = DIMENSIONS.length;
const KEYWORD = { keyword_id: 'k.id' };

/** What a table with these dimensions can be stored as. A sum over a dimension is exact, a part of one would be invented. */
export function targetsOf(dimensions: readonly Dimension[]): Target[] {
  const has = (dimension: Dimension): boolean => dimensions.includes(dimension);
  const priority = dimensions.length;
  if (has('appearance')) {
    const isAlone = dimensions.length === 2 && has('date');
    return isAlone ? [{ table: 'appearance_daily', keys: { appearance: 'appearance' }, priority }] : [];
  }
  if (has('query') && has('page')) {
    // Rows by query leave anonymised ones out, and rows by page count a search more than once: they are no totals.
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

/** Whether a target is a list of a range. */
export function isPeriod({ table }: Target): boolean {
  return table === 'page_period' || table === 'query_period';
}

/**
 * What becomes of each table. Lists of the user interface have the range of the days in the same export.
 * @param named the range that the caller names for lists without days
 */
export function planTables(tables: readonly ExportTable[], named: Range | undefined): PlannedTable[] {
  return tables.map((table) => {
    if (table.rows === 0) return { table, targets: [], period: null, remarks: ['no rows'] };
    const targets = targetsOf(table.dimensions);
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
    return { table, targets, period, remarks: unknowns(table.dimensions, targets, period) };
  });
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
      other.dimensions.join() === 'date',
  );
  return (days && ofDays(days)) ?? named ?? null;
}

function whyNot({ dimensions }: ExportTable): string {
  if (dimensions.includes('appearance')) return 'not stored: totals of appearances need their days, and nothing else';
  if (dimensions.includes('query')) return 'not stored: queries by page need their days';
  return 'not stored: totals of a range without its days';
}

function unknowns(dimensions: readonly Dimension[], targets: readonly Target[], period: Range | null): string[] {
  const has = (dimension: Dimension): boolean => dimensions.includes(dimension);
  const remarks: string[] = [];
  if (period !== null) {
    const what = has('date') ? 'countries of single days are' : 'single days are';
    remarks.push(`${what} not known: a list that answers exactly ${period.from} to ${period.to}, without countries`);
  }
  if (targets.some(({ keys }) => keys['device'] === "'unknown'")) remarks.push('devices of these days are not known');
  if (targets.some(({ isTracked }) => isTracked)) remarks.push('only tracked queries are stored by day');
  return remarks;
}
