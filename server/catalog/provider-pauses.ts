import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';

/** A pause in which no process reads a property from a provider. */
export interface ProviderPause {
  readonly until: Microseconds;
  /** The kind of failure. */
  readonly reason: 'load-quota' | 'rate-limit' | 'broken';
  /** The Pacific day on which the load quota was last exhausted. */
  readonly loadRefusedOn: Day | null;
}

/** The last pause of a property, even if it has ended. */
export async function findPause(catalog: Catalog, kind: string, property: string): Promise<ProviderPause | undefined> {
  return catalog.statements.get<ProviderPause>('provider-pauses.one', { kind, property });
}

/** Atomically replaces the last pause by the result of `change`, if any. */
export async function changePause(
  catalog: Catalog,
  kind: string,
  property: string,
  change: (before: ProviderPause | undefined) => ProviderPause | undefined,
): Promise<void> {
  await catalog.transaction(async (tx) => {
    const pause = change(await findPause(tx, kind, property));
    if (pause !== undefined) await tx.statements.run('provider-pauses.put', { kind, property, ...pause });
  });
}
