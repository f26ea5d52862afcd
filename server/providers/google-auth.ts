import { statSync } from 'node:fs';
import type { AuthClient, gaxios, OAuth2Client } from 'google-auth-library';
import type { Connection, ConnectionKind } from '../catalog/connections.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { readCredentials } from './credentials.ts';
import { ProviderFailure } from './failures.ts';

/** A signed-in client of Google's, and what must never be seen of it. */
export interface Identity {
  readonly client: AuthClient;
  /** The texts that logs and messages must not have: keys, grants, the current access token. */
  secrets(): string[];
  /** Forgets the access token: the next request gets a new one. */
  expire(): void;
}

const SCOPES: Record<ConnectionKind, readonly string[]> = {
  'search-console': ['https://www.googleapis.com/auth/webmasters.readonly'],
  bigquery: ['https://www.googleapis.com/auth/bigquery'],
};

/** The address that the client library asks for tokens, whatever a credentials file says. */
const TOKEN_ADDRESS = 'https://oauth2.googleapis.com/token';

/** An answer of the token endpoint has some thousand bytes. */
const MAX_TOKEN_BYTES = 1_000_000;

/** Signed-in clients of connections, each made once as long as its credentials file is the same. */
export class Identities {
  readonly #timeLimit: number;
  readonly #known = new Map<CacheKey, { stamp: number; identity: Promise<Identity> }>();

  /** @param timeLimit milliseconds that one request for a token may take */
  constructor(timeLimit: number) {
    this.#timeLimit = timeLimit;
  }

  /** Throws `ProviderFailure` where the credentials cannot be read or are of another kind. */
  async of({ kind, credentials, tokenEndpoint }: Connection): Promise<Identity> {
    const key = cacheKey(kind, credentials, tokenEndpoint);
    const stamp = credentials === null ? 0 : (statSync(credentials, { throwIfNoEntry: false })?.mtimeMs ?? -1);
    let known = this.#known.get(key);
    if (known?.stamp !== stamp) {
      const options = { credentials, tokenEndpoint, scopes: [...SCOPES[kind]], timeLimit: this.#timeLimit };
      known = { stamp, identity: signIn(options) };
      known.identity.catch(() => this.#known.delete(key));
      this.#known.set(key, known);
    }
    return known.identity;
  }
}

interface SignIn {
  /** Path of a credentials file; null for the environment's default credentials. */
  readonly credentials: string | null;
  readonly tokenEndpoint: string | null;
  readonly scopes: string[];
  /** Milliseconds that one request for a token may take. */
  readonly timeLimit: number;
}

async function signIn({ credentials: path, tokenEndpoint, scopes, timeLimit }: SignIn): Promise<Identity> {
  const credentials = path === null ? undefined : readCredentials(path);
  // Loaded at the first use: servers without connections do without it.
  const library = await import('google-auth-library');
  const transporter = makeTransporter(library.gaxios, tokenEndpoint, timeLimit);
  if (credentials === undefined) {
    return toEnvironmentIdentity(() => new library.GoogleAuth({ scopes, clientOptions: { transporter } }).getClient());
  }
  if (credentials.type === 'service_account') {
    const { email, privateKey: key } = credentials;
    // The assertion must name the endpoint that it is sent to.
    const additionalClaims = tokenEndpoint === null ? undefined : { aud: tokenEndpoint };
    const claims = additionalClaims ? { additionalClaims } : {};
    return toIdentity(new library.JWT({ email, key, scopes, transporter, ...claims }), [key]);
  }
  const { clientId, clientSecret, refreshToken, quotaProject } = credentials;
  const quota = quotaProject === undefined ? {} : { quotaProjectId: quotaProject };
  const client = new library.UserRefreshClient({ clientId, clientSecret, refreshToken, transporter, ...quota });
  return toIdentity(client, [clientSecret, refreshToken]);
}

/** Requests of the auth library: with a time limit, to the token endpoint that is set, and without retries of its own. */
function makeTransporter({ Gaxios }: typeof gaxios, tokenEndpoint: string | null, timeout: number): gaxios.Gaxios {
  const transporter = new Gaxios({ timeout, maxContentLength: MAX_TOKEN_BYTES });
  transporter.interceptors.request.add({
    resolved: async (request) => {
      if (tokenEndpoint !== null && request.url.href === TOKEN_ADDRESS) request.url = new URL(tokenEndpoint);
      request.retry = false;
      request.retryConfig = { retry: 0, noResponseRetries: 0 };
      return request;
    },
  });
  return transporter;
}

function toIdentity(client: OAuth2Client, fixed: readonly string[]): Identity {
  const initial = { ...client.credentials };
  return {
    client,
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
