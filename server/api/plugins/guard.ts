import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CatalogCache } from '../../catalog/catalog-cache.ts';
import { KeyUse } from '../../catalog/key-use.ts';
import { UsageDatabase } from '../../catalog/usage.ts';
import { KnownError } from '../../domain/errors.ts';
import { toMicroseconds } from '../../domain/instants.ts';
import type { Principal } from '../principal.ts';
import { requireSameOrigin, sessionCookie } from '../session-cookie.ts';
import { FixedWindows } from './fixed-windows.ts';

export const REQUESTS_PER_MINUTE = 120;
export const FAILURES_PER_MINUTE = 30;
const MINUTE = 60_000;

export interface GuardOptions {
  readonly catalogCache: CatalogCache;
  /** Folder of the usage database. */
  readonly dataFolder: string;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
}

/** The checks before each route: key or session, rate limit, plan. */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

export interface Guards {
  /** Of the API: a key. */
  readonly key: Guard;
  /** Of the dashboard: the cookie of a session. */
  readonly session: Guard;
  /** Where the last use of keys is stored; open until the server closes. */
  readonly usage: UsageDatabase;
  /** Counts an attempt to sign in that failed; throws `unauthorized`, or `rate_limited` where there were too many. */
  readonly refuse: (request: FastifyRequest, message: string) => Promise<never>;
}

/**
 * Both check, in this order: the key or session (401, or 429 for an address with too many failures), the rate limit of
 * the key (429), the plan (403). A session counts as its key. Every authenticated response has the rate-limit headers.
 */
export async function makeGuards(
  app: FastifyInstance,
  { catalogCache, dataFolder, now }: GuardOptions,
): Promise<Guards> {
  await app.register(rateLimit, {
    global: false,
    // The plugin requires a class and creates the store itself.
    store: class extends FixedWindows {
      constructor() {
        super(now);
      }
    },
  });
  const usage = new UsageDatabase(dataFolder, (error) => {
    app.log.warn({ err: error }, 'could not store the last use of keys');
  });
  const keyUse = new KeyUse(usage);
  app.addHook('onClose', async () => {
    await keyUse.flush();
    usage.close();
  });
  app.decorateRequest('principal', null);
  const countRequest = app.createRateLimit({
    timeWindow: MINUTE,
    max: REQUESTS_PER_MINUTE,
    keyGenerator: (request) => request.principal?.id ?? '',
  });
  const countFailure = app.createRateLimit({
    timeWindow: MINUTE,
    max: FAILURES_PER_MINUTE,
    keyGenerator: (request) => request.ip,
  });

  async function refuse(request: FastifyRequest, message: string): Promise<never> {
    const failures = await countFailure(request);
    if (!failures.isAllowed && failures.isExceeded) {
      throw tooMany('requests without a valid key', failures.ttlInSeconds);
    }
    throw new KnownError('unauthorized', message);
  }

  /** Counts a request of whom `request.principal` is, and checks the plan. */
  async function admit(principal: Principal, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    request.principal = principal;
    if (principal.keyId !== null) keyUse.note(principal.keyId, now());
    const count = await countRequest(request);
    if (count.isAllowed) throw new Error('the rate limit must count every key');
    const reset = Math.max(1, count.ttlInSeconds);
    reply.headers({
      'x-ratelimit-limit': REQUESTS_PER_MINUTE,
      'x-ratelimit-remaining': count.remaining,
      'x-ratelimit-reset': reset,
    });
    if (count.isExceeded)
      throw tooMany(`requests with this key; the limit is ${REQUESTS_PER_MINUTE} per minute`, reset);

    if (principal.plan === 'free') {
      throw new KnownError('plan_required', 'The workspace of this key is on the Free plan, which has no API access.');
    }
  }

  return {
    usage,
    refuse,
    key: async (request, reply) => {
      const key = bearerToken(request);
      const access = key === undefined ? undefined : await catalogCache.access(key);
      if (access === undefined) return refuse(request, unauthorizedMessage(request.headers.authorization));
      const { keyId, workspaceId: workspace, plan } = access;
      return admit({ workspace, plan, via: 'key', id: keyId, keyId, owner: null }, request, reply);
    },
    session: async (request, reply) => {
      requireSameOrigin(request);
      const token = sessionCookie(request);
      const session = token === undefined ? undefined : await catalogCache.session(token);
      if (session === undefined || session.expiresAt <= toMicroseconds(now())) {
        return refuse(request, 'Nobody is signed in, or the session has ended. Sign in again.');
      }
      const { id, keyId, email: owner, workspaceId: workspace, plan } = session;
      return admit({ workspace, plan, via: 'session', id: keyId ?? id, keyId, owner }, request, reply);
    },
  };
}

/** The token of `Authorization: Bearer TOKEN`. */
export function bearerToken({ headers }: FastifyRequest): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

function unauthorizedMessage(header: string | undefined): string {
  return header === undefined
    ? 'An API key is missing; send it as Authorization: Bearer KEY.'
    : 'The API key is malformed, unknown or revoked; send a valid one as Authorization: Bearer KEY.';
}

function tooMany(what: string, seconds: number): KnownError {
  const retryAfter = Math.max(1, seconds);
  return new KnownError('rate_limited', `Too many ${what}. Try again in ${retryAfter} s.`, { retryAfter });
}
