import { setTimeout as sleep } from 'node:timers/promises';
import {
  beginAttempt,
  type Connection,
  createGrant,
  DEFAULT_ARCHIVE,
  endOfGrant,
  findGrant,
  type Grant,
  type GrantState,
  listGrantProjects,
  listGrants,
  moveToGrant,
  removeGrant,
  stateOfGrant,
  takeAttempt,
  tokenOf,
} from '../catalog/connections.ts';
import { findProjectsOfProperty } from '../catalog/projects.ts';
import { KnownError, notFound } from '../domain/errors.ts';
import { isoInstant, type Microseconds, toMicroseconds } from '../domain/instants.ts';
import type { Stores } from '../load/stores.ts';
import { toKnownError } from '../providers/failures.ts';
import { GOOGLE_ERRORS } from '../providers/google/failures.ts';
import {
  type ConnectError,
  ConnectFailure,
  consentUrl,
  exchangeCode,
  readClientSecret,
  revokeToken,
} from '../providers/google/oauth.ts';
import type { Providers } from '../providers/providers.ts';
import { readProperties } from '../providers/search-console/properties.ts';
import type { Site } from '../providers/search-console/search-analytics.ts';
import { hasKeys, SecretsFailure } from '../runtime/secrets.ts';
import type { Settings } from '../settings/settings.ts';

/** Milliseconds that a browser waits while projects are moved to a new grant. */
const ADOPT_TIME = 5000;

/** Where Google sends browsers back to, below the public address. */
export const CALLBACK_PATH = '/app/connect/google/callback';

/** Whether owners can connect Google, and what is missing. */
export interface GoogleSetup {
  readonly configured: boolean;
  readonly clientId: string | null;
  /** Exactly as the OAuth client must list it; null without a public address. */
  readonly redirectUri: string | null;
  readonly problem: string | null;
}

export function readSetup(settings: Settings): GoogleSetup {
  const problem = problemOf(settings);
  const { publicUrl, googleClientId } = settings;
  return {
    configured: problem === null,
    clientId: googleClientId === '' ? null : googleClientId,
    redirectUri: publicUrl === null ? null : publicUrl + CALLBACK_PATH,
    problem,
  };
}

function problemOf(settings: Settings): string | null {
  const { publicUrl, googleClientId, googleClientSecretFile } = settings;
  const missing = [
    publicUrl === null && 'ORDINATE_PUBLIC_URL, the address of this server in browsers',
    googleClientId === '' && 'ORDINATE_GOOGLE_CLIENT_ID, the id of your OAuth client',
    googleClientSecretFile === '' && 'ORDINATE_GOOGLE_CLIENT_SECRET_FILE, a file with the secret of that client',
  ].filter((name) => name !== false);
  if (missing.length > 0) return `Not set: ${missing.join('; ')}. Set it and start the server again.`;
  try {
    readClientSecret(settings);
    hasKeys(settings);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A grant as its workspace sees it. */
export interface ListedGrant {
  readonly id: string;
  readonly connectedBy: string;
  readonly connectedAt: string;
  readonly endsAt: string | null;
  readonly warning: string | null;
  readonly state: GrantState;
  readonly projects: readonly string[];
}

/** The grants of accounts of Google of a workspace, the oldest first. */
export async function readGrants({ settings, catalog }: Stores, workspace: string): Promise<ListedGrant[]> {
  const [grants, connected] = await catalog.snapshot(async (snapshot) => [
    await listGrants(snapshot, workspace),
    await listGrantProjects(snapshot, workspace),
  ]);
  return grants.filter(isOfAccount).map((grant) => ({
    id: grant.id,
    connectedBy: grant.connectedBy,
    connectedAt: isoInstant(grant.connectedAt),
    ...endOfGrant(grant),
    state: stateOfGrant(settings, grant),
    projects: connected.filter((one) => one.grant === grant.id).map(({ project }) => project),
  }));
}

/** Whether it is of an account of Google; others are keys of one connection. */
function isOfAccount({ kind }: Grant): boolean {
  return kind === 'google';
}

/** The state and the end of the grant of a connection; nulls for one without. */
export async function grantOf({ settings, catalog }: Stores, { grant: id }: Pick<Connection, 'grant'>) {
  const grant = id === null ? undefined : await findGrant(catalog, id);
  return { state: grant === undefined ? null : stateOfGrant(settings, grant), ...endOfGrant(grant) };
}

/** What Google's answer has, and the cookie of the browser. */
export interface Callback {
  readonly state: string | undefined;
  readonly cookie: string | undefined;
  readonly code: string | undefined;
  readonly error: string | undefined;
}

/** Ends an attempt: stores the grant that Google gives for the code. Returns its id, or why there is none. */
export async function finishConnect(
  stores: Stores,
  providers: Providers,
  { state, cookie, code, error }: Callback,
  now: number,
): Promise<{ grant: string } | { error: ConnectError | 'state' }> {
  const { settings, catalog, onWarning } = stores;
  const at = toMicroseconds(now);
  if (state === undefined || cookie === undefined) return { error: 'state' };
  const attempt = await takeAttempt(catalog, settings, { state, cookie, at });
  if (attempt?.session.role !== 'owner' || attempt.session.email === null) return { error: 'state' };
  if (error === 'access_denied') return { error };
  const { redirectUri } = readSetup(settings);
  if (error !== undefined || code === undefined || redirectUri === null) return { error: 'code_refused' };
  const { workspaceId: workspace, email: connectedBy } = attempt.session;
  try {
    const { refreshToken: token, endsIn } = await exchangeCode(settings, {
      code,
      redirectUri,
      verifier: attempt.verifier,
    });
    const { googleClientId: clientId } = settings;
    const endsAt = endsIn === null ? null : at + endsIn * 1e6;
    const given = { workspace, kind: 'google', clientId, connectedBy, connectedAt: at, endsAt, token };
    const id = await catalog.transaction((tx) => createGrant(tx, settings, given));
    const grant = (await findGrant(catalog, id))!;
    const adopting = adoptProjects(stores, grant, () => readGrantProperties(providers, grant), at).catch(() => {});
    // Otherwise later, when the properties are listed.
    await Promise.race([adopting, sleep(ADOPT_TIME, undefined, { ref: false })]);
    return { grant: id };
  } catch (failure) {
    if (!(failure instanceof ConnectFailure || failure instanceof SecretsFailure)) throw failure;
    onWarning?.(`Google was not connected: ${failure.message}`);
    return { error: failure instanceof ConnectFailure ? failure.code : 'unavailable' };
  }
}

/** The grant of a workspace. Throws `not_found`. */
export async function requireGrant(
  { catalog }: Pick<Stores, 'catalog'>,
  workspace: string,
  id: string,
): Promise<Grant> {
  const grant = await findGrant(catalog, id);
  if (grant?.workspace !== workspace || !isOfAccount(grant)) throw notFound('The workspace has no such grant.');
  return grant;
}

/** A connection that reads through a grant. */
export function connectionOf({ id }: Grant, archive = DEFAULT_ARCHIVE): Connection {
  const none = { credentials: null, endpoint: null, tokenEndpoint: null, dataset: null, location: null };
  return { ...none, kind: 'search-console', grant: id, archive };
}

/** The properties that an account can read. Throws `google_access_lost` or `unavailable`. */
export async function readGrantProperties(providers: Providers, grant: Grant): Promise<readonly Site[]> {
  try {
    return (await readProperties(providers, connectionOf(grant))).readable;
  } catch (error) {
    throw toKnownError(error, GOOGLE_ERRORS);
  }
}

/** The same with the id of the oldest project that the workspace has of each, or null. */
export async function listGrantProperties(
  stores: Stores,
  providers: Providers,
  grant: Grant,
  at: Microseconds,
): Promise<(Site & { project: string | null })[]> {
  const sites = await readGrantProperties(providers, grant);
  await adoptProjects(stores, grant, async () => sites, at);
  return Promise.all(
    sites.map(async ({ property, permission }) => {
      const [project] = await findProjectsOfProperty(stores.catalog, grant.workspace, property);
      return { property, permission, project: project?.id ?? null };
    }),
  );
}

/**
 * Moves projects to a new grant whose own one is lost, cannot be read, or ends with its consent screen in testing: those
 * that the same owner connected, and whose property the account can read.
 */
async function adoptProjects(
  { settings, catalog }: Stores,
  grant: Grant,
  read: () => Promise<readonly Site[]>,
  at: Microseconds,
): Promise<void> {
  const { workspace } = grant;
  const isLeft = (other: Grant): boolean =>
    isOfAccount(other) &&
    other.connectedBy.toLowerCase() === grant.connectedBy.toLowerCase() &&
    other.connectedAt < grant.connectedAt &&
    (other.endsAt !== null || stateOfGrant(settings, other) !== 'ok');
  if (!(await listGrants(catalog, workspace)).some(isLeft)) return;
  const readable = new Set((await read()).map(({ property }) => property));
  await catalog.transaction(async (tx) => {
    const left = new Set((await listGrants(tx, workspace)).filter(isLeft).map(({ id }) => id));
    for (const { grant: from, project, property } of await listGrantProjects(tx, workspace)) {
      if (left.has(from) && readable.has(property)) await moveToGrant(tx, { project, grant, at });
    }
  });
}

/** Ends a grant at Google and forgets it, also when Google cannot be reached. Throws `not_found`. */
export async function revokeGrant(
  { settings, catalog, onWarning }: Stores,
  grant: Grant,
  author: { by: string; at: Microseconds },
): Promise<void> {
  try {
    await revokeToken(settings, tokenOf(settings, grant));
  } catch (error) {
    if (!(error instanceof ConnectFailure || error instanceof SecretsFailure)) throw error;
    onWarning?.(`The grant ${grant.id} was forgotten, but not revoked at Google: ${error.message}`);
  }
  if (!(await removeGrant(catalog, grant, author))) throw notFound('The workspace has no such grant.');
}

/** Begins an attempt of a session: the address of Google's page, and the cookie that must come back from it. */
export async function beginConnect(
  { settings, catalog }: Stores,
  { redirectUri, sessionToken, at }: { redirectUri: string; sessionToken: string; at: Microseconds },
): Promise<{ url: string; cookie: string }> {
  try {
    const { state, cookie, verifier } = await beginAttempt(catalog, settings, { sessionToken, at });
    return { url: consentUrl(settings, { redirectUri, state, verifier }), cookie };
  } catch (error) {
    if (error instanceof SecretsFailure) throw new KnownError('conflict', error.message);
    throw error;
  }
}
