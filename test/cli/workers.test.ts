// Several server processes act as one server, and are replaced without a failed request.
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, get as httpGet, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { command } from '../command.ts';
import { atNight } from '../night.ts';
import { makeDataFolder, PROGRAM, start, startProgram, startServer, until, untilReady } from '../process.ts';
import { facts, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';

const snapshot = writeSnapshot(t, {
  workspaces: [WORKSPACE],
  projects: [PROJECT],
  site_daily: facts('date device', ['2026-03-01', 'mobile', 3, 100, 900]),
});

/** Sends a request on its own connection, or one of the agent; its status. */
async function send(url: string, headers: Record<string, string> = {}, agent = new Agent()): Promise<number> {
  const [response] = (await once(httpGet(url, { headers, agent }), 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode!;
}

t.test(
  'server processes share the port, limits and revocations, and are replaced without a failed request',
  async (t) => {
    const { dataFolder, keys } = await makeDataFolder(t, [snapshot]);
    const settings = { ORDINATE_DATA: dataFolder, ORDINATE_LOG_LEVEL: 'info' };
    const young = '--max-semi-space-size=8';
    const ports = { PORT: '0', ORDINATE_METRICS_PORT: '0' };
    const words = [young, PROGRAM, 'serve', '--workers', '2'];
    const server = await untilReady(startProgram(t, { ...settings, ...ports }, process.execPath, ...words));
    const pids = () => [
      ...new Set(
        [...server.printed.stderr.matchAll(/"pid":(\d+).*"Server listening/g)].map((match) => Number(match[1])),
      ),
    ];
    const before = await until('both processes', () => (pids().length === 2 ? pids() : undefined));

    for (const pid of process.platform === 'linux' ? before : []) {
      t.match(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), young, 'with the limits of memory of the first process');
    }

    const bearer = { authorization: `Bearer ${keys[0]}` };
    const url = `${server.address}/api/v1/projects`;
    const statuses = await Promise.all(Array.from({ length: 150 }, () => send(url, bearer)));
    t.equal(statuses.filter((status) => status === 200).length, 120, 'exactly 120 of 150 are answered');
    t.equal(statuses.filter((status) => status === 429).length, 30);
    const parts = await Promise.all(
      Array.from({ length: 20 }, () => fetch(`${url}/Proj1/snapshot/none`, { method: 'HEAD', headers: bearer })),
    );
    t.strictSame(
      // Of an answer that was not counted, its status.
      parts.map(({ status, headers }) => Number(headers.get('x-ratelimit-remaining') ?? -status)).sort((a, b) => b - a),
      Array.from({ length: 20 }, (_, index) => 2399 - index),
      'requests for files are counted by all of them too, apart',
    );
    const answerers = () =>
      new Set([...server.printed.stderr.matchAll(/"pid":(\d+).*"answered"/g)].map((match) => Number(match[1])));
    await until('lines of both processes', () => (before.every((pid) => answerers().has(pid)) ? true : undefined));
    t.ok(server.printed.stderr.trim().split('\n').every(isJson), 'lines of the processes are not mixed');

    const served = await until(
      'the address of the metrics',
      () => /"address":"(http:[^"]+)","msg":"metrics are served"/.exec(server.printed.stderr)?.[1],
    );
    const metrics = await (await fetch(served)).text();
    const counted = metrics.split('\n').filter((line) => /^ordinate_http_requests_total\{.*\/projects"/.test(line));
    const sum = counted.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
    t.equal(sum, 150, 'the first process serves the metrics of all');
    for (const process of ['server-1', 'server-2']) {
      t.ok(metrics.includes(`ordinate_process_up{process="${process}"} 1`), process);
      t.ok(
        counted.some((line) => line.includes(`process="${process}"`)),
        `requests of ${process}`,
      );
    }

    // Clients that keep their connections, and clients that open one for each request.
    const stopping = new AbortController();
    const failures: unknown[] = [];
    let sent = 0;
    const client = async (agent: Agent | undefined): Promise<void> => {
      while (!stopping.signal.aborted) {
        const status = await send(`${server.address}/livez`, {}, agent).catch((error: Error) => error.message);
        if (status !== 200) failures.push(status);
        sent++;
      }
      agent?.destroy();
    };
    const keepAlive = () => new Agent({ keepAlive: true, maxSockets: 1 });
    const clients = [client(keepAlive()), client(keepAlive()), client(undefined)];
    server.child.kill('SIGUSR2');
    await until('the replacement', () =>
      server.printed.stderr.includes('processes were replaced') ? true : undefined,
    );
    stopping.abort();
    await Promise.all(clients);
    t.strictSame(failures, [], 'no request fails');
    t.ok(sent > 10, `${sent} requests`);
    // Lines of a process may come after those of the first one.
    const after = await until('two new processes', () => {
      const others = pids().filter((pid) => !before.includes(pid));
      return others.length === 2 ? others : undefined;
    });
    t.equal(await send(url, bearer), 429, 'the count goes on');

    const killed = after[0]!;
    process.kill(killed, 'SIGKILL');
    await until('another process', () => (pids().length === 5 ? true : undefined));
    t.equal(await send(`${server.address}/livez`), 200);

    const { stdout } = await command(settings, 'keys', 'list', '--workspace', 'acme', '--json');
    const [{ id }] = JSON.parse(stdout) as [{ id: string }];
    await command(settings, 'keys', 'revoke', id, '--workspace', 'acme');
    const revoked = await Promise.all(Array.from({ length: 10 }, () => send(url, bearer)));
    t.strictSame(new Set(revoked), new Set([401]), 'a revoked key is refused by all');

    server.child.kill('SIGUSR2');
    // It has opened its stores.
    const opened = (): number => server.printed.stderr.match(/"opened"/g)!.length;
    await until('the next process', () => (opened() > 5 ? true : undefined));
    server.child.kill('SIGTERM');
    t.equal((await server.ended).code, 0, 'stopped while processes are replaced');
    const all = [...server.printed.stderr.matchAll(/"pid":(\d+)/g)].map((match) => Number(match[1]));
    t.notOk(all.some(isRunning), 'no process is left');
    t.strictSame(readdirSync(join(dataFolder, 'temporary')), []);
  },
);

t.test('the processes end with the first one, however it ends', atNight, async (t) => {
  const { dataFolder } = await makeDataFolder(t, [snapshot]);
  const settings = { ORDINATE_DATA: dataFolder, ORDINATE_LOG_LEVEL: 'info' };
  const server = await startServer(t, settings, '--workers', '1');
  const pid = await until('its process', () => {
    const match = /"pid":(\d+).*"Server listening/.exec(server.printed.stderr);
    return match ? Number(match[1]) : undefined;
  });
  process.kill(server.child.pid!, 'SIGKILL');
  await until('its end', () => (isRunning(pid) ? undefined : true));
  t.pass('nothing is left');
});

/** Has the first server processes, so many in all, killed while they start. */
function killFirst(t: Test, count: number): NodeJS.ProcessEnv {
  const kills = join(temporaryFolder(t), 'kills');
  writeFileSync(kills, '');
  const program = `
    import { appendFileSync, readFileSync } from 'node:fs';
    if (process.env.SERVER_PROCESS && readFileSync(${JSON.stringify(kills)}).length < ${count}) {
      appendFileSync(${JSON.stringify(kills)}, '.');
      process.kill(process.pid, 'SIGKILL');
    }`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}

t.test('a process that is killed while it starts is started again', atNight, async (t) => {
  const { dataFolder } = await makeDataFolder(t, [snapshot]);
  const settings = { ORDINATE_DATA: dataFolder, ORDINATE_LOG_LEVEL: 'info', ...killFirst(t, 2) };
  const server = await startServer(t, settings, '--workers', '2');
  t.equal(await send(`${server.address}/livez`), 200);
  server.child.kill('SIGTERM');
  const { code, stderr } = await server.ended;
  t.equal(code, 0);
  t.equal(stderr.match(/"how":"SIGKILL".*a server process ended; it will be restarted/g)?.length, 2);
});

t.test('processes that are killed whenever they start are an error in words', atNight, async (t) => {
  const { dataFolder } = await makeDataFolder(t, [snapshot]);
  const settings = { ORDINATE_DATA: dataFolder, PORT: '0', ...killFirst(t, 100) };
  const { code, stderr } = await start(t, settings, 'serve', '--workers', '2').ended;
  t.equal(code, 1);
  t.match(stderr, /^SIGKILL$/m);
});

t.test('what prevents the first process from serving is said, and nothing is left running', async (t) => {
  const blocker = createServer();
  blocker.listen(0, '127.0.0.1');
  await once(blocker, 'listening');
  t.teardown(() => blocker.close());
  const { port } = blocker.address() as { port: number };
  const settings = { ORDINATE_DATA: join(temporaryFolder(t), 'data'), PORT: String(port) };
  const { code, stderr } = await start(t, settings, 'serve', '--workers', '2').ended;
  t.equal(code, 1);
  t.match(stderr, new RegExp(`Port ${port} of 127\\.0\\.0\\.1 is in use already`));
  for (const wrong of ['0', '65', 'many', '1.5']) {
    t.match(await command(settings, 'serve', '--workers', wrong), { code: 1, stderr: /from 1 to 64, or auto/ }, wrong);
  }
});

t.test('a process that cannot be started is an error in words', atNight, async (t) => {
  const { dataFolder } = await makeDataFolder(t, [snapshot]);
  const settings = { ORDINATE_DATA: dataFolder, PORT: '0' };
  // As without memory or file descriptors: no process begins.
  const noProgram = "data:text/javascript,process.execPath = '/nowhere/node'";
  const words = ['--import', noProgram, PROGRAM, 'serve', '--workers', '2'];
  const { ended } = startProgram(t, settings, process.execPath, ...words);
  const { code, stderr } = await ended;
  t.equal(code, 1);
  t.match(stderr, /spawn \/nowhere\/node ENOENT/);
  t.notMatch(stderr, /\n +at /, 'not a crash');
});

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
