import type { FastifyInstance } from 'fastify';
import type { Context } from '../api/context.ts';
import type { Guard } from '../api/plugins/guard.ts';
import { createSession, endSession, SESSION_SECONDS, type SignedIn } from '../catalog/sessions.ts';
import { isoInstant, toMicroseconds } from '../domain/instants.ts';
import { clearSessionCookie, sessionCookie, setSessionCookie } from './session-cookie.ts';

/**
 * `POST /app/session` starts a session: with a key or the token of a sign-in link, either as `Authorization: Bearer …`,
 * a header that pages of other sites cannot send.
 */
export function addSignIn(app: FastifyInstance, { guard, context }: { guard: Guard; context: Context }): void {
  app.post('/app/session', { schema: { hide: true }, onRequest: guard }, async (request, reply) => {
    const { workspace, keyId, member } = request.principal!;
    const who: SignedIn = keyId === null ? { keyId, email: member!.email } : { keyId, email: null };
    const session = await createSession(context.catalog, { workspace, who, at: toMicroseconds(context.now()) });
    reply.cacheControl('no-store').header('set-cookie', setSessionCookie(request, session.token, SESSION_SECONDS));
    return { expiresAt: isoInstant(session.expiresAt) };
  });
}

/** `GET /app/api/session` returns who is signed in; `DELETE` ends the session. */
export function addSessionRoutes(api: FastifyInstance, { catalog, catalogCache }: Context): void {
  api.get('/session', { schema: { hide: true } }, async (request) => {
    const { workspaceId, workspaceName, email, role, expiresAt } = (await catalogCache.session(
      sessionCookie(request)!,
    ))!;
    return {
      workspace: { id: workspaceId, name: workspaceName },
      email,
      role: role ?? 'key',
      owner: role === 'owner' ? email : null,
      expiresAt: isoInstant(expiresAt),
    };
  });
  api.delete('/session', { schema: { hide: true } }, async (request, reply) => {
    await endSession(catalog, sessionCookie(request)!);
    return reply.header('set-cookie', clearSessionCookie(request)).code(204).send();
  });
}
