import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { TrinoClient } from '../../server/facts/trino/client.ts';
import { TrinoReader } from '../../server/facts/trino/reader.ts';
import { tableDefinitions } from '../../server/facts/trino/tables.ts';
import type { World } from '../world.ts';
import { putFolder } from './servers/bucket.ts';
import { askTrino } from './servers/trino.ts';

const { ORDINATE_TEST_TRINO, ORDINATE_TEST_S3 } = process.env;

/** Why tests with Trino do not run. */
export const skip: string | false =
  ORDINATE_TEST_TRINO && ORDINATE_TEST_S3 ? false : 'ORDINATE_TEST_TRINO and ORDINATE_TEST_S3 name no servers';

/** Tests make schemas of their own in it. */
export const BUCKET = 'ordinate';

/** Puts the fact files of a world into the bucket, and reads them with Trino. */
export async function readerOf(
  { dataFolder }: Pick<World, 'dataFolder'>,
  trino: string = ORDINATE_TEST_TRINO!,
): Promise<{ reader: TrinoReader; address: string; storage: string }> {
  const prefix = `test-${randomUUID()}`;
  putFolder(join(dataFolder, 'facts'), BUCKET, `${prefix}/facts`);
  const storage = `s3://${BUCKET}/${prefix}`;
  const schema = prefix.replaceAll('-', '_');
  for (const statement of tableDefinitions(storage, { catalog: 'hive', schema })) await askTrino(trino, statement);
  const address = `${trino}/hive/${schema}`;
  return { reader: new TrinoReader(new TrinoClient(address), (file) => `${storage}/${file}`), address, storage };
}
