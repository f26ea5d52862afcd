// The folder of a process that somebody removed is made again, as soon as that is possible.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import t from 'tap';
import { ProcessFolder } from '../../server/runtime/process-folder.ts';
import { temporaryFolder } from '../world.ts';

t.test('a folder that could not be made again is made again later, and is that of a running process', async (t) => {
  const parent = temporaryFolder(t);
  for (const [what, ending] of [
    ['the lock cannot be made', '.lock'],
    ['the folder cannot be made', ''],
  ] as const) {
    const folder = await ProcessFolder.take(parent);
    rmSync(parent, { recursive: true });
    mkdirSync(parent);
    const obstacle = `${folder.path}${ending}`;
    // Not a folder for what asks whether it is there, but in the way of a new one.
    if (ending === '') symlinkSync('nowhere', obstacle);
    else mkdirSync(obstacle);
    for (let attempt = 1; attempt <= 2; attempt++) t.throws(() => folder.makeAgain(undefined), what);
    rmSync(obstacle, { recursive: true });
    // What writes a file below it may have made it, without a lock.
    if (ending === '.lock') mkdirSync(folder.path);
    t.equal(folder.makeAgain(undefined), true, what);
    const other = await ProcessFolder.take(parent);
    t.ok(existsSync(folder.path), 'others see that its process runs');
    await folder.remove();
    await other.remove();
  }
});

t.test('work that still runs does not bring a removed folder back', async (t) => {
  const parent = temporaryFolder(t);
  const folder = await ProcessFolder.take(parent);
  const removed = folder.remove();
  rmSync(folder.path, { recursive: true, force: true });
  t.equal(folder.makeAgain(undefined), false);
  await removed;
  t.strictSame(readdirSync(parent), [], 'neither the folder nor its lock is left');
});
