import { Type } from 'typebox';
import { type Creator, createOnce, recordAudit, type Writer } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { beginKeywords, pauseKeywords } from '../catalog/keywords.ts';
import { requireProject } from '../catalog/projects.ts';
import { type EntityEdit, editEntities, entityRows, type KeywordRow } from '../load/entities.ts';
import type { Stores } from '../load/stores.ts';
import { countKnownQueries } from './known-queries.ts';
import { newKeywords } from './new-keywords.ts';

/** Keywords that an entry of the audit trail names. */
const MAX_NAMED = 1000;
const MAX_TAGS = 20;
const MAX_TAG = 50;

const isTag = (tag: string): boolean => tag !== '' && tag.length <= MAX_TAG && !/\p{Cc}|\p{Cs}/u.test(tag);

/** Tags of a keyword, as they are sent. */
export const keywordTags = Type.Refine(
  Type.Array(Type.String(), {
    description: `All of its tags: at most ${MAX_TAGS}, of 1 to ${MAX_TAG} characters each.`,
  }),
  (tags) => new Set(tags.map((tag) => tag.trim())).size <= MAX_TAGS && tags.every((tag) => isTag(tag.trim())),
  () => `must be at most ${MAX_TAGS} lines of text, of 1 to ${MAX_TAG} characters each`,
);

interface NewQueries {
  readonly project: string;
  readonly queries: readonly string[];
  readonly tags?: readonly string[];
  readonly source: KeywordRow['source'];
}

/** What was added, and the queries that are already tracked or repeated. */
export interface TrackedQueries {
  readonly added: readonly { readonly id: string; readonly query: string }[];
  readonly skipped: readonly string[];
}

/** Tracks queries that are not tracked yet. Their data is fetched by the next sync. Throws `invalid_request`. */
export function trackQueries(
  catalog: Catalog,
  { project, queries, tags = [], source }: NewQueries,
  { by: actor, at, submission }: Creator,
): Promise<TrackedQueries> {
  const text = textOfTags(tags);
  const track = async ({ tx, put }: EntityEdit): Promise<TrackedQueries> => {
    const { workspaceId: workspace } = await requireProject(tx, project);
    const before = await entityRows<KeywordRow>(tx, 'keywords', project);
    const { rows, skipped } = newKeywords(before, queries, { project, source, at });
    const added = rows.map(({ id, query }) => ({ id, query }));
    if (rows.length > 0) {
      const ids = added.map(({ id }) => id);
      const more = ids.length > MAX_NAMED ? { moreKeywords: ids.length - MAX_NAMED } : {};
      const details = { keywords: ids.slice(0, MAX_NAMED), ...more };
      await put(
        'keywords',
        rows.map((row) => ({ ...row, tags: text })),
      );
      await beginKeywords(tx, project, ids);
      await recordAudit(tx, { at, workspace, actor, action: 'keyword.added', subject: project, details });
    }
    return { added, skipped };
  };
  return editEntities(catalog, (edit) => createOnce(edit.tx, submission, () => track(edit)));
}

/** The result of `addKeywords`. */
export interface AddedKeywords {
  readonly added: number;
  readonly skipped: number;
  /** Number of added keywords with stored queries; null if no queries are stored. */
  readonly withData: number | null;
  readonly keywords: TrackedQueries['added'];
}

/** Like `trackQueries`, and looks which of them have data. */
export async function addKeywords(stores: Stores, wanted: NewQueries, writer: Writer): Promise<AddedKeywords> {
  const { added: keywords, skipped } = await trackQueries(stores.catalog, wanted, writer);
  const withData = await countKnownQueries(
    stores,
    wanted.project,
    keywords.map(({ query }) => query),
  );
  return { added: keywords.length, skipped: skipped.length, withData, keywords };
}

/** The keywords to archive. */
interface KeywordsToArchive {
  readonly project: string;
  readonly ids: readonly string[];
  /** Case-insensitive. */
  readonly queries: readonly string[];
}

/** Archives keywords and returns them; their facts are kept. Throws if one is not tracked. */
export async function archiveKeywords(
  catalog: Catalog,
  { project, ids, queries }: KeywordsToArchive,
  { by: actor, at }: Writer,
): Promise<{ id: string; query: string }[]> {
  return editEntities(catalog, async ({ tx, put }) => {
    const { workspaceId: workspace } = await requireProject(tx, project);
    const tracked = (await entityRows<KeywordRow>(tx, 'keywords', project)).filter(({ archived }) => archived === 0);
    const found = new Set<KeywordRow>();
    for (const [name, value] of [
      ...ids.map((id) => ['id', id] as const),
      ...queries.map((query) => ['query', query.trim().toLowerCase()] as const),
    ]) {
      const matching = tracked.filter((row) => (name === 'id' ? row.id : row.query.toLowerCase()) === value);
      if (matching.length === 0) {
        throw new Error(`Project '${project}' tracks no keyword with the ${name} '${value}'; keywords list shows all.`);
      }
      for (const row of matching) found.add(row);
    }
    await put(
      'keywords',
      [...found].map((row) => ({ ...row, archived: 1 })),
    );
    const archived = [...found].map(({ id }) => id);
    await pauseKeywords(tx, project, archived);
    const entry = { at, workspace, actor, action: 'keyword.changed', details: { project, archived: true } } as const;
    for (const { id: subject } of found) await recordAudit(tx, { ...entry, subject });
    return [...found].map(({ id, query }) => ({ id, query }));
  });
}

/** Tags as the catalog stores them: null for none. */
export function textOfTags(tags: readonly string[]): string | null {
  const trimmed = [...new Set(tags.map((tag) => tag.trim()))];
  return trimmed.length === 0 ? null : JSON.stringify(trimmed);
}
