import { createCipheriv, createDecipheriv, hash as digest, hkdfSync, randomBytes } from 'node:crypto';
import { KnownError } from '../domain/errors.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';

/** A form that a member submits. */
export interface Submission {
  /** 122 random bits that the form has made. Only a hash is stored. */
  readonly key: string;
  readonly workspace: string;
  /** Email address of the member. */
  readonly by: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly at: Microseconds;
}

/** What the key of a form looks like: a random UUID. */
export const SUBMISSION_KEY = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** How long a form that is submitted again gets the first result. */
const KEPT: Microseconds = 24 * 3_600_000_000;
const NONCE = 12;
const TAG = 16;

/**
 * Runs `create` once for each form, in the transaction that it is part of. A form that is submitted again gets the first
 * result, with its secrets: it is encrypted by the form's own key, so the catalog and its backups reveal nothing. Throws
 * `conflict` if the same form was submitted with other content. Without a submission, `create` always runs.
 * @param create returns JSON: numbers, texts, lists and objects
 */
export async function createOnce<T>(
  tx: Catalog,
  submission: Submission | undefined,
  create: () => Promise<T>,
): Promise<T> {
  if (submission === undefined) return create();
  const { workspace, at } = submission;
  const { hash, request, secret } = namesOf(submission);
  const before = await tx.statements.get<{ request: string; result: string }>('submissions.one', { hash });
  if (before !== undefined) {
    if (before.request === request) return open<T>(before.result, secret);
    const message = 'This form was submitted before with other content, which was saved. Reload the page to see it.';
    throw new KnownError('conflict', message);
  }
  const created = await create();
  await tx.statements.run('submissions.forget', { before: at - KEPT });
  await tx.statements.run('submissions.add', { hash, workspace, request, result: seal(created, secret), at });
  return created;
}

function namesOf({ key, workspace, by, method, path, body }: Submission) {
  const owner = JSON.stringify([workspace, by.toLowerCase()]);
  return {
    hash: digest('sha256', `${owner} ${key}`),
    request: digest('sha256', JSON.stringify([method, path, body])),
    secret: Buffer.from(hkdfSync('sha256', key, owner, 'submission', 32)),
  };
}

function seal(created: unknown, secret: Buffer): string {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', secret, nonce);
  // Also what creates nothing to show.
  const text = JSON.stringify({ created });
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

function open<T>(sealed: string, secret: Buffer): T {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAuthTag(bytes.subarray(-TAG));
  const text = Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]).toString('utf8');
  return (JSON.parse(text) as { created: T }).created;
}
