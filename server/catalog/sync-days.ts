import { type Day, earlier, later } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import { SURFACE_NAMES, type Surface } from '../model/surfaces.ts';
import { type FactTable, siteTable } from '../model/tables.ts';
import type { Catalog } from './catalog.ts';
import { readCoverage } from './fact-files.ts';
import type { Project } from './projects.ts';

/** The state of a day of a table. Days without one are pending. */
export interface SyncDay {
  readonly table: FactTable;
  readonly day: Day;
  /** `failed`: not fetched successfully yet. */
  readonly state: 'done' | 'empty' | 'failed';
  /** Final, except for late corrections. */
  readonly final: boolean;
  /** The provider had more rows than it returned. */
  readonly cutOff: boolean;
  readonly rows: number;
  readonly clicks: number;
  readonly impressions: number;
  /** Digest of the fetched rows, independent of their order. */
  readonly digest: string;
  /** The age in days at which it was last compared with the provider. */
  readonly compared: number;
  readonly fetchedAt: Microseconds;
  /** Failed attempts since the last success, with the last reason and the next attempt. */
  readonly attempts: number;
  readonly reason: string | null;
  readonly nextTry: Microseconds | null;
}

type Row = Omit<SyncDay, 'final' | 'cutOff'> & { readonly final: number; readonly cutOff: number };

const ACCESS_LOST = 'access lost: ';

/** The reason of a failure of another provider than the reporting API. */
export function reasonOfProvider(provider: string, message: string, isLost: boolean): string {
  return `${provider}: ${isLost ? ACCESS_LOST : ''}${message}`;
}

/** The provider that, by the reason of a failure, no longer grants access. */
export function lostProviderOf(reason: string | null): string | undefined {
  const [provider, ...rest] = (reason ?? '').split(': ');
  return rest.length > 1 && `${rest[0]}: ` === ACCESS_LOST ? provider : undefined;
}

/** Why a table could not be fetched the last time; undefined if it could. */
export async function findSyncFailure(
  catalog: Catalog,
  project: string,
  table: FactTable,
): Promise<string | null | undefined> {
  return (await catalog.statements.get<Pick<SyncDay, 'reason'>>('sync-days.failure', { project, table }))?.reason;
}

/** Makes a project due for the sync, with what could not be fetched of some tables. */
export async function retryFailures(
  tx: Catalog,
  { project, tables, at }: { project: string; tables: readonly FactTable[]; at: Microseconds },
): Promise<void> {
  for (const table of tables) await tx.statements.run('sync-days.retry', { project, table, at });
  await tx.statements.run('sync-projects.now', { project });
}

/** The states of the days of a project, by table and day. */
export async function listSyncDays(catalog: Catalog, project: string): Promise<SyncDay[]> {
  const rows = await catalog.statements.all<Row>('sync-days.of_project', { project });
  return rows.map((row) => ({ ...row, final: row.final === 1, cutOff: row.cutOff === 1 }));
}

export async function putSyncDays(catalog: Catalog, project: string, days: readonly SyncDay[]): Promise<void> {
  const rows = days.map(({ final, cutOff, ...day }) => ({
    project,
    ...day,
    final: Number(final),
    cutOff: Number(cutOff),
  }));
  await catalog.statements.runEach('sync-days.put', rows);
}

/** Stores the age at which days were compared. */
export async function putCompared(catalog: Catalog, project: string, days: ReadonlyMap<Day, number>): Promise<void> {
  const rows = [...days].map(([day, compared]) => ({ project, day, compared }));
  await catalog.statements.runEach('sync-days.set_compared', rows);
}

/** Makes all days of a project pending. Its facts remain until they are replaced. */
export async function forgetSyncDays(catalog: Catalog, project: string): Promise<void> {
  await catalog.statements.run('sync-days.forget', { project });
  await catalog.statements.run('sync-days.forget_keywords', { project });
}

/**
 * Forgets all days before a day, whose facts are dropped: if needed later, they are fetched again. False if there were
 * none.
 */
export async function forgetSyncDaysBefore(tx: Catalog, project: string, before: Day): Promise<boolean> {
  const days = await tx.statements.run('sync-days.forget_before', { project, before });
  const ended = await tx.statements.run('sync-days.keywords_end_before', { project, before });
  const begun = await tx.statements.run('sync-days.keywords_begin_at', { project, before });
  return days + ended + begun > 0;
}

/** The published days for which a keyword has been fetched, and its query. */
export interface FetchedKeyword extends Range {
  readonly id: string;
  readonly query: string;
}

export async function listFetchedKeywords(catalog: Catalog, project: string): Promise<FetchedKeyword[]> {
  return catalog.statements.all<FetchedKeyword>('sync-days.keywords', { project });
}

export async function putSyncKeywords(
  catalog: Catalog,
  project: string,
  keywords: readonly FetchedKeyword[],
): Promise<void> {
  const rows = keywords.map(({ id, query, from, to }) => ({ project, id, query, from, to }));
  await catalog.statements.runEach('sync-days.put_keyword', rows);
}

/** How far the sync knows a table; null where it knows no day. */
export interface LastDays {
  /** The last final day. */
  readonly final: Day | null;
  /** The last day that the provider has reported, with rows or without. */
  readonly reported: Day | null;
}

export async function readLastDays(catalog: Catalog, project: string, table: FactTable): Promise<LastDays> {
  return (await catalog.statements.get<LastDays>('sync-days.last', { project, table }))!;
}

/** The first day or week of a table that the provider still gave when it was last fetched; null if the sync knows none. */
export async function readFirstKept(catalog: Catalog, project: string, table: FactTable): Promise<Day | null> {
  return (await catalog.statements.get<{ day: Day | null }>('sync-days.first_kept', { project, table }))!.day;
}

/** `readLastDays` of all projects of a workspace, by project. */
export async function readLastDaysOfWorkspace(
  catalog: Catalog,
  workspace: string,
  table: FactTable,
): Promise<Map<string, LastDays>> {
  const rows = await catalog.statements.all<LastDays & { readonly project: string }>('sync-days.last_of_workspace', {
    workspace,
    table,
  });
  return new Map(rows.map(({ project, ...days }) => [project, days]));
}

/** A day that is without rows, could not be fetched, or was cut off. */
export type UnusualDay = Pick<SyncDay, 'state' | 'cutOff'>;

/** `listUnusualDays` of all projects of a workspace, by project. */
export async function listUnusualDaysOfWorkspace(
  catalog: Catalog,
  workspace: string,
  table: FactTable,
  { from, to }: Range,
): Promise<Map<string, Map<Day, UnusualDay>>> {
  const byProject = new Map<string, Map<Day, UnusualDay>>();
  const values = { workspace, table, from, to };
  const batches = catalog.statements.each<Pick<Row, 'day' | 'state' | 'cutOff'> & { project: string }>(
    'sync-days.not_whole_of_workspace',
    values,
  );
  for await (const rows of batches) {
    for (const { project, day, state, cutOff } of rows) {
      const days = byProject.get(project) ?? new Map<Day, UnusualDay>();
      byProject.set(project, days.set(day, { state, cutOff: cutOff === 1 }));
    }
  }
  return byProject;
}

/** The days of a table that are unusual, as far as the sync knows. */
export async function listUnusualDays(
  catalog: Catalog,
  project: string,
  table: FactTable,
  { from, to }: Range,
): Promise<Map<Day, UnusualDay>> {
  const values = { project, table, from, to };
  const rows = await catalog.statements.all<Pick<Row, 'day' | 'state' | 'cutOff'>>('sync-days.not_whole', values);
  return new Map(rows.map(({ day, state, cutOff }) => [day, { state, cutOff: cutOff === 1 }]));
}

/** A day whose hours were not all complete when they were last fetched. */
export interface PartialDay {
  /** A later day of the same fetch has rows, so that all its hours had been counted. */
  readonly isFollowed: boolean;
  /** A later fetch no longer had it: its hours stay as they are. */
  readonly isMissed: boolean;
}

/** The partial days of a range, as far as the sync knows. */
export async function listPartialDays(
  catalog: Catalog,
  project: string,
  range: Range,
): Promise<ReadonlyMap<Day, PartialDay>> {
  const rows = await catalog.statements.all<{ day: Day; followed: number; missed: number }>('sync-days.partial_hours', {
    project,
    ...range,
  });
  return new Map(
    rows.map(({ day, followed, missed }) => [day, { isFollowed: followed === 1, isMissed: missed === 1 }]),
  );
}

/** The days of a project's table that came from a bulk export, as ranges in order. */
export interface BulkExportDays {
  readonly project: string;
  readonly table: FactTable;
  readonly ranges: readonly Range[];
}

type TableRange = Range & Pick<BulkExportDays, 'table'>;
type ProjectRange = TableRange & Pick<BulkExportDays, 'project'>;

/** The days of a project that came from a bulk export, by table; tables without any are left out. */
export async function readBulkExportDays(catalog: Catalog, project: string): Promise<Map<FactTable, Range[]>> {
  const rows = await catalog.statements.all<TableRange>('bulk-export-days.of_project', { project });
  const tables = [...Map.groupBy(rows, ({ table }) => table)];
  return new Map(tables.map(([table, days]) => [table, days.map(rangeOf)]));
}

/** The days of a table that came from a bulk export, by project of a workspace; projects without any are left out. */
export async function readBulkExportDaysOfWorkspace(
  catalog: Catalog,
  workspace: string,
  table: FactTable,
): Promise<Map<string, Range[]>> {
  const rows = await catalog.statements.all<ProjectRange>('bulk-export-days.of_workspace', { workspace, table });
  const projects = [...Map.groupBy(rows, ({ project }) => project)];
  return new Map(projects.map(([project, days]) => [project, days.map(rangeOf)]));
}

/** The days of all projects that came from a bulk export, by project and table. */
export async function listBulkExportDays(catalog: Catalog): Promise<BulkExportDays[]> {
  const rows = await catalog.statements.all<ProjectRange>('bulk-export-days.all');
  const tables = Map.groupBy(rows, ({ project, table }) => JSON.stringify([project, table]));
  return [...tables.values()].map((days) => {
    const { project, table } = days[0]!;
    return { project, table, ranges: days.map(rangeOf) };
  });
}

/** Replaces what is known of a project's table. Requires a transaction. */
export async function putBulkExportDays(tx: Catalog, { project, table, ranges }: BulkExportDays): Promise<void> {
  await tx.statements.send('bulk-export-days.clear', { project, table });
  for (const { from, to } of ranges) await tx.statements.send('bulk-export-days.add', { project, table, from, to });
}

function rangeOf({ from, to }: Range): Range {
  return { from, to };
}

/** A surface with stored days, and the last day that it has reported. */
export interface SurfaceDays {
  readonly surface: Surface;
  readonly lastDay: Day;
}

/**
 * The last day that a surface has reported, with rows or without; later ones are unknown, not zeros. Null if it has no day.
 * @param stored the last stored day of its site table
 * @param known what the sync knows of that table
 */
export function lastReportedDay(
  { syncedThrough }: Pick<Project, 'syncedThrough'>,
  stored: Day | undefined,
  known: LastDays | undefined,
): Day | null {
  const [first, ...more] = [stored, known?.reported].filter((day) => day != null);
  return first === undefined || syncedThrough === null ? null : earlier(syncedThrough, more.reduce(later, first));
}

/** The surfaces of a project that have stored days. */
export async function listSurfaceDays(
  catalog: Catalog,
  project: Pick<Project, 'id' | 'syncedThrough'>,
): Promise<SurfaceDays[]> {
  const coverage = await readCoverage(catalog, project.id);
  const days: SurfaceDays[] = [];
  for (const surface of SURFACE_NAMES) {
    const table = siteTable(surface);
    const stored = coverage[table]?.lastDay;
    if (stored === undefined) continue;
    const lastDay =
      surface === 'web'
        ? project.syncedThrough
        : lastReportedDay(project, stored, await readLastDays(catalog, project.id, table));
    if (lastDay !== null) days.push({ surface, lastDay });
  }
  return days;
}
