import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';

/** Whether a fact file is current, or was retired at or after an instant. */
export async function isFactFileKept(catalog: Catalog, file: string, before: Microseconds): Promise<boolean> {
  return (await catalog.statements.get('current_files', { file, before })) !== undefined;
}

/** Any current fact file. */
export async function findAnyFactFile(catalog: Catalog): Promise<string | undefined> {
  const row = await catalog.statements.get<{ file: string }>('any_fact_file');
  return row?.file;
}

/** Fact files that are current, or retired but not removed yet. */
export async function listKnownFactFiles(catalog: Catalog): Promise<string[]> {
  const rows = await catalog.statements.all<{ file: string }>('known_files');
  return rows.map(({ file }) => file);
}

/** Fact files that were retired before an instant and are not current. */
export async function listRetiredFactFiles(catalog: Catalog, before: Microseconds): Promise<string[]> {
  const rows = await catalog.statements.all<{ file: string }>('retired_due', { before });
  return rows.map(({ file }) => file);
}

/** Deletes the records of fact files retired before an instant, after their removal. */
export async function forgetRetiredFactFiles(catalog: Catalog, before: Microseconds): Promise<void> {
  await catalog.statements.run('retired_forget', { before });
}
