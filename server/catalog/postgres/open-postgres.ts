import type { OpenCatalog } from '../catalog.ts';
import { CatalogMissing } from '../failures.ts';
import { type CatalogLocation, hasFacts, makeDataFolder, noteCatalogElsewhere, requireRestored } from '../location.ts';
import { SCHEMA_VERSION } from '../schema.ts';
import { migrate, readApplied } from './migrations.ts';
import { type PostgresPool, poolOf } from './pool.ts';
import { PostgresCatalog } from './postgres-catalog.ts';

/** See `openCatalog`. */
export async function openPostgres(
  { dataFolder, catalogUrl, catalogConnections }: CatalogLocation,
  { create }: { create: boolean },
): Promise<OpenCatalog> {
  const pool = poolOf(catalogUrl, catalogConnections);
  try {
    requireRestored(dataFolder);
    if (create) makeDataFolder(dataFolder);
    const found = await pool.use(readApplied);
    if (found === 0) requireNoFacts(pool, dataFolder, create);
    if (found < SCHEMA_VERSION) await migrate(pool);
    noteCatalogElsewhere(dataFolder, pool.address.name);
    return new PostgresCatalog(pool);
  } catch (error) {
    await pool.close();
    throw pool.named(error);
  }
}

/** Throws if there are facts, or without `create`. */
function requireNoFacts(pool: PostgresPool, dataFolder: string, create: boolean): void {
  const { name } = pool.address;
  if (hasFacts(dataFolder)) {
    throw new CatalogMissing(
      `There is no catalog in ${name}, but '${dataFolder}' contains facts; nothing was changed. If it was lost, restore the database with its own tools (pg_restore, or recovery to an instant), or a backup of both. If it is in the folder, copy it: 'ordinate catalog copy --to ADDRESS', without ORDINATE_CATALOG.`,
    );
  }
  if (create) return;
  throw new CatalogMissing(
    `There is no catalog in ${name}. Check ORDINATE_CATALOG; serve, load, import, demo and workspaces create make a new one.`,
  );
}
