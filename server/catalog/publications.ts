import { newUuid } from '../domain/ids.ts';
import type { Catalog } from './catalog.ts';

/** A journaled change of the catalog. */
export interface Publication {
  readonly number: number;
  readonly id: string;
}

/** The last publication in the catalog. */
export async function lastPublication(catalog: Catalog): Promise<Publication> {
  return (await catalog.statements.get<Publication>('revisions.publication'))!;
}

/** Starts the next publication. */
export async function nextPublication(tx: Catalog): Promise<Publication> {
  return (await tx.statements.get<Publication>('revisions.next_publication', { id: newUuid() }))!;
}

/** Sets the last publication of a rebuilt catalog. */
export async function setPublication(tx: Catalog, { number, id }: Publication): Promise<void> {
  await tx.statements.run('revisions.set_publication', { number, id });
}
