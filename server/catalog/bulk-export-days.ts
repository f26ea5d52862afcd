import type { Range } from '../domain/range.ts';
import type { FactTable } from '../model/tables.ts';
import type { Catalog } from './catalog.ts';

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
