import { CatalogMissing } from '../failures.ts';
import { schemaVersionOf } from './migrations.ts';
import { poolOf } from './pool.ts';

export { MIGRATIONS } from './migrations.ts';

/** The schema version of a catalog, without changing it. Throws if there is none. */
export async function readSchemaVersion(url: string): Promise<{ catalog: string; found: number }> {
  const pool = poolOf(url);
  try {
    const found = await pool.use(schemaVersionOf);
    const { name: catalog } = pool.address;
    if (found === 0) throw new CatalogMissing(`There is no catalog in ${catalog}. Check ORDINATE_CATALOG.`);
    return { catalog, found };
  } finally {
    await pool.close();
  }
}
