import { hash } from 'node:crypto';
import { KnownError } from './errors.ts';

/** Identifies the content of something that people edit: the same content has the same version. */
export function versionOf(content: object): string {
  return hash('sha256', JSON.stringify(content)).slice(0, 32);
}

/** Throws `outdated` if what somebody edits is not what they read. Commands have read nothing before. */
export function requireVersion(current: string, read: string | undefined): void {
  if (read === undefined || read === current) return;
  throw new KnownError('outdated', 'It was changed since you opened it, by somebody else or in another window.');
}
