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

/** The keywords of a project that are not archived, by the bytes of their query, then id. */
export function listKeywords(catalog: Catalog, project: string): Keyword[] {
  return [...eachKeyword(catalog, project)];
}

/** As `listKeywords`, one by one. */
export function eachKeyword(catalog: Catalog, project: string): Iterable<Keyword> {
  return catalog.each('keywords_of_project', { project });
}

/** The groups of a project in rank-tracker order. */
export function listGroups(catalog: Catalog, project: string): Group[] {
  type Row = Omit<Group, 'pinned' | 'rule'> & { pinned: number; rule: string | null };
  return catalog.all<Row>('groups_of_project', { project }).map((row) => ({
    ...row,
    pinned: row.pinned === 1,
    rule: row.rule === null ? null : (JSON.parse(row.rule) as Rule),
  }));
}

export function listPageGroups(catalog: Catalog, project: string): PageGroup[] {
  type Row = Omit<PageGroup, 'rule' | 'pinnedUrls'> & { rule: string; pinnedUrls: string };
  return catalog.all<Row>('page_groups_of_project', { project }).map((row) => ({
    ...row,
    rule: JSON.parse(row.rule) as Rule,
    pinnedUrls: JSON.parse(row.pinnedUrls) as string[],
  }));
}

/** The manual groups of the keywords that are not archived, by group, then keyword. */
export function eachMember(catalog: Catalog, project: string): Iterable<{ groupId: string; keywordId: string }> {
  return catalog.each('keyword_groups_of_project', { project });
}

export function groupExists(catalog: Catalog, project: string, id: string): boolean {
  return catalog.get('group_exists', { project, id }) !== undefined;
}
