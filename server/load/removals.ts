import type { Catalog } from '../catalog/catalog.ts';
import { type ProjectContents, readProjectContents } from '../catalog/contents.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { count, type Problem } from './problems.ts';
import type { Carried } from './state.ts';
import { packed } from './tables.ts';

/** So many rows of a table are named. */
const MAX_NAMED = 100;

/** What a replacing load deletes. */
export interface Removals {
  /** By table: how many rows, and the first of them. */
  readonly rows: Readonly<Record<string, { readonly rows: number; readonly first: readonly object[] }>>;
  /** Projects, with all that goes with them. */
  readonly projects: readonly ProjectContents[];
  /** Projects whose deletion has not been confirmed: the load is refused, a dry run says so. */
  readonly unconfirmed: readonly string[];
}

/** What the load removes of the catalog, as `buildState` found it. */
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

/** What refuses a load that would delete projects without being told to. */
export function unconfirmedRemovals({ projects, unconfirmed }: Removals): Problem[] {
  if (unconfirmed.length === 0) return [];
  const options = unconfirmed.map((id) => `--confirm-delete ${id}`).join(' ');
  const message = `${count(unconfirmed.length, 'project')} would be deleted, with all that belongs to ${unconfirmed.length === 1 ? 'it' : 'them'}, because --replace is given and the snapshot does not have ${unconfirmed.length === 1 ? 'it' : 'them'}. To delete, add ${options}. What would go:`;
  return [{ table: 'projects', column: 'id', message, rows: projects.filter(({ id }) => unconfirmed.includes(id)) }];
}

/** Warns of confirmations that nothing needs: perhaps they name something else than was meant. */
export function needlessConfirmations({ projects }: Removals, confirmed: readonly string[]): string[] {
  return confirmed
    .filter((id) => !projects.some((project) => project.id === id))
    .map((id) => `--confirm-delete ${id}: this load does not delete a project of that id.`);
}
