import type { Catalog } from '../catalog/catalog.ts';
import { type Connection, connectionsOf } from '../catalog/connections.ts';
import type { Project } from '../catalog/projects.ts';
import { addDays, countDays, type Day, pacificDayOf } from '../domain/dates.ts';
import { type FailureKind, ProviderFailure, type SetupStep } from './failures.ts';
import { jobOfCommand } from './properties.ts';
import type { Providers } from './providers.ts';
import type { ProviderRun } from './retries.ts';
import type { SearchAnalytics } from './search-analytics.ts';
import { findMissingStep, sentenceOf } from './setup-steps.ts';
import type { Warehouse } from './warehouse.ts';

/** The result of a connection test. */
export interface ConnectionTestResult {
  readonly kind: Connection['kind'];
  readonly works: boolean;
  readonly found: string;
  /** How to fix the connection; '' if it works. */
  readonly advice: string;
  /** The missing setup step on the provider's side, if known. */
  readonly missing: SetupStep | null;
}

const SAMPLE_DAYS = 28;

const ADVICE: Record<Connection['kind'], Record<FailureKind, string>> = {
  'search-console': {
    'access-lost':
      'Give the identity of the credentials read access to exactly this property (sc-domain:… and https://…/ are different ones), or sign in again if the grant has expired.',
    'load-quota': 'Nothing is wrong with the connection: wait a quarter of an hour and test again.',
    'rate-limit': 'Nothing is wrong with the connection: wait a minute and test again.',
    'not-covered': 'Use a range that the provider has.',
    misconfigured: 'Correct what the reason says: the credentials file, or the API, which must be enabled.',
    broken: 'Check that this machine can reach the address of the provider, and test again.',
  },
  bigquery: {
    'access-lost':
      'Give the identity the roles BigQuery Data Viewer on the dataset and BigQuery Job User on its project, and check the name of the dataset.',
    'load-quota': "The project's BigQuery quota is used up: wait, or raise it.",
    'rate-limit': 'Nothing is wrong with the connection: wait a minute and test again.',
    'not-covered': 'Use a range that the export has; the reporting API serves the others.',
    misconfigured:
      'Correct what the reason says: the credentials file, the dataset, the API, or the limit of bytes billed.',
    broken: 'Check that this machine can reach the address of BigQuery, and test again.',
  },
};

/**
 * Tests the connections of a project: signs in and reads a few rows. Ignores pauses of providers.
 */
export async function testConnections(
  catalog: Catalog,
  providers: Providers,
  project: Project,
  now: number,
): Promise<ConnectionTestResult[]> {
  return Promise.all(
    (await connectionsOf(catalog, project.id)).map(async (connection): Promise<ConnectionTestResult> => {
      const { kind } = connection;
      try {
        return { kind, works: true, missing: null, ...(await tryOne(providers, connection, project, now)) };
      } catch (error) {
        if (!(error instanceof ProviderFailure)) throw error;
        const found = `${kind} cannot read ${project.property}: ${sentenceOf(error)}`;
        const missing =
          kind === 'search-console' ? await findMissingStep(providers, connection, project.property, error) : undefined;
        const advice = missing?.advice ?? ADVICE[kind][error.kind];
        return { kind, works: false, found, advice, missing: missing?.step ?? null };
      }
    }),
  );
}

type Found = Pick<ConnectionTestResult, 'found' | 'advice'>;

function tryOne(providers: Providers, connection: Connection, { property }: Project, now: number): Promise<Found> {
  const job = { ...jobOfCommand(property, 'connection test'), provider: connection.kind, ignoresPauses: true };
  return providers.gateway.run(
    job,
    (run) => TESTS[connection.kind](providers, connection, property, now, run),
    () => ({}),
  );
}

type Test = (
  providers: Providers,
  connection: Connection,
  property: string,
  now: number,
  run: ProviderRun,
) => Promise<Found>;

const TESTS: Record<Connection['kind'], Test> = {
  'search-console': (providers, connection, property, now, run) =>
    trySearchAnalytics(providers.searchAnalytics(connection), property, now, run),
  bigquery: (providers, connection, property, _now, run) =>
    tryWarehouse(providers.warehouse(connection), property, run),
};

async function trySearchAnalytics(
  client: SearchAnalytics,
  property: string,
  now: number,
  run: ProviderRun,
): Promise<Found> {
  const to = addDays(pacificDayOf(now), -1);
  const from = addDays(to, 1 - SAMPLE_DAYS);
  const query = { property, from, to, dimensions: ['page'], aggregation: 'byPage', dataState: 'all' } as const;
  const { rows } = await client.page(query, { start: 0, limit: 1 }, run);
  return rows.length > 0
    ? { found: `The reporting API can read ${property}.`, advice: '' }
    : {
        found: `The reporting API can read ${property}, which has no data in the last ${SAMPLE_DAYS} days.`,
        advice: '',
      };
}

async function tryWarehouse(warehouse: Warehouse, property: string, run: ProviderRun): Promise<Found> {
  const { table, days } = await warehouse.origin('queries', property, run);
  const sorted = [...days].sort();
  const first: Day | undefined = sorted[0];
  const last = sorted.at(-1);
  if (first === undefined || last === undefined) {
    return {
      found: `The dataset can be read, and the export has not written a day of ${table} yet.`,
      advice: 'Enable the export for this property, or wait: its first day arrives within two days.',
    };
  }
  const gaps = countDays(first, last) - days.size;
  const missing = gaps === 0 ? '' : `, ${gaps} of them missing`;
  return { found: `The warehouse has the days ${first} to ${last}${missing}; queries come from ${table}.`, advice: '' };
}
