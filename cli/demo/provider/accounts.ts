import { createVerify } from 'node:crypto';

export type Permission = 'siteOwner' | 'siteFullUser' | 'siteRestrictedUser' | 'siteUnverifiedUser';

/** An account and its properties. */
export interface Account {
  /** For an authorised user. */
  readonly refreshToken?: string;
  /** For a service account, which signs assertions. */
  readonly email?: string;
  readonly publicKey?: string;
  /** Permissions by property; tests change them. */
  readonly sites: Map<string, Permission>;
  /** The grant was revoked or has expired. */
  isRevoked?: boolean;
}

export interface TokenAnswer {
  readonly status: number;
  readonly body: object;
}

/** The accounts of a provider and their access tokens. */
export class Accounts {
  readonly #accounts: Account[] = [];
  readonly #tokens = new Map<string, Account>();

  add(account: Account): Account {
    this.#accounts.push(account);
    return account;
  }

  /** Answers a token request. */
  grant(form: URLSearchParams): TokenAnswer {
    const account = this.#accountOf(form);
    if (account === undefined || account.isRevoked === true) {
      return {
        status: 400,
        body: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' },
      };
    }
    const token = `ya29.${crypto.randomUUID()}`;
    this.#tokens.set(token, account);
    return { status: 200, body: { access_token: token, expires_in: 3599, token_type: 'Bearer' } };
  }

  /** The account of an access token; undefined if the token is invalid. */
  ofToken(token: string): Account | undefined {
    const account = this.#tokens.get(token);
    return account?.isRevoked === true ? undefined : account;
  }

  expireTokens(): void {
    this.#tokens.clear();
  }

  #accountOf(form: URLSearchParams): Account | undefined {
    switch (form.get('grant_type')) {
      case 'refresh_token':
        return this.#accounts.find(({ refreshToken }) => refreshToken === form.get('refresh_token'));
      case 'urn:ietf:params:oauth:grant-type:jwt-bearer':
        return this.#signer(form.get('assertion') ?? '');
      default:
        return undefined;
    }
  }

  #signer(assertion: string): Account | undefined {
    const [header = '', claims = '', signature = ''] = assertion.split('.');
    try {
      const { iss } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iss?: string };
      const account = this.#accounts.find(({ email }) => email !== undefined && email === iss);
      if (account?.publicKey === undefined) return undefined;
      const verifier = createVerify('RSA-SHA256').update(`${header}.${claims}`);
      return verifier.verify(account.publicKey, signature, 'base64url') ? account : undefined;
    } catch {
      return undefined;
    }
  }
}
