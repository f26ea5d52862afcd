import type { Catalog } from '../catalog/catalog.ts';
import { type Connection, connectionsOf } from '../catalog/connections.ts';
import type { Project } from '../catalog/projects.ts';
import { addDays, countDays, type Day, pacificDayOf } from '../domain/dates.ts';
import { Warehouse } from './bigquery.ts';
import { type FailureKind, ProviderFailure } from './failures.ts';
import type { Attempts } from './retries.ts';
import type { SearchConsole } from './search-console.ts';
import type { Sources } from './sources.ts';

/** What a test of a connection found, in sentences. */
export interface Finding {
  readonly kind: Connection['kind'];
  readonly works: boolean;
  readonly found: string;
  /** What to do where it does not work; '' where it does. */
  readonly advice: string;
}

const TIME = 30_000;
const SAMPLE_DAYS = 28;

const ADVICE: Record<Connection['kind'], Record<FailureKind, string>> = {
  'search-console': {
    'access-lost':
      'Give the identity of the credentials read access to exactly this property (sc-domain:… and https://…/ are different ones), or sign in again where a grant has expired.',
    'load-quota': 'Nothing is wrong with the connection: wait a quarter of an hour and test again.',
    'rate-limit': 'Nothing is wrong with the connection: wait a minute and test again.',
    'not-covered': 'Ask for a range that the provider has.',
    misconfigured: 'Correct what the reason says: the credentials file, or the API, which must be enabled.',
    broken: 'See whether this machine reaches the address of the provider, and test again.',
  },
  bigquery: {
    'access-lost':
      'Give the identity the roles BigQuery Data Viewer on the dataset and BigQuery Job User on its project, and see whether the name of the dataset is right.',
    'load-quota': "The project's BigQuery quota is used up: wait, or raise it.",
    'rate-limit': 'Nothing is wrong with the connection: wait a minute and test again.',
    'not-covered': 'Ask for a range that the export has; the reporting API serves the others.',
    misconfigured:
      'Correct what the reason says: the credentials file, the dataset, the API, or the bytes that a query may cost.',
    broken: 'See whether this machine reaches the address of BigQuery, and test again.',
  },
};

/** Tries the connections of a project: signs in and reads a little, as a fetch would. */
export async function testConnections(
  catalog: Catalog,
  sources: Sources,
  project: Project,
  now: number,
): Promise<Finding[]> {
  const connections = connectionsOf(catalog, project.id);
  return Promise.all(
    connections.map(async (connection): Promise<Finding> => {
      try {
        return { kind: connection.kind, works: true, ...(await tryOne(sources, connection, project, now)) };
      } catch (error) {
        if (!(error instanceof ProviderFailure)) throw error;
        const { kind } = connection;
        const found = `${kind} does not give ${project.property}: ${error.message}.`;
        return { kind, works: false, found, advice: ADVICE[kind][error.kind] };
      }
    }),
  );
}

async function tryOne(
  sources: Sources,
  connection: Connection,
  { property }: Project,
  now: number,
): Promise<{ found: string; advice: string }> {
  const signal = AbortSignal.timeout(2 * TIME);
  const attempts: Attempts = { requests: 0, retries: 0, retryUntil: performance.now() + TIME, pause: 500, signal };
  const source = sources.source(connection);
  return source instanceof Warehouse
    ? tryWarehouse(source, property, attempts)
    : trySearchConsole(source, property, now, attempts);
}

async function trySearchConsole(source: SearchConsole, property: string, now: number, attempts: Attempts) {
  const to = addDays(pacificDayOf(now), -1);
  const range = { from: addDays(to, 1 - SAMPLE_DAYS), to };
  const query = { kind: 'pages', property, range, country: null, allowMissingRecentDays: false } as const;
  const rows = await source.page(query, { start: 0, limit: 1 }, attempts);
  return rows.length > 0
    ? { found: `The reporting API gives ${property}.`, advice: '' }
    : { found: `The reporting API gives ${property}, which has no data in the last ${SAMPLE_DAYS} days.`, advice: '' };
}

async function tryWarehouse(source: Warehouse, property: string, attempts: Attempts) {
  const { table, days } = await source.origin({ kind: 'queries', property }, attempts);
  const sorted = [...days].sort();
  const first: Day | undefined = sorted[0];
  const last = sorted.at(-1);
  if (first === undefined || last === undefined) {
    return {
      found: `The dataset can be read, and the export has not written a day of ${table} yet.`,
      advice: 'Switch the export on for this property, or wait: its first day comes within two days.',
    };
  }
  const gaps = countDays(first, last) - days.size;
  const missing = gaps === 0 ? '' : `, ${gaps} of them missing`;
  return { found: `The warehouse has the days ${first} to ${last}${missing}; queries come from ${table}.`, advice: '' };
}
