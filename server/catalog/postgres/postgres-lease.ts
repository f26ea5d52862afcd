import type { Lease } from '../leases.ts';
import type { CatalogLocation } from '../location.ts';
import { poolOf } from './pool.ts';
import { tryLock } from './postgres-locks.ts';

/** Timeout for a server that may be gone, in milliseconds. */
const ANSWER_TIMEOUT = 10_000;

/** Takes a lease over several machines: an advisory lock on a separate connection. See `Leases`. */
export async function acquireLease(
  { catalogUrl, catalogConnections }: CatalogLocation,
  name: string,
): Promise<Lease | undefined> {
  const pool = poolOf(catalogUrl, catalogConnections);
  try {
    const connection = await pool.connect({ query_timeout: ANSWER_TIMEOUT });
    let isTaken = false;
    try {
      isTaken = await tryLock(connection, `lease ${name}`);
    } catch (error) {
      throw pool.named(error);
    } finally {
      if (!isTaken) await connection.end();
    }
    if (!isTaken) return undefined;
    return {
      isHeld: () =>
        connection.query('select 1').then(
          () => true,
          () => false,
        ),
      release: () => connection.end(),
    };
  } finally {
    await pool.close();
  }
}
