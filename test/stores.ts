import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Test } from 'tap';
import type { CatalogLocation } from '../server/catalog/location.ts';

/** Where the tests of this run keep data and who answers, as `CATALOG+STORAGE+ENGINE`. */
const STORES = process.env['ORDINATE_TEST_STORES'] ?? 'sqlite+files+duckdb';
const [catalog, storage, engine] = STORES.split('+');

/** Whether everything is in one data folder, as by default. */
export const isLocal = STORES === 'sqlite+files+duckdb';

/** For tests about the files of a data folder, or what only a folder can do. */
export const localOnly = isLocal ? {} : { skip: `is about files of a data folder, not about ${STORES}` };

/** Settings by data folder: commands get those of theirs. */
const known = new Map<string, NodeJS.ProcessEnv>();

/**
 * Settings of new and empty stores for a data folder. They are removed when the test ends; none are needed where everything
 * is in the folder.
 */
export async function makeStores(t: Test, dataFolder: string): Promise<NodeJS.ProcessEnv> {
  if (isLocal) return {};
  const settings: NodeJS.ProcessEnv = {};
  if (catalog === 'postgres') {
    const { newDatabase } = await import('./cluster/databases.ts');
    settings['ORDINATE_CATALOG'] = await newDatabase(t, required('ORDINATE_TEST_POSTGRES'), 'ordinate_template');
  }
  if (storage === 's3') Object.assign(settings, bucketSettings());
  if (engine === 'trino') {
    settings['ORDINATE_ENGINE'] = 'trino';
    settings['ORDINATE_TRINO'] = required('ORDINATE_TEST_TRINO_TABLES');
    settings['ORDINATE_STORAGE'] = required('ORDINATE_TEST_TRINO_STORAGE');
  }
  known.set(dataFolder, settings);
  t.teardown(() => known.delete(dataFolder));
  return settings;
}

/** Changes the rows of a catalog behind the back of the product. */
export async function changeCatalog({ dataFolder, catalogUrl }: CatalogLocation, statement: string): Promise<void> {
  if (catalogUrl === '') {
    using db = new DatabaseSync(join(dataFolder, 'catalog.sqlite'));
    db.exec(statement);
  } else {
    const { query } = await import('./cluster/databases.ts');
    await query(catalogUrl, statement);
  }
}

/** The settings of the stores of a data folder. */
export function storesOf(dataFolder: string | undefined): NodeJS.ProcessEnv {
  return known.get(dataFolder ?? '') ?? {};
}

function bucketSettings(): NodeJS.ProcessEnv {
  return {
    ORDINATE_STORAGE: `s3://ordinate/${randomUUID()}`,
    ORDINATE_STORAGE_ENDPOINT: required('ORDINATE_TEST_S3'),
    ORDINATE_STORAGE_PATH_STYLE: 'on',
    ORDINATE_STORAGE_REGION: 'us-east-1',
  };
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is needed for tests on ${STORES}; npm run test:cluster sets it.`);
  return value;
}
