import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqlText } from '../runtime/sql.ts';
import { nameCatalogFailure, newerCatalog } from './failures.ts';
import { type CatalogLocation, requireDataFolder, requireRestored } from './location.ts';
import { CatalogFile } from './sqlite/catalog-file.ts';
import { MIGRATIONS, schemaVersionOf } from './sqlite/migrations.ts';

/** A migration that this version would run. */
export interface Migration {
  /** The schema version after it. */
  readonly version: number;
  readonly name: string;
  readonly description: string;
}

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
    const postgres = await import('./postgres/schema.ts');
    const { catalog, found } = await postgres.readSchemaVersion(catalogUrl);
    return { catalog, ...stateOf(found, postgres.MIGRATIONS, postgres.isRolling) };
  }
  requireRestored(dataFolder);
  new CatalogFile(dataFolder).requireWhereFactsAre();
  requireDataFolder(dataFolder);
  const found = versionOf(join(dataFolder, 'catalog.sqlite'));
  if (found > MIGRATIONS.length) throw newerCatalog(found, MIGRATIONS.length);
  return { catalog: `'${dataFolder}'`, ...stateOf(found, MIGRATIONS, () => false) };
}

function stateOf(
  found: number,
  migrations: readonly string[],
  isRolling: (name: string) => boolean,
): Omit<SchemaState, 'catalog'> {
  const supported = migrations.length;
  const names = migrations.slice(found);
  const pending = names.map((name, index) => ({
    version: found + index + 1,
    name: name.replace(/^.*\//, ''),
    description: descriptionOf(sqlText(name)),
  }));
  return { found, supported, pending, rolling: names.every(isRolling) };
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

/** The comment at the start of a migration. */
function descriptionOf(text: string): string {
  const lines = text.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('--'));
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^-- ?/, ''))
    .join(' ');
}
