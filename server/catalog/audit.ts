import { userInfo } from 'node:os';
import { dayOf } from '../domain/dates.ts';
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
  const days = await usage.all<Used>('key_days_since', { since: dayOf(since / 1000) });
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
