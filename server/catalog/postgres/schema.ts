import { CatalogMissing } from '../failures.ts';
import { readApplied } from './migrations.ts';
import { poolOf } from './pool.ts';

/** The schema version of a catalog, without changing the catalog. Throws if there is none, or for a newer release's. */
export async function readSchemaVersion(url: string): Promise<{ catalog: string; found: number }> {
  const pool = poolOf(url);
  try {
    const found = await pool.use(readApplied);
    const { name: catalog } = pool.address;
    if (found === 0) throw new CatalogMissing(`There is no catalog in ${catalog}. Check ORDINATE_CATALOG.`);
    return { catalog, found };
  } finally {
    await pool.close();
  }
}
