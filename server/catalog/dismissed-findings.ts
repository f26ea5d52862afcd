import { hash } from 'node:crypto';
import type { Day } from '../domain/dates.ts';
import { KnownError } from '../domain/errors.ts';
import type { Microseconds } from '../domain/instants.ts';
import { type AuditAction, recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { createOnce, type Submission } from './submissions.ts';

/** A finding that an owner or admin has dismissed, with what was found then. */
export interface DismissedFinding {
  readonly id: string;
  readonly type: string;
  readonly kind: 'page' | 'query';
  /** The page or query. */
  readonly row: string;
  /** Null for all countries. */
  readonly country: string | null;
  /** How many days the range had, and the last of them. */
  readonly days: number;
  readonly through: Day;
  /** Clicks, all null for a finding without a gain. */
  readonly clicks: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** The pages over which a query was split, sorted; null for other types. */
  readonly pages: readonly string[] | null;
  readonly author: string;
  readonly at: Microseconds;
}

/** Dismissed findings of one project. */
const MAX_DISMISSED = 2000;

interface Writer {
  readonly workspace: string;
  readonly by: string;
  readonly at: Microseconds;
}

type Row = Omit<DismissedFinding, 'pages'> & { readonly pages: string | null };

/** The dismissed findings of a project, the newest first. */
export async function listDismissedFindings(catalog: Catalog, project: string): Promise<DismissedFinding[]> {
  return (await catalog.statements.all<Row>('dismissed-findings.of_project', { project, id: null })).map(ofRow);
}

export async function findDismissedFinding(
  catalog: Catalog,
  project: string,
  id: string,
): Promise<DismissedFinding | undefined> {
  const row = await catalog.statements.get<Row>('dismissed-findings.of_project', { project, id });
  return row && ofRow(row);
}

/** Dismisses a finding; one that is dismissed already takes these numbers. Throws `conflict` where there are too many. */
export async function dismissFinding(
  catalog: Catalog,
  project: string,
  finding: Omit<DismissedFinding, 'id' | 'author' | 'at'>,
  { submission, ...writer }: Writer & { readonly submission?: Submission },
): Promise<DismissedFinding> {
  const { type, kind, row, country } = finding;
  const id = hash('sha256', JSON.stringify([project, type, kind, row, country]), 'hex').slice(0, 32);
  const dismissed = { ...finding, id, author: writer.by, at: writer.at };
  const dismiss = async (tx: Catalog): Promise<DismissedFinding> => {
    const known = await listDismissedFindings(tx, project);
    if (known.length >= MAX_DISMISSED && !known.some((one) => one.id === id)) {
      throw new KnownError('conflict', `A project has at most ${MAX_DISMISSED} dismissed findings; restore some.`);
    }
    const pages = finding.pages && JSON.stringify(finding.pages);
    await tx.statements.run('dismissed-findings.put', { ...dismissed, project, pages });
    await audit(tx, 'finding.dismissed', project, dismissed, writer);
    return dismissed;
  };
  return catalog.transaction((tx) => createOnce(tx, submission, () => dismiss(tx)));
}

/** Lists a finding again; one that is not dismissed stays so. */
export async function restoreFinding(
  catalog: Catalog,
  project: string,
  dismissed: DismissedFinding,
  writer: Writer,
): Promise<void> {
  await catalog.transaction(async (tx) => {
    if ((await tx.statements.run('dismissed-findings.remove', { id: dismissed.id })) > 0) {
      await audit(tx, 'finding.restored', project, dismissed, writer);
    }
  });
}

function ofRow({ pages, ...row }: Row): DismissedFinding {
  return { ...row, pages: pages === null ? null : (JSON.parse(pages) as string[]) };
}

async function audit(
  tx: Catalog,
  action: AuditAction,
  project: string,
  { id, type, kind, row, country }: DismissedFinding,
  { workspace, by, at }: Writer,
): Promise<void> {
  const details = { project, type, [kind]: row, country };
  await recordAudit(tx, { at, workspace, actor: by, action, subject: id, details });
}
