import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { ROOT } from '../readme.ts';
import { temporaryFolder } from '../world.ts';

/** The commit of the release that nodes are upgraded from. It moves with each release. */
const RELEASE_BEFORE = '0983d6262b2bb946d1f1115309687cd9084d9a2e';

const git = (...words: readonly string[]) => spawnSync('git', words, { cwd: ROOT, maxBuffer: 1e9 });

/** A checkout without its history, or the package, does not have it. */
export const hasReleaseBefore = git('cat-file', '-e', `${RELEASE_BEFORE}^{commit}`).status === 0;

/**
 * Checks out the release before in a temporary folder, with the packages of this one. Those that only the release before
 * needs are packages for development. Returns the folder.
 */
export function releaseBefore(t: Test): string {
  const folder = join(temporaryFolder(t), 'before');
  mkdirSync(folder);
  const { stdout, status } = git(
    'archive',
    RELEASE_BEFORE,
    'cli',
    'client',
    'scripts',
    'server',
    'sql',
    'docs',
    'package.json',
  );
  if (status !== 0) throw new Error('git archive failed');
  const unpacked = spawnSync('tar', ['-x', '-C', folder], { input: stdout });
  if (unpacked.status !== 0) throw new Error(String(unpacked.stderr));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}
