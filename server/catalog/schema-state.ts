import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { nameCatalogFailure, newerCatalog } from './failures.ts';
import { type CatalogLocation, requireDataFolder, requireRestored } from './location.ts';
import { changesSince, SCHEMA_VERSION, type SchemaChange, type SchemaStore } from './schema.ts';
import { CatalogFile } from './sqlite/catalog-file.ts';
import { schemaVersionOf } from './sqlite/connection.ts';

/** A migration that this version would run. */
export type Migration = Pick<SchemaChange, 'version' | 'name' | 'description'>;

/** Migrations that this version would run. */
export interface SchemaState {
  /** Where the catalog is, without a password. */
  readonly catalog: string;
  /** The schema version of the catalog. */
  readonly found: number;
  /** The schema version of this program. */
  readonly supported: number;
  readonly pending: readonly Migration[];
  /** Whether servers of the release before can go on answering afterwards. */
  readonly rolling: boolean;
}

/** Reads the schema version of a catalog without changing it. Throws if there is none, or if a newer version made it. */
export async function readSchemaState({ dataFolder, catalogUrl }: CatalogLocation): Promise<SchemaState> {
  if (catalogUrl !== '') {
    const postgres = await import('./postgres/migrations.ts');
    const { catalog, found } = await postgres.readSchemaVersion(catalogUrl);
    return { catalog, ...stateOf('postgres', found) };
  }
  requireRestored(dataFolder);
  new CatalogFile(dataFolder).requireWhereFactsAre();
  requireDataFolder(dataFolder);
  const found = versionOf(join(dataFolder, 'catalog.sqlite'));
  if (found > SCHEMA_VERSION) throw newerCatalog(found, SCHEMA_VERSION);
  return { catalog: `'${dataFolder}'`, ...stateOf('sqlite', found) };
}

function stateOf(store: SchemaStore, found: number): Omit<SchemaState, 'catalog'> {
  const changes = changesSince(store, found);
  return {
    found,
    supported: SCHEMA_VERSION,
    pending: changes.map(({ version, name, description }) => ({ version, name, description })),
    rolling: changes.every(({ isRolling }) => isRolling),
  };
}

function versionOf(path: string): number {
  try {
    const db = new DatabaseSync(path, { readOnly: true });
    try {
      return schemaVersionOf(db);
    } finally {
      db.close();
    }
  } catch (error) {
    throw nameCatalogFailure(error, path);
  }
}
