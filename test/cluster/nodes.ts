import { join } from 'node:path';
import type { Test } from 'tap';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { MARK_FILE } from '../../server/storage/store-mark.ts';
import { command } from '../command.ts';
import type { Ended } from '../process.ts';
import { facts, PROJECT, type Tables, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { newDatabase, skip as skipPostgres } from './databases.ts';
import { Bucket } from './servers/object-store.ts';

/** The object store of tests. */
export const endpoint: string = process.env['ORDINATE_TEST_S3'] ?? '';
export const skipStorage: string | false = endpoint === '' ? 'ORDINATE_TEST_S3 names no object store' : false;
/** For tests of nodes that share PostgreSQL and an object store. */
export const skip = skipPostgres || skipStorage;

/** The day of `ofDay`, as a question. */
export const SITE = '/projects/Proj1/site?from=2026-03-09&to=2026-03-09';
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

/** A project with a single day. */
export const ofDay = (clicks: number, day = '2026-03-09'): Tables => ({
  workspaces: [WORKSPACE],
  projects: [PROJECT],
  site_daily: facts('date device', [day, 'mobile', clicks, 100, 900]),
});

export const load = (t: Test, node: NodeJS.ProcessEnv, tables: Tables): Promise<Ended> =>
  command(node, 'load', writeSnapshot(t, tables), '--accept-implausible');

/** What a command answers with `--json`. Throws if it fails. */
export async function json<T>(node: NodeJS.ProcessEnv, ...words: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await command(node, ...words, '--json');
  if (code !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** A new key of the workspace `acme`. */
export const newKey = (node: NodeJS.ProcessEnv): Promise<{ id: string; key: string }> =>
  json(node, 'keys', 'create', '--workspace', 'acme', '--name', 'test');

/** Loads rows; returns a key. */
export async function filled(t: Test, node: NodeJS.ProcessEnv, tables: Tables = ofDay(1)): Promise<string> {
  t.match(await load(t, node, tables), { code: 0 });
  return (await newKey(node)).key;
}

/** The keys of all objects that the catalog names. */
export async function namedKeys(catalog: Catalog): Promise<string[]> {
  const { statements } = catalog;
  const rows = [
    ...(await statements.all<{ file: string }>('fact-files.known')),
    ...(await statements.all<{ file: string }>('lists.all', { project: null })),
  ];
  return rows.map(({ file }) => `${PREFIX}/${file}`).sort();
}

/** The keys of all files in a bucket, without the mark of the store. */
export async function fileKeys(bucket: Bucket): Promise<string[]> {
  return (await bucket.keys()).filter((key) => !key.endsWith(MARK_FILE));
}
