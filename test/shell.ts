import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { command } from './command.ts';

/**
 * Sends a command to the process of the test (descriptor 3: folder, words and environment) and waits for how it ended
 * (descriptor 4: status, standard output and error). `x` marks texts that may be empty.
 */
const ORDINATE = `ordinate() {
  local status out err
  echo "$({ printf '%s\\0' "$PWD" "$@" | base64 -w0; echo -n ' '; env -0 | base64 -w0; })" >&3
  read -r status out err <&4
  base64 -d <<< "\${out#x}"
  base64 -d <<< "\${err#x}" >&2
  return "$status"
}
npm() { [ "$1 $2 $3 $4" = "run -s ordinate --" ] && shift 4 && ordinate "$@"; }`;

const words = (encoded: string): string[] => Buffer.from(encoded, 'base64').toString().split('\0').slice(0, -1);
const encode = (plain: string): string => `x${Buffer.from(plain).toString('base64')}`;

/** Runs a request of the script, in its folder and with its settings. */
async function answer(request: string): Promise<string> {
  const [called = '', environment = ''] = request.split(' ');
  const [folder = '', ...line] = words(called);
  const settings = words(environment).filter((one) => /^((?:ORDINATE_(?!TEST_)|AWS_)\w+|PORT|HOST)=/.test(one));
  const before = process.cwd();
  process.chdir(folder);
  try {
    const { code, stdout, stderr } = await command(
      Object.fromEntries(settings.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)])),
      ...line,
    );
    return `${code} ${encode(stdout)} ${encode(stderr)}`;
  } finally {
    process.chdir(before);
  }
}

/**
 * Runs a shell script of the documentation in a folder; returns its standard output. `ordinate` and `npm run -s ordinate --`
 * run in this process (`command`). Throws if a command fails.
 */
export async function runScript(script: string, cwd: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `${ORDINATE}\n${script}`], {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  const [, stdout, stderr, requests, answers] = child.stdio as [null, Readable, Readable, Readable, Writable];
  const ended = once(child, 'close');
  const printed = Promise.all([text(stdout), text(stderr)]);
  for await (const request of createInterface({ input: requests })) answers.write(`${await answer(request)}\n`);
  const [code] = (await ended) as [number | null];
  const [out, error] = await printed;
  if (code !== 0) throw new Error(`The script ended with ${code}: ${error}`);
  return out;
}
