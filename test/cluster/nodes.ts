import { join } from 'node:path';
import type { Test } from 'tap';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { MARK_FILE } from '../../server/storage/store-mark.ts';
import { temporaryFolder } from '../world.ts';
import { newDatabase, skip as skipPostgres } from './databases.ts';
import { Bucket } from './servers/object-store.ts';

const { ORDINATE_TEST_S3: endpoint = '' } = process.env;

/** For tests of nodes that share PostgreSQL and an object store. */
export const skip = skipPostgres || (endpoint === '' ? 'ORDINATE_TEST_S3 names no object store' : false);

const PREFIX = 'some/prefix';

export interface Cluster {
  readonly bucket: Bucket;
  readonly catalogUrl: string;
  /** The settings of a new node. */
  readonly node: (more?: NodeJS.ProcessEnv) => NodeJS.ProcessEnv & { ORDINATE_DATA: string };
}

/** A new catalog and a new bucket. @param isEmpty whether the database is left without tables */
export async function makeCluster(
  t: Test,
  { server, isEmpty = false }: { server?: string; isEmpty?: boolean } = {},
): Promise<Cluster> {
  const bucket = await Bucket.create(t, endpoint);
  const catalogUrl = await newDatabase(t, server);
  if (!isEmpty) await (await openCatalog({ dataFolder: temporaryFolder(t), catalogUrl })).close();
  const node: Cluster['node'] = (more) => ({
    ...bucket.settings(endpoint, PREFIX),
    ORDINATE_CATALOG: catalogUrl,
    ORDINATE_DATA: join(temporaryFolder(t), 'data'),
    ORDINATE_CACHE: '0MB',
    ...more,
  });
  return { bucket, catalogUrl, node };
}

/** The keys of all objects that the catalog names. */
export async function namedKeys(catalog: Catalog): Promise<string[]> {
  const { statements } = catalog;
  const rows = [
    ...(await statements.all<{ file: string }>('known_files')),
    ...(await statements.all<{ file: string }>('lists_all', { project: null })),
  ];
  return rows.map(({ file }) => `${PREFIX}/${file}`).sort();
}

/** The keys of all files in a bucket, without the mark of the store. */
export async function fileKeys(bucket: Bucket): Promise<string[]> {
  return (await bucket.keys()).filter((key) => !key.endsWith(MARK_FILE));
}
