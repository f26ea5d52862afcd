import type { Microseconds } from '../domain/instants.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { Catalog } from './catalog.ts';

/** Whether a fact file is current, or was retired at or after an instant. */
export async function isFactFileKept(catalog: Catalog, file: string, before: Microseconds): Promise<boolean> {
  return (await catalog.statements.get('fact-files.is_kept', { file, before })) !== undefined;
}

/** A current fact file, small if there are many. */
export function findSmallFactFile(catalog: Catalog): Promise<StoredFile | undefined> {
  return catalog.statements.get<StoredFile>('fact-files.smallest');
}

/** A file named in the catalog. */
export interface NamedFile extends StoredFile {
  /** The only copy of its data. Lists can be fetched again, and replaced files only serve earlier requests. */
  readonly isNeeded: boolean;
}

/** The files of facts and lists, and replaced ones that may still be read. */
export async function listNamedFiles(catalog: Catalog): Promise<NamedFile[]> {
  const rows = await catalog.statements.all<StoredFile & { isNeeded: number }>('fact-files.named');
  return rows.map(({ isNeeded, ...file }) => ({ ...file, isNeeded: isNeeded === 1 }));
}

/** Fact files that are current, or retired but not removed yet. */
export async function listKnownFactFiles(catalog: Catalog): Promise<string[]> {
  const rows = await catalog.statements.all<{ file: string }>('fact-files.known');
  return rows.map(({ file }) => file);
}

/** Fact files that were retired before an instant and are not current. */
export async function listRetiredFactFiles(catalog: Catalog, before: Microseconds): Promise<string[]> {
  const rows = await catalog.statements.all<{ file: string }>('fact-files.retired_due', { before });
  return rows.map(({ file }) => file);
}

/** Deletes the records of fact files retired before an instant, after their removal. */
export async function forgetRetiredFactFiles(catalog: Catalog, before: Microseconds): Promise<void> {
  await catalog.statements.run('fact-files.forget_retired', { before });
}

/** The current fact files of a table. */
export interface FactTotal {
  readonly table: string;
  readonly files: number;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Sums over the current fact files of some projects, in the order of their ids.
 * @param options `after`: the last project of the previous call, or ''; `limit`: how many projects
 * @returns `last`: the last project, undefined if none was left
 */
export async function readFactTotals(
  catalog: Catalog,
  options: { readonly after: string; readonly limit: number },
): Promise<{ totals: FactTotal[]; last: string | undefined }> {
  type Row = Omit<FactTotal, 'table'> & { readonly table: string | null; readonly last: string };
  const rows = await catalog.statements.all<Row>('fact-files.totals', options);
  const totals = rows.flatMap(({ table, files, rows, bytes }) =>
    table === null ? [] : [{ table, files, rows, bytes }],
  );
  return { totals, last: rows[0]?.last };
}

/** Current fact files of publications after a revision. */
export async function listFactFilesSince(catalog: Catalog, revision: number): Promise<string[]> {
  const rows = await catalog.statements.all<{ file: string }>('fact-files.since', { revision });
  return rows.map(({ file }) => file);
}

/** Some current fact files, newest first. */
export async function listNewestFactFiles(catalog: Catalog, limit: number): Promise<string[]> {
  const rows = await catalog.statements.all<{ file: string }>('fact-files.newest', { limit });
  return rows.map(({ file }) => file);
}
