import type { Microseconds } from '../domain/instants.ts';
import { actorOf, recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { requireProject } from './projects.ts';
import { dropProviderLists } from './stored-lists.ts';

/** Whether the sync stores all queries and pages by day, in addition to tracked keywords. */
export const ARCHIVES = ['queries,pages', 'queries', 'pages', 'none'] as const;
export type Archive = (typeof ARCHIVES)[number];
export const DEFAULT_ARCHIVE: Archive = 'queries,pages';

/** A connection of a project to a provider. Contains no secrets: credentials are a file path, or those of a grant. */
export interface Connection {
  /** The name of the provider. */
  readonly kind: string;
  /** Path of a file with credentials; null for the default ones of the environment, or for none. */
  readonly credentials: string | null;
  /** The id of a grant, in place of credentials. */
  readonly grant: string | null;
  /** Replaces the provider's own address. */
  readonly endpoint: string | null;
  /** Replaces the address of the token endpoint. */
  readonly tokenEndpoint: string | null;
  /** The dataset of a warehouse, or null. */
  readonly dataset: string | null;
  /** Location of the dataset; null for automatic detection. */
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
export class ConnectionRefused extends Error {}

/** The connections of a project, at most one per kind. */
export async function connectionsOf(catalog: Catalog, project: string): Promise<Connection[]> {
  return catalog.statements.all<Connection>('connections.of_project', { project });
}

/** All connections, or those of one workspace. */
export async function listConnections(catalog: Catalog, workspace: string | null): Promise<ListedConnection[]> {
  return catalog.statements.all<ListedConnection>('connections.all', { workspace });
}

/**
 * Stores or replaces a project's connection of a kind, which its provider has validated. Removes lists that were fetched from
 * another address or dataset; new credentials for the same data keep them. Ends a pause.
 */
export async function putConnection(
  catalog: Catalog,
  project: string,
  connection: Connection,
  at: Microseconds,
  by: string | null = null,
): Promise<void> {
  await catalog.transaction(async (tx) => {
    const { workspaceId: workspace } = await requireProject(tx, project);
    const before = (await connectionsOf(tx, project)).find(({ kind }) => kind === connection.kind);
    await tx.statements.run('connections.put', { project, ...connection, at });
    await tx.statements.run('grants.remove_unused');
    await tx.statements.run('provider-pauses.end', { project, kind: connection.kind });
    if (before === undefined || !readsTheSame(before, connection)) await dropProviderLists(tx, project);
    const details = { kind: connection.kind };
    await recordAudit(tx, {
      at,
      workspace,
      actor: actorOf(by),
      action: 'connection.set',
      subject: project,
      details,
    });
  });
}

/** Removes a connection, its stored key and the lists from providers. Throws if there is none of the kind. */
export async function removeConnection(
  catalog: Catalog,
  project: string,
  kind: string,
  { by, at }: { by: string | null; at?: Microseconds } = { by: null },
): Promise<void> {
  await catalog.transaction(async (tx) => {
    if ((await tx.statements.run('connections.remove', { project, kind })) === 0) {
      throw new ConnectionRefused(`Project '${project}' has no ${kind} connection.`);
    }
    await tx.statements.run('grants.remove_unused');
    await dropProviderLists(tx, project);
    const { workspaceId: workspace } = await requireProject(tx, project);
    const entry = { action: 'connection.removed', subject: project, details: { kind } } as const;
    await recordAudit(tx, { ...entry, workspace, actor: actorOf(by), ...(at !== undefined && { at }) });
  });
}

function readsTheSame(a: Connection, b: Connection): boolean {
  return a.endpoint === b.endpoint && a.dataset === b.dataset && a.location === b.location;
}
