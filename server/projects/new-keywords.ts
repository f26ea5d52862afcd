import type { Microseconds } from '../domain/instants.ts';
import { estimateIntent } from '../domain/intent.ts';
import { type KeywordRow, untrackedQueries } from '../load/entities.ts';

/** The provider truncates longer queries and rejects longer filters. */
const MAX_QUERY_CHARACTERS = 1000;

/** The queries of a text file, one per line. Throws for an invalid query. */
export function readQueries(text: string): string[] {
  return checkQueries(text.replace(/^\uFEFF/, '').split(/\r\n|[\n\r]/));
}

/** Trims queries and removes empty ones. Throws if one is too long or has control characters. */
export function checkQueries(queries: readonly string[]): string[] {
  const trimmed = queries.map((query) => query.trim());
  const wrong = trimmed.findIndex((query) => query.length > MAX_QUERY_CHARACTERS || /\p{Cc}|\uFFFD/u.test(query));
  if (wrong >= 0) {
    throw new Error(
      `Query ${wrong + 1} cannot be tracked; a query is a line of plain text (UTF-8) with at most ${MAX_QUERY_CHARACTERS} characters.`,
    );
  }
  return trimmed.filter((query) => query !== '');
}

interface Added {
  readonly project: string;
  readonly source: KeywordRow['source'];
  readonly at: Microseconds;
  readonly makeId?: () => string;
}

interface NewRows {
  readonly rows: readonly KeywordRow[];
  /** Number of queries that are already tracked or repeated. */
  readonly skipped: number;
}

/** Rows for queries that are not tracked yet (case-insensitive), with ids not used in `before`. */
export function newKeywords(
  before: readonly KeywordRow[],
  queries: readonly string[],
  { project, source, at, makeId }: Added,
): NewRows {
  const rows = untrackedQueries(before, queries, makeId).map(({ id, query }) => ({
    project_id: project,
    id,
    query,
    source,
    tracked_since: at,
    intent: estimateIntent(query),
    archived: 0,
  }));
  return { rows, skipped: queries.length - rows.length };
}
