import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { KeyRing } from './keys.ts';
import { PeakMemory, processorSeconds } from './memory.ts';

const root = join(import.meta.dirname, '../..');
/** A test of the benchmark has a program that starts sooner. */
export const program: string = process.env['TEST_PROGRAM'] ?? join(root, 'cli/ordinate.ts');
const COMPILED = join(root, 'node_modules/.cache/compiled');
const run = promisify(execFile);

/** Runs an `ordinate` command with a data folder, or with settings; returns its standard output. */
export async function ordinate(place: string | NodeJS.ProcessEnv, ...args: readonly string[]): Promise<string> {
  const settings = typeof place === 'string' ? { ORDINATE_DATA: place } : place;
  const { stdout } = await run(process.execPath, [program, ...args], {
    env: { ...process.env, ...settings },
    maxBuffer: 1e8,
  });
  return stdout;
}

/** What a command took: seconds of wall time and of processor time, and its peak memory in megabytes. */
export interface Cost {
  readonly seconds: number;
  readonly processor: number | null;
  readonly peak: number | null;
}

/** Runs an `ordinate` command that must succeed, and measures the whole process. */
export async function measured(dataFolder: string, ...args: readonly string[]): Promise<Cost> {
  const started = performance.now();
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ORDINATE_DATA: dataFolder },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  const memory = new PeakMemory(child.pid!);
  let processor: number | null = null;
  const timer = setInterval(() => {
    memory.look();
    processor = processorSeconds(child.pid!) ?? processor;
  }, 50);
  const [code] = (await exited) as [number | null];
  clearInterval(timer);
  if (code !== 0) throw new Error(`'ordinate ${args.join(' ')}' failed.`);
  return { seconds: (performance.now() - started) / 1000, processor, peak: memory.peak };
}

/** Loads a snapshot. */
export function load(dataFolder: string, snapshot: string): Promise<Cost> {
  return measured(dataFolder, 'load', snapshot, '--json');
}

/** A running server, as `ordinate serve` starts it. */
export interface Server {
  readonly address: URL;
  readonly pid: number;
  /** Milliseconds from the start of the process until it is ready. */
  readonly startup: number;
  readonly keys: KeyRing;
  stop(): Promise<void>;
}

interface ServeOptions {
  readonly dataFolder: string;
  readonly keys: readonly string[];
  /** Whether the response cache is on, as by default. */
  readonly cache: boolean;
  /** Serves with so many processes; undefined: with one, as by default. */
  readonly workers?: number;
  /** Whether it serves metrics, on a free port. */
  readonly metrics?: boolean;
  /** Further settings. */
  readonly settings?: NodeJS.ProcessEnv;
}

/** Starts a server on a free port. Its log goes to a file beside the data, as it would in production. */
export async function startServer({
  dataFolder,
  keys,
  cache,
  metrics = false,
  workers,
  settings = {},
}: ServeOptions): Promise<Server> {
  const environment = {
    ...(cache ? {} : await settingsWithoutCache()),
    ...(metrics ? { ORDINATE_METRICS_PORT: '0' } : {}),
    ...settings,
  };
  const logFile = `${dataFolder}.${metrics ? 'metrics.' : ''}log`;
  const log = openSync(logFile, 'w');
  const started = performance.now();
  const several = workers === undefined ? [] : ['--workers', String(workers)];
  // The option and the environment as bin/ordinate sets them.
  const serve = ['--max-semi-space-size=8', program, 'serve', '--port', '0', '--host', '127.0.0.1', ...several];
  const child = spawn(process.execPath, serve, {
    env: {
      NODE_COMPILE_CACHE: COMPILED,
      ...process.env,
      MALLOC_ARENA_MAX: '2',
      ORDINATE_DATA: dataFolder,
      ...environment,
    },
    stdio: ['ignore', 'pipe', log],
  });
  closeSync(log);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  for await (const line of createInterface({ input: child.stdout! })) {
    const address = / ready at (http:\S+)/.exec(line)?.[1];
    if (address === undefined) continue;
    return {
      address: new URL(address),
      pid: child.pid!,
      startup: performance.now() - started,
      keys: new KeyRing(keys),
      stop: async () => {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        await exited;
        process.removeListener('exit', kill);
      },
    };
  }
  throw new Error(`The server did not start; see ${logFile}.`);
}

let help: Promise<string> | undefined;

/** The setting that turns the response cache off. Older servers do not have it, and reject unknown settings. */
async function settingsWithoutCache(): Promise<NodeJS.ProcessEnv> {
  help ??= ordinate(root, 'serve', '--help');
  return (await help).includes('ORDINATE_CACHE ') ? { ORDINATE_CACHE: '0MB' } : {};
}
