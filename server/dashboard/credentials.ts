import { bearerKeys, bearerToken, type Credential, type Identity } from '../api/plugins/guard.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogCache } from '../catalog/catalog-cache.ts';
import type { Rights } from '../catalog/keys.ts';
import { takeInvitation, takeLink } from '../catalog/sessions.ts';
import type { Role } from '../catalog/workspaces.ts';
import { KnownError } from '../domain/errors.ts';
import { LINK_PATTERN } from '../domain/ids.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { requireSameOrigin, sessionCookie } from './session-cookie.ts';

interface Sources {
  readonly catalog: Catalog;
  readonly catalogCache: CatalogCache;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** The origin at which browsers reach this server; null if it is not set. */
  readonly publicUrl: string | null;
}

/** The cookie of a session that has not ended, sent by a page of this origin. */
export function sessionCookies({ catalogCache, now, publicUrl }: Omit<Sources, 'catalog'>): Credential {
  return {
    via: 'session',
    find: async (request) => {
      requireSameOrigin(request, publicUrl);
      const token = sessionCookie(request);
      const session = token === undefined ? undefined : await catalogCache.session(token);
      if (session === undefined || session.expiresAt <= toMicroseconds(now())) return undefined;
      return identityOf(session);
    },
    refusal: () => new KnownError('unauthorized', 'The session has ended, or you are not signed in. Sign in again.'),
  };
}

/** What begins a session: a key, or the token of a sign-in link or an invitation, which is used up. */
export function signInTokens({ catalog, catalogCache, now, publicUrl }: Sources): Credential {
  const keys = bearerKeys(catalogCache);
  const isLink = (token: string | undefined): token is string => token !== undefined && LINK_PATTERN.test(token);
  return {
    via: 'session',
    find: async (request) => {
      requireSameOrigin(request, publicUrl);
      const token = bearerToken(request.headers.authorization);
      if (!isLink(token)) return keys.find(request);
      const at = toMicroseconds(now());
      const link = (await takeLink(catalog, token, at)) ?? (await takeInvitation(catalog, token, at));
      return link && identityOf(link);
    },
    refusal: (request) =>
      isLink(bearerToken(request.headers.authorization))
        ? new KnownError('unauthorized', 'This link was already used or revoked, or is too old. Ask for a new one.')
        : keys.refusal(request),
  };
}

interface SignedIn extends Rights {
  readonly id: string;
  readonly workspaceId: string;
  readonly plan: string;
  readonly keyId: string | null;
  readonly email: string | null;
  readonly role: Role | null;
}

function identityOf(signedIn: SignedIn): Identity {
  const { id, workspaceId, plan, keyId, email, role, keyExpiresAt, projects, requestsPerMinute } = signedIn;
  const common = { workspaceId, plan, keyExpiresAt, projects, requestsPerMinute };
  if (email === null || role === null) return { ...common, keyId, session: { id, member: null } };
  return { ...common, keyId: null, session: { id, member: { email, role } } };
}
