import {
  connectionsOf,
  createGrant,
  DEFAULT_ARCHIVE,
  findGrant,
  findPause,
  type ListedConnection,
  listConnections,
} from '../catalog/connections.ts';
import { findAnyProject, type Project } from '../catalog/projects.ts';
import { findSyncFailure, lostProviderOf, retryFailures } from '../catalog/sync-days.ts';
import { invalidRequest, KnownError, notFound, unavailable } from '../domain/errors.ts';
import { isoInstant, isoInstantOrNull, type Microseconds } from '../domain/instants.ts';
import type { Stores } from '../load/stores.ts';
import { API_KEY_FORM, isApiKey } from '../providers/bing/api-key.ts';
import { BING, connectBy } from '../providers/bing/provider.ts';
import { testConnection } from '../providers/connection-test.ts';
import { isSynced, setConnection } from '../providers/connections.ts';
import { ProviderFailure } from '../providers/failures.ts';
import type { Providers } from '../providers/providers.ts';
import { SecretsFailure } from '../runtime/secrets.ts';

const { kind, wholeTables = [] } = BING;

/** A connection to Bing as its workspace sees it. */
export interface ListedBing {
  readonly project: string;
  /** `waits`: no connection to Google leads the sync; `rests`: Bing was asked too much; `lost`: it refuses the key or the site; `unreadable`: the key cannot be read here. */
  readonly state: 'ok' | 'waits' | 'rests' | 'lost' | 'failed' | 'unreadable';
  /** Why the last sync could not read it. */
  readonly reason: string | null;
  readonly restsUntil: string | null;
  /** Who gave the key; null where a command named a file. */
  readonly connectedBy: string | null;
  readonly connectedAt: string;
}

/** The connections to Bing of a workspace, by project. */
export async function listBing(
  stores: Stores,
  providers: Providers,
  workspace: string,
  at: Microseconds,
): Promise<ListedBing[]> {
  const all = await listConnections(stores.catalog, workspace);
  const isRead = (id: string): boolean =>
    isSynced(all.filter(({ project }) => project === id).map((connection) => connection.kind));
  const describeOne = async (connection: ListedConnection): Promise<ListedBing> => {
    const listed = await describe(stores, providers, connection, at);
    return listed.state === 'ok' && !isRead(listed.project) ? { ...listed, state: 'waits' } : listed;
  };
  return Promise.all(all.filter((one) => one.kind === kind).map(describeOne));
}

async function describe(
  { catalog }: Stores,
  providers: Providers,
  { changedAt, project, ...connection }: ListedConnection,
  at: Microseconds,
): Promise<ListedBing> {
  const { grant } = connection;
  const connectedBy = grant === null ? null : ((await findGrant(catalog, grant))?.connectedBy ?? null);
  const known = { project, connectedBy, connectedAt: isoInstant(changedAt), restsUntil: null, reason: null };
  try {
    const limited = (await providers.connect(BING, connection).limitedBy?.()) ?? '';
    const pause = await findPause(catalog, kind, limited);
    if (pause !== undefined && pause.until > at)
      return { ...known, state: 'rests', restsUntil: isoInstantOrNull(pause.until) };
  } catch (error) {
    if (error instanceof ProviderFailure) return { ...known, state: 'unreadable' };
    throw error;
  }
  for (const table of wholeTables) {
    const reason = await findSyncFailure(catalog, project, table);
    if (typeof reason === 'string')
      return { ...known, reason, state: lostProviderOf(reason) === kind ? 'lost' : 'failed' };
  }
  return { ...known, state: 'ok' };
}

/**
 * Connects a project to Bing by a key, which is tested as `connections test` does, then stored encrypted, instead of a
 * former one. Returns what Bing can read, and whether the sync reads it. Throws `invalid_request` for a key or site that Bing refuses, `unavailable` while it
 * cannot be asked, and `conflict` if secrets cannot be encrypted.
 */
export async function connectBing(
  { settings, catalog }: Stores,
  providers: Providers,
  { id, property, country, workspaceId: workspace }: Project,
  { apiKey, by, at }: { apiKey: string; by: string; at: Microseconds },
): Promise<{ found: string; isSynced: boolean }> {
  const key = apiKey.trim();
  if (!isApiKey(key)) throw invalidRequest(`'apiKey' must be ${API_KEY_FORM}.`);
  const own = await connectionsOf(catalog, id);
  const endpoint = own.find((one) => one.kind === kind)?.endpoint ?? null;
  const client = connectBy({ key: async () => key, endpoint }, providers);
  const tested = { kind, property, now: at / 1000, ignoresPauses: false };
  const { found, advice, missing, failure } = await testConnection(providers, client, tested);
  if (failure !== undefined) {
    const message = `${found} ${advice}`;
    if (failure.kind !== 'access-lost') throw unavailable(message, `provider-${failure.kind}`, failure);
    throw invalidRequest(`'${missing === 'credentials' ? 'apiKey' : 'project'}' was refused: ${message}`);
  }
  try {
    await catalog.transaction(async (tx) => {
      if ((await findAnyProject(tx, id)) === undefined) throw notFound('The workspace has no such project.');
      const given = { workspace, kind, clientId: '', connectedBy: by, connectedAt: at, endsAt: null, token: key };
      const grant = await createGrant(tx, settings, given);
      const none = { credentials: null, tokenEndpoint: null, dataset: null, location: null };
      await setConnection(tx, id, { ...none, kind, grant, endpoint, archive: DEFAULT_ARCHIVE }, at, by);
      await retryFailures(tx, { project: id, tables: wholeTables, at });
    });
  } catch (error) {
    if (error instanceof SecretsFailure) throw new KnownError('conflict', error.message);
    throw error;
  }
  const hidden = ` Its numbers are those of all countries: they are stored, and not shown while the project has only searches from ${country}.`;
  return { found: country === null ? found : found + hidden, isSynced: isSynced(own.map((one) => one.kind)) };
}
