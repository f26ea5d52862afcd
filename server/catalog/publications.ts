import { newUuid } from '../domain/ids.ts';
import type { Catalog } from './catalog.ts';

/** A journaled change of the catalog. */
export interface Publication {
  readonly number: number;
  readonly id: string;
}

/** The last publication in the catalog. */
export async function lastPublication(catalog: Catalog): Promise<Publication> {
  return (await catalog.statements.get<Publication>('publication'))!;
}

/** Starts the next publication. */
export async function nextPublication(own: Catalog): Promise<Publication> {
  return (await own.statements.get<Publication>('publication_next', { id: newUuid() }))!;
}

/** Sets the last publication of a rebuilt catalog. */
export async function setPublication(own: Catalog, { number, id }: Publication): Promise<void> {
  await own.statements.run('publication_set', { number, id });
}
