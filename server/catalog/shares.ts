import { notFound } from '../domain/errors.ts';
import { newShareToken, newUuid } from '../domain/ids.ts';
import { isoInstantOrNull, type Microseconds } from '../domain/instants.ts';
import { recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { hashOf } from './keys.ts';
import { requireProject } from './projects.ts';
import { createOnce, type Submission } from './submissions.ts';

/** What a share can show. */
export const SHARE_SCREENS = ['overview', 'breakdowns', 'pages', 'queries', 'keywords', 'alerts', 'notes'] as const;
export type ShareScreen = (typeof SHARE_SCREENS)[number];

/** What is chosen for a share. */
export interface ShareChoice {
  readonly screens: readonly ShareScreen[];
  /** Whether no text of a query is shown. */
  readonly hideQueries: boolean;
  /** Null: it does not end. */
  readonly expiresAt: Microseconds | null;
  /** Of the password; null without one. */
  readonly passwordHash: string | null;
}

/** A link that shows one project. */
export interface Share extends ShareChoice {
  readonly id: string;
  readonly project: string;
  readonly workspace: string;
  readonly createdAt: Microseconds;
  readonly revokedAt: Microseconds | null;
}

type Row = Omit<Share, 'screens' | 'hideQueries'> & { screens: string; hideQueries: number };

interface Writer {
  readonly by: string;
  readonly at: Microseconds;
}

/** Creates a share of a project; its token is only in the result. Throws `not_found`. */
export async function createShare(
  catalog: Catalog,
  project: string,
  choice: ShareChoice,
  { by, at, submission }: Writer & { readonly submission?: Submission },
): Promise<{ share: Share; token: string }> {
  const { screens, hideQueries, expiresAt, passwordHash } = choice;
  const create = async (tx: Catalog): Promise<{ share: Share; token: string }> => {
    const { workspaceId: workspace } = await requireProject(tx, project);
    const token = newShareToken();
    const share = { id: newUuid(), project, workspace, ...choice, createdAt: at, revokedAt: null };
    const stored = { screens: JSON.stringify(screens), hideQueries: Number(hideQueries), passwordHash, expiresAt };
    await tx.statements.run('shares.add', { id: share.id, project, hash: hashOf(token), ...stored, at });
    const ends = { expiresAt: isoInstantOrNull(expiresAt), hasPassword: passwordHash !== null };
    const details = { project, screens, hideQueries, ...ends };
    await recordAudit(tx, { at, workspace, actor: by, action: 'share.created', subject: share.id, details });
    return { share, token };
  };
  return catalog.transaction((tx) => createOnce(tx, submission, () => create(tx)));
}

/** Shares, the newest first; of one project, or of all with null. */
export async function listShares(catalog: Catalog, project: string | null): Promise<Share[]> {
  return (await catalog.statements.all<Row>('shares.all', { project, id: null })).map(shareOf);
}

export async function findShare(catalog: Catalog, id: string): Promise<Share | undefined> {
  const row = await catalog.statements.get<Row>('shares.all', { project: null, id });
  return row && shareOf(row);
}

/** The share of a token; undefined if it is unknown or revoked. It may have ended. */
export async function findShareOfToken(
  catalog: Catalog,
  hash: string,
): Promise<(Share & { readonly plan: string }) | undefined> {
  const row = await catalog.statements.get<Row & { plan: string }>('shares.by_hash', { hash });
  return row && { ...shareOf(row), plan: row.plan };
}

/** Revokes a share; one that was revoked stays so. Throws `not_found`. */
export async function revokeShare(catalog: Catalog, id: string, { by: actor, at }: Writer): Promise<void> {
  await catalog.transaction(async (tx) => {
    const share = await findShare(tx, id);
    if (share === undefined) throw notFound(`There is no share '${id}'.`);
    if ((await tx.statements.run('shares.revoke', { id, at })) === 0) return;
    const { workspace, project } = share;
    await recordAudit(tx, { at, workspace, actor, action: 'share.revoked', subject: id, details: { project } });
  });
}

function shareOf({ screens, hideQueries, ...row }: Row): Share {
  return { ...row, screens: JSON.parse(screens) as ShareScreen[], hideQueries: hideQueries === 1 };
}
