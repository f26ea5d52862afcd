import type { FastifyRequest } from 'fastify';
import { isReadable } from '../catalog/projects.ts';
import type { Role } from '../catalog/workspaces.ts';
import { notFound } from '../domain/errors.ts';

/** A member of the workspace. */
export interface Member {
  readonly email: string;
  readonly role: Role;
}

/** The authenticated identity of a request. */
export interface Principal {
  readonly workspace: string;
  readonly plan: string;
  /** `feed`: the address of a feed of the key; `session`: a session of the dashboard; `share`: a shared link. */
  readonly via: 'key' | 'feed' | 'session' | 'share';
  /** What rate limits count by: the id of the session, key or share. */
  readonly id: string;
  readonly keyId: string | null;
  /** The member who signed in; null for a key, which reads only. */
  readonly member: Member | null;
  /** The projects that the key may read; null: all of the workspace. */
  readonly projects: readonly string[] | null;
  readonly requestsPerMinute: number;
  /** Whether the key was created with the scope `sql`. */
  readonly mayUseSql: boolean;
}

/** Throws `not_found` if the path names a project that the key may not read. */
export function requireReadable({ principal, params, routeOptions }: FastifyRequest): void {
  if (routeOptions.url?.includes('/projects/:id') !== true) return;
  requireAccess(principal!, (params as { id: string }).id);
}

/** Throws `not_found` if the key may not read a project, as for a project that does not exist. */
export function requireAccess(principal: Pick<Principal, 'projects'>, project: string): void {
  if (!isReadable(principal.projects, project)) throw notFound('The workspace of this key has no such project.');
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the key has been checked. */
    principal: Principal | null;
  }
}
