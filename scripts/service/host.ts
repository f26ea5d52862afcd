import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The machine on which a service is installed; tests use a folder. */
export interface Host {
  readonly isRoot: boolean;
  /** Whether systemd manages the services. */
  readonly hasSystemd: boolean;
  /** Where a file of the machine is. */
  readonly at: (path: string) => string;
  /** The number of a user; undefined if there is none of this name. */
  readonly userId: (name: string) => number | undefined;
  /** Runs a program; throws with what it printed if it fails. */
  readonly run: (program: string, ...words: readonly string[]) => void;
}

/** This machine. */
export function thisHost(): Host {
  return {
    isRoot: process.geteuid?.() === 0,
    // What sd_booted(3) checks.
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
