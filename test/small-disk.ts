import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

/** A disk of its own for a test. */
export interface SmallDisk {
  /** Takes all that is free, to the last byte or so many before it. */
  fill(left?: number): void;
  /** Frees what `fill` took. */
  clear(): void;
  resize(megabytes: number): void;
}

const MOUNT = '/bin/mount';
const UNMOUNT = '/bin/umount';

/** Mounts a small disk as a new folder until the test ends; undefined where this user may not. */
export function smallDisk(t: Test, folder: string, megabytes: number): SmallDisk | undefined {
  mkdirSync(folder);
  try {
    execFileSync(MOUNT, ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  t.teardown(() => execFileSync(UNMOUNT, ['-l', folder]));
  const filler = join(folder, 'filler');
  return {
    fill: (left = 0) => {
      const room = join(folder, 'room');
      if (left > 0) writeFileSync(room, Buffer.alloc(left));
      const megabyte = Buffer.alloc(1_000_000);
      for (const bytes of [megabyte, megabyte.subarray(0, 4096), megabyte.subarray(0, 64)]) {
        try {
          for (;;) appendFileSync(filler, bytes);
        } catch {
          // There is no room for so many bytes any more.
        }
      }
      rmSync(room, { force: true });
    },
    clear: () => rmSync(filler, { force: true }),
    resize: (more) => void execFileSync(MOUNT, ['-o', `remount,size=${more}m`, folder]),
  };
}
