import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';
import type { ConnectionKind } from './connections.ts';

/** Until when a provider's property is left alone; 0 when it is not. */
export async function pausedUntil(catalog: Catalog, kind: ConnectionKind, property: string): Promise<Microseconds> {
  const row = await catalog.statements.get<{ until: number }>('pause_get', { kind, property });
  return row?.until ?? 0;
}

/** Leaves a provider's property alone until an instant. */
export async function setPause(
  catalog: Catalog,
  kind: ConnectionKind,
  property: string,
  until: Microseconds,
): Promise<void> {
  await catalog.statements.run('pause_set', { kind, property, until });
}
