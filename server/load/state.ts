import type { Catalog } from '../catalog/catalog.ts';
import { eachRow, eachRowOfProject, eachRowOfWorkspaces, findRow } from '../catalog/entity-rows.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { type Column, ENTITIES, type EntityTable, identifiers } from './tables.ts';

/** What a load carries of the entity tables. Tables that it neither carries nor needs for a check cost nothing. */
export interface Carried {
  /** The tables that the snapshot has, in the order of `ENTITIES`: each is staged as `new_…`. */
  readonly tables: readonly EntityTable[];
  /** Those of them whose rows the snapshot has whole: what they remove is in `removed_…`. */
  readonly replaced: readonly EntityTable[];
}

/**
 * Makes, beside the staged rows (`new_…`), the rows of the catalog that the load touches (`old_…`), those it removes
 * (`removed_…`) and what will exist after it (`all_…`), so that rules over rows see the state that will be served.
 * @param factProjects the projects that facts of the load refer to
 * @param needed the names of the tables that checks look at, whether the load carries them or not
 * @returns the projects that the load names in its entity tables
 */
export async function buildState(
  session: Session,
  catalog: Catalog,
  { tables, replaced }: Carried,
  { factProjects, needed }: { factProjects: readonly string[]; needed: ReadonlySet<string> },
): Promise<string[]> {
  const named = tables.length === 0 ? [] : await nameOwners(session, tables);
  const projects = new Set([...named, ...factProjects]);

  for (const shape of ENTITIES) {
    const { name: table } = shape;
    const isCarried = tables.includes(shape);
    if (!isCarried && !needed.has(table)) continue;
    const links = shape.links.map((name) => shape.columns.find((column) => column.name === name)!);
    const parts = { table, key: identifiers(shape.key), columns: identifiers(shape.links), reach: shape.reach };
    const typed = links.map(({ name, type }) => `"${name}" ${type.sql}`).join(', ');
    // What the load does not carry stays as it is.
    const target = isCarried ? `old_${table}` : `all_${table}`;
    await session.run(sqlTemplate('load/state_table', { name: target, columns: typed }));
    const ids =
      isCarried && MOVABLE.includes(table) ? await session.rows<{ id: string }>(`select id from new_${table}`) : [];
    const rows = catalogRows(catalog, shape, links, { projects, ids: ids.map(({ id }) => id) });
    await session.append(target, rows);
    if (!isCarried) continue;
    const isReplaced = replaced.includes(shape);
    if (isReplaced) await session.run(sqlTemplate('load/removed_rows', parts));
    const kept = isReplaced ? ` anti join removed_${table} using (${parts.key})` : '';
    await session.run(sqlTemplate('load/state_after', { ...parts, kept }));
  }
  return named;
}

/** Makes `named_projects` and `named_workspaces`; returns the projects. */
async function nameOwners(session: Session, tables: readonly EntityTable[]): Promise<string[]> {
  const names = tables.map(({ name }) => name);
  await session.run(nameRows('named_projects', names, (table) => (table === 'projects' ? 'id' : 'project_id')));
  await session.run(nameRows('named_workspaces', names, (table) => (table === 'workspaces' ? 'id' : 'workspace_id')));
  return (await session.rows<{ id: string }>('select id from named_projects')).map(({ id }) => id);
}

/** Makes a table of the projects or workspaces that a load names: the values of one column of each table that has it. */
function nameRows(
  name: 'named_projects' | 'named_workspaces',
  carried: readonly string[],
  columnOf: (table: string) => string,
): string {
  const selects = ENTITIES.filter((shape) => carried.includes(shape.name)).flatMap(({ name: table, columns }) => {
    const column = columnOf(table);
    return columns.some((candidate) => candidate.name === column)
      ? [`select "${column}" from new_${table} where "${column}" is not null`]
      : [];
  });
  return sqlTemplate(`load/${name}`, { selects: selects.join('\nunion\n') || 'select null::varchar where false' });
}

/** Tables whose ids are unique over all projects: a load could take a row away from one that it does not name. */
const MOVABLE: readonly string[] = ['alerts', 'alert_rules', 'notes'];

/** Rows of the catalog: all workspaces and projects, what belongs to the named projects, and what has one of the ids. */
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
