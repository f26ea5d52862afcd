import type { Group } from '../domain/groups.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Intent } from '../domain/intent.ts';
import type { Rule } from '../domain/rules.ts';
import type { Catalog } from './catalog.ts';

export interface Keyword {
  readonly id: string;
  readonly query: string;
  readonly source: 'suggested' | 'manual' | 'import';
  readonly trackedSince: Microseconds;
  readonly intent: Intent;
}

export interface PageGroup {
  readonly id: string;
  readonly name: string;
  readonly position: number;
  readonly rule: Rule;
  readonly pinnedUrls: readonly string[];
}

/** What members set of a keyword. */
export interface KeywordSettings {
  readonly archived: boolean;
  readonly tags: readonly string[];
  /** The page that should rank for it. */
  readonly targetUrl: string | null;
}

/** A keyword as members manage it. */
export interface ManagedKeyword extends KeywordSettings {
  readonly id: string;
  readonly query: string;
}

/** An archived keyword. */
export type ArchivedKeyword = ManagedKeyword & Pick<Keyword, 'trackedSince'>;

/** A keyword of a project, also an archived one. */
export async function findKeyword(catalog: Catalog, project: string, id: string): Promise<ManagedKeyword | undefined> {
  const row = await catalog.statements.get<ManagedRow<ManagedKeyword>>('keywords.one', { project, id });
  return row && toManaged(row);
}

type ManagedRow<Of extends KeywordSettings> = Omit<Of, 'archived' | 'tags'> & { archived: number; tags: string | null };

function toManaged<Of extends KeywordSettings>(row: ManagedRow<Of>): Of {
  return { ...row, archived: row.archived === 1, tags: JSON.parse(row.tags ?? '[]') as string[] } as unknown as Of;
}

/** Archived keywords of a project, by their query. */
export async function listArchivedKeywords(
  catalog: Catalog,
  project: string,
  limit: number,
): Promise<ArchivedKeyword[]> {
  const rows = await catalog.statements.all<ManagedRow<ArchivedKeyword>>('keywords.archived', { project, limit });
  return rows.map((row) => toManaged<ArchivedKeyword>(row));
}

/** The keywords of a project that are not archived, by the bytes of their query, then id. */
export async function listKeywords(catalog: Catalog, project: string): Promise<Keyword[]> {
  return catalog.statements.all('keywords.of_project', { project });
}

/** Like `listKeywords`, in batches. */
export function eachKeyword(catalog: Catalog, project: string): AsyncIterable<readonly Keyword[]> {
  return catalog.statements.each('keywords.of_project', { project });
}

/** The groups of a project in rank-tracker order. */
export async function listGroups(catalog: Catalog, project: string): Promise<Group[]> {
  type Row = Omit<Group, 'pinned' | 'rule'> & { pinned: number; rule: string | null };
  const rows = await catalog.statements.all<Row>('groups.of_project', { project });
  return rows.map((row) => ({
    ...row,
    pinned: row.pinned === 1,
    rule: row.rule === null ? null : (JSON.parse(row.rule) as Rule),
  }));
}

export async function listPageGroups(catalog: Catalog, project: string): Promise<PageGroup[]> {
  type Row = Omit<PageGroup, 'rule' | 'pinnedUrls'> & { rule: string; pinnedUrls: string };
  const rows = await catalog.statements.all<Row>('groups.of_pages', { project });
  return rows.map((row) => ({
    ...row,
    rule: JSON.parse(row.rule) as Rule,
    pinnedUrls: JSON.parse(row.pinnedUrls) as string[],
  }));
}

/** The manual groups of the keywords that are not archived, by group, then keyword, in batches. */
export function eachMember(
  catalog: Catalog,
  project: string,
): AsyncIterable<readonly { readonly groupId: string; readonly keywordId: string }[]> {
  return catalog.statements.each('groups.keywords', { project });
}

export async function groupExists(catalog: Catalog, project: string, id: string): Promise<boolean> {
  return (await catalog.statements.get('groups.exists', { project, id })) !== undefined;
}

/** The keywords of a manual group, archived ones included. */
export async function listMembers(
  catalog: Catalog,
  project: string,
  group: string,
): Promise<{ readonly id: string; readonly archived: boolean }[]> {
  const of = { project, group };
  const rows = await catalog.statements.all<{ id: string; archived: number }>('groups.members', of);
  return rows.map(({ id, archived }) => ({ id, archived: archived === 1 }));
}
