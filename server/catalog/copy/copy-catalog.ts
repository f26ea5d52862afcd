import { isDeepStrictEqual } from 'node:util';
import type { Catalog, OpenCatalog } from '../catalog.ts';
import { eachWholeRow, upsertRows } from '../entity-rows.ts';
import type { CatalogPlace } from '../place.ts';
import { openTarget } from './open-target.ts';
import { type TableContents, TableHash } from './table-hash.ts';
import { TABLES } from './tables.ts';

export interface CopyReport {
  /** Where the copy is, without a password. */
  readonly to: string;
  /** `unchanged`: the target had the same copy already. */
  readonly state: 'copied' | 'unchanged';
  /** What both sides contain. */
  readonly tables: readonly TableContents[];
}

/**
 * Copies one state of a catalog into a place that has none, in one transaction, and compares both sides row by row. Throws if
 * the target has another catalog, or a load is running. Killed at any time, the target has no catalog.
 */
export async function copyCatalogTo(
  source: OpenCatalog,
  target: CatalogPlace,
  report: (step: string) => void,
): Promise<CopyReport> {
  await using lock = await source.locks.takeLoad('all');
  if (lock === undefined) throw new Error('A load is running; copy the catalog when it has ended.');
  await using opened = await openTarget(target);
  const { name: to } = opened;
  return await source.snapshot(async (from) => {
    if (opened.hasCatalog) {
      const tables = await readContents(from, report);
      const there = await opened.read((own) => readContents(own, report));
      requireSame(to, tables, there);
      return { to, state: 'unchanged', tables };
    }
    const tables = await opened.fill(async (own) => {
      const copied = await copyTables(from, own, report);
      report('comparing');
      const there = await readContents(own, report);
      const wrong = differing(copied, there);
      if (wrong.length > 0)
        throw new Error(`The copy differs from its source in ${wrong.join(', ')}; nothing was copied.`);
      return copied;
    });
    return { to, state: 'copied', tables };
  });
}

async function copyTables(from: Catalog, own: Catalog, report: (step: string) => void): Promise<TableContents[]> {
  const contents: TableContents[] = [];
  for (const { table, key } of TABLES) {
    const hash = new TableHash(table);
    for await (const rows of eachWholeRow(from, table)) {
      hash.add(rows);
      if (rows.length > 0) await upsertRows(own, { table, key, columns: Object.keys(rows[0]!) }, rows);
      report(`copying ${table}: ${hash.rows.toLocaleString('en')} rows`);
    }
    contents.push(hash.contents);
  }
  await own.statements.get('copied');
  return contents;
}

/** What all tables of a catalog contain. */
async function readContents(own: Catalog, report: (step: string) => void): Promise<TableContents[]> {
  const contents: TableContents[] = [];
  for (const { table } of TABLES) {
    report(`comparing ${table}`);
    const hash = new TableHash(table);
    for await (const rows of eachWholeRow(own, table)) hash.add(rows);
    contents.push(hash.contents);
  }
  return contents;
}

function requireSame(to: string, tables: readonly TableContents[], there: readonly TableContents[]): void {
  // A journal that was written for the copy counts on.
  const wrong = differing(tables, there).filter((table) => table !== 'publication');
  if (wrong.length === 0) return;
  throw new Error(
    `There is another catalog in ${to}, which differs in ${wrong.join(', ')}; nothing was changed. Copy into a place without a catalog.`,
  );
}

function differing(one: readonly TableContents[], other: readonly TableContents[]): string[] {
  return one.filter((contents, index) => !isDeepStrictEqual(contents, other[index])).map(({ table }) => table);
}
