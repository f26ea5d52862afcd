import { AsyncLocalStorage } from 'node:async_hooks';
import { fail } from '../cli/cli.ts';
import { programFor } from '../cli/program.ts';
import { type Ended, environmentOf } from './process.ts';
import { lendEngine } from './world.ts';

type Printed = Record<'stdout' | 'stderr', string>;

/** The output of the running command. The output of tests in this process is not captured. */
const printing = new AsyncLocalStorage<Printed>();

for (const name of ['stdout', 'stderr'] as const) {
  const stream = process[name];
  const write = stream.write.bind(stream) as (...rest: unknown[]) => boolean;
  stream.write = (text: string | Uint8Array, ...rest: unknown[]): boolean => {
    const printed = printing.getStore();
    if (printed === undefined) return write(text, ...rest);
    printed[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
    return true;
  };
}

/** What a process of the program sets at its start; tests check file modes without it. */
const UMASK = 0o077;

/** Words of a command: those with spaces have quotes. */
export const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in this process, which costs a tenth of a separate process: for testing what a command does, not how a
 * process starts and ends. One at a time, because it uses the environment and the exit status of the process.
 */
export function command(settings: NodeJS.ProcessEnv, ...words: readonly string[]): Promise<Ended> {
  const kind = words.filter((word, at) => (at < 2 && !word.startsWith('/')) || word === '--dry-run').join(' ');
  const ended = last.then(() => lendEngine(kind, () => runHere(settings, words)));
  last = ended.catch(() => {});
  return ended;
}

async function runHere(settings: NodeJS.ProcessEnv, words: readonly string[]): Promise<Ended> {
  const printed: Printed = { stdout: '', stderr: '' };
  const umask = process.umask(UMASK);
  const { env, exitCode } = process;
  const streams = [process.stdin, process.stdout, process.stderr];
  const terminals = streams.map((stream) => Object.getOwnPropertyDescriptor(stream, 'isTTY'));
  try {
    process.env = environmentOf(settings);
    process.exitCode = undefined;
    // Never a terminal, wherever the tests run.
    for (const stream of streams) Object.defineProperty(stream, 'isTTY', { value: false, configurable: true });
    await printing.run(printed, async () =>
      (await programFor(words)).parseAsync([...words], { from: 'user' }).catch(fail),
    );
    return { code: Number(process.exitCode ?? 0), ...printed };
  } finally {
    process.umask(umask);
    process.env = env;
    process.exitCode = exitCode;
    for (const [index, stream] of streams.entries()) {
      const terminal = terminals[index];
      if (terminal) Object.defineProperty(stream, 'isTTY', terminal);
      else Reflect.deleteProperty(stream, 'isTTY');
    }
  }
}
