import { KnownError, notFound } from '../domain/errors.ts';
import { newUuid } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import { requireVersion, versionOf } from '../domain/versions.ts';
import { type AuditAction, recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { createOnce, type Submission } from './submissions.ts';

/** A view of a project that members have named. */
export interface SavedView {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  /** The screen and its parameters, below the address of the project: `/queries?change=up`. */
  readonly address: string;
  readonly author: string;
  readonly createdAt: Microseconds;
}

/** Views of one project. */
const MAX_VIEWS = 200;

interface Writer {
  readonly workspace: string;
  readonly by: string;
  readonly at: Microseconds;
}

/** The views of a project, by name. */
export async function listSavedViews(catalog: Catalog, project: string): Promise<SavedView[]> {
  return catalog.statements.all<SavedView>('saved-views.of_project', { project, id: null });
}

export async function findSavedView(catalog: Catalog, project: string, id: string): Promise<SavedView | undefined> {
  return catalog.statements.get<SavedView>('saved-views.of_project', { project, id });
}

/** Identifies what members edit of a view. */
export function viewVersion({ name, address }: SavedView): string {
  return versionOf({ name, address });
}

/** Saves a view. Throws `conflict` where the project has one of that name, or too many. */
export async function saveView(
  catalog: Catalog,
  fields: Pick<SavedView, 'project' | 'name' | 'address'>,
  { submission, ...writer }: Writer & { readonly submission?: Submission },
): Promise<SavedView> {
  const save = async (tx: Catalog): Promise<SavedView> => {
    const known = await listSavedViews(tx, fields.project);
    if (known.length >= MAX_VIEWS)
      throw new KnownError('conflict', `A project has at most ${MAX_VIEWS} saved views; remove some.`);
    requireFreeName(known, fields.name);
    const view = { id: newUuid(), ...fields, author: writer.by, createdAt: writer.at };
    const { id, project, name, address, author, createdAt: at } = view;
    await tx.statements.run('saved-views.add', { id, project, name, address, author, at });
    await audit(tx, 'view.created', view, writer);
    return view;
  };
  return catalog.transaction((tx) => createOnce(tx, submission, () => save(tx)));
}

/** Changes the name or the address of a view. Throws `not_found`, `outdated`, and `conflict` for the name of another one. */
export async function changeView(
  catalog: Catalog,
  { project, id }: Pick<SavedView, 'project' | 'id'>,
  changes: Partial<Pick<SavedView, 'name' | 'address'>>,
  { version, ...writer }: Writer & { readonly version: string },
): Promise<SavedView> {
  return catalog.transaction(async (tx) => {
    const known = await listSavedViews(tx, project);
    const found = known.find((view) => view.id === id);
    if (found === undefined) throw notFound('The project has no such view.');
    requireVersion(viewVersion(found), version);
    const view = { ...found, ...changes };
    requireFreeName(
      known.filter((other) => other !== found),
      view.name,
    );
    await tx.statements.run('saved-views.change', { id, name: view.name, address: view.address });
    await audit(tx, 'view.changed', view, writer);
    return view;
  });
}

/** Removes a view; one that is gone stays so. */
export async function removeView(catalog: Catalog, view: SavedView, writer: Writer): Promise<void> {
  await catalog.transaction(async (tx) => {
    if ((await tx.statements.run('saved-views.remove', { id: view.id })) > 0) {
      await audit(tx, 'view.removed', view, writer);
    }
  });
}

function requireFreeName(known: readonly SavedView[], name: string): void {
  const taken = known.find((view) => view.name.toLowerCase() === name.toLowerCase());
  if (taken !== undefined) throw new KnownError('conflict', `'name' is taken: the project has a view '${taken.name}'.`);
}

async function audit(
  tx: Catalog,
  action: AuditAction,
  { id, project, name, address }: SavedView,
  { workspace, by, at }: Writer,
): Promise<void> {
  await recordAudit(tx, { at, workspace, actor: by, action, subject: id, details: { project, name, address } });
}
