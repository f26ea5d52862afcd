import { randomUUID } from 'node:crypto';
import type { Catalog } from './catalog.ts';
import { CatalogFailure } from './failures.ts';

/** The identity of a catalog and of its file store. */
export interface StoreIdentity {
  readonly catalog: string;
  /** Null before both are joined. */
  readonly store: string | null;
  /** The address of the store when it was joined; other machines may name it otherwise. */
  readonly address: string | null;
}

/** Throws `CatalogFailure` for a catalog whose rows are gone. */
export async function readStoreIdentity(catalog: Catalog): Promise<StoreIdentity> {
  const identity = await catalog.statements.get<StoreIdentity>('store.identity');
  if (identity !== undefined) return identity;
  throw new CatalogFailure(
    'The catalog has lost its rows, which name the facts; nothing was changed. Restore it from a backup.',
  );
}

/** Joins the catalog with a store. Requires a transaction. */
export async function putStore(tx: Catalog, { id, address }: { id: string; address: string }): Promise<void> {
  await tx.statements.run('store.join', { store: id, address });
}

/** Makes a restored catalog another one than its original, which joins the store of its files. Requires a transaction. */
export async function forgetStore(tx: Catalog): Promise<void> {
  await tx.statements.run('store.part', { catalog: newIdentity() });
}

export function newIdentity(): string {
  return randomUUID().replaceAll('-', '');
}
