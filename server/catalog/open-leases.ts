import { FileLeases } from './file-leases.ts';
import type { Lease, Leases } from './leases.ts';
import type { CatalogPlace } from './place.ts';

/** The leases of all processes that use a catalog. */
export function openLeases({ dataFolder, catalogUrl }: CatalogPlace): Leases {
  return catalogUrl === '' ? new FileLeases(dataFolder) : { acquire: (name) => acquire(catalogUrl, name) };
}

async function acquire(catalogUrl: string, name: string): Promise<Lease | undefined> {
  // The driver is loaded only if it is used.
  const { acquireLease } = await import('./postgres/postgres-lease.ts');
  return acquireLease(catalogUrl, name);
}
