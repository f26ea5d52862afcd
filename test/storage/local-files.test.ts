// A name counts as durable only when the disk says so, whoever asked for it.
import { writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { LocalFiles } from '../../server/storage/local-files.ts';
import { temporaryFolder } from '../world.ts';

/** Lets a function come before each sync of the disk. */
async function beforeSync(t: Test, work: () => Promise<void>): Promise<void> {
  const handle = await open(import.meta.dirname);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  t.intercept(prototype, 'sync', {
    configurable: true,
    value: async function (this: FileHandle): Promise<void> {
      await work();
      await this.datasync();
    },
  });
}

async function sealed(t: Test): Promise<LocalFiles> {
  const files = new LocalFiles(temporaryFolder(t));
  writeFileSync(files.prepare('months/one.parquet'), 'rows');
  await files.seal('months/one.parquet');
  return files;
}

t.test('a call that finds nothing to do waits for the one that does it', async (t) => {
  const files = await sealed(t);
  const disk = Promise.withResolvers<void>();
  let synced = 0;
  await beforeSync(t, async () => {
    await disk.promise;
    synced++;
  });
  const ended: string[] = [];
  const calls = ['first', 'second'].map((name) => files.syncFolders().then(() => ended.push(name)));
  await setImmediate();
  t.strictSame(ended, []);
  disk.resolve();
  await Promise.all(calls);
  t.strictSame(ended, ['first', 'second']);
  t.equal(synced, 2, 'the folder and its parent, once each');
});

t.test('what the disk refused is tried again', async (t) => {
  const files = await sealed(t);
  let isBroken = true;
  let tried = 0;
  await beforeSync(t, async () => {
    tried++;
    if (isBroken) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
  });
  await t.rejects(files.syncFolders(), { code: 'EIO' });
  isBroken = false;
  await files.syncFolders();
  t.equal(tried, 4);
  await files.syncFolders();
  t.equal(tried, 4, 'then nothing is left');
});
