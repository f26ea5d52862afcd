import type { Test } from 'tap';
import { LocalFiles } from '../../server/storage/local-files.ts';
import { methodOf } from '../methods.ts';

/** Calls `before` ahead of each comparison of a file with its hash, until the test ends. */
export function beforeFiles(t: Test, before: (file: string) => void | Promise<void>): void {
  const damageOf = methodOf(LocalFiles.prototype, 'damageOf');
  t.teardown(() => {
    LocalFiles.prototype.damageOf = damageOf;
  });
  LocalFiles.prototype.damageOf = async function (stored) {
    await before(stored.file);
    return damageOf.call(this, stored);
  };
}
