import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CatalogCache, Found } from '../../catalog/catalog-cache.ts';
import { KeyUse } from '../../catalog/key-use.ts';
import type { Access } from '../../catalog/keys.ts';
import { UsageDatabase } from '../../catalog/usage.ts';
import { KnownError } from '../../domain/errors.ts';
import '../principal.ts';
import { FixedWindows } from './fixed-windows.ts';

export const REQUESTS_PER_MINUTE = 120;
export const FAILURES_PER_MINUTE = 30;
const MINUTE = 60_000;

export interface GuardOptions {
  /** Where the last use of keys is stored. */
  readonly dataFolder: string;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
}

/** What a request passes before its route: key, rate limit, plan. */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** What requests prove their right by. */
export interface Credential {
  readonly via: 'key' | 'feed';
  /** Whom a request speaks for; undefined when it proves nothing. */
  readonly find: (request: FastifyRequest) => Found<Access>;
  /** How a request without a right is answered. */
  readonly refusal: (request: FastifyRequest) => KnownError;
}

/** The key in `Authorization`, for everything under the API's root. */
export function bearerKeys(catalogCache: CatalogCache): Credential {
  return {
    via: 'key',
    find: ({ headers }) => {
      const key = bearerKey(headers.authorization);
      return key === undefined ? undefined : catalogCache.access(key);
    },
    refusal: ({ headers }) => new KnownError('unauthorized', unauthorizedMessage(headers.authorization)),
  };
}

/**
 * Makes guards. Each checks, in this order: the credential (429 for an address with too many failures), the rate limit of
 * the key behind it (429), the plan (403). The rate-limit headers stand on every authenticated answer, whatever comes of
 * it. All guards count together.
 */
export async function makeGuards(
  app: FastifyInstance,
  { dataFolder, now }: GuardOptions,
): Promise<(credential: Credential) => Guard> {
  await app.register(rateLimit, {
    global: false,
    // The plugin wants a class, and makes the store itself.
    store: class extends FixedWindows {
      constructor() {
        super(now);
      }
    },
  });
  const usage = new UsageDatabase(dataFolder, (error) => {
    app.log.warn({ err: error }, 'the last use of keys was not stored');
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
    keyGenerator: (request) => request.principal?.keyId ?? '',
  });
  const countFailure = app.createRateLimit({
    timeWindow: MINUTE,
    max: FAILURES_PER_MINUTE,
    keyGenerator: (request) => request.ip,
  });

  return ({ via, find, refusal }) =>
    async (request, reply) => {
      const access = await find(request);
      if (access === undefined) {
        const failures = await countFailure(request);
        if (!failures.isAllowed && failures.isExceeded)
          throw tooMany('requests without a valid key', failures.ttlInSeconds);
        throw refusal(request);
      }
      const { keyId, workspaceId: workspace, plan } = access;
      request.principal = { workspace, plan, via, keyId };
      keyUse.note(keyId, now());

      const count = await countRequest(request);
      if (count.isAllowed) throw new Error('the rate limit counts every key');
      const reset = Math.max(1, count.ttlInSeconds);
      reply.headers({
        'x-ratelimit-limit': REQUESTS_PER_MINUTE,
        'x-ratelimit-remaining': count.remaining,
        'x-ratelimit-reset': reset,
      });
      if (count.isExceeded) throw tooMany(`requests with this key; ${REQUESTS_PER_MINUTE} a minute are served`, reset);

      if (plan === 'free') {
        throw new KnownError(
          'plan_required',
          'The workspace of this key is on the Free plan, which has no API access.',
        );
      }
    };
}

/** The key of `Authorization: Bearer KEY`; keys sent in any other way do not count. */
function bearerKey(header: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
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
