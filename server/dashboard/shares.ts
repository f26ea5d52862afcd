import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { ROUTES } from '../api/api.ts';
import type { Context } from '../api/context.ts';
import { sendError } from '../api/plugins/errors.ts';
import type { Credential, Guard } from '../api/plugins/guard.ts';
import type { Share } from '../catalog/keys.ts';
import { invalidRequest, KnownError, notFound } from '../domain/errors.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { filterFields } from '../domain/rules.ts';
import { isPasswordOf } from '../operations/shares.ts';
import { readBody } from './actions.ts';
import { SECURITY_HEADERS, sendDashboardPage } from './pages.ts';
import { finalThroughOf } from './project-routes.ts';
import { isOpenedBy, openCookie } from './share-cookie.ts';
import { answerAlerts, answerData, answerNotes, resourcesOf, screensOf } from './share-resources.ts';

const MAX_BODY = 4096;
/** Wrong passwords in a minute after which a share takes none. */
const MAX_WRONG = 10;
const MINUTE = 60_000;
const OPENING = Type.Object({ password: Type.String() }, { additionalProperties: false });

/** Of all answers below `/share`, those to addresses that cannot be decoded included. */
export const SHARE_HEADERS = { ...SECURITY_HEADERS, 'x-robots-tag': 'noindex' };

/** Whether an address lies below the root of shared links. */
export function isShareAddress(url: string): boolean {
  return /^\/share([/?]|$)/.test(url);
}

interface SharesOptions {
  readonly guardBy: (credential: Credential) => Guard;
  readonly context: Context;
  readonly requestsPerMinute: number;
}

/** The same for what does not exist, was revoked, has ended, or was not chosen. */
const nothing = (): KnownError => notFound('There is nothing at this address, or it is no longer shared.');

/**
 * Links that show one project at `/share/TOKEN`: the page, and the chosen resources of the API below `/api/projects`.
 * Cookies of sessions and keys count for nothing here.
 */
export async function addShares(
  app: FastifyInstance,
  { guardBy, context, requestsPerMinute }: SharesOptions,
): Promise<void> {
  const { catalogCache, now } = context;
  const find = async ({ params }: FastifyRequest): Promise<(Share & { plan: string }) | undefined> => {
    const share = await catalogCache.share((params as { token?: string }).token ?? '');
    const hasEnded = share !== undefined && share.expiresAt !== null && share.expiresAt <= toMicroseconds(now());
    return hasEnded ? undefined : share;
  };
  const guard = guardBy({
    via: 'share',
    find: async (request) => {
      const share = await find(request);
      if (share === undefined) return undefined;
      const { id, workspace, plan, project } = share;
      const rights = { keyExpiresAt: null, projects: [project], requestsPerMinute };
      return { ...rights, workspaceId: workspace, plan, keyId: null, share: id };
    },
    refusal: nothing,
    // Nobody guesses a token, and one that has ended says the same however often it is asked for.
    countsRefusals: false,
  });
  const requireShare = async (request: FastifyRequest): Promise<Share> => {
    const share = await find(request);
    if (share === undefined) throw nothing();
    return share;
  };
  const countWrong = app.createRateLimit({
    timeWindow: MINUTE,
    max: MAX_WRONG,
    keyGenerator: (request) => request.principal?.id ?? '',
  });
  const wrong = new WrongPasswords(now, countWrong);
  const handlers = new Map(ROUTES.map(({ path, handle }) => [path, handle(context)]));
  await app.register(
    async (shares) => {
      shares.removeAllContentTypeParsers();
      shares.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MAX_BODY }, (_, body, done) => done(null, body));
      shares.addHook('onRequest', (_request, reply, done) => {
        reply.headers(SHARE_HEADERS);
        done();
      });
      shares.addHook('onRequest', guard);
      shares.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'));
      shares.setErrorHandler((error: Error, request, reply) => sendError(error, request, reply));

      const schema = { hide: true };
      shares.get('/:token', { schema }, async (request, reply) => {
        await requireShare(request);
        return sendDashboardPage(reply);
      });
      shares.post('/:token/session', { schema }, async (request, reply) => {
        const share = await requireShare(request);
        const { password } = await readBody(OPENING, request);
        await wrong.take(request, share, password);
        return reply
          .code(204)
          .header('set-cookie', openCookie(request, share, now()))
          .send();
      });
      shares.get('/:token/api/*', { schema }, async (request, reply) => {
        const share = await requireShare(request);
        if (share.passwordHash !== null && !isOpenedBy(request, share, now())) {
          throw new KnownError('unauthorized', 'This link has a password; send it to /session first.');
        }
        return answer(share, request, reply);
      });
      shares.setNotFoundHandler(async () => {
        throw nothing();
      });
    },
    { prefix: '/share' },
  );

  async function answer(share: Share, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const path = `/${(request.params as { '*': string })['*']}`;
    const [, project, resource = ''] = /^\/projects\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    const isList = path === '/projects';
    if (!isList && (project !== share.project || !resourcesOf(share).includes(resource))) throw nothing();
    const query = request.query as Readonly<Record<string, string>>;
    if ((query['format'] ?? 'json') !== 'json') throw nothing();
    // Pages have no such field, and say so themselves; others would ignore the whole filter.
    if (share.hideQueries && resource !== 'pages' && filterFields(query['filter'] ?? '').includes('query')) {
      throw invalidRequest('filter must not be on a query: this link shows none.');
    }
    reply.header('x-share-screens', screensOf(share).join(' '));
    if (isList) {
      const project = await catalogCache.project(share.workspace, share.project);
      reply.header('x-share-final-through', (project && finalThroughOf(project)) ?? '');
    }
    request.headers.accept = 'application/json';
    request.params = isList ? {} : { id: share.project };
    if (resource === 'alerts') return answerAlerts(context, share, request);
    if (resource === 'notes') return answerNotes(context, share, request);
    if (resource === 'data') return answerData(context, share, request);
    return handlers.get(isList ? '/projects' : `/projects/:id/${resource}`)!(request, reply);
  }
}

type CountWrong = ReturnType<FastifyInstance['createRateLimit']>;

/** Refuses passwords of a share after too many wrong ones, which all processes count together. */
class WrongPasswords {
  readonly #now: () => number;
  readonly #count: CountWrong;
  /** By share: until when it takes no password. */
  readonly #closed = new Map<string, number>();
  /** By share: the end of the last password that came. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(now: () => number, count: CountWrong) {
    this.#now = now;
    this.#count = count;
  }

  /** Throws `unauthorized` for a wrong password, and `rate_limited` after too many of them, whatever it is. */
  async take(request: FastifyRequest, share: Share, password: string): Promise<void> {
    // One after the other, so that many at a time are no way around, and right ones do not count.
    const before = this.#turns.get(share.id);
    const { promise: end, resolve } = Promise.withResolvers<void>();
    this.#turns.set(share.id, end);
    await before;
    try {
      await this.#check(request, share, password);
    } finally {
      resolve();
      if (this.#turns.get(share.id) === end) this.#turns.delete(share.id);
    }
  }

  async #check(request: FastifyRequest, share: Share, password: string): Promise<void> {
    const at = this.#now();
    for (const [id, until] of this.#closed) if (until <= at) this.#closed.delete(id);
    const until = this.#closed.get(share.id);
    if (until !== undefined) throw tooManyWrong(until - at);
    if (await isPasswordOf(share, password)) return;
    const counted = await this.#count(request);
    if (counted.isAllowed) throw new Error('the limit must count every share');
    if (counted.remaining === 0) this.#closed.set(share.id, at + counted.ttl);
    // Ten were wrong in other processes.
    if (counted.isExceeded) throw tooManyWrong(counted.ttl);
    throw new KnownError('unauthorized', 'The password is wrong.');
  }
}

/** @param wait milliseconds */
function tooManyWrong(wait: number): KnownError {
  const retryAfter = Math.max(1, Math.ceil(wait / 1000));
  return new KnownError('rate_limited', `Too many wrong passwords. Try again in ${retryAfter} s.`, { retryAfter });
}
