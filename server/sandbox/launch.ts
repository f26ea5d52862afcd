import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Kilobytes of address space: Node and DuckDB reserve 1.3 GB before the first statement, and use 100 MB of it. */
const ADDRESS_SPACE = 1_900_000;
/** Seconds of processor time, in case the server that would kill it has ended. */
const PROCESSOR_SECONDS = 30;
/** A file of length 0 is the longest that it can write, at a low priority. */
const LIMITS = `ulimit -c 0 && ulimit -f 0 && ulimit -t ${PROCESSOR_SECONDS} && ulimit -v ${ADDRESS_SPACE} && exec nice -n 10 "$0" "$@"`;

/** The program of a statement's process. */
export const CAGE = fileURLToPath(new URL('./cage.ts', import.meta.url));
const PRIVATE_ROOT = fileURLToPath(new URL('./private-root.sh', import.meta.url));
const CODE = dirname(dirname(CAGE));
/** Found when a process starts: bundles cannot look packages up. */
const packages = (): string => join(createRequire(CAGE).resolve('@duckdb/node-api'), '../../../..');
const NAMESPACES = [
  '--user',
  '--map-root-user',
  '--mount',
  '--net',
  '--ipc',
  '--uts',
  '--pid',
  '--fork',
  '--kill-child',
];
/** Finds the programs of the system; nothing else of the server's environment is passed on. */
const ENVIRONMENT = {
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  MALLOC_ARENA_MAX: '2',
  UV_THREADPOOL_SIZE: '2',
  TZ: 'UTC',
};

/** How the system isolates the process of a statement, the strongest first. */
export const ISOLATIONS = ['namespaces', 'capabilities', 'limits'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

/** What code that broke out of DuckDB could do, for the operator. */
const AS_THE_SERVICE = 'what the user of the service may read, emptying its files, the network and other processes';
export const NOT_HELD: Readonly<Record<Isolation, { readonly notHeld?: string }>> = {
  namespaces: {},
  capabilities: { notHeld: AS_THE_SERVICE },
  limits: { notHeld: `${AS_THE_SERVICE}, and all rights of that user` },
};

/** How processes of statements start. */
export interface Cage {
  readonly isolation: Isolation;
  readonly program: string;
}

export interface LaunchOptions {
  readonly isolation: Isolation;
  /** An empty folder, which several processes may share. */
  readonly empty: string;
  /** The folder that the process reads. */
  readonly files: string;
}

/** Starts the process of a statement, with pipes as standard input and output. */
export function launch({ isolation, program }: Cage, folders: Omit<LaunchOptions, 'isolation'>): ChildProcess {
  return startIsolated([process.execPath, '--max-old-space-size=256', program], { isolation, ...folders });
}

/** The first isolation that works here; undefined if not even the limits do. */
export async function findIsolation(
  empty: string,
  files: string,
  isolations: readonly Isolation[] = ISOLATIONS,
): Promise<Isolation | undefined> {
  for (const isolation of isolations) {
    const child = startIsolated([process.execPath, '--eval', '0'], { isolation, empty, files });
    const [code] = (await once(child, 'close').catch(() => [1])) as [number | null];
    if (code === 0) return isolation;
  }
  return undefined;
}

/** Starts a command in the way of statements. */
export function startIsolated(command: readonly string[], { isolation, empty, files }: LaunchOptions): ChildProcess {
  const limited = ['/bin/sh', '-c', LIMITS, ...command];
  const dropped = ['setpriv', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', ...limited];
  const folders = [...new Set([CODE, packages(), dirname(process.execPath), files])];
  const inRoot = ['unshare', ...NAMESPACES, '/bin/sh', PRIVATE_ROOT, empty, ...folders, '--', ...limited];
  const [file, ...args] = { namespaces: inRoot, capabilities: dropped, limits: limited }[isolation];
  const child = spawn(file!, args, { cwd: empty, env: ENVIRONMENT, stdio: ['pipe', 'pipe', 'ignore'] });
  // A process that ends early closes its input; one that cannot start has ended.
  child.stdin.on('error', () => {});
  child.on('error', () => {});
  return child;
}

/** Kills a process at once; the one that it started in namespaces is killed with it. */
export function kill(child: ChildProcess): void {
  child.kill('SIGKILL');
  // Nobody may read the rest, and the process would never be closed.
  child.stdout!.destroy();
}
