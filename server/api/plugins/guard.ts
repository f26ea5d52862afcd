import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CatalogCache, Found } from '../../catalog/catalog-cache.ts';
import { KeyUse, type Rights } from '../../catalog/keys.ts';
import type { Usage } from '../../catalog/usage.ts';
import { KnownError } from '../../domain/errors.ts';
import { toMicroseconds } from '../../domain/instants.ts';
import {
  FAILURES_PER_MINUTE,
  FILES_PER_REQUEST,
  REQUESTS_PER_MINUTE,
  SESSION_REQUESTS_PER_MINUTE,
} from '../../domain/request-limits.ts';
import { type Member, type Principal, requireReadable } from '../principal.ts';
import type { WindowCounter } from './fixed-windows.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its responses are files, which have their own rate limit. */
    sendsFiles?: boolean;
  }
}

const MINUTE = 60_000;

export interface GuardOptions {
  readonly usage: Usage;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Counts requests for rate limits. */
  readonly counter: WindowCounter;
}

/** The checks before each route of the API: key, rate limit, plan. */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** The owner of valid credentials. The key may have expired. */
export interface Identity extends Rights {
  readonly workspaceId: string;
  readonly plan: string;
  readonly keyId: string | null;
  /** What rate limits count by in the dashboard, and the member who signed in; null for sessions of keys. */
  readonly session?: { readonly id: string; readonly member: Member | null };
  /** The id of a shared link, which has a limit of its own. */
  readonly share?: string;
  /** What a key may do besides reading presets. */
  readonly scope?: string | null;
}

/** A way to authenticate requests. */
export interface Credential {
  readonly via: Principal['via'];
  /** The identity of a request; undefined without valid credentials. */
  readonly find: (request: FastifyRequest) => Found<Identity>;
  /** The error for a request without valid credentials. */
  readonly refusal: (request: FastifyRequest) => KnownError;
  /** Whether refusals count as failures of the address, as they do by default. */
  readonly countsRefusals?: boolean;
}

/** API keys in the `Authorization` header. */
export function bearerKeys(catalogCache: CatalogCache): Credential {
  return {
    via: 'key',
    find: ({ headers }) => {
      const key = bearerToken(headers.authorization);
      return key === undefined ? undefined : catalogCache.access(key);
    },
    refusal: ({ headers }) => new KnownError('unauthorized', unauthorizedMessage(headers.authorization)),
  };
}

/**
 * Returns a function that creates guards. A guard checks, in this order: the credential (its refusal, or 429 for an
 * address with too many failures), the rate limit of the key (429), the plan (403), whether the key may read the project of
 * the path (404). Every authenticated response has the headers of the limit that its request counts for. Files have
 * their own limit, because programs that read them in place send many small requests. All guards share their counters.
 */
export async function makeGuards(
  app: FastifyInstance,
  { usage, now, counter }: GuardOptions,
): Promise<(credential: Credential) => Guard> {
  await app.register(rateLimit, {
    global: false,
    // The plugin requires a class and creates the store itself.
    store: class implements WindowCounter {
      incr: WindowCounter['incr'] = (...count) => counter.incr(...count);
      child = () => counter.child();
    },
  });
  const keyUse = new KeyUse(usage);
  app.addHook('onClose', () => keyUse.flush());
  app.decorateRequest('principal', null);
  const countRequest = app.createRateLimit({
    timeWindow: MINUTE,
    max: (request) => request.principal?.requestsPerMinute ?? REQUESTS_PER_MINUTE,
    keyGenerator: (request) => request.principal?.id ?? '',
  });
  const countFailure = app.createRateLimit({
    timeWindow: MINUTE,
    max: FAILURES_PER_MINUTE,
    keyGenerator: (request) => request.ip,
  });
  const filesOf = (requests: number): number => requests * FILES_PER_REQUEST;
  const countFile = app.createRateLimit({
    timeWindow: MINUTE,
    max: (request) => filesOf(request.principal?.requestsPerMinute ?? REQUESTS_PER_MINUTE),
    keyGenerator: (request) => request.principal?.id ?? '',
  });

  return ({ via, find, refusal, countsRefusals = true }) =>
    async (request, reply) => {
      const identity = await find(request);
      if (identity === undefined || hasExpired(identity, now())) {
        if (!countsRefusals) throw refusal(request);
        const failures = await countFailure(request);
        if (!failures.isAllowed && failures.isExceeded)
          throw tooMany('requests without a valid key', failures.ttlInSeconds);
        throw refusal(request);
      }
      const { keyId, workspaceId: workspace, plan, session, share, projects } = identity;
      const requestsPerMinute =
        session === undefined ? (identity.requestsPerMinute ?? REQUESTS_PER_MINUTE) : SESSION_REQUESTS_PER_MINUTE;
      const member = session?.member ?? null;
      const id = session?.id ?? share ?? keyId ?? '';
      const mayUseSql = via === 'key' && identity.scope === 'sql';
      request.principal = { workspace, plan, via, id, keyId, member, projects, requestsPerMinute, mayUseSql };
      if (keyId !== null) keyUse.note(keyId, now());

      const isFile = request.routeOptions.config.sendsFiles === true;
      const count = await (isFile ? countFile : countRequest)(request);
      const limit = isFile ? filesOf(requestsPerMinute) : requestsPerMinute;
      // `isAllowed` of the plugin: the key is on a list of keys without limits, of which there are none.
      if (count.isAllowed) throw new Error('the rate limit must count every key');
      const reset = Math.max(1, count.ttlInSeconds);
      reply.headers({
        'x-ratelimit-limit': limit,
        'x-ratelimit-remaining': count.remaining,
        'x-ratelimit-reset': reset,
      });
      if (count.isExceeded)
        throw tooMany(
          `requests${isFile ? ' for files' : ''} with this ${session === undefined ? (share === undefined ? 'key' : 'link') : 'session'}; the limit is ${limit} per minute`,
          reset,
        );

      if (plan === 'free') {
        throw new KnownError(
          'plan_required',
          'The workspace of this key is on the Free plan, which has no API access.',
        );
      }
      requireReadable(request);
    };
}

function hasExpired({ keyExpiresAt }: Rights, now: number): boolean {
  return keyExpiresAt !== null && keyExpiresAt <= toMicroseconds(now);
}

/** The token of `Authorization: Bearer TOKEN`. */
export function bearerToken(header: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
}

function unauthorizedMessage(header: string | undefined): string {
  return header === undefined
    ? 'An API key is missing; send it as Authorization: Bearer KEY.'
    : 'The API key is malformed, unknown, expired or revoked; send a valid one as Authorization: Bearer KEY.';
}

/** A 429 for too many of something in a minute. */
export function tooMany(what: string, seconds: number): KnownError {
  const retryAfter = Math.max(1, seconds);
  return new KnownError('rate_limited', `Too many ${what}. Try again in ${retryAfter} s.`, { retryAfter });
}
