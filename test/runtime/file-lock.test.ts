// A file lock has at most one holder, also while another process replaces its file.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { FileLock } from '../../server/runtime/file-lock.ts';
import { temporaryFolder } from '../world.ts';

t.test('a lock whose file its holder removes while another takes it has one holder', (t) => {
  const path = join(temporaryFolder(t), 'one.lock');
  const first = FileLock.take(path)!;
  const exec = Reflect.get(DatabaseSync.prototype, 'exec') as (this: DatabaseSync, text: string) => void;
  t.teardown(() => {
    DatabaseSync.prototype.exec = exec;
  });
  let next: FileLock | undefined;
  // The second has opened the file, and not locked it yet.
  DatabaseSync.prototype.exec = function (this: DatabaseSync, text: string): void {
    DatabaseSync.prototype.exec = exec;
    rmSync(path);
    first.release();
    next = FileLock.take(path);
    exec.call(this, text);
  };
  t.equal(FileLock.take(path), undefined);
  t.ok(next);
  t.equal(FileLock.take(path), undefined);
  next!.release();
  const last = FileLock.take(path);
  t.ok(last);
  last!.release();
  t.end();
});
