// The object store client never stores or returns wrong bytes, and gives up on a store that does not respond.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { classifyFailure } from '../../server/domain/failures.ts';
import type { StoredFile } from '../../server/storage/file-store.ts';
import { remoteDamageOf } from '../../server/storage/s3/remote-files.ts';
import { S3Files } from '../../server/storage/s3/s3-files.ts';
import { temporaryFolder } from '../world.ts';
import { FaultyProxy } from './servers/faulty-proxy.ts';
import { Bucket } from './servers/object-store.ts';

const { ORDINATE_TEST_S3: endpoint = '' } = process.env;
const skip = endpoint === '' ? 'ORDINATE_TEST_S3 names no object store' : false;

/** Larger than a part of an upload, with a last part of another size. */
const LARGE = 40_000_001;
/** A store that says nothing for so long is away, in milliseconds. */
const SOON = { connect: 1000, idle: 1000, upload: 60_000, answer: 3000, request: 3000, megabyte: 1000 };

async function connect(
  t: Test,
  timeouts = SOON,
): Promise<{ files: S3Files; bucket: Bucket; proxy: FaultyProxy; folder: string }> {
  const bucket = await Bucket.create(t, endpoint);
  const proxy = await FaultyProxy.start(t, endpoint);
  const address = { bucket: bucket.name, prefix: 'of/tests/' };
  const files = new S3Files({ address, endpoint: proxy.url, region: undefined, pathStyle: true, timeouts });
  t.teardown(() => files.close());
  return { files, bucket, proxy, folder: temporaryFolder(t) };
}

function write(folder: string, bytes: number): { stored: StoredFile; source: string; content: Buffer } {
  const content = randomBytes(bytes);
  const source = join(folder, 'source');
  writeFileSync(source, content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { stored: { file: `facts/of-${bytes}.parquet`, bytes, sha256 }, source, content };
}

t.test('small and large files come back as they were', { skip }, async (t) => {
  const { files, bucket, folder, proxy } = await connect(t);
  for (const size of [0, 1, 1000, LARGE]) {
    const { stored, source, content } = write(folder, size);
    t.equal(await files.stat(stored.file), undefined);
    t.equal(await files.get(stored, join(folder, 'target')), undefined);
    await files.put(stored, source);
    t.strictSame(await files.stat(stored.file), { bytes: size, sha256: stored.sha256 });
    t.equal(await remoteDamageOf(files, stored), undefined);
    t.strictSame(await files.get(stored, join(folder, 'target')), { bytes: size, sha256: stored.sha256 });
    t.ok(readFileSync(join(folder, 'target')).equals(content));
    t.match(await remoteDamageOf(files, { ...stored, bytes: size + 1 }), /bytes instead of/);
    t.match(await remoteDamageOf(files, { ...stored, sha256: 'other' }), /SHA-256/);
    await files.remove(stored.file);
    await files.remove(stored.file);
  }
  t.strictSame(await bucket.keys(), []);
  t.equal(proxy.requests.filter(({ path }) => path.includes('partNumber=')).length, 3);
});

t.test('a file that does not have its hash is not stored', { skip }, async (t) => {
  const { files, bucket, folder } = await connect(t);
  const { stored, source } = write(folder, 1000);
  writeFileSync(source, randomBytes(1000));
  await t.rejects(files.put(stored, source), { message: /400 BadDigest/ });
  t.strictSame(await bucket.keys(), []);
});

t.test('an upload whose parts fail is aborted; what a killed one has left goes with its file', { skip }, async (t) => {
  const { files, bucket, proxy, folder } = await connect(t);
  const { stored, source } = write(folder, LARGE);
  proxy.fault = (_, path) => (path.includes('partNumber=3') ? 'error' : undefined);
  await t.rejects(files.put(stored, source), { message: /it answers 500 InternalError/ });
  t.equal(await bucket.uploads(), 0);
  // As for a killed process, nothing can abort it.
  proxy.fault = (method, path) => (path.includes('partNumber=3') || method === 'DELETE' ? 'error' : undefined);
  await t.rejects(files.put(stored, source));
  t.equal(await bucket.uploads(), 1);
  proxy.fault = () => undefined;
  await files.remove(`${stored.file}-of-another`);
  t.equal(await bucket.uploads(), 1);
  await files.remove(stored.file);
  t.equal(await bucket.uploads(), 0);
  t.strictSame(await bucket.keys(), []);
});

t.test('a large file is stored if only the answer was lost', { skip }, async (t) => {
  const { files, bucket, proxy, folder } = await connect(t);
  const { stored, source } = write(folder, LARGE);
  let cut = false;
  proxy.fault = (method, path) => {
    if (cut || method !== 'POST' || !path.includes('uploadId=')) return undefined;
    cut = true;
    return 'cut';
  };
  await files.put(stored, source);
  t.ok(cut);
  t.equal(await remoteDamageOf(files, stored), undefined);
  t.equal(await bucket.uploads(), 0);
});

t.test('a store that does not answer in time is away', { skip }, async (t) => {
  const { files, proxy, folder } = await connect(t);
  const { stored, source } = write(folder, 1000);
  await files.put(stored, source);
  proxy.fault = () => 'silent';
  for (const ask of [
    () => files.stat(stored.file),
    () => files.get(stored, join(folder, 'target')),
    () => files.put(stored, source),
    () => files.remove(stored.file),
  ]) {
    const failure = await ask().then(
      () => undefined,
      (error: unknown) => error,
    );
    t.match(failure, { message: new RegExp(`'s3://.*${stored.file}': ${proxy.url} does not answer in time`) });
    t.equal(classifyFailure(failure), 'storage-away');
  }
});

t.test('whoever reads waits for less time than whoever writes', { skip }, async (t) => {
  const { files, proxy, folder } = await connect(t, { ...SOON, idle: 600_000, answer: 500, request: 600_000 });
  const { stored, source } = write(folder, 1000);
  await files.put(stored, source);
  proxy.fault = () => 'silent';
  for (const ask of [() => files.stat(stored.file), () => files.get(stored, join(folder, 'target'))]) {
    await t.rejects(ask(), { message: /does not answer in time/ });
  }
});
