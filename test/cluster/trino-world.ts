import type { Test } from 'tap';
import { TrinoClient } from '../../server/facts/trino/client.ts';
import { TrinoReader } from '../../server/facts/trino/reader.ts';
import { command } from '../command.ts';
import { makeWorld, type Tables, type World } from '../world.ts';
import { Bucket } from './servers/object-store.ts';
import { askTrino } from './servers/trino.ts';

const { ORDINATE_TEST_TRINO = '', ORDINATE_TEST_S3 = '' } = process.env;

/** Why tests with Trino do not run. */
export const skip: string | false =
  ORDINATE_TEST_TRINO && ORDINATE_TEST_S3 ? false : 'ORDINATE_TEST_TRINO and ORDINATE_TEST_S3 name no servers';

/** A world whose facts are in a bucket of its own, with tables in Trino. */
export interface TrinoWorld {
  readonly world: World;
  readonly bucket: Bucket;
  readonly reader: TrinoReader;
  /** Of Trino, with the schema of the tables. */
  readonly address: string;
}

/** @param environment more settings of the server; `trino` and `catalog` say where the tables are */
export async function trinoWorld(
  t: Test,
  tables: Tables,
  {
    environment = {},
    measured = false,
    trino = ORDINATE_TEST_TRINO,
    catalog = 'hive',
  }: { environment?: NodeJS.ProcessEnv; measured?: boolean; trino?: string; catalog?: string } = {},
): Promise<TrinoWorld> {
  const bucket = await Bucket.create(t, ORDINATE_TEST_S3);
  const address = `${trino}/${catalog}/${bucket.name.replaceAll('-', '_')}`;
  const settings: NodeJS.ProcessEnv = { ...bucket.settings(ORDINATE_TEST_S3, 'some/prefix'), ORDINATE_TRINO: address };
  const { stdout, stderr } = await command(settings, 'trino', 'ddl');
  const statements = stdout.replaceAll(/^--.*\n/gm, '').split(/;\n/);
  if (statements.length < 15) throw new Error(`these are not all tables: ${stderr}`);
  for (const statement of statements) if (statement.trim() !== '') await askTrino(trino, statement);
  const storage = settings['ORDINATE_STORAGE']!;
  const reader = new TrinoReader(new TrinoClient(address), (file) => `${storage}/${file}`);
  const world = await makeWorld(t, tables, { environment: { ...settings, ...environment }, measured });
  return { world, bucket, address, reader };
}
