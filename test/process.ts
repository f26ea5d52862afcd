import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import tap, { type Test } from 'tap';
import { openCatalog } from '../server/catalog/open-catalog.ts';
import { loadSnapshot } from '../server/load/load.ts';
import { createKey } from '../server/operations/keys.ts';
import { readSettings, type Settings } from '../server/settings/settings.ts';
import { isLocal, makeStores, storesOf } from './stores.ts';
import { type Answer, addEmptyCatalog, ONE_THREAD, sharedEngine, temporaryFolder } from './world.ts';

const ROOT = join(import.meta.dirname, '..');

/** How a process ended and what it printed. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly printed: { stdout: string; stderr: string };
  readonly ended: Promise<Ended>;
}

/** Environment of a process without settings other than the given ones, and without background jobs. What Node compiled is shared, as scripts/test.ts says. */
export function environmentOf(settings: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, HOME, NODE_COMPILE_CACHE, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;
  const keys = isLocal ? {} : { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY };
  const stores = storesOf(settings['ORDINATE_DATA']);
  // No test asks servers of others.
  const alone = { ORDINATE_JOBS: 'off', ORDINATE_RANKING_UPDATES: 'off' };
  return { PATH, HOME, NODE_COMPILE_CACHE, ...alone, ...ONE_THREAD, ...keys, ...stores, ...settings };
}

/** The command line: a run of all tests compiles it once (scripts/test-program.ts). */
export const PROGRAM: string = process.env['TEST_PROGRAM'] ?? 'cli/ordinate.ts';

/** Starts the command line of the project. The process is killed when the test ends. */
export function start(t: Test, settings: NodeJS.ProcessEnv, ...words: readonly string[]): Running {
  return startProgram(t, settings, process.execPath, PROGRAM, ...words);
}

/** Starts a program in the folder of the project. It and its child processes are killed when the test ends. */
export function startProgram(
  t: Test,
  settings: NodeJS.ProcessEnv,
  program: string,
  ...words: readonly string[]
): Running {
  return follow(t, spawn(program, words, { ...optionsOf(settings), stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** A terminal without a size, which Linux makes, with a program in it. */
interface Terminal extends Running {
  /** Types keys, such as Ctrl-C. */
  readonly type: (keys: string) => void;
}

export const CTRL_C = '\x03';
export const noTerminals: string | false =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') !== true &&
  'util-linux has the terminals for this test';

/** Runs a line of shell in a terminal, in the folder of the project. All that it prints is in `stdout`. */
export function startInTerminal(t: Test, settings: NodeJS.ProcessEnv, line: string): Terminal {
  const options = optionsOf({ TERM: 'xterm', SHELL: '/bin/sh', ...settings });
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', line, '/dev/null'], {
    ...options,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // It may have ended when the test types.
  child.stdin.on('error', () => {});
  return { ...follow(t, child), type: (keys) => child.stdin.write(keys) };
}

function optionsOf(settings: NodeJS.ProcessEnv) {
  // A separate process group.
  return { cwd: ROOT, env: environmentOf(settings), detached: true };
}

function follow(t: Test, child: ChildProcessByStdio<Writable | null, Readable, Readable>): Running {
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.stderr += text;
  });
  const ended = once(child, 'close').then(([code]: unknown[]) => ({ code: code as number | null, ...printed }));
  t.teardown(async () => {
    killGroup(child);
    await ended;
  });
  return { child, printed, ended };
}

function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL');
  } catch (error) {
    // The whole group has ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Runs a command to its end. */
export function run(t: Test, settings: NodeJS.ProcessEnv, ...words: readonly string[]): Promise<Ended> {
  return start(t, settings, ...words).ended;
}

/** Resolves when `found` returns a value. Fails after ten minutes, more than any machine needs, and says what was missing. */
export async function until<T>(what: string, found: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + 600_000; Date.now() < deadline; ) {
    const looked = performance.now();
    const value = await found();
    if (value !== undefined) return value;
    // Most looks cost nothing; one that asks a process or runs a command is a tenth of the time, or its processor time would be most of the test's.
    const pause = Math.min(Math.max(15, 10 * (performance.now() - looked)), 500);
    await new Promise((done) => setTimeout(done, pause));
  }
  throw new Error(`never found ${what}`);
}

export interface Server extends Running {
  /** `http://127.0.0.1:PORT`, as the server printed it. */
  readonly address: string;
  readonly get: (path: string, key: string) => Promise<Answer>;
}

/** Starts the real server on a free port and waits until it says that it is ready. */
export function startServer(t: Test, settings: NodeJS.ProcessEnv, ...words: readonly string[]): Promise<Server> {
  return untilReady(start(t, { PORT: '0', ...settings }, 'serve', ...words));
}

/** Waits until a server says that it is ready. */
export async function untilReady(running: Running): Promise<Server> {
  const address = await until('the server to be ready', () => {
    if (running.child.exitCode !== null || running.child.signalCode !== null)
      throw new Error(`the server ended: ${running.printed.stderr}`);
    return /ready at (http:\S+)/.exec(running.printed.stdout)?.[1];
  });
  const get: Server['get'] = async (path, key) => {
    const response = await fetch(`${address}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: (await response.json()) as unknown,
    };
  };
  return { ...running, address, get };
}

/** Stops a server and returns all that it has logged: lines are written half a second late, or when it stops. */
export async function logOf({ child, ended }: Running): Promise<string> {
  child.kill('SIGTERM');
  return (await ended).stderr;
}

/** Loaded data folders of this process, by their snapshot folders. */
const loaded = new Map<string, Promise<string>>();

async function loadOnce(snapshots: readonly string[]): Promise<string> {
  // It must outlive the first test that needs it.
  const folder = temporaryFolder(tap);
  await addEmptyCatalog(folder);
  await loadAll(readSettings({ ...ONE_THREAD, ORDINATE_DATA: folder }), snapshots);
  return folder;
}

async function loadAll(settings: Settings, snapshots: readonly string[]): Promise<void> {
  await using catalog = await openCatalog(settings);
  for (const snapshot of snapshots) {
    await loadSnapshot({ settings, catalog }, { folder: snapshot, engine: () => sharedEngine(settings) });
  }
}

/**
 * A data folder into which the given snapshot folders were loaded, with keys of the workspace `acme`. Later calls with the
 * same snapshot folders copy the result: the folders must not change.
 */
export async function makeDataFolder(
  t: Test,
  snapshots: readonly string[],
  { keys = 1, folder = join(temporaryFolder(t), 'data') }: { keys?: number; folder?: string } = {},
): Promise<{ dataFolder: string; keys: string[] }> {
  const settings = readSettings({ ...ONE_THREAD, ...(await makeStores(t, folder)), ORDINATE_DATA: folder });
  if (isLocal) {
    const what = JSON.stringify(snapshots);
    const outcome = loaded.get(what) ?? loadOnce(snapshots);
    loaded.set(what, outcome);
    cpSync(await outcome, folder, { recursive: true });
  } else await loadAll(settings, snapshots);
  await using catalog = await openCatalog(settings);
  const made: string[] = [];
  for (let index = 0; index < keys; index++) {
    made.push((await createKey(catalog, { workspace: 'acme', name: `key ${index}`, at: 0 })).key);
  }
  return { dataFolder: folder, keys: made };
}
