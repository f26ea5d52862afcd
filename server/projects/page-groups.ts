import type { Catalog } from '../catalog/catalog.ts';
import { listPageGroups, type PageGroup } from '../catalog/keywords.ts';
import { invalidRequest, notFound } from '../domain/errors.ts';
import type { Rule } from '../domain/rules.ts';
import { requireVersion, versionOf } from '../domain/versions.ts';
import { changeEntities, createEntities, entityRowOfProject, entityRows } from '../load/entities.ts';
import type { Row } from '../load/publish.ts';
import { auditGroup, groupName, newGroup, requireUnused, ruleText } from './group-checks.ts';
import type { Creator, Editor, Writer } from './notes.ts';

const MAX_PINNED = 1000;
const MAX_PATH = 2000;

/** What a member sets of a page group. Left out of a change, it stays the same. */
export interface PageGroupFields {
  readonly name?: string;
  readonly rule?: Rule;
  /** Paths of pages that belong to it whatever the rule says. */
  readonly pinnedUrls?: readonly string[];
}

/** Identifies what members edit of a page group. */
export function pageGroupVersion({ name, rule, pinnedUrls }: PageGroup): string {
  return versionOf({ name, rule, pinnedUrls });
}

/** Adds a page group behind the others. Throws `invalid_request` with the name of the wrong field. */
export function addPageGroup(
  catalog: Catalog,
  project: string,
  { name, rule, pinnedUrls = [] }: PageGroupFields & { name: string; rule: Rule },
  { submission, ...writer }: Creator,
): Promise<PageGroup> {
  const columns = columnsOf({ name, rule, pinnedUrls });
  return createEntities(catalog, submission, async ({ tx, put }) => {
    const row = { project_id: project, ...newGroup(await entityRows(tx, 'page_groups', project)), ...columns };
    await put('page_groups', [row]);
    await auditGroup(tx, row, { action: 'page_group.created', ...writer });
    return answerOf(tx, row);
  });
}

/** Changes a page group. Throws `not_found`, `outdated` and `invalid_request`. */
export function changePageGroup(
  catalog: Catalog,
  key: { project: string; id: string },
  fields: PageGroupFields,
  { version, ...writer }: Editor,
): Promise<PageGroup> {
  const columns = columnsOf(fields);
  return changeEntities(catalog, async ({ tx, put }) => {
    const before = await requirePageGroup(tx, key);
    requireVersion(pageGroupVersion(await answerOf(tx, before)), version);
    const row = { ...before, ...columns };
    await put('page_groups', [row]);
    await auditGroup(tx, row, { action: 'page_group.changed', ...writer });
    return answerOf(tx, row);
  });
}

/** Removes a page group. Throws `not_found`, and `conflict` while a rule is about it. */
export function removePageGroup(catalog: Catalog, key: { project: string; id: string }, writer: Writer): Promise<void> {
  return changeEntities(catalog, async ({ tx, remove }) => {
    const row = await requirePageGroup(tx, key);
    await requireUnused(tx, { ...key, scope: 'page_group' });
    await remove('page_groups', [row]);
    await auditGroup(tx, row, { action: 'page_group.removed', ...writer });
  });
}

/** Throws `invalid_request` for pages that cannot be pinned. */
export function requirePinned(pinnedUrls: readonly string[]): void {
  const isPath = (path: string): boolean => path.startsWith('/') && path.length <= MAX_PATH;
  if (pinnedUrls.length <= MAX_PINNED && pinnedUrls.every(isPath)) return;
  throw invalidRequest(`'pinnedUrls' must be at most ${MAX_PINNED} paths of pages, such as /blog/best.`);
}

function columnsOf({ name, rule, pinnedUrls }: PageGroupFields): Row {
  if (pinnedUrls !== undefined) requirePinned(pinnedUrls);
  return {
    ...(name !== undefined && { name: groupName(name) }),
    ...(rule !== undefined && { rule: ruleText(rule, 'pages') }),
    ...(pinnedUrls !== undefined && { pinned_urls: JSON.stringify([...new Set(pinnedUrls)]) }),
  };
}

async function answerOf(tx: Catalog, row: Row): Promise<PageGroup> {
  return (await listPageGroups(tx, row['project_id'] as string)).find(({ id }) => id === row['id'])!;
}

async function requirePageGroup(tx: Catalog, key: { project: string; id: string }): Promise<Row> {
  const row = await entityRowOfProject(tx, 'page_groups', key);
  if (row === undefined) throw notFound('The project has no such page group.');
  return row;
}
