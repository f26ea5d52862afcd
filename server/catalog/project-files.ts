import type { Day } from '../domain/dates.ts';
import { EVERY_DAY } from '../domain/range.ts';
import { FACT_TABLES, type FactTable, type StoredTable } from '../model/tables.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { Catalog } from './catalog.ts';
import type { FactFile, Part } from './manifest.ts';

/** A current file of a project. */
export interface ProjectFile extends FactFile {
  readonly table: FactTable;
}

/** Changes of a project's files. */
export interface FileChanges {
  /** The revision since which they changed; null if unknown: then these are all files. */
  readonly since: number | null;
  readonly files: readonly ProjectFile[];
  /** Parts that had a file and have none now. A file replaces the one of its part, which is not listed here. */
  readonly removed: readonly { readonly table: FactTable; readonly part: Part }[];
}

/** A file that may still be read: the current one of its part, or one that was replaced within the last hour. */
export interface ReadableFile extends StoredFile {
  /** No day of the file is before this one. */
  readonly firstDay: Day;
  readonly isCurrent: boolean;
}

/** The fact files of a project, without rollups; with `since` those that became current after that revision. */
export async function filesOfProject(
  catalog: Catalog,
  project: { readonly id: string; readonly factsRevision: number },
  since: number | null,
): Promise<FileChanges> {
  const { id, factsRevision } = project;
  const begun = (await catalog.statements.get<{ since: number }>('revisions.files_since', { project: id }))?.since ?? 0;
  // Other revisions are of an earlier project with this id, or of a lost catalog.
  const isKnown = since !== null && begun > 0 && since >= begun && since <= factsRevision;
  const of = { project: id, revision: isKnown ? since : -1 };
  const files = await catalog.statements.all<FactFile & { table: StoredTable }>('fact-files.after_revision', of);
  const removed = isKnown
    ? await catalog.statements.all<{ table: StoredTable; part: Part }>('fact-files.removed_after', of)
    : [];
  return { since: isKnown ? since : null, files: files.filter(isOfFacts), removed: removed.filter(isOfFacts) };
}

/** A file of a project by its name in the store; undefined where the project has no such file. */
export async function findFileOfProject(
  catalog: Catalog,
  project: string,
  file: string,
): Promise<ReadableFile | undefined> {
  type Row = StoredFile & { firstDay: Day | null; isCurrent: number };
  const row = await catalog.statements.get<Row>('fact-files.by_name', { project, file });
  return row && { ...row, firstDay: row.firstDay ?? startOfFile(row.file), isCurrent: row.isCurrent === 1 };
}

/** The first day of the month of a replaced file; before all days for other parts. */
function startOfFile(file: string): Day {
  const [, month] = /\/(\d{4}-\d{2})-[^/]*$/.exec(file) ?? [];
  return month === undefined ? EVERY_DAY.from : `${month}-01`;
}

/** Whether a table has rows of keywords, of which clients may not read days before the plan's history. */
export function isOfKeywords(table: FactTable): boolean {
  return table === 'keyword_daily' || table === 'keyword_page_daily';
}

function isOfFacts<Row extends { readonly table: StoredTable }>(row: Row): row is Row & { readonly table: FactTable } {
  return FACT_TABLES.some((name) => name === row.table);
}
