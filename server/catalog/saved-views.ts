import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';

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

/** The views of a project, by name. */
export async function listSavedViews(catalog: Catalog, project: string): Promise<SavedView[]> {
  return catalog.statements.all<SavedView>('saved-views.of_project', { project, id: null });
}

export async function findSavedView(catalog: Catalog, project: string, id: string): Promise<SavedView | undefined> {
  return catalog.statements.get<SavedView>('saved-views.of_project', { project, id });
}

export async function addView(tx: Catalog, { createdAt: at, ...view }: SavedView): Promise<void> {
  await tx.statements.run('saved-views.add', { ...view, at });
}

/** Changes the name and the address of a view. */
export async function changeView(tx: Catalog, { id, name, address }: SavedView): Promise<void> {
  await tx.statements.run('saved-views.change', { id, name, address });
}

export async function removeView(tx: Catalog, id: string): Promise<void> {
  await tx.statements.run('saved-views.remove', { id });
}
