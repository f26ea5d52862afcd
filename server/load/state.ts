import type { Catalog } from '../catalog/catalog.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../sql.ts';
import { type Column, ENTITIES, type EntityTable, identifiers } from './tables.ts';

/**
 * Makes, beside the staged rows (`new_…`), the rows of the catalog that the load touches (`old_…`), those it removes
 * (`removed_…`) and what will exist after it (`all_…`), so that rules over rows see the state that will be served.
 * @param factProjects the projects that facts of the load refer to
 * @param replaced the entity tables whose rows the snapshot has whole
 */
export async function buildState(
  session: Session,
  catalog: Catalog,
  { factProjects, replaced }: { factProjects: readonly string[]; replaced: ReadonlySet<string> },
): Promise<void> {
  const selects = ENTITIES.filter(({ name }) => name !== 'workspaces').map(({ name }) =>
    name === 'projects'
      ? 'select id from new_projects'
      : `select project_id from new_${name} where project_id is not null`,
  );
  await session.run(sqlTemplate('load/named_projects', { selects: selects.join('\nunion\n') }));
  await session.run(sqlTemplate('load/named_workspaces', {}));
  const named = await session.rows<{ id: string }>('select id from named_projects');
  const projects = new Set([...named.map(({ id }) => id), ...factProjects]);

  for (const shape of ENTITIES) {
    const { name: table } = shape;
    const links = shape.links.map((name) => shape.columns.find((column) => column.name === name)!);
    const parts = { table, key: identifiers(shape.key), columns: identifiers(shape.links), reach: shape.reach };
    const typed = links.map(({ name, type }) => `"${name}" ${type.sql}`).join(', ');
    await session.run(sqlTemplate('load/state_table', { table, columns: typed }));
    const ids = MOVABLE.includes(table) ? await session.rows<{ id: string }>(`select id from new_${table}`) : [];
    await session.append(
      `old_${table}`,
      catalogRows(catalog, shape, links, { projects, ids: ids.map(({ id }) => id) }),
    );
    await session.run(sqlTemplate('load/removed_rows', parts), { replace: replaced.has(table) });
    await session.run(sqlTemplate('load/state_after', parts));
  }
}

/** Tables whose ids are unique over all projects: a load could take a row away from one that it does not name. */
const MOVABLE: readonly string[] = ['alerts', 'notes'];

/** Rows of the catalog: all workspaces and projects, what belongs to the named projects, and what has one of the ids. */
function* catalogRows(
  catalog: Catalog,
  { name: table }: EntityTable,
  links: readonly Column[],
  { projects, ids }: { projects: ReadonlySet<string>; ids: readonly string[] },
): Iterable<(string | boolean | null)[]> {
  const select = { table, columns: identifiers(links.map(({ name }) => name)) };
  const toValues = (row: Record<string, string | number | null>) =>
    links.map(({ name, type }) => (type.sql === 'boolean' ? row[name] === 1 : (row[name] as string | null)));
  if (table === 'workspaces' || table === 'projects') {
    for (const row of catalog.eachOfTemplate<Record<string, string>>('state_all', select)) yield toValues(row);
    return;
  }
  for (const project of projects) {
    for (const row of catalog.eachOfTemplate<Record<string, string>>('state_of_project', select, { project })) {
      yield toValues(row);
    }
  }
  if (table === 'notes') {
    for (const row of catalog.eachOfTemplate<Record<string, string>>('state_of_workspaces', select))
      yield toValues(row);
  }
  for (const id of ids) {
    for (const row of catalog.eachOfTemplate<Record<string, string | null>>('state_of_id', select, { id })) {
      const owner = row['project_id'] ?? null;
      if (owner !== null && !projects.has(owner)) yield toValues(row);
    }
  }
}
