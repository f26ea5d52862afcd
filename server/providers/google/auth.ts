import { statSync } from 'node:fs';
import type { AuthClient, gaxios, OAuth2Client } from 'google-auth-library';
import { type Connection, findGrant, type Grant, loseGrant, tokenOf } from '../../catalog/connections.ts';
import { type CacheKey, cacheKey } from '../../domain/cache-key.ts';
import { toMicroseconds } from '../../domain/instants.ts';
import type { Settings } from '../../settings/settings.ts';
import { ProviderFailure } from '../failures.ts';
import type { ProviderContext } from '../provider.ts';
import { readCredentials } from './credentials.ts';
import { toFailure } from './failures.ts';
import { googleAddresses, readClientSecret } from './oauth.ts';

/** A signed-in Google client with its secrets. */
export interface Identity {
  readonly client: AuthClient;
  /** The headers of a request, with an access token. */
  headers(): Promise<Headers>;
  /** Texts to redact from logs and messages: keys, grants, the current access token. */
  secrets(): string[];
  /** Discards the access token, so that the next request gets a new one. */
  expire(): void;
}

/** The token endpoint that the client library always uses. */
const TOKEN_ADDRESS = 'https://oauth2.googleapis.com/token';

/** Limit for responses of the token endpoint, which have a few kB. */
const MAX_TOKEN_BYTES = 1_000_000;

/** Signed-in clients, until their credentials file changes. */
type Known = Map<CacheKey, { stamp: number | string; identity: Promise<Identity> }>;
const KNOWN = new WeakMap<ProviderContext, Known>();

/**
 * The identity of a connection. Throws `ProviderFailure` if the credentials cannot be read or have an unsupported type.
 * @param scope what it may read
 */
export async function identityOf(
  { credentials, tokenEndpoint: ownEndpoint, grant: grantId }: Connection,
  scope: string,
  context: ProviderContext,
): Promise<Identity> {
  const tokenEndpoint = ownEndpoint ?? (context.settings.googleEndpoint && googleAddresses(context.settings).token);
  const all: Known = KNOWN.get(context) ?? new Map();
  KNOWN.set(context, all);
  const key = cacheKey(scope, credentials, tokenEndpoint, grantId);
  const grant = grantId === null ? null : await requireGrant(context, grantId);
  const stamp =
    grant?.refreshToken ??
    (credentials === null ? 0 : (statSync(credentials, { throwIfNoEntry: false })?.mtimeMs ?? -1));
  let known = all.get(key);
  if (known?.stamp !== stamp) {
    const options = { credentials, tokenEndpoint, scopes: [scope], timeLimit: timeLimitOf(context) };
    known = { stamp, identity: grant === null ? signIn(options) : signInByGrant(context, grant, options) };
    known.identity.catch(() => all.delete(key));
    all.set(key, known);
  }
  return known.identity;
}

/** A grant that was not refused. Throws `ProviderFailure`. */
async function requireGrant({ catalog }: ProviderContext, id: string): Promise<Grant> {
  const grant = await findGrant(catalog, id);
  const step = 'credentials';
  if (grant === undefined) throw new ProviderFailure('access-lost', 'the grant was revoked', { step });
  if (grant.lostAt !== null) throw grantLost();
  return grant;
}

/** Signs in with the refresh token of a grant. Only Google's `invalid_grant` means that it is lost. */
async function signInByGrant(context: ProviderContext, grant: Grant, options: SignIn): Promise<Identity> {
  const { settings, catalog, now } = context;
  const step = 'credentials';
  const [refreshToken, clientSecret] = readSecrets(settings, grant);
  const library = await import('google-auth-library');
  const transporter = makeTransporter(library.gaxios, options.tokenEndpoint, options.timeLimit);
  const clientId = settings.googleClientId;
  const client = new library.UserRefreshClient({ clientId, clientSecret, refreshToken, transporter });
  const identity = toIdentity(client, [clientSecret, refreshToken]);
  return {
    ...identity,
    headers: async () => {
      try {
        return await client.getRequestHeaders();
      } catch (error) {
        const { message } = toFailure(error, identity.secrets(), []);
        const { response } = error as { response?: { data?: { error?: unknown } } };
        const code = response?.data?.error;
        if (code === 'invalid_grant') {
          await loseGrant(catalog, grant, toMicroseconds(now()));
          throw grantLost();
        }
        if (code === 'invalid_client' || code === 'unauthorized_client') {
          throw new ProviderFailure('misconfigured', message, { step });
        }
        throw new ProviderFailure('broken', message);
      }
    },
  };
}

/** Throws `ProviderFailure`, without a part of them. */
function readSecrets(settings: Settings, grant: Grant): [refreshToken: string, clientSecret: string] {
  try {
    return [tokenOf(settings, grant), readClientSecret(settings)];
  } catch (error) {
    throw new ProviderFailure('misconfigured', (error as Error).message, { step: 'credentials' });
  }
}

function grantLost(): ProviderFailure {
  const message = 'invalid_grant: Google has ended the grant; connect the account again in the dashboard';
  return new ProviderFailure('access-lost', message, { step: 'credentials' });
}

/** The timeout of one request, in milliseconds. */
export function timeLimitOf({ settings }: ProviderContext): number {
  return settings.providerTimeLimit * 1000;
}

interface SignIn {
  /** Path of a credentials file; null for the environment's default credentials. */
  readonly credentials: string | null;
  readonly tokenEndpoint: string | null;
  readonly scopes: string[];
  /** Timeout of a token request in milliseconds. */
  readonly timeLimit: number;
}

async function signIn({ credentials: path, tokenEndpoint, scopes, timeLimit }: SignIn): Promise<Identity> {
  const credentials = path === null ? undefined : readCredentials(path);
  // Loaded on first use, because many servers have no connections.
  const library = await import('google-auth-library');
  const transporter = makeTransporter(library.gaxios, tokenEndpoint, timeLimit);
  if (credentials === undefined) {
    return toEnvironmentIdentity(() => new library.GoogleAuth({ scopes, clientOptions: { transporter } }).getClient());
  }
  if (credentials.type === 'service_account') {
    const { email, privateKey: key } = credentials;
    // The assertion must contain the endpoint it is sent to.
    const additionalClaims = tokenEndpoint === null ? undefined : { aud: tokenEndpoint };
    const claims = additionalClaims ? { additionalClaims } : {};
    return toIdentity(new library.JWT({ email, key, scopes, transporter, ...claims }), [key]);
  }
  const { clientId, clientSecret, refreshToken, quotaProject } = credentials;
  const quota = quotaProject === undefined ? {} : { quotaProjectId: quotaProject };
  const client = new library.UserRefreshClient({ clientId, clientSecret, refreshToken, transporter, ...quota });
  return toIdentity(client, [clientSecret, refreshToken]);
}

/**
 * The transport of the auth library: with a timeout, the configured token endpoint, no redirects and no retries. A page in
 * place of a token, as from a portal of a network, is refused: the library would write into its text.
 */
function makeTransporter({ Gaxios }: typeof gaxios, tokenEndpoint: string | null, timeout: number): gaxios.Gaxios {
  const transporter = new Gaxios({ timeout, maxContentLength: MAX_TOKEN_BYTES });
  transporter.interceptors.request.add({
    resolved: async (request) => {
      if (tokenEndpoint !== null && request.url.href === TOKEN_ADDRESS) request.url = new URL(tokenEndpoint);
      request.redirect = 'manual';
      request.retry = false;
      request.retryConfig = { retry: 0, noResponseRetries: 0 };
      return request;
    },
  });
  const endpoint = tokenEndpoint ?? TOKEN_ADDRESS;
  transporter.interceptors.response.add({
    resolved: async (response) => {
      if (response.config.url.href !== endpoint || typeof response.data === 'object') return response;
      throw new ProviderFailure('broken', 'the response of the token endpoint is not a JSON document');
    },
  });
  return transporter;
}

function toIdentity(client: OAuth2Client, fixed: readonly string[]): Identity {
  const initial = { ...client.credentials };
  return {
    client,
    headers: () => client.getRequestHeaders(),
    secrets: () => {
      const { access_token: access, id_token: id } = client.credentials;
      return [...fixed, access, id].filter((secret): secret is string => typeof secret === 'string' && secret !== '');
    },
    expire: () => client.setCredentials({ ...initial }),
  };
}

async function toEnvironmentIdentity(getClient: () => Promise<AuthClient>): Promise<Identity> {
  try {
    const client = await getClient();
    return {
      client,
      headers: () => client.getRequestHeaders(),
      secrets: () => (typeof client.credentials.access_token === 'string' ? [client.credentials.access_token] : []),
      expire: () => {
        const { access_token: _, ...rest } = client.credentials;
        client.credentials = { ...rest, expiry_date: 1 };
      },
    };
  } catch {
    throw new ProviderFailure('misconfigured', 'the environment has no default credentials', { step: 'credentials' });
  }
}
