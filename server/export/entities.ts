import type { Catalog } from '../catalog/catalog.ts';
import { eachRowOfProject, eachRowOfWorkspaces, findRow } from '../catalog/entity-rows.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import type { ExportedFile } from '../load/export-manifest.ts';
import { type Column, ENTITIES, type EntityTable, identifiers } from '../load/tables.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import type { LocalFiles } from '../storage/local-files.ts';
import { COPY_OPTIONS, type ExportFormat } from './formats.ts';

type Row = Record<string, string | number | null>;

export interface EntityScope {
  readonly workspace: string;
  readonly projects: readonly string[];
  /** Whether to include the notes of the workspace that belong to no project. */
  readonly isWorkspace: boolean;
}

/** Writes the entity tables of some projects; tables without rows have no file. */
export async function exportEntities(
  session: Session,
  catalog: Catalog,
  target: LocalFiles,
  scope: EntityScope,
  format: ExportFormat,
): Promise<ExportedFile[]> {
  const files: ExportedFile[] = [];
  for (const schema of ENTITIES) {
    const { columns, name: table, key } = schema;
    const stored = columns.map((column) => `"${column.name}" ${storedType(column)}`).join(', ');
    await session.run(sqlTemplate('export/entity_table', { columns: stored }));
    await session.append('exported_rows', rowsOf(catalog, schema, scope));
    const selected = columns.map((column) => `${exact(column, format)} as "${column.name}"`).join(', ');
    const fills = { columns: selected, key: identifiers(key), format: COPY_OPTIONS[format] };
    const file = `${table}.${format}`;
    const rows = await session.run(sqlTemplate('export/entities', fills), { target: target.prepare(file) });
    if (rows === 0) await target.remove(file);
    else files.push({ table, rows, ...(await target.seal(file)) });
  }
  return files;
}

/** The type in the catalog, which stores days as texts. */
function storedType({ type }: Column): string {
  return type.sql === 'date' ? 'varchar' : type.sql;
}

/** The value of a column in the type that the snapshot format names. */
function exact({ name, type }: Column, format: ExportFormat): string {
  if (type.name === 'TIMESTAMP') return `make_timestamp("${name}")`;
  if (type.sql === 'date') return `"${name}"::date`;
  // In CSV a list is a JSON text.
  if (type.name === 'VARCHAR[]' && format === 'parquet') return `from_json("${name}", '["VARCHAR"]')`;
  return `"${name}"`;
}

async function* rowsOf(
  catalog: Catalog,
  { name: table, columns }: EntityTable,
  { workspace, projects, isWorkspace }: EntityScope,
): AsyncGenerator<(string | number | boolean | null)[][], void> {
  const of = { table, columns: columns.map(({ name }) => name) };
  const valuesOf = (row: Row) =>
    columns.map(({ name, type }) => (type.sql === 'boolean' ? row[name] === 1 : (row[name] ?? null)));
  const byId = async (id: string) => [valuesOf((await findRow<Row>(catalog, of, id))!)];
  if (table === 'workspaces') {
    yield await byId(workspace);
    return;
  }
  for (const project of projects) {
    if (table === 'projects') yield await byId(project);
    else for await (const rows of eachRowOfProject<Row>(catalog, of, project)) yield rows.map(valuesOf);
  }
  if (table !== 'notes' || !isWorkspace) return;
  for await (const rows of eachRowOfWorkspaces<Row>(catalog, of)) {
    yield rows.filter((row) => row['workspace_id'] === workspace).map(valuesOf);
  }
}
