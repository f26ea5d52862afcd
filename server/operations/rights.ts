import type { Role } from '../catalog/workspaces.ts';
import { KnownError } from '../domain/errors.ts';
import type { Actor } from './operation.ts';

/** Roles that may do something. The session of a key has none. */
export const MANAGERS: readonly Role[] = ['owner', 'admin'];
export const OWNERS: readonly Role[] = ['owner'];
export const MEMBERS: readonly Role[] = ['owner', 'admin', 'member'];

export function isManagerRole(role: Role): boolean {
  return MANAGERS.includes(role);
}

/** Throws `forbidden` if a member changes what somebody else wrote. @param plural what is written: `views` */
export function requireAuthor({ role, by }: Pick<Actor, 'by' | 'role'>, author: string, plural: string): void {
  if (isManagerRole(role) || author.toLowerCase() === by.toLowerCase()) return;
  throw new KnownError('forbidden', `Members change their own ${plural}; this one is by ${author}.`);
}
