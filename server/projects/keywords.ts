import { requireProject } from '../catalog/projects.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { LockOptions } from '../load/change-facts.ts';
import { changeEntities, entityRows, type KeywordRow } from '../load/entities.ts';
import type { Stores } from '../load/stores.ts';
import { countKnownQueries } from './known-queries.ts';
import { newKeywords } from './new-keywords.ts';

export interface AddedKeywords {
  readonly added: number;
  readonly skipped: number;
  /** Number of added keywords with stored queries; null if no queries are stored. */
  readonly withData: number | null;
  readonly keywords: readonly { readonly id: string; readonly query: string }[];
}

interface Added {
  readonly project: string;
  readonly queries: readonly string[];
  readonly source: KeywordRow['source'];
  /** Milliseconds. */
  readonly now: number;
}

/** Tracks queries that are not tracked yet. Their data is fetched by the next sync. */
export async function addKeywords(
  stores: Stores,
  { project, queries, source, now }: Added,
  waiting: LockOptions,
): Promise<AddedKeywords> {
  const { rows, skipped } = await changeEntities(stores, waiting, async ({ tx, put }) => {
    await requireProject(tx, project);
    const made = newKeywords(await entityRows<KeywordRow>(tx, 'keywords', project), queries, {
      project,
      source,
      at: toMicroseconds(now),
    });
    await put('keywords', made.rows);
    return made;
  });
  const keywords = rows.map(({ id, query }) => ({ id, query }));
  const withData = await countKnownQueries(
    stores,
    project,
    keywords.map(({ query }) => query),
  );
  return { added: rows.length, skipped, withData, keywords };
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
  stores: Stores,
  { project, ids, queries }: KeywordsToArchive,
  waiting: LockOptions,
): Promise<{ id: string; query: string }[]> {
  return changeEntities(stores, waiting, async ({ tx, put }) => {
    await requireProject(tx, project);
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
    return [...found].map(({ id, query }) => ({ id, query }));
  });
}
