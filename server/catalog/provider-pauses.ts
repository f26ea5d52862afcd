import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';
import type { ConnectionKind } from './connections.ts';

/** A time in which a property is not read at a provider, by any process. */
export interface ProviderPause {
  readonly until: Microseconds;
  /** What was refused: reading so much, asking so often, or anything at all. */
  readonly reason: 'load-quota' | 'rate-limit' | 'broken';
  /** The Pacific day of the last refusal over load. */
  readonly loadRefusedOn: Day | null;
}

/** The last pause of a property, also one that is over. */
export async function findPause(
  catalog: Catalog,
  kind: ConnectionKind,
  property: string,
): Promise<ProviderPause | undefined> {
  return catalog.statements.get<ProviderPause>('pause_get', { kind, property });
}

/** Sets the pause that `change` makes of the last one, if any, whatever other processes set meanwhile. */
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
