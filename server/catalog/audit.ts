import { createCipheriv, createDecipheriv, hash as digest, hkdfSync, randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { dayOf } from '../domain/dates.ts';
import { KnownError } from '../domain/errors.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';
import type { Usage } from './usage.ts';

/** Actions in the audit trail. `key.used` is derived from the use of keys: one entry for each key and day. */
export const AUDIT_ACTIONS = [
  'workspace.created',
  'workspace.changed',
  'workspace.removed',
  'member.set',
  'member.removed',
  'invitation.created',
  'invitation.used',
  'invitation.revoked',
  'project.created',
  'project.changed',
  'project.removed',
  'keyword.added',
  'keyword.changed',
  'brand_terms.set',
  'group.created',
  'group.changed',
  'group.removed',
  'page_group.created',
  'page_group.changed',
  'page_group.removed',
  'rule.created',
  'rule.changed',
  'rule.removed',
  'sync.requested',
  'connection.set',
  'connection.removed',
  'key.created',
  'key.rotated',
  'key.revoked',
  'key.used',
  'feed.created',
  'feed.revoked',
  'grant.created',
  'grant.lost',
  'grant.revoked',
  'login.created',
  'session.created',
  'channel.created',
  'channel.changed',
  'channel.removed',
  'channel.tested',
  'channel.rotated',
  'channel.disabled',
  'secrets.rotated',
  'data.loaded',
  'note.created',
  'note.changed',
  'note.removed',
  'share.created',
  'share.revoked',
  'view.created',
  'view.changed',
  'view.removed',
  'project.tagged',
  'finding.dismissed',
  'finding.restored',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Retention of entries in days. */
export const AUDIT_DAYS = 400;
const DAY = 86_400_000_000;

export interface AuditEntry {
  readonly at: Microseconds;
  /** Null if it is not about a single workspace. */
  readonly workspace: string | null;
  /** The email address of a member, `key NAME`, or who ran a command. */
  readonly actor: string;
  readonly action: AuditAction;
  /** The id of what was created, changed or used. */
  readonly subject: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface AuditFilter {
  /** Null for all. */
  readonly workspace: string | null;
  readonly action: AuditAction | null;
  readonly since: Microseconds;
  readonly limit: number;
}

/** Adds an entry to the audit trail, in the transaction of the change. `at` is now by default. */
export async function recordAudit(
  tx: Catalog,
  {
    at = Date.now() * 1000,
    workspace,
    actor,
    action,
    subject,
    details = {},
  }: Partial<AuditEntry> & Pick<AuditEntry, 'workspace' | 'action' | 'subject' | 'actor'>,
): Promise<void> {
  await tx.statements.run('audit.forget', { before: at - AUDIT_DAYS * DAY });
  await tx.statements.run('audit.add', { at, workspace, actor, action, subject, details: JSON.stringify(details) });
}

/** The actor: the email address of a member, or the operating-system user who runs a command. */
export function actorOf(by: string | null): string {
  return by ?? `command line (${systemUser()})`;
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // The user of a container may have no name.
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** The newest entries, newest first. */
export async function listAudit(
  catalog: Catalog,
  usage: Usage,
  { workspace, action, since, limit }: AuditFilter,
): Promise<AuditEntry[]> {
  type Row = Omit<AuditEntry, 'details'> & { details: string };
  const rows = await catalog.statements.all<Row>('audit.newest', { workspace, action, since, limit });
  const entries = rows.map((row) => ({ ...row, details: JSON.parse(row.details) as AuditEntry['details'] }));
  const uses = action === null || action === 'key.used' ? await keyUses(catalog, usage, { workspace, since }) : [];
  return [...entries, ...uses].toSorted((a, b) => b.at - a.at).slice(0, limit);
}

/** An entry for each day on which a key was used, at its last use. */
async function keyUses(
  catalog: Catalog,
  usage: Usage,
  { workspace, since }: Pick<AuditFilter, 'workspace' | 'since'>,
): Promise<AuditEntry[]> {
  type Used = { id: string; day: string; requests: number; lastAt: Microseconds };
  const days = await usage.all<Used>('keys.days_since', { since: dayOf(since / 1000) });
  const names = await catalog.statements.all<{ id: string; name: string; workspace: string }>('keys.names');
  const byId = new Map(names.map((key) => [key.id, key]));
  return days.flatMap(({ id, requests, lastAt }) => {
    const key = byId.get(id);
    if (key === undefined || lastAt < since || (workspace !== null && key.workspace !== workspace)) return [];
    const details = { requests };
    return [
      { at: lastAt, workspace: key.workspace, actor: `key ${key.name}`, action: 'key.used', subject: id, details },
    ];
  });
}

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

/** Who writes, when. */
export interface Writer {
  /** The actor of the audit trail. */
  readonly by: string;
  readonly at: Microseconds;
}

/** Who creates something; `submission` is the form of a member. */
export interface Creator extends Writer {
  readonly submission?: Submission;
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
 * @param byId for what can be read again: only its id is kept, so that a release may change what the rest looks like
 */
export async function createOnce<T>(
  tx: Catalog,
  submission: Submission | undefined,
  create: () => Promise<T>,
  byId?: { readonly idOf: (created: T) => string; readonly read: (id: string) => Promise<T> },
): Promise<T> {
  if (submission === undefined) return create();
  const { workspace, at } = submission;
  const { hash, request, secret } = namesOf(submission);
  const before = await tx.statements.get<{ request: string; result: string }>('submissions.one', { hash });
  if (before !== undefined) {
    if (before.request === request) {
      return byId ? byId.read(open<{ id: string }>(before.result, secret).id) : open<T>(before.result, secret);
    }
    const message = 'This form was submitted before with other content, which was saved. Reload the page to see it.';
    throw new KnownError('conflict', message);
  }
  const created = await create();
  await tx.statements.run('submissions.forget', { before: at - KEPT });
  const result = seal(byId ? { id: byId.idOf(created) } : created, secret);
  await tx.statements.run('submissions.add', { hash, workspace, request, result, at });
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
