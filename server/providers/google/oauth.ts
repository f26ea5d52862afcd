import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readText } from '../../runtime/response-text.ts';
import type { Settings } from '../../settings/settings.ts';

export const READ_SCOPE = 'https://www.googleapis.com/auth/webmasters.readonly';

/** Milliseconds for an answer of Google's while somebody waits. */
const TIME_LIMIT = 10_000;
/** Bytes of an answer, which has a few kB. */
const MAX_BYTES = 100_000;
/** Consent screens in testing end their grants after 7 days; others say nothing, or much more. */
const TESTING_SECONDS = 8 * 86_400;

/** The addresses of Google, or of what stands in for them. */
export function googleAddresses({ googleEndpoint }: Pick<Settings, 'googleEndpoint'>) {
  return {
    consent: `${googleEndpoint ?? 'https://accounts.google.com'}/o/oauth2/v2/auth`,
    token: `${googleEndpoint ?? 'https://oauth2.googleapis.com'}/token`,
    revoke: `${googleEndpoint ?? 'https://oauth2.googleapis.com'}/revoke`,
  };
}

/** Why an account was not connected. */
export type ConnectError = 'access_denied' | 'code_refused' | 'no_refresh_token' | 'scope_missing' | 'unavailable';

export class ConnectFailure extends Error {
  readonly code: ConnectError;

  constructor(code: ConnectError, message: string) {
    super(message);
    this.code = code;
  }
}

/** The secret of the OAuth client. Throws with the name of the setting if there is none. */
export function readClientSecret({ googleClientSecretFile: file }: Settings): string {
  const name = 'ORDINATE_GOOGLE_CLIENT_SECRET_FILE';
  let secret: string;
  try {
    secret = readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`The file '${file}' (${name}) cannot be read (${code}).`, { cause: error });
  }
  if (!/^[\x21-\x7e]{1,500}$/.test(secret))
    throw new Error(`The file '${file}' (${name}) must have the client's secret.`);
  return secret;
}

interface Consent {
  readonly redirectUri: string;
  readonly state: string;
  readonly verifier: string;
}

/** The address of the page where an account agrees. The verifier is in it only as a hash. */
export function consentUrl(settings: Settings, { redirectUri, state, verifier }: Consent): string {
  const query = new URLSearchParams({
    client_id: settings.googleClientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: READ_SCOPE,
    access_type: 'offline',
    prompt: 'consent',
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  return `${googleAddresses(settings).consent}?${query.toString()}`;
}

interface Granted {
  readonly refreshToken: string;
  /** Seconds until a consent screen in testing ends it; null for others. */
  readonly endsIn: number | null;
}

/** Exchanges a code for a refresh token. Throws `ConnectFailure`, whose message has none of them. */
export async function exchangeCode(
  settings: Settings,
  { code, redirectUri, verifier }: Omit<Consent, 'state'> & { code: string },
): Promise<Granted> {
  const { status, body } = await post(googleAddresses(settings).token, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    client_id: settings.googleClientId,
    client_secret: readClientSecret(settings),
  });
  const answer = body as Readonly<Record<string, unknown>> | undefined;
  const error = answer?.['error'];
  if (status >= 400 && status < 500 && status !== 429 && status !== 408 && typeof error === 'string') {
    throw new ConnectFailure('code_refused', `Google refused the code: status ${status}, ${error.slice(0, 100)}`);
  }
  const { access_token: access, refresh_token: refresh, scope } = answer ?? {};
  if (status !== 200 || typeof access !== 'string') {
    throw new ConnectFailure('unavailable', `Google answered with status ${status} and no token`);
  }
  if (typeof scope === 'string' && !scope.split(' ').includes(READ_SCOPE)) {
    throw new ConnectFailure('scope_missing', 'the account did not allow to read Search Console');
  }
  if (typeof refresh !== 'string' || refresh === '') {
    throw new ConnectFailure('no_refresh_token', 'Google sent no refresh token');
  }
  // Some servers write the number as a text.
  const seconds = Number(answer?.['refresh_token_expires_in']);
  const isTesting = seconds > 0 && seconds <= TESTING_SECONDS;
  return { refreshToken: refresh, endsIn: isTesting ? seconds : null };
}

/** Ends a grant at Google. Throws `ConnectFailure` if Google cannot be reached; an unknown token is ended. */
export async function revokeToken(settings: Settings, token: string): Promise<void> {
  const { status } = await post(googleAddresses(settings).revoke, { token });
  if (status !== 200 && status !== 400)
    throw new ConnectFailure('unavailable', `Google answered with status ${status}`);
}

/** The status of an answer, and its JSON document if it is one. */
async function post(address: string, fields: Record<string, string>): Promise<{ status: number; body: unknown }> {
  try {
    const response = await fetch(address, {
      method: 'POST',
      body: new URLSearchParams(fields),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIME_LIMIT),
    });
    return {
      status: response.status,
      body: parse(await readText(response, MAX_BYTES, () => new RangeError('too long'))),
    };
  } catch (error) {
    // The causes of network errors have addresses and codes, and nothing of the request.
    const { name, cause } = error as Error & { cause?: { code?: string } };
    throw new ConnectFailure('unavailable', `Google cannot be reached (${cause?.code ?? name})`);
  }
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
