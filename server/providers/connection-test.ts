import type { Catalog } from '../catalog/catalog.ts';
import { connectionsOf } from '../catalog/connections.ts';
import type { Project } from '../catalog/projects.ts';
import { listSurfaceDays, type SurfaceDays } from '../catalog/sync-days.ts';
import { addDays, type Day } from '../domain/dates.ts';
import { isStale } from '../domain/finality.ts';
import { isOtherEngine, STALE_AFTER_DAYS, SURFACES, type Surface } from '../model/surfaces.ts';
import { TABLES } from '../model/tables.ts';
import { ProviderFailure, type SetupStep, sentenceOf } from './failures.ts';
import { jobOfCommand } from './gateway.ts';
import type { ConnectedProvider } from './provider.ts';
import type { Providers } from './providers.ts';
import { providerOf } from './registry.ts';

/** The result of a connection test. */
export interface ConnectionTestResult {
  readonly kind: string;
  readonly works: boolean;
  readonly found: string;
  /** How to fix the connection, and what it has not reported for long; '' if all is well. */
  readonly advice: string;
  /** The missing setup step on the provider's side, if known. */
  readonly missing: SetupStep | null;
}

/**
 * Tests the connections of a project: signs in and reads a few rows. Ignores pauses of providers.
 * @param now milliseconds
 */
export async function testConnections(
  catalog: Catalog,
  providers: Providers,
  project: Project,
  now: number,
): Promise<ConnectionTestResult[]> {
  const connections = await connectionsOf(catalog, project.id);
  const surfaces = await listSurfaceDays(catalog, project);
  return Promise.all(
    connections.map(async (connection) => {
      const { kind } = connection;
      const client = providers.connect(providerOf(kind), connection);
      const options = { kind, property: project.property, now, ignoresPauses: true };
      const { failure: _, ...result } = await testConnection(providers, client, options);
      const today = providerOf(kind).pacing.dayOf(now);
      return { ...result, advice: [result.advice, ...staleOf(kind, surfaces, today)].filter(Boolean).join(' ') };
    }),
  );
}

/** What is stale of the surfaces that a kind of connection fills. */
function staleOf(kind: string, surfaces: readonly SurfaceDays[], today: Day): string[] {
  const tables = providerOf(kind).wholeTables;
  const fills = (of: Surface): boolean =>
    tables === undefined ? !isOtherEngine(of) : tables.some((table) => TABLES[table].surface === of);
  return surfaces
    .filter(({ surface, lastDay }) => fills(surface) && isStale(lastDay, today))
    .map(
      ({ surface, lastDay }) =>
        `${SURFACES[surface].label}: the newest day is ${lastDay}, more than ${STALE_AFTER_DAYS} days ago.`,
    );
}

/** Tests a connection, which need not be stored. `failure`: why it does not work. */
export async function testConnection(
  providers: Providers,
  client: ConnectedProvider,
  { kind, property, now, ignoresPauses }: { kind: string; property: string; now: number; ignoresPauses: boolean },
): Promise<ConnectionTestResult & { readonly failure?: ProviderFailure }> {
  try {
    const limited = await client.limitedBy?.();
    const { found, advice = '' } = await providers.gateway.run(
      { ...jobOfCommand(kind, property, 'connection test'), limited, ignoresPauses },
      (run) => client.test(property, addDays(providerOf(kind).pacing.dayOf(now), -1), run),
      () => ({}),
    );
    return { kind, works: true, missing: null, found, advice };
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    const found = `${kind} cannot read ${property}: ${sentenceOf(error)}`;
    const missing = await client.findMissingStep?.(property, error);
    const advice = missing?.advice ?? providerOf(kind).advice[error.kind];
    return { kind, works: false, found, advice, missing: missing?.step ?? null, failure: error };
  }
}
