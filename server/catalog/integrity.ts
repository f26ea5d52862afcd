import type { Catalog } from './catalog.ts';

/** What is wrong with the catalog's own file; nothing where it is sound. */
export async function findCatalogDamage(catalog: Catalog): Promise<string[]> {
  const rows = await catalog.statements.all<{ result: string }>('quick_check');
  return rows.map(({ result }) => result).filter((result) => result !== 'ok');
}
