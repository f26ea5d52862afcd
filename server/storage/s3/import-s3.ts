import { importOptional } from '../../runtime/optional-packages.ts';

/**
 * Imports object stores, whose packages take 50 MB of memory and are optional.
 * @param user what needs them
 */
export function importS3(user: string): Promise<typeof import('./open-s3-store.ts')> {
  return importOptional(user, /^@aws-sdk\//, () => import('./open-s3-store.ts'));
}
