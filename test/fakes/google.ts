import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import type { Account, Permission } from '../../cli/demo/provider/accounts.ts';
import type { Failure } from '../../cli/demo/provider/server.ts';
import { type FakeProviderOptions, fakeProvider } from './provider.ts';
import { serve } from './serve.ts';

export const CLIENT_ID = '123-tests.apps.googleusercontent.com';
export const CLIENT_SECRET = 'GOCSPX-client-secret-of-the-tests';

/** What an account answers on the page of consent. */
export interface Decision {
  /** `allow`, or the code of an error. */
  readonly answer: string;
  /** Of the token, in place of the scope that was asked for. */
  readonly scope?: string;
  readonly withoutRefreshToken?: boolean;
  readonly refreshTokenExpiresIn?: number | string;
}

interface Code {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly decision: Decision;
  readonly sites: Map<string, Permission>;
}

const SCOPE = 'https://www.googleapis.com/auth/webmasters.readonly';
const PARAMETERS =
  'client_id redirect_uri response_type scope access_type prompt state code_challenge code_challenge_method';

export type FakeGoogle = Awaited<ReturnType<typeof fakeGoogle>>;

/** An authorisation server with its accounts, and the reporting API behind it, at one origin, until the test ends. */
export async function fakeGoogle(t: Test, options: FakeProviderOptions = {}) {
  const provider = await fakeProvider(t, options);
  const codes = new Map<string, Code>();
  const accounts: Account[] = [];
  const origin = await serve(t, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const fake = {
    origin,
    provider,
    /** The properties of the account that agrees. */
    sites: new Map<string, Permission>(),
    decision: { answer: 'allow' } as Decision,
    /** Failures in place of answers, until they are taken away. */
    tokenFailure: undefined as Failure | undefined,
    revokeFailure: undefined as Failure | undefined,
    /** Forms that the token and revocation endpoints got. */
    tokens: [] as URLSearchParams[],
    revoked: [] as URLSearchParams[],
    /** Addresses of the page of consent. */
    consents: [] as URL[],
    /** All that must stay secret. */
    secrets: [CLIENT_SECRET],
    /** Ends all grants. */
    endAll: (): void => {
      for (const account of accounts) account.isRevoked = true;
    },
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, origin);
    const body = await text(request);
    const form = new URLSearchParams(body);
    if (url.pathname === '/o/oauth2/v2/auth') consent(url, response);
    else if (url.pathname === '/token' && form.get('grant_type') === 'authorization_code') {
      fake.tokens.push(form);
      if (!failed(fake.tokenFailure, response)) sendJson(response, ...exchange(form));
    } else if (url.pathname === '/token') {
      fake.tokens.push(form);
      const isClient = form.get('client_id') === CLIENT_ID && form.get('client_secret') === CLIENT_SECRET;
      if (failed(fake.tokenFailure, response)) return;
      if (isClient) await forward(request, body, response);
      else sendJson(response, 401, { error: 'invalid_client', error_description: 'Unauthorized' });
    } else if (url.pathname === '/revoke') {
      fake.revoked.push(form);
      if (failed(fake.revokeFailure, response)) return;
      const account = accounts.find(({ refreshToken }) => refreshToken === form.get('token'));
      if (account !== undefined) account.isRevoked = true;
      sendJson(response, account === undefined ? 400 : 200, account === undefined ? { error: 'invalid_token' } : {});
    } else await forward(request, body, response);
  }

  function consent(url: URL, response: ServerResponse): void {
    fake.consents.push(url);
    const query = url.searchParams;
    const names = [...query.keys()].toSorted().join(' ');
    if (names !== PARAMETERS.split(' ').toSorted().join(' ') || query.get('client_id') !== CLIENT_ID) {
      response.writeHead(400).end('Error 400: invalid_request');
      return;
    }
    const back = new URL(query.get('redirect_uri')!);
    fake.secrets.push(query.get('state')!);
    if (fake.decision.answer === 'allow') {
      const code = `4/0A${randomBytes(30).toString('base64url')}`;
      const challenge = query.get('code_challenge')!;
      codes.set(code, { redirectUri: back.href, challenge, decision: fake.decision, sites: fake.sites });
      fake.secrets.push(code);
      back.searchParams.set('code', code);
      back.searchParams.set('scope', SCOPE);
    } else back.searchParams.set('error', fake.decision.answer);
    back.searchParams.set('state', query.get('state')!);
    response.writeHead(302, { location: back.href }).end();
  }

  function exchange(form: URLSearchParams): [status: number, body: object] {
    const given = form.get('code') ?? '';
    const code = codes.get(given);
    codes.delete(given);
    const verifier = form.get('code_verifier') ?? '';
    fake.secrets.push(verifier);
    if (form.get('client_id') !== CLIENT_ID || form.get('client_secret') !== CLIENT_SECRET) {
      return [401, { error: 'invalid_client' }];
    }
    const isProof = createHash('sha256').update(verifier).digest('base64url') === code?.challenge;
    if (code === undefined || code.redirectUri !== form.get('redirect_uri') || !isProof || verifier.length < 43) {
      return [400, { error: 'invalid_grant', error_description: 'Bad Request' }];
    }
    const refreshToken = `1//0${randomBytes(40).toString('base64url')}`;
    const { scope = SCOPE, withoutRefreshToken = false, refreshTokenExpiresIn } = code.decision;
    const account = provider.model.accounts.add({ refreshToken, sites: code.sites });
    accounts.push(account);
    const granted = provider.model.accounts.grant(
      new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken }),
    );
    fake.secrets.push(refreshToken, (granted.body as { access_token: string }).access_token);
    return [
      granted.status,
      {
        ...granted.body,
        scope,
        ...(withoutRefreshToken ? {} : { refresh_token: refreshToken }),
        ...(refreshTokenExpiresIn === undefined ? {} : { refresh_token_expires_in: refreshTokenExpiresIn }),
      },
    ];
  }

  async function forward(request: IncomingMessage, body: string, response: ServerResponse): Promise<void> {
    const { authorization, 'content-type': type } = request.headers;
    const answer = await fetch(new URL(request.url!, provider.url), {
      method: request.method!,
      headers: { ...(authorization ? { authorization } : {}), ...(type ? { 'content-type': type } : {}) },
      ...(request.method === 'GET' ? {} : { body }),
    });
    const found = await answer.text();
    const token = /"access_token":"([^"]+)"/.exec(found)?.[1];
    if (token !== undefined) fake.secrets.push(token);
    response
      .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
      .end(found);
  }
  return fake;
}

function failed(failure: Failure | undefined, response: ServerResponse): boolean {
  if (failure === undefined) return false;
  if (failure === 'reset') response.destroy();
  else if (failure !== 'hang') {
    const isText = typeof failure.body === 'string';
    response.writeHead(failure.status, { 'content-type': isText ? 'text/html' : 'application/json' });
    response.end(isText ? failure.body : JSON.stringify(failure.body));
  }
  return true;
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
