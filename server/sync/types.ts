import { join } from 'node:path';
import { readCoverage } from '../catalog/fact-files.ts';
import type { SyncDay } from '../catalog/sync-days.ts';
import { addDays, type Day, eachDay, earlier, later } from '../domain/dates.ts';
import { newUuid } from '../domain/ids.ts';
import { type Microseconds, toMicroseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import { OTHER_TYPES, type OtherType } from '../model/surfaces.ts';
import { countryTable, type FactTable, siteTable } from '../model/tables.ts';
import { ProviderFailure } from '../providers/failures.ts';
import { DayFiles } from './day-files.ts';
import { type DaysByTable, failedDay, fetchedState } from './day-states.ts';
import { type RequestOptions, readGroup, runAtGateway } from './fetch.ts';
import { publishFetched } from './publish.ts';
import { typeQuery } from './requests.ts';
import type { SyncStores } from './run-options.ts';

/** A type that had no rows is asked for again after this time: few properties have all types. */
const MONTH: Microseconds = toMicroseconds(30 * 86_400_000);

export interface TypesInput {
  readonly project: string;
  /** The stored states of all tables. */
  readonly days: DaysByTable;
  readonly syncRange: Range;
  /** The last final day of web, and of types of which the provider does not report it. */
  readonly provisionalAfter: Day;
  /** Microseconds. */
  readonly now: Microseconds;
  /** Days fetched before this instant are fetched again. */
  readonly staleBefore: Microseconds;
}

/**
 * Fetches the days of search types other than web: all days of a type that is asked for the first time, in one request if
 * they are few, then those that may still change. A type without rows is asked for again once a month. Publishes changed
 * days in one transaction with their states, which it returns. A failure of one table is the state of its last day, others
 * are thrown.
 */
export async function syncTypes(
  stores: SyncStores,
  options: RequestOptions,
  input: TypesInput,
): Promise<readonly SyncDay[]> {
  const files = new DayFiles(join(stores.folder, newUuid()), input.project);
  try {
    const replaced = await tablesToReplace(stores, input);
    const fetching = { ...input, files, options, replaced };
    const states: SyncDay[] = [];
    for (const type of OTHER_TYPES) {
      const [site, country] = [siteTable(type), countryTable(type)!];
      const days = await fetchTable(fetching, type, 'site');
      const hasRows = [...days, ...daysOf(input, site).values()].some(({ rows }) => rows > 0);
      states.push(...days);
      if (hasRows || replaced.has(country)) states.push(...(await fetchTable(fetching, type, 'country')));
    }
    if (states.length === 0) return [];
    await publishFetched(stores, input.project, {
      files,
      states,
      before: ({ table, day }) => daysOf(input, table as FactTable).get(day),
      replaced,
      // Reports contain the last final day of each type.
      inTransaction: async () =>
        states.some(({ table, day, final }) => final !== (daysOf(input, table as FactTable).get(day)?.final ?? false)),
    });
    return states;
  } finally {
    await files.remove();
  }
}

type Due = Pick<TypesInput, 'syncRange' | 'now' | 'staleBefore'>;

interface Fetching extends TypesInput {
  readonly files: DayFiles;
  readonly options: RequestOptions;
  /** See `tablesToReplace`. */
  readonly replaced: ReadonlySet<string>;
}

/** Tables with days but no states, which are forgotten when a project gets another country. */
async function tablesToReplace({ catalog }: SyncStores, input: TypesInput): Promise<ReadonlySet<string>> {
  const tables = Object.keys(await readCoverage(catalog, input.project));
  return new Set(tables.filter((table) => daysOf(input, table as FactTable).size === 0));
}

async function fetchTable(
  { files, options, replaced, ...input }: Fetching,
  type: OtherType,
  by: 'site' | 'country',
): Promise<SyncDay[]> {
  const table = by === 'site' ? siteTable(type) : countryTable(type)!;
  const known = daysOf(input, table);
  const range = dueDays(known, input);
  if (range === null) return [];
  const { client, counts, project } = options;
  const group = [typeQuery(project, type, by, range)];
  let incomplete: Day | null;
  try {
    incomplete = await runAtGateway(options, (run) => readGroup(group, { table, files, client, run, counts }));
  } catch (error) {
    if (!(error instanceof ProviderFailure) || error.kind !== 'broken') throw error;
    await files.drop(table);
    return [failedDay(table, range.to, known.get(range.to), error.message, input.now)];
  }
  const first = [...files.days(table).keys()].reduce(earlier, range.to);
  const days = eachDay(range.from, range.to).filter((day) => day >= first || known.has(day) || replaced.has(table));
  // Types may be late by other days than web.
  const provisionalAfter = incomplete === null ? input.provisionalAfter : addDays(incomplete, -1);
  return days.map((day) =>
    fetchedState(table, day, files.register(table, day), {
      final: day <= provisionalAfter,
      compared: 0,
      fetchedAt: input.now,
    }),
  );
}

/** The least number of requests that a run needs. */
export function countTypeRequests(input: Due & Pick<TypesInput, 'days'>): number {
  const tables = OTHER_TYPES.flatMap((type): FactTable[] => {
    const [site, country] = [siteTable(type), countryTable(type)!];
    return daysOf(input, country).size === 0 ? [site] : [site, country];
  });
  return tables.filter((table) => dueDays(daysOf(input, table), input) !== null).length;
}

/** The days to ask for; null if they were just fetched. */
function dueDays(known: ReadonlyMap<Day, SyncDay>, { syncRange, now, staleBefore }: Due): Range | null {
  const { to } = syncRange;
  if (known.size === 0) return syncRange;
  const days = [...known.values()];
  const newest = known.get([...known.keys()].reduce(later))!;
  if (newest.nextTry !== null && newest.nextTry > now) return null;
  if (!days.some(({ rows }) => rows > 0)) {
    return newest.nextTry === null && newest.fetchedAt > now - MONTH ? null : syncRange;
  }
  if (newest.nextTry === null && newest.fetchedAt > staleBefore) return null;
  const provisional = days.filter(({ final, day }) => !final && day >= syncRange.from).map(({ day }) => day);
  return { from: provisional.reduce(earlier, to), to };
}

function daysOf({ days }: Pick<TypesInput, 'days'>, table: FactTable): ReadonlyMap<Day, SyncDay> {
  return days.get(table) ?? new Map();
}
