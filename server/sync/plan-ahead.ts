import type { Catalog } from '../catalog/catalog.ts';
import { pacificDayOf } from '../domain/dates.ts';
import { settledDay } from '../domain/finality.ts';
import type { Range } from '../domain/range.ts';
import { byTable } from './day-states.ts';
import { countRequests, planWindows, type SyncWindow } from './plan.ts';
import { findConnected, readBeforeRun } from './prepare.ts';
import { dueComparisons } from './questions.ts';
import { countTypeRequests } from './types.ts';

/** The estimated requests of a run. */
export interface PlanAhead {
  readonly windows: readonly (Range & { readonly kind: SyncWindow['kind']; readonly requests: number })[];
  /** Includes the requests before the first window. */
  readonly requests: number;
}

/**
 * Plans a run without requests; which days are final is estimated.
 * @param now milliseconds
 * @param keepDays the setting
 */
export async function planAhead(
  catalog: Catalog,
  id: string,
  { now, keepDays }: { now: number; keepDays: number },
): Promise<PlanAhead> {
  const connected = await findConnected(catalog, id);
  if (connected === undefined) throw new Error(`Project '${id}' has no search-console connection.`);
  const today = pacificDayOf(now);
  const { input } = await readBeforeRun(catalog, connected, { today, now, staleAfter: 0, keepDays });
  const planned = planWindows({ ...input, provisionalAfter: settledDay(today), refetched: new Set() });
  const windows = planned.map((window) => ({
    kind: window.kind,
    from: window.from,
    to: window.to,
    requests: countRequests(window, input.brandTerms),
  }));
  const comparisons = dueComparisons(input.days, today).size > 0 ? 1 : 0;
  const types = countTypeRequests({ ...input, days: byTable(input.days) });
  // One for which days are final, one for hours.
  return { windows, requests: windows.reduce((sum, { requests }) => sum + requests, 2 + comparisons + types) };
}
