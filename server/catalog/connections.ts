import type { Microseconds } from '../domain/instants.ts';
import { actorOf, recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { requireProject } from './projects.ts';
import { dropProviderLists } from './stored-lists.ts';

export const CONNECTION_KINDS = ['search-console', 'bigquery'] as const;
export type ConnectionKind = (typeof CONNECTION_KINDS)[number];

/** Whether the sync stores all queries and pages by day, in addition to tracked keywords. */
export const ARCHIVES = ['queries,pages', 'queries', 'pages', 'none'] as const;
export type Archive = (typeof ARCHIVES)[number];

/** A connection of a project to a provider. Contains no secrets: credentials are a file path. */
export interface Connection {
  readonly kind: ConnectionKind;
  /** Path of one of Google's JSON files; null for the environment's default credentials. */
  readonly credentials: string | null;
  /** Replaces the provider's own address. */
  readonly endpoint: string | null;
  /** Replaces the address of the token endpoint. */
  readonly tokenEndpoint: string | null;
  /** `PROJECT.DATASET` of the bulk export; null except for `bigquery`. */
  readonly dataset: string | null;
  /** Location of the dataset, such as `EU`; null for automatic detection. */
  readonly location: string | null;
  readonly archive: Archive;
}

export interface ListedConnection extends Connection {
  readonly workspace: string;
  readonly project: string;
  readonly property: string;
  readonly changedAt: Microseconds;
}

/** A connection cannot be set or removed; the message gives the reason. */
class ConnectionRefused extends Error {}

const DATASET = /^[a-z][a-z0-9-]{4,28}[a-z0-9]\.\w{1,1024}$/;

/** The connections of a project, at most one per kind. */
export async function connectionsOf(catalog: Catalog, project: string): Promise<Connection[]> {
  return catalog.statements.all<Connection>('connections_of_project', { project });
}

/** All connections, or those of one workspace. */
export async function listConnections(catalog: Catalog, workspace: string | null): Promise<ListedConnection[]> {
  return catalog.statements.all<ListedConnection>('connections_all', { workspace });
}

/**
 * Sets or replaces a project's connection of a kind. Removes lists that were fetched from another address or dataset; new
 * credentials for the same data keep them. Ends a pause.
 */
export async function setConnection(
  catalog: Catalog,
  project: string,
  connection: Connection,
  at: Microseconds,
): Promise<void> {
  checkConnection(connection);
  await catalog.transaction(async (own) => {
    const { workspaceId: workspace } = await requireProject(own, project);
    const before = (await connectionsOf(own, project)).find(({ kind }) => kind === connection.kind);
    await own.statements.run('connection_upsert', { project, ...connection, at });
    await own.statements.run('pause_end', { project, kind: connection.kind });
    if (before === undefined || !readsTheSame(before, connection)) await dropProviderLists(own, project);
    const details = { kind: connection.kind };
    await recordAudit(own, {
      at,
      workspace,
      actor: actorOf(null),
      action: 'connection.set',
      subject: project,
      details,
    });
  });
}

/** Removes a connection and the lists from providers. Throws if there is none of the kind. */
export async function removeConnection(catalog: Catalog, project: string, kind: ConnectionKind): Promise<void> {
  await catalog.transaction(async (own) => {
    if ((await own.statements.run('connection_delete', { project, kind })) === 0) {
      throw new ConnectionRefused(`Project '${project}' has no ${kind} connection.`);
    }
    await dropProviderLists(own, project);
    const { workspaceId: workspace } = await requireProject(own, project);
    const actor = actorOf(null);
    await recordAudit(own, { workspace, actor, action: 'connection.removed', subject: project, details: { kind } });
  });
}

/** Validates a connection. Throws `ConnectionRefused`. */
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
