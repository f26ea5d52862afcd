import { useMemo } from 'preact/hooks';
import { useResource } from './api.ts';
import { eachDay } from './dates.ts';
import type { Day, Quality } from './types.ts';

interface StoredTables {
  readonly tables: readonly {
    readonly table: string;
    readonly runs: readonly { readonly from: Day; readonly to: Day; readonly state: string }[];
  }[];
}

const NONE: ReadonlySet<Day> = new Set();
const WITHOUT_DATA = ['missing', 'failed', 'absent'];

/** The days of a table that are not stored: answers have zeros for them. Asked for only where some are missing. */
export function useMissingDays(project: string, table: string, quality: Quality | undefined): ReadonlySet<Day> {
  const areMissing = quality !== undefined && quality.daysStored < quality.daysExpected;
  const { data } = useResource<StoredTables>(areMissing ? `/projects/${project}/data` : null);
  return useMemo(() => {
    const runs = data?.tables.find((found) => found.table === table)?.runs ?? [];
    return areMissing ? new Set(runs.filter(({ state }) => WITHOUT_DATA.includes(state)).flatMap(eachDay)) : NONE;
  }, [data, table, areMissing]);
}
