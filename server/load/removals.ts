import type { Catalog } from '../catalog/catalog.ts';
import { type ProjectContents, readProjectContents } from '../catalog/projects.ts';
import { count, type Problem } from '../domain/problems.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import type { Carried } from './state.ts';
import { packed } from './tables.ts';

/** Rows listed per table. */
const MAX_NAMED = 100;

/** Rows that a load deletes. */
export interface Removals {
  /** Number of rows and the first of them, by table. */
  readonly rows: Readonly<Record<string, { readonly rows: number; readonly first: readonly object[] }>>;
  /** Projects with everything that is deleted with them. */
  readonly projects: readonly ProjectContents[];
  /** Projects whose deletion is not confirmed: a load is rejected, a dry run lists them. */
  readonly unconfirmed: readonly string[];
}

/** The catalog rows that the load removes. Requires the tables that `buildState` creates. */
export async function readRemovals(
  session: Session,
  catalog: Catalog,
  { replaced }: Carried,
  confirmed: readonly string[],
): Promise<Removals> {
  const rows: Record<string, { rows: number; first: object[] }> = {};
  for (const { name: table, key, links } of replaced) {
    const pack = packed([...new Set([...key, ...links.filter((link) => link === 'query')])]);
    const text = sqlTemplate('load/removed_count', { table, pack });
    const [found] = await session.rows<{ rows: number; first: string | null }>(text, { max: MAX_NAMED });
    if (!found?.rows) continue;
    rows[table] = { rows: found.rows, first: JSON.parse(found.first ?? '[]') as object[] };
  }
  const ids = replaced.some(({ name }) => name === 'projects')
    ? await session.rows<{ id: string }>('select id from removed_projects order by id')
    : [];
  const projects: ProjectContents[] = [];
  for (const { id } of ids) {
    const contents = await readProjectContents(catalog, id);
    if (contents !== undefined) projects.push(contents);
  }
  return {
    rows,
    projects,
    unconfirmed: ids.map(({ id }) => id).filter((id) => !confirmed.includes(id)),
  };
}

/** Rejects a load that would delete projects without confirmation. */
export function unconfirmedRemovals({ projects, unconfirmed }: Removals): Problem[] {
  if (unconfirmed.length === 0) return [];
  const options = unconfirmed.map((id) => `--confirm-delete ${id}`).join(' ');
  const message = `${count(unconfirmed.length, 'project')} would be deleted, with everything that belongs to ${unconfirmed.length === 1 ? 'it' : 'them'}, because --replace is given and the snapshot does not have ${unconfirmed.length === 1 ? 'it' : 'them'}. To delete, add ${options}. Would be deleted:`;
  return [{ table: 'projects', column: 'id', message, rows: projects.filter(({ id }) => unconfirmed.includes(id)) }];
}

/** Warns of unneeded confirmations: the id may be wrong. */
export function needlessConfirmations({ projects }: Removals, confirmed: readonly string[]): string[] {
  return confirmed
    .filter((id) => !projects.some((project) => project.id === id))
    .map((id) => `--confirm-delete ${id}: this load does not delete a project with that id.`);
}
