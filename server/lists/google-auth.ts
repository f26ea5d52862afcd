import { statSync } from 'node:fs';
import type { AuthClient, gaxios, OAuth2Client } from 'google-auth-library';
import type { Connection } from '../catalog/connections.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { readCredentials } from './credentials.ts';
import { ProviderFailure } from './failures.ts';

/** A signed-in client of Google's, and what must never be seen of it. */
export interface Identity {
  readonly client: AuthClient;
  /** Who it is, in words, for the operator. */
  readonly who: string;
  /** The texts that logs and messages must not have: keys, grants, the current access token. */
  secrets(): string[];
  /** Forgets the access token: the next request gets a new one. */
  expire(): void;
}

const SCOPES = {
  'search-console': ['https://www.googleapis.com/auth/webmasters.readonly'],
  bigquery: ['https://www.googleapis.com/auth/bigquery'],
} as const;

/** The address that the client library asks for tokens, whatever a credentials file says. */
const TOKEN_ADDRESS = 'https://oauth2.googleapis.com/token';

/** An answer of the token endpoint has some thousand bytes. */
const MAX_TOKEN_BYTES = 1_000_000;

/** Google's packages take longer to read than the rest of the server: only who has a connection needs them. */
const library = () => import('google-auth-library');

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
      const scopes = [...SCOPES[kind]];
      const transporter = makeTransporter(tokenEndpoint, this.#timeLimit);
      known = {
        stamp,
        identity: transporter.then((made) =>
          credentials === null ? fromEnvironment(scopes, made) : fromFile(credentials, scopes, made, tokenEndpoint),
        ),
      };
      known.identity.catch(() => this.#known.delete(key));
      this.#known.set(key, known);
    }
    return known.identity;
  }
}

/** Requests of the auth library: with a time limit, to the token endpoint that is set, and without retries of its own. */
async function makeTransporter(tokenEndpoint: string | null, timeout: number): Promise<gaxios.Gaxios> {
  const { gaxios } = await library();
  const transporter = new gaxios.Gaxios({ timeout, maxContentLength: MAX_TOKEN_BYTES });
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

async function fromFile(
  path: string,
  scopes: string[],
  transporter: gaxios.Gaxios,
  tokenEndpoint: string | null,
): Promise<Identity> {
  const credentials = readCredentials(path);
  const { JWT, UserRefreshClient } = await library();
  if (credentials.type === 'service_account') {
    const { email, privateKey: key } = credentials;
    // The assertion must name the endpoint that it is sent to.
    const additionalClaims = tokenEndpoint === null ? undefined : { aud: tokenEndpoint };
    const client = new JWT({ email, key, scopes, transporter, ...(additionalClaims ? { additionalClaims } : {}) });
    return toIdentity(client, `the service account ${email}`, [key]);
  }
  const { clientId, clientSecret, refreshToken, quotaProject } = credentials;
  const quota = quotaProject === undefined ? {} : { quotaProjectId: quotaProject };
  const client = new UserRefreshClient({ clientId, clientSecret, refreshToken, transporter, ...quota });
  return toIdentity(client, `the authorised user of ${path}`, [clientSecret, refreshToken]);
}

function toIdentity(client: OAuth2Client, who: string, fixed: readonly string[]): Identity {
  const initial = { ...client.credentials };
  return {
    client,
    who,
    secrets: () => {
      const { access_token: access, id_token: id } = client.credentials;
      return [...fixed, access, id].filter((secret): secret is string => typeof secret === 'string' && secret !== '');
    },
    expire: () => client.setCredentials({ ...initial }),
  };
}

async function fromEnvironment(scopes: string[], transporter: gaxios.Gaxios): Promise<Identity> {
  const { GoogleAuth } = await library();
  try {
    const client = await new GoogleAuth({ scopes, clientOptions: { transporter } }).getClient();
    return {
      client,
      who: "the environment's default credentials",
      secrets: () => (typeof client.credentials.access_token === 'string' ? [client.credentials.access_token] : []),
      expire: () => {
        const { access_token: _, ...rest } = client.credentials;
        client.credentials = { ...rest, expiry_date: 1 };
      },
    };
  } catch {
    throw new ProviderFailure('misconfigured', 'the environment has no default credentials');
  }
}
