import { type Day, eachDay } from '../domain/dates.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { ProviderFailure } from '../providers/failures.ts';
import type { ProviderRun } from '../providers/retries.ts';
import type { Warehouse } from '../providers/warehouse.ts';
import { FetchedRows } from './fetched-rows.ts';
import type { Fetched, ListQuery, ProviderSource } from './source.ts';

/** The longest list of a warehouse (contract, 4.8). */
const MAX_ROWS = 100_000;

/** Lists from the search engine's bulk export. */
export class WarehouseList implements ProviderSource {
  readonly kind = 'bigquery';
  readonly provider = 'bigquery';
  readonly #warehouse: Warehouse;
  readonly #engine: Engine;

  constructor(warehouse: Warehouse, engine: Engine) {
    this.#warehouse = warehouse;
    this.#engine = engine;
  }

  async fetch(query: ListQuery, run: ProviderRun): Promise<Fetched> {
    const { days } = await this.#warehouse.origin(query.kind, query.property, run);
    const complete = checkCoverage(query, days);
    using fetched = await FetchedRows.open(this.#engine);
    let count = 0;
    // One additional row shows whether the list is truncated.
    for await (const rows of this.#warehouse.rows({ ...query, max: MAX_ROWS + 1 }, run)) {
      await fetched.add(rows);
      count += rows.length;
    }
    const rows = Math.min(count, MAX_ROWS);
    return {
      ranked: await fetched.rank(MAX_ROWS),
      rows,
      truncated: count > MAX_ROWS,
      capped: count >= MAX_ROWS,
      complete,
    };
  }
}

/** Whether all days are available. Throws `not-covered` unless only the newest are missing and `allowMissingRecentDays`. */
function checkCoverage({ range, allowMissingRecentDays }: ListQuery, days: ReadonlySet<Day>): boolean {
  const missing = eachDay(range.from, range.to).filter((day) => !days.has(day));
  const [first] = missing;
  if (first === undefined) return true;
  const lastDay = [...days].reduce((last, day) => (day > last ? day : last), '');
  if (allowMissingRecentDays && first > lastDay && days.has(range.from)) return false;
  throw new ProviderFailure('not-covered', `the export has not written ${missing.length} days of the range (${first})`);
}
