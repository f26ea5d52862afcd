import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of an S3 server that serves folders as buckets. */
export function putFolder(source: string, bucket: string, prefix: string): void {
  const target = join(process.env['ORDINATE_TEST_S3_FOLDER']!, bucket, prefix);
  mkdirSync(target, { recursive: true });
  cpSync(source, target, { recursive: true });
}
