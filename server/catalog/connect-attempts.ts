import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Microseconds } from '../domain/instants.ts';
import { type KeyFile, SecretsFailure } from '../runtime/secrets.ts';
import type { Catalog } from './catalog.ts';
import { hashOf } from './keys.ts';
import { seal, unseal } from './secrets.ts';
import { findSession, type Session } from './sessions.ts';

/** How long an account may take to agree, in seconds. */
export const ATTEMPT_SECONDS = 600;

/** What an attempt to connect an account sends to the browser, and its verifier, which stays here. */
interface NewAttempt {
  readonly state: string;
  /** The value of the cookie that comes back with the state. */
  readonly cookie: string;
  readonly verifier: string;
}

/** Begins an attempt of a session. Of what the browser gets only hashes are stored. */
export async function beginAttempt(
  catalog: Catalog,
  keyFile: KeyFile,
  { sessionToken, at }: { sessionToken: string; at: Microseconds },
): Promise<NewAttempt> {
  const [state, cookie, verifier] = [newSecret(), newSecret(), newSecret()] as const;
  const stateHash = hashOf(state);
  await catalog.transaction(async (tx) => {
    await tx.statements.run('connect-attempts.forget', { at });
    await tx.statements.run('connect-attempts.add', {
      stateHash,
      cookieHash: hashOf(cookie),
      sessionHash: hashOf(sessionToken),
      verifier: await seal(tx, keyFile, { column: 'connect_attempts.verifier', id: stateHash }, verifier),
      expiresAt: at + ATTEMPT_SECONDS * 1e6,
    });
  });
  return { state, cookie, verifier };
}

/** An attempt that an account has answered. */
interface TakenAttempt {
  readonly verifier: string;
  /** The session that began it. */
  readonly session: Session;
}

/**
 * Uses up the attempt of a state, if the cookie belongs to it. Undefined without one, after its time, and if its session
 * has ended or its key is missing.
 */
export async function takeAttempt(
  catalog: Catalog,
  keyFile: KeyFile,
  { state, cookie, at }: { state: string; cookie: string; at: Microseconds },
): Promise<TakenAttempt | undefined> {
  type Row = { cookieHash: string; sessionHash: string; verifier: string; expiresAt: Microseconds };
  const stateHash = hashOf(state);
  // Anybody can send a state: transactions only for those that come with their cookie.
  const found = await catalog.statements.get<Row>('connect-attempts.one', { stateHash });
  if (found === undefined || !isSame(found.cookieHash, hashOf(cookie))) return undefined;
  return catalog.transaction(async (tx) => {
    const attempt = await tx.statements.get<Row>('connect-attempts.one', { stateHash });
    const taken = await tx.statements.run('connect-attempts.remove', { stateHash });
    if (attempt === undefined || taken === 0 || attempt.expiresAt <= at) return undefined;
    const session = await findSession(tx, attempt.sessionHash);
    if (session === undefined || session.expiresAt <= at) return undefined;
    const field = { column: 'connect_attempts.verifier', id: stateHash } as const;
    try {
      return { session, verifier: unseal(keyFile, field, attempt.verifier) };
    } catch (error) {
      if (error instanceof SecretsFailure) return undefined;
      throw error;
    }
  });
}

/** 256 random bits, as PKCE and cookies take them. */
function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
