// What the tests of packages share: programs that run as those of a user, without the settings and paths of this checkout.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Test } from 'tap';
import { until } from '../process.ts';
import { ROOT } from '../readme.ts';

/** The PATH without the programs of this checkout, which npm puts in front of it. */
export const HOST_PATH = (process.env['PATH'] ?? '').split(delimiter).filter((path) => !path.includes('node_modules'));
export const PINNED_PATH = [dirname(process.execPath), ...HOST_PATH].join(delimiter);

const { peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  peerDependencies: Readonly<Record<string, string>>;
};
/** The packages that only some servers need. */
export const OPTIONAL = Object.keys(peerDependencies);

/** The environment of the test, as npm and a user's shell need it, without settings of Ordinate. */
function environment(settings: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // Certificates belong to the machine's network.
  const others = /^(ORDINATE_|PORT$|HOST$|NODE_(?!EXTRA_CA_CERTS$)|TAP)/;
  const inherited = Object.entries(process.env).filter(([name]) => !others.test(name));
  return { ...Object.fromEntries(inherited), ...settings };
}

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export function run(cwd: string, settings: NodeJS.ProcessEnv, command: string, ...words: string[]): Promise<Result> {
  return new Promise((done) => {
    execFile(command, words, { cwd, env: environment(settings) }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** A server that lacks packages says so at its start; the command that it prints installs them. */
export async function installMissing(
  t: Test,
  folder: string,
  { needs, settings, options = [] }: { needs: string; settings: NodeJS.ProcessEnv; options?: string[] },
  ...command: [string, ...string[]]
): Promise<void> {
  const refused = await run(folder, settings, ...command);
  const [, setting, install = ''] =
    /^(\w+) needs the package \S+, which is not installed: run `npm (install .*)`\n$/.exec(refused.stderr) ?? [];
  t.strictSame([refused.code, setting], [1, needs], refused.stderr);
  const installed = await run(folder, settings, 'npm', ...install.split(' '), ...options, '--prefer-offline');
  t.equal(installed.code, 0, `${install} ${installed.stderr}`);
}

export interface Started {
  readonly child: ChildProcess;
  readonly address: string;
  readonly key: string;
  readonly get: (path: string) => Promise<Response>;
  /** All output so far. */
  readonly printed: () => string;
}

/** Starts a server in a process group of its own and waits until it is ready; all of the group ends with the test. */
export async function startServer(
  t: Test,
  cwd: string,
  settings: NodeJS.ProcessEnv,
  ...command: string[]
): Promise<Started> {
  const [program = '', ...words] = command;
  const child = spawn(program, words, {
    cwd,
    env: environment({ ...settings, PORT: '0' }),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let printed = '';
  const ready = new Promise<[address: string, key: string]>((done, failed) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const [, key] = /curl .*Bearer (ord_live_\w+)'/.exec(printed) ?? [];
        const [, address] = /ready at (http:\S+)/.exec(printed) ?? [];
        if (key !== undefined && address !== undefined) done([address, key]);
      });
    }
    child.once('exit', () => failed(new Error(`the server ended: ${printed}`)));
  });
  t.teardown(() => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // It has ended.
    }
  });
  const [address, key] = await ready;
  const get: Started['get'] = (path) => fetch(address + path, { headers: { authorization: `Bearer ${key}` } });
  return { child, address, key, get, printed: () => printed };
}

/** The answers that need SQL files, examples, bundles, the catalog and DuckDB. */
export async function answers(t: Test, { address, key, get, printed }: Started): Promise<void> {
  const { projects } = (await (await get('/api/v1/projects')).json()) as { projects: { id: string }[] };
  t.equal(projects.length, 2);
  for (const path of ['site', 'keywords', 'queries?limit=1']) {
    t.equal((await get(`/api/v1/projects/${projects[0]!.id}/${path}`)).status, 200, path);
  }
  for (const path of ['/docs', '/docs/guide/agents']) t.equal((await get(path)).status, 200, path);
  t.match(await (await get('/openapi.json')).text(), /"examples"/);
  const [script = ''] = /\/docs\/static\/\w+\/reference\.js/.exec(await (await get('/docs')).text()) ?? [];
  t.ok((await (await get(script)).text()).length > 1_000_000, 'the script of the reference page');
  t.equal((await get('/app')).status, 200, 'the dashboard');
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', address), { requestInit }));
  t.match(await client.callTool({ name: 'list_projects' }), { content: [{ text: /Fw7kd/ }] }, 'an agent');
  await client.close();
  // The older days of the demo are loaded by a process of their own, which ends with the alerts.
  const isOver = (): string | undefined => /Demo workspace: complete|stays without its older days/.exec(printed())?.[0];
  try {
    t.equal(await until('the older days of the demo', isOver), 'Demo workspace: complete');
  } finally {
    if (isOver() !== 'Demo workspace: complete') t.comment(printed());
  }
  const { alerts } = (await (await get(`/api/v1/projects/${projects[0]!.id}/alerts`)).json()) as { alerts: unknown[] };
  t.ok(alerts.length > 0, 'the older days');
}

/** The files of the checkout: those in git and new ones, without what git ignores. */
export function trackedFiles(): string[] {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).split('\0').filter(Boolean);
}
