import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

export const ROOT: string = join(import.meta.dirname, '..');
/** The command line. A test names one that starts sooner. */
export const PROGRAM: string = process.env['TEST_PROGRAM'] ?? join(ROOT, 'cli/ordinate.ts');
const COMPILED = join(ROOT, 'node_modules/.cache/compiled');

interface Started {
  readonly dataFolder: string;
  readonly program?: string;
  readonly settings?: NodeJS.ProcessEnv;
}

/** Runs a command over a data folder; returns its standard output. */
export async function ordinate(
  { dataFolder, program = PROGRAM, settings = {} }: Started,
  ...words: readonly string[]
): Promise<string> {
  const env = { NODE_COMPILE_CACHE: COMPILED, ...process.env, ...settings, ORDINATE_DATA: dataFolder };
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...words], { env, maxBuffer: 1e8 });
  return stdout;
}

/** Creates keys of a workspace. */
export async function createKeys(where: Started, workspace: string, count: number): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    const words = ['keys', 'create', '--workspace', workspace, '--name', `key ${keys.length}`, '--json'];
    keys.push((JSON.parse(await ordinate(where, ...words)) as { key: string }).key);
  }
  return keys;
}

export interface Server {
  readonly address: URL;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a server on a free port, with the options of bin/ordinate. Its log goes to a file beside the data. */
export async function startServer(
  { dataFolder, program = PROGRAM, settings = {} }: Started,
  ...words: readonly string[]
): Promise<Server> {
  const log = openSync(`${dataFolder}.log`, 'w');
  const serve = ['--max-semi-space-size=8', program, 'serve', '--port', '0', '--host', '127.0.0.1', ...words];
  const own = { MALLOC_ARENA_MAX: '2', ORDINATE_DATA: dataFolder };
  const env = { NODE_COMPILE_CACHE: COMPILED, ...process.env, ...settings, ...own };
  const child = spawn(process.execPath, serve, { env, stdio: ['ignore', 'pipe', log] });
  closeSync(log);
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  for await (const line of createInterface({ input: child.stdout! })) {
    const address = / ready at (http:\S+)/.exec(line)?.[1];
    if (address === undefined) continue;
    const stop = async (): Promise<void> => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      process.removeListener('exit', kill);
    };
    return { address: new URL(address), pid: child.pid!, stop };
  }
  throw new Error(`The server did not start; see ${dataFolder}.log.`);
}
