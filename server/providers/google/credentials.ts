import { createPrivateKey } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { ProviderFailure } from '../failures.ts';

interface ServiceAccount {
  readonly type: 'service_account';
  readonly email: string;
  /** PEM. */
  readonly privateKey: string;
}

interface AuthorizedUser {
  readonly type: 'authorized_user';
  readonly clientId: string;
  readonly clientSecret: string;
  readonly refreshToken: string;
  readonly quotaProject: string | undefined;
}

/** Google's files have about 2 kB. */
const MAX_BYTES = 100_000;

/**
 * Reads a Google credentials file. Throws `ProviderFailure` if it is missing, unreadable or malformed; the message names
 * the file but contains none of its contents.
 */
export function readCredentials(path: string): ServiceAccount | AuthorizedUser {
  const file = readJson(path);
  const text = (name: string): string => {
    const value = file[name];
    if (typeof value === 'string' && value !== '') return value;
    throw credentialsFailure(path, `has no ${name}`);
  };
  if (file['type'] === 'service_account') {
    const email = text('client_email');
    return { type: 'service_account', email, privateKey: checkPrivateKey(path, text('private_key')) };
  }
  if (file['type'] === 'authorized_user') {
    const quotaProject = file['quota_project_id'];
    return {
      type: 'authorized_user',
      clientId: text('client_id'),
      clientSecret: text('client_secret'),
      refreshToken: text('refresh_token'),
      quotaProject: typeof quotaProject === 'string' ? quotaProject : undefined,
    };
  }
  throw credentialsFailure(path, 'must be of the type service_account or authorized_user');
}

function readJson(path: string): Readonly<Record<string, unknown>> {
  try {
    const stats = statSync(path);
    // Reading a pipe would block.
    if (!stats.isFile()) throw credentialsFailure(path, 'is not a file');
    if (stats.size > MAX_BYTES)
      throw credentialsFailure(path, `has ${stats.size} bytes, too many for a Google credentials file`);
    const file = JSON.parse(readFileSync(path, 'utf8')) as unknown;
    if (typeof file === 'object' && file !== null) return file as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (error instanceof ProviderFailure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined)
      throw credentialsFailure(path, `cannot be read (${code}); each machine that runs Ordinate needs it at this path`);
    // The message of a JSON error quotes the file.
  }
  throw credentialsFailure(path, 'is not a JSON document');
}

function checkPrivateKey(path: string, privateKey: string): string {
  try {
    createPrivateKey(privateKey);
    return privateKey;
  } catch {
    throw credentialsFailure(path, 'has a private_key that is not a private key in PEM format');
  }
}

function credentialsFailure(path: string, why: string): ProviderFailure {
  return new ProviderFailure('misconfigured', `the credentials file '${path}' ${why}`, { step: 'credentials' });
}
