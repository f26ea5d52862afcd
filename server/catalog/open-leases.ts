import { FileLeases } from './file-leases.ts';
import type { Lease, Leases } from './leases.ts';
import type { CatalogLocation } from './location.ts';

/** The leases of all processes that use a catalog. */
export function openLeases(location: CatalogLocation): Leases {
  return location.catalogUrl === ''
    ? new FileLeases(location.dataFolder)
    : { acquire: (name) => acquire(location, name) };
}

async function acquire(location: CatalogLocation, name: string): Promise<Lease | undefined> {
  // The driver is loaded only if it is used.
  const { acquireLease } = await import('./postgres/postgres-lease.ts');
  return acquireLease(location, name);
}
