import { measure } from '../runtime/measurements.ts';
import { FileLeases, type Lease, type Leases } from './leases.ts';
import type { CatalogLocation } from './location.ts';

/** The leases of all processes that use a catalog. */
export function openLeases(location: CatalogLocation): Leases {
  const leases =
    location.catalogUrl === ''
      ? new FileLeases(location.dataFolder)
      : { acquire: (name: string) => acquire(location, name) };
  return { acquire: (name) => measured(() => leases.acquire(name)) };
}

async function acquire(location: CatalogLocation, name: string): Promise<Lease | undefined> {
  // The driver is loaded only if it is used.
  const { acquireLease } = await import('./postgres/postgres-locks.ts');
  return acquireLease(location, name);
}

async function measured(take: () => Promise<Lease | undefined>): Promise<Lease | undefined> {
  let lease: Lease | undefined;
  try {
    lease = await take();
  } catch (error) {
    measure('lease', () => ({ outcome: 'away' }));
    throw error;
  }
  measure('lease', () => ({ outcome: lease === undefined ? 'elsewhere' : 'taken' }));
  if (lease === undefined) return undefined;
  const taken = lease;
  return {
    async isHeld() {
      const isHeld = await taken.isHeld();
      if (!isHeld) measure('lease', () => ({ outcome: 'lost' }));
      return isHeld;
    },
    async release() {
      await taken.release();
      measure('lease', () => ({ outcome: 'released' }));
    },
  };
}
