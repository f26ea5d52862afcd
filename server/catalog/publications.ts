import { newUuid } from '../domain/ids.ts';
import type { Catalog } from './catalog.ts';

/** One change of the catalog that is in the journal. */
export interface Publication {
  readonly number: number;
  readonly id: string;
}

/** The last publication that the catalog holds. */
export async function lastPublication(catalog: Catalog): Promise<Publication> {
  return (await catalog.statements.get<Publication>('publication'))!;
}

/** Begins the next publication. */
export async function nextPublication(own: Catalog): Promise<Publication> {
  return (await own.statements.get<Publication>('publication_next', { id: newUuid() }))!;
}

/** Sets what a rebuilt catalog holds. */
export async function setPublication(own: Catalog, { number, id }: Publication): Promise<void> {
  await own.statements.run('publication_set', { number, id });
}
