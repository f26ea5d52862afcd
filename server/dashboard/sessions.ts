import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bearerToken, type Guards } from '../api/plugins/guard.ts';
import type { Context } from '../api/routes/context.ts';
import { clearSessionCookie, requireSameOrigin, sessionCookie, setSessionCookie } from '../api/session-cookie.ts';
import { createSession, endSession, SESSION_SECONDS, type SignedIn, takeLink } from '../catalog/sessions.ts';
import { LINK_PATTERN } from '../domain/ids.ts';
import { isoInstant, toMicroseconds } from '../domain/instants.ts';

interface SignInOptions {
  readonly guards: Guards;
  readonly context: Context;
}

/**
 * `POST /app/session` begins a session: with a key, or with the secret of a sign-in link, either as
 * `Authorization: Bearer …`, which no page of another site can send. Attempts that fail count as requests without a key.
 */
export function addSignIn(app: FastifyInstance, { guards, context }: SignInOptions): void {
  app.post('/app/session', { schema: { hide: true } }, async (request, reply) => {
    reply.cacheControl('no-store');
    requireSameOrigin(request);
    const at = toMicroseconds(context.now());
    const token = bearerToken(request);
    let signedIn: { workspace: string; who: SignedIn } | undefined;
    if (token !== undefined && LINK_PATTERN.test(token)) {
      signedIn = await takeLink(context.catalog, token, at);
      if (signedIn === undefined) {
        return guards.refuse(request, 'This link has been used already or is older than 10 minutes. Make a new one.');
      }
    } else {
      await guards.key(request, reply);
      const { workspace, keyId } = request.principal!;
      signedIn = { workspace, who: { keyId: keyId!, email: null } };
    }
    const session = await createSession(context.catalog, { ...signedIn, at });
    reply.header('set-cookie', setSessionCookie(request, session.token, SESSION_SECONDS));
    return { expiresAt: isoInstant(session.expiresAt) };
  });
}

/** `GET /app/api/session` says who is signed in; `DELETE` ends the session. */
export function addSessionRoutes(api: FastifyInstance, { catalog, catalogCache }: Context): void {
  api.get('/session', { schema: { hide: true } }, async (request) => {
    const { workspaceId, workspaceName, email, expiresAt } = (await catalogCache.session(sessionCookie(request)!))!;
    return {
      workspace: { id: workspaceId, name: workspaceName },
      owner: email,
      expiresAt: isoInstant(expiresAt),
    };
  });
  api.delete('/session', { schema: { hide: true } }, async (request: FastifyRequest, reply) => {
    await endSession(catalog, sessionCookie(request)!);
    return reply.header('set-cookie', clearSessionCookie(request)).code(204).send();
  });
}
