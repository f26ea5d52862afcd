import { FileLeases } from './file-leases.ts';
import type { Lease, Leases } from './leases.ts';
import type { CatalogPlace } from './place.ts';

/** The leases of all processes that use a catalog. */
export function openLeases(place: CatalogPlace): Leases {
  return place.catalogUrl === '' ? new FileLeases(place.dataFolder) : { acquire: (name) => acquire(place, name) };
}

async function acquire(place: CatalogPlace, name: string): Promise<Lease | undefined> {
  // The driver is loaded only if it is used.
  const { acquireLease } = await import('./postgres/postgres-lease.ts');
  return acquireLease(place, name);
}
