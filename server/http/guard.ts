import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import type { KeyUse } from '../catalog/key-use.ts';
import type { Access } from '../catalog/keys.ts';
import type { KnownCatalog } from '../catalog/known.ts';
import { findProject, type Project } from '../catalog/projects.ts';
import type { TrackedKeywordsCache, TrackedRead } from '../catalog/tracked.ts';
import { KnownError, notFound } from '../domain/errors.ts';

export const REQUESTS_A_MINUTE = 120;
export const FAILURES_A_MINUTE = 30;
const MINUTE = 60_000;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the key has been checked. */
    access: Access | null;
  }
}

/** What every request under the API's root passes before its route: key, rate limit, plan. */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * Checks, in this order: the key (401, or 429 for an address with too many failures), the key's rate limit (429), the
 * plan (403). The rate-limit headers stand on every authenticated answer, whatever comes of it.
 */
export function makeGuard(app: FastifyInstance, known: KnownCatalog, keyUse: KeyUse, now: () => number): Guard {
  app.decorateRequest('access', null);
  const countRequest = app.createRateLimit({
    timeWindow: MINUTE,
    max: REQUESTS_A_MINUTE,
    keyGenerator: (request) => request.access?.keyId ?? '',
  });
  const countFailure = app.createRateLimit({
    timeWindow: MINUTE,
    max: FAILURES_A_MINUTE,
    keyGenerator: (request) => request.ip,
  });

  return async (request, reply) => {
    const key = bearerKey(request.headers.authorization);
    const access = key === undefined ? undefined : known.access(key);
    if (access === undefined) {
      const failures = await countFailure(request);
      if (!failures.isAllowed && failures.isExceeded)
        throw tooMany('requests without a valid key', failures.ttlInSeconds);
      throw new KnownError('unauthorized', unauthorizedMessage(request.headers.authorization));
    }
    request.access = access;
    keyUse.note(access.keyId, now());

    const count = await countRequest(request);
    if (count.isAllowed) throw new Error('the rate limit counts every key');
    const reset = Math.max(1, count.ttlInSeconds);
    reply.headers({
      'x-ratelimit-limit': REQUESTS_A_MINUTE,
      'x-ratelimit-remaining': count.remaining,
      'x-ratelimit-reset': reset,
    });
    if (count.isExceeded) throw tooMany(`requests with this key; ${REQUESTS_A_MINUTE} a minute are served`, reset);

    if (access.plan === 'free') {
      throw new KnownError('plan_required', 'The workspace of this key is on the Free plan, which has no API access.');
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

/**
 * Reads what an answer needs of the catalog in one snapshot: the project of the path and whatever `reads` takes, so
 * that a load in between cannot mix old and new. Throws `not_found` for a project the key's workspace does not have.
 */
export function readProject<T>(
  catalog: Catalog,
  request: FastifyRequest,
  reads: (project: Project) => T,
): T & { project: Project } {
  return catalog.snapshot(() => {
    const project = findProject(catalog, request.access!.workspaceId, projectId(request));
    if (project === undefined) throw unknownProject();
    return { ...reads(project), project };
  });
}

/** As `readProject`, with the project's tracked keywords, which may take a while. `reads` is given its own catalog. */
export async function readTracked<T>(
  tracked: TrackedKeywordsCache,
  request: FastifyRequest,
  reads: (read: TrackedRead) => T,
): Promise<T & Omit<TrackedRead, 'catalog'>> {
  const read = await tracked.read(request.access!.workspaceId, projectId(request), (found) => ({
    ...reads(found),
    project: found.project,
    tracked: found.tracked,
  }));
  if (read === undefined) throw unknownProject();
  return read;
}

/** The project of the path alone, as `readProject` finds it, without a snapshot. */
export function findPathProject(known: KnownCatalog, request: FastifyRequest): Project {
  const project = known.project(request.access!.workspaceId, projectId(request));
  if (project === undefined) throw unknownProject();
  return project;
}

function projectId(request: FastifyRequest): string {
  return (request.params as { id?: string }).id ?? '';
}

function unknownProject(): KnownError {
  return notFound('The workspace of this key has no such project.');
}

/** The `project` object that answers start with. */
export function projectReference({ id, domain }: Project): { id: string; domain: string } {
  return { id, domain };
}
