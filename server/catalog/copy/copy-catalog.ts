import { isDeepStrictEqual } from 'node:util';
import type { Catalog, OpenCatalog } from '../catalog.ts';
import { eachWholeRow, upsertRows } from '../entity-rows.ts';
import type { CatalogLocation } from '../location.ts';
import { stopChanges as stopInFolder } from '../sqlite/moved.ts';
import { type CopyTarget, openTarget } from './open-target.ts';
import { type TableContents, TableHash } from './table-hash.ts';
import { TABLES } from './tables.ts';

interface CopyOptions {
  readonly from: CatalogLocation;
  readonly target: CatalogLocation;
  /** Makes the source read-only. Always done for a copy from a folder into a database. */
  readonly move?: boolean;
  readonly report: (step: string) => void;
}

export interface CopyReport {
  /** Name of the copy, without a password. */
  readonly to: string;
  /** `unchanged`: the target had the same copy already. */
  readonly state: 'copied' | 'unchanged';
  /** Contents of both sides. */
  readonly tables: readonly TableContents[];
}

/**
 * Copies one state of a catalog to a place without one, in one transaction, and compares both row by row. Throws if the
 * target has another catalog or a load is running. If the process is killed, the target has no catalog. A moved source
 * is read-only from then on, unless the copy fails.
 */
export async function copyCatalogTo(
  source: OpenCatalog,
  { from, target, move = false, report }: CopyOptions,
): Promise<CopyReport> {
  await using lock = await source.locks.takeLoad('all');
  if (lock === undefined) throw new Error('A load is running; copy the catalog when it has ended.');
  await using opened = await openTarget(target);
  // A copy in a folder may be a backup of a running service.
  const isMove = move || (from.catalogUrl === '' && target.catalogUrl !== '');
  const undo = isMove ? await stopChanges(from, opened.name) : undefined;
  try {
    return await copyStateTo(source, opened, report);
  } catch (error) {
    await undo?.();
    throw error;
  }
}

/** Copies one state of a catalog into a folder without one, and compares both, while others read and write it. */
export async function copyStateInto(
  source: OpenCatalog,
  dataFolder: string,
  report: (step: string) => void,
): Promise<void> {
  await using opened = await openTarget({ dataFolder, catalogUrl: '' });
  await copyStateTo(source, opened, report);
}

async function stopChanges(
  { dataFolder, catalogUrl }: CatalogLocation,
  to: string,
): Promise<() => void | Promise<void>> {
  if (catalogUrl === '') return stopInFolder(dataFolder, to);
  // The driver is loaded only if it is used.
  const { stopChanges: stopInDatabase } = await import('../postgres/moved.ts');
  return stopInDatabase(catalogUrl, to);
}

/** Copies one state of a catalog to an open target, and compares both. See `copyCatalogTo`, without locks and marks. */
export function copyStateTo(
  source: OpenCatalog,
  opened: CopyTarget,
  report: (step: string) => void,
): Promise<CopyReport> {
  const { name: to } = opened;
  return source.snapshot(async (from) => {
    if (opened.hasCatalog) {
      const tables = await readContents(from, report);
      const there = await opened.read((to) => readContents(to, report));
      requireSame(to, tables, there);
      return { to, state: 'unchanged', tables };
    }
    const tables = await opened.fill(async (to) => {
      const copied = await copyTables(from, to, report);
      report('comparing');
      const there = await readContents(to, report);
      const wrong = differing(copied, there);
      if (wrong.length > 0)
        throw new Error(`The copy differs from its source in ${wrong.join(', ')}; nothing was copied.`);
      return copied;
    });
    return { to, state: 'copied', tables };
  });
}

async function copyTables(from: Catalog, to: Catalog, report: (step: string) => void): Promise<TableContents[]> {
  const contents: TableContents[] = [];
  for (const { table, key } of TABLES) {
    const hash = new TableHash(table);
    for await (const rows of eachWholeRow(from, table)) {
      hash.add(rows);
      if (rows.length > 0) await upsertRows(to, { table, key, columns: Object.keys(rows[0]!) }, rows);
      report(`copying ${table}: ${hash.rows.toLocaleString('en')} rows`);
    }
    contents.push(hash.contents);
  }
  return contents;
}

/** The contents of all tables. */
async function readContents(to: Catalog, report: (step: string) => void): Promise<TableContents[]> {
  const contents: TableContents[] = [];
  for (const { table } of TABLES) {
    report(`comparing ${table}`);
    const hash = new TableHash(table);
    for await (const rows of eachWholeRow(to, table)) hash.add(rows);
    contents.push(hash.contents);
  }
  return contents;
}

function requireSame(to: string, tables: readonly TableContents[], there: readonly TableContents[]): void {
  // Writing the journal of a copy changes the one, and its first process the other.
  const wrong = differing(tables, there).filter((table) => !['publication', 'store_identity'].includes(table));
  if (wrong.length === 0) return;
  throw new Error(
    `There is another catalog in ${to}, which differs in ${wrong.join(', ')}; nothing was changed. Copy into a place without a catalog.`,
  );
}

function differing(one: readonly TableContents[], other: readonly TableContents[]): string[] {
  return one.filter((contents, index) => !isDeepStrictEqual(contents, other[index])).map(({ table }) => table);
}
