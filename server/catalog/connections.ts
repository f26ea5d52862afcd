import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';
import { projectIdIsTaken } from './projects.ts';
import { dropProviderLists } from './stored-lists.ts';

export const CONNECTION_KINDS = ['search-console', 'bigquery'] as const;
export type ConnectionKind = (typeof CONNECTION_KINDS)[number];

/** Which of all queries and pages a connection keeps, by day, beside the tracked keywords. */
export const ARCHIVES = ['queries,pages', 'queries', 'pages', 'none'] as const;
export type Archive = (typeof ARCHIVES)[number];

/** How a project reaches a provider. It holds no secret: credentials are a file's name. */
export interface Connection {
  readonly kind: ConnectionKind;
  /** Path of one of Google's JSON files; null for the environment's default credentials. */
  readonly credentials: string | null;
  /** Replaces the provider's own address. */
  readonly endpoint: string | null;
  /** Replaces the address where access tokens are had. */
  readonly tokenEndpoint: string | null;
  /** `PROJECT.DATASET` of the bulk export; null but for `bigquery`. */
  readonly dataset: string | null;
  /** Where the dataset is, such as `EU`; null lets BigQuery find out. */
  readonly location: string | null;
  readonly archive: Archive;
}

export interface ListedConnection extends Connection {
  readonly workspace: string;
  readonly project: string;
  readonly property: string;
  readonly changedAt: Microseconds;
}

/** A connection cannot be set or removed; the message says why. */
class ConnectionRefused extends Error {}

const DATASET = /^[a-z][a-z0-9-]{4,28}[a-z0-9]\.\w{1,1024}$/;

/** The connections of a project, at most one of a kind. */
export async function connectionsOf(catalog: Catalog, project: string): Promise<Connection[]> {
  return catalog.statements.all<Connection>('connections_of_project', { project });
}

/** Every connection, or those of one workspace. */
export async function listConnections(catalog: Catalog, workspace: string | null): Promise<ListedConnection[]> {
  return catalog.statements.all<ListedConnection>('connections_all', { workspace });
}

/**
 * Sets a project's connection of its kind, in place of the one that is there. Lists that were fetched through another
 * address or from another dataset are dropped; new credentials for the same data leave them. A pause ends.
 */
export async function setConnection(
  catalog: Catalog,
  project: string,
  connection: Connection,
  at: Microseconds,
): Promise<void> {
  checkConnection(connection);
  await catalog.transaction(async (own) => {
    if (!(await projectIdIsTaken(own, project))) throw new ConnectionRefused(`There is no project '${project}'.`);
    const before = (await connectionsOf(own, project)).find(({ kind }) => kind === connection.kind);
    await own.statements.run('connection_upsert', { project, ...connection, at });
    await own.statements.run('pause_end', { project, kind: connection.kind });
    if (before === undefined || !readsTheSame(before, connection)) await dropProviderLists(own, project);
  });
}

/** Removes a connection, and the lists that came from providers. Throws where there is none of the kind. */
export async function removeConnection(catalog: Catalog, project: string, kind: ConnectionKind): Promise<void> {
  await catalog.transaction(async (own) => {
    if ((await own.statements.run('connection_delete', { project, kind })) === 0) {
      throw new ConnectionRefused(`Project '${project}' has no ${kind} connection.`);
    }
    await dropProviderLists(own, project);
  });
}

/** Throws where a connection cannot be what it says. */
export function checkConnection({ kind, dataset, location, endpoint, tokenEndpoint }: Connection): void {
  if (kind === 'bigquery' && (dataset === null || !DATASET.test(dataset))) {
    throw new ConnectionRefused(
      `A bigquery connection needs --dataset PROJECT.DATASET, such as my-project.searchconsole${dataset === null ? '' : `, not '${dataset}'`}.`,
    );
  }
  if (kind !== 'bigquery' && (dataset !== null || location !== null)) {
    throw new ConnectionRefused('--dataset and --location are for bigquery connections only.');
  }
  for (const [option, url] of Object.entries({ '--endpoint': endpoint, '--token-endpoint': tokenEndpoint })) {
    if (url !== null && !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
      throw new ConnectionRefused(`${option} must be an http or https address, not '${url}'.`);
    }
  }
}

function readsTheSame(a: Connection, b: Connection): boolean {
  return a.endpoint === b.endpoint && a.dataset === b.dataset && a.location === b.location;
}
