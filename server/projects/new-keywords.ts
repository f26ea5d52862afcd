import { invalidRequest } from '../domain/errors.ts';
import type { Microseconds } from '../domain/instants.ts';
import { estimateIntent } from '../domain/intent.ts';
import { type KeywordRow, untrackedQueries } from '../load/entities.ts';

/** The provider truncates longer queries and rejects longer filters. */
const MAX_QUERY_CHARACTERS = 1000;

/** The queries of a text file, one per line. Throws for an invalid query. */
export function readQueries(text: string): string[] {
  return checkQueries(text.replace(/^\uFEFF/, '').split(/\r\n|[\n\r]/));
}

/**
 * Trims queries and removes empty ones. Throws `invalid_request` if one is too long or has control characters.
 * @param field the name of the field that they were sent in, for the message
 */
export function checkQueries(queries: readonly string[], field = 'queries'): string[] {
  const trimmed = queries.map((query) => query.trim());
  const wrong = trimmed.findIndex(
    (query) => query.length > MAX_QUERY_CHARACTERS || /\p{Cc}|\p{Cs}|\uFFFD/u.test(query),
  );
  if (wrong >= 0) {
    throw invalidRequest(
      `'${field}': Query ${wrong + 1} cannot be tracked; a query is a line of plain text (UTF-8) with at most ${MAX_QUERY_CHARACTERS} characters.`,
    );
  }
  return trimmed.filter((query) => query !== '');
}

/** `checkQueries` where at least one query is needed. */
export function requireQueries(queries: readonly string[]): string[] {
  const found = checkQueries(queries);
  if (found.length === 0) throw invalidRequest("'queries' must have at least one query.");
  return found;
}

interface Added {
  readonly project: string;
  readonly source: KeywordRow['source'];
  readonly at: Microseconds;
  readonly makeId?: () => string;
}

interface NewRows {
  readonly rows: readonly KeywordRow[];
  /** The queries that are already tracked or repeated. */
  readonly skipped: readonly string[];
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
  const added = new Set(rows.map(({ query }) => query));
  // The first of each is the one that was added.
  return { rows, skipped: queries.filter((query) => !added.delete(query)) };
}
