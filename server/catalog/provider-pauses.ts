import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';
import type { ConnectionKind } from './connections.ts';

/** A pause in which no process reads a property from a provider. */
export interface ProviderPause {
  readonly until: Microseconds;
  /** The kind of failure. */
  readonly reason: 'load-quota' | 'rate-limit' | 'broken';
  /** The Pacific day on which the load quota was last exhausted. */
  readonly loadRefusedOn: Day | null;
}

/** The last pause of a property, even if it has ended. */
export async function findPause(
  catalog: Catalog,
  kind: ConnectionKind,
  property: string,
): Promise<ProviderPause | undefined> {
  return catalog.statements.get<ProviderPause>('pause_get', { kind, property });
}

/** Atomically replaces the last pause by the result of `change`, if any. */
export async function changePause(
  catalog: Catalog,
  kind: ConnectionKind,
  property: string,
  change: (before: ProviderPause | undefined) => ProviderPause | undefined,
): Promise<void> {
  await catalog.transaction(async (own) => {
    const pause = change(await findPause(own, kind, property));
    if (pause !== undefined) await own.statements.run('pause_set', { kind, property, ...pause });
  });
}
