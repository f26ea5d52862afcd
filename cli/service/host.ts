import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The machine on which a service is installed; tests use a folder. */
export interface Host {
  readonly isRoot: boolean;
  /** Whether systemd manages the services. */
  readonly hasSystemd: boolean;
  /** Resolves a path on the machine. */
  readonly at: (path: string) => string;
  /** The id of a user; undefined if the user does not exist. */
  readonly userId: (name: string) => number | undefined;
  /** Runs a program; if it fails, throws with its output. */
  readonly run: (program: string, ...words: readonly string[]) => void;
}

export function thisHost(): Host {
  return {
    isRoot: process.geteuid?.() === 0,
    // Like sd_booted(3).
    hasSystemd: existsSync('/run/systemd/system'),
    at: (path) => join('/', path),
    userId: (name) => {
      try {
        return Number(execFileSync('id', ['-u', name], { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' }));
      } catch {
        return undefined;
      }
    },
    run: (program, ...words) => {
      try {
        execFileSync(program, words, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
      } catch (error) {
        const { stderr, message } = error as Error & { stderr?: string };
        throw new Error(`${program} ${words.join(' ')} failed: ${stderr?.trim() || message}`, { cause: error });
      }
    },
  };
}
