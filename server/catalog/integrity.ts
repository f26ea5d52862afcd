import type { Catalog } from './catalog.ts';

/** Damage of the catalog file; empty if it is intact. */
export async function findCatalogDamage(catalog: Catalog): Promise<string[]> {
  const rows = await catalog.statements.all<{ result: string }>('database.check');
  return rows.map(({ result }) => result).filter((result) => result !== 'ok');
}
