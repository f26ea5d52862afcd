import type { Catalog } from '../catalog/catalog.ts';
import { eachRow, eachRowOfProject, eachRowOfWorkspaces, findRow } from '../catalog/entity-rows.ts';
import type { Owners } from '../catalog/fact-files.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { type Column, ENTITIES, type EntityTable, identifiers } from './tables.ts';

/** The entity tables of a load. */
export interface Carried {
  /** The tables in the snapshot, in the order of `ENTITIES`, staged as `new_…`. */
  readonly tables: readonly EntityTable[];
  /** The tables that the snapshot replaces; removed rows are in `removed_…`. */
  readonly replaced: readonly EntityTable[];
}

/**
 * Creates the temporary tables that checks read, or creates them again, beside the staged rows (`new_…`): the catalog rows that
 * the load may change (`old_…`), those that it removes (`removed_…`), and the state after it (`all_…`). Replacing requires the tables of `nameOwners`.
 * @param projects those that entities or facts of the load name
 * @param needed names of the tables that checks read, in the load or not
 * @returns the number of rows of those that are not in the load, by table
 */
export async function buildState(
  session: Session,
  catalog: Catalog,
  { tables, replaced }: Carried,
  { projects, needed }: { projects: ReadonlySet<string>; needed: ReadonlySet<string> },
): Promise<Map<string, number>> {
  const others = new Map<string, number>();
  const read = ENTITIES.filter((schema) => tables.includes(schema) || needed.has(schema.name)).map((schema) => {
    const isCarried = tables.includes(schema);
    const links = schema.links.map((name) => schema.columns.find((column) => column.name === name)!);
    // Tables outside the load do not change.
    return { schema, isCarried, links, target: isCarried ? `old_${schema.name}` : `all_${schema.name}` };
  });
  const columnsOf = (links: readonly Column[]) => links.map(({ name, type }) => `"${name}" ${type.sql}`).join(', ');
  await session.runAll(
    read.map(({ target, links }) => sqlTemplate('load/state_table', { name: target, columns: columnsOf(links) })),
  );
  for (const { schema, isCarried, links, target } of read) {
    const { name: table } = schema;
    const fills = { table, key: identifiers(schema.key), columns: identifiers(schema.links), reach: schema.reach };
    const ids =
      isCarried && MOVABLE.includes(table) ? await session.rows<{ id: string }>(`select id from new_${table}`) : [];
    const rows = catalogRows(catalog, schema, links, { projects, ids: ids.map(({ id }) => id) });
    const appended = await session.append(target, rows);
    if (!isCarried) {
      others.set(table, appended);
      continue;
    }
    const isReplaced = replaced.includes(schema);
    if (isReplaced) await session.run(sqlTemplate('load/removed_rows', fills));
    const kept = isReplaced ? ` anti join removed_${table} using (${fills.key})` : '';
    await session.run(sqlTemplate('load/state_after', { ...fills, kept }));
  }
  return others;
}

/**
 * The projects and workspaces that the entity tables of a load name. If it replaces tables, creates `named_projects` and
 * `named_workspaces`, from which follows what it removes.
 */
export async function nameOwners(session: Session, { tables, replaced }: Carried): Promise<Owners> {
  const projects = nameRows(tables, (table) => (table === 'projects' ? 'id' : 'project_id'));
  const workspaces = nameRows(tables, (table) => (table === 'workspaces' ? 'id' : 'workspace_id'));
  if (replaced.length > 0) {
    await session.run(sqlTemplate('load/named_projects', { selects: projects ?? NONE }));
    await session.run(sqlTemplate('load/named_workspaces', { selects: workspaces ?? NONE }));
  }
  const idsOf = async (selects: string | undefined): Promise<Set<string>> =>
    new Set(selects === undefined ? [] : (await session.rows<{ id: string }>(selects)).map(({ id }) => id));
  return { projects: await idsOf(projects), workspaces: await idsOf(workspaces) };
}

const NONE = 'select null::varchar where false';

/** SELECT of the projects or workspaces that tables name; undefined if none has such a column. */
function nameRows(tables: readonly EntityTable[], columnOf: (table: string) => string): string | undefined {
  const selects = tables.flatMap(({ name: table, columns }) => {
    const column = columnOf(table);
    return columns.some((candidate) => candidate.name === column)
      ? [`select "${column}" as id from new_${table} where "${column}" is not null`]
      : [];
  });
  return selects.length === 0 ? undefined : selects.join('\nunion\n');
}

/** Tables whose ids are unique over all projects: a load could move a row from a project that it does not name. */
const MOVABLE: readonly string[] = ['alerts', 'alert_rules', 'notes'];

/** Catalog rows: all workspaces and projects, rows of the given projects, and rows with one of the ids. */
async function* catalogRows(
  catalog: Catalog,
  { name: table }: EntityTable,
  links: readonly Column[],
  { projects, ids }: { projects: ReadonlySet<string>; ids: readonly string[] },
): AsyncGenerator<(string | boolean | null)[][], void> {
  type Row = Record<string, string | number | null>;
  const of = { table, columns: links.map(({ name }) => name) };
  const toValues = (row: Row) =>
    links.map(({ name, type }) => (type.sql === 'boolean' ? row[name] === 1 : (row[name] as string | null)));
  const valuesOf = async function* (batches: AsyncIterable<readonly Row[]>) {
    for await (const rows of batches) yield rows.map(toValues);
  };
  if (table === 'workspaces' || table === 'projects') {
    yield* valuesOf(eachRow<Row>(catalog, of));
    return;
  }
  for (const project of projects) yield* valuesOf(eachRowOfProject<Row>(catalog, of, project));
  if (table === 'notes') yield* valuesOf(eachRowOfWorkspaces<Row>(catalog, of));
  for (const id of ids) {
    const row = await findRow<Row>(catalog, of, id);
    const owner = row?.['project_id'] ?? null;
    if (row !== undefined && owner !== null && !projects.has(owner as string)) yield [toValues(row)];
  }
}
