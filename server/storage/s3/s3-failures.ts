import { S3ServiceException } from '@aws-sdk/client-s3';

/** An answer that ended early. */
export class CutAnswer extends Error {}

export function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && ['NoSuchKey', 'NotFound'].includes(error.name);
}

/** A condition that a file be new is not met, or another process is writing it. */
export function isThere(error: unknown): boolean {
  return error instanceof S3ServiceException && [409, 412].includes(error.$metadata.httpStatusCode ?? 0);
}

export function isNotImplemented(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 501;
}

/** The store does not know an upload: it has ended. */
export function isGone(error: unknown): boolean {
  return error instanceof S3ServiceException && error.name === 'NoSuchUpload';
}

/** The store knows the credentials, but they lack the right. */
export function isDenied(error: unknown): boolean {
  return error instanceof S3ServiceException && ['AccessDenied', 'Forbidden'].includes(error.name);
}

/** Describes a failure without details of the request, such as its signature. */
export function describe(error: unknown, endpoint = 'AWS'): string {
  const { name, message } = error as Error;
  if (error instanceof CutAnswer) return message;
  if (error instanceof S3ServiceException) {
    const status = error.$metadata.httpStatusCode;
    const hint = HINTS[name] ?? (status === 403 ? HINTS['AccessDenied'] : undefined);
    return `it answers ${status ?? 'nothing'} ${name}${hint === undefined ? '' : `; ${hint}`}`;
  }
  if (name === 'CredentialsProviderError') return HINTS[name]!;
  if (name === 'TimeoutError' || name === 'AbortError') return `${endpoint} does not answer in time`;
  return `${endpoint} cannot be reached (${(error as NodeJS.ErrnoException).code ?? message})`;
}

/** What may help, by the code of a failure. */
export const HINTS: Readonly<Record<string, string>> = {
  AccessDenied: 'these credentials may not do this; a missing file is told from a forbidden one by s3:ListBucket',
  CredentialsProviderError: 'there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile',
  InvalidAccessKeyId: 'check AWS_ACCESS_KEY_ID',
  NoSuchBucket: 'create the bucket, or correct ORDINATE_STORAGE',
  PermanentRedirect: 'the bucket is in another region; set ORDINATE_STORAGE_REGION',
  SignatureDoesNotMatch: 'check AWS_SECRET_ACCESS_KEY',
};
