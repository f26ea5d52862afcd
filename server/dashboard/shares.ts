import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ROUTES } from '../api/api.ts';
import { sendError } from '../api/plugins/errors.ts';
import type { Credential, Guard } from '../api/plugins/guard.ts';
import type { Context } from '../api/routes/context.ts';
import type { Share } from '../catalog/shares.ts';
import { invalidRequest, KnownError, notFound } from '../domain/errors.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { isPasswordOf } from '../projects/shares.ts';
import { SECURITY_HEADERS, sendDashboardPage } from './pages.ts';
import { isOpenedBy, openCookie } from './share-cookie.ts';
import { answerAlerts, answerNotes, resourcesOf } from './share-resources.ts';

const MAX_BODY = 4096;
/** Wrong passwords in a minute after which a share takes none. */
const MAX_WRONG = 10;
const MINUTE = 60_000;

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
  });
  const requireShare = async (request: FastifyRequest): Promise<Share> => {
    const share = await find(request);
    if (share === undefined) throw nothing();
    return share;
  };
  const wrong = new WrongPasswords(now);
  const handlers = new Map(ROUTES.map(({ path, handle }) => [path, handle(context)]));
  await app.register(
    async (shares) => {
      shares.removeAllContentTypeParsers();
      shares.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MAX_BODY }, (_, body, done) => done(null, body));
      shares.addHook('onRequest', (_request, reply, done) => {
        reply.headers({ ...SECURITY_HEADERS, 'x-robots-tag': 'noindex' });
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
        await wrong.take(share, readPassword(request));
        return reply.code(204).header('set-cookie', openCookie(request, share)).send();
      });
      shares.get('/:token/api/*', { schema }, async (request, reply) => {
        const share = await requireShare(request);
        if (share.passwordHash !== null && !isOpenedBy(request, share)) {
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
    if (share.hideQueries && /\bquery\b/i.test(query['filter'] ?? '')) {
      throw invalidRequest('filter must not be on a query: this link shows none.');
    }
    reply.header('x-share-screens', share.screens.join(' '));
    request.headers.accept = 'application/json';
    request.params = isList ? {} : { id: share.project };
    if (resource === 'alerts') return answerAlerts(context, share, request);
    if (resource === 'notes') return answerNotes(context, share, request);
    return handlers.get(isList ? '/projects' : `/projects/:id/${resource}`)!(request, reply);
  }
}

function readPassword({ body }: FastifyRequest): string {
  try {
    const { password } = JSON.parse(String(body)) as { password?: unknown };
    if (typeof password === 'string') return password;
  } catch {
    // Said below.
  }
  throw invalidRequest('The body must be JSON with the text `password`.');
}

/** Counts wrong passwords of shares, in this process. */
class WrongPasswords {
  readonly #now: () => number;
  /** By share: when its minute ends, and how many there were. */
  readonly #counts = new Map<string, { until: number; count: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws `unauthorized` for a wrong password, and `rate_limited` after too many of them, whatever it is. */
  async take(share: Share, password: string): Promise<void> {
    const at = this.#now();
    for (const [id, { until }] of this.#counts) if (until <= at) this.#counts.delete(id);
    const known = this.#counts.get(share.id) ?? { until: at + MINUTE, count: 0 };
    if (known.count >= MAX_WRONG) {
      const retryAfter = Math.max(1, Math.ceil((known.until - at) / 1000));
      throw new KnownError('rate_limited', `Too many wrong passwords. Try again in ${retryAfter} s.`, { retryAfter });
    }
    // Counted before it is known, so that many at a time are no way around.
    this.#counts.set(share.id, known);
    known.count++;
    if (!(await isPasswordOf(share, password))) throw new KnownError('unauthorized', 'The password is wrong.');
    known.count--;
  }
}
