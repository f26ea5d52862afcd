// A server without file descriptors, disk space or writable folders answers 503, and recovers by itself.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { perform } from '../../cli/operations.ts';
import { checkSecretsKey } from '../../server/catalog/secrets.ts';
import { channelCreation } from '../../server/operations/channels.ts';
import { valuesOf } from '../metrics/scrape-text.ts';
import { writeParquet } from '../parquet.ts';
import { makeDataFolder, PROGRAM, type Server, startProgram, startServer, until, untilReady } from '../process.ts';
import { facts, makeWorld, ofProject, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';

const SITE = facts('date device', ['2026-03-09', 'mobile', 3, 100, 900]);

/** More projects than descriptors. */
const MANY = Array.from({ length: 150 }, (_, index) => `P${1000 + index}`);
/** Each project has site facts, and one enough pages for a list of some hundred kilobytes. */
const snapshot = writeSnapshot(t, {
  workspaces: [WORKSPACE],
  projects: [PROJECT, ...MANY.map((id) => ({ ...PROJECT, id }))],
  site_daily: [...SITE, ...MANY.flatMap((id) => ofProject(id, SITE))],
});
await writeParquet(
  join(snapshot, 'page_daily.parquet'),
  `select 'Proj1' as project_id, date '2026-03-09' as date, 'https://shop.example/' || md5(number::varchar) as url,
    'usa' as country, 1 as clicks, 2 as impressions, 0 as sum_position from range(10000) numbers (number)`,
);
const { dataFolder, keys } = await makeDataFolder(t, [snapshot]);
const key = keys[0]!;

/** Starts a server under a limit of the shell, for any user. */
function startLimited(t: Test, limit: string, settings: NodeJS.ProcessEnv): Promise<Server> {
  const command = `ulimit ${limit} && exec "$0" "$1" serve`;
  return untilReady(startProgram(t, { PORT: '0', ...settings }, 'bash', '-c', command, process.execPath, PROGRAM));
}

const READY = { status: 200, body: { status: 'ok' } };
const degraded = (problem: RegExp) => ({ status: 200, body: { status: 'degraded', problems: [problem] } });
const NOT_NOW = { status: 503, headers: { 'retry-after': '60' }, body: { error: { code: 'unavailable' } } };

/** Sends requests over one connection that is opened before file descriptors run out. */
function keepAlive(t: Test, { address }: Server) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  return async (path: string): Promise<{ status: number | undefined; headers: object; body: unknown }> => {
    const request = get(address + path, { agent, headers: { authorization: `Bearer ${key}` } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const text = (await response.setEncoding('utf8').toArray()).join('');
    return { status: response.statusCode, headers: response.headers, body: JSON.parse(text) };
  };
}

t.test('without file descriptors: 503 and degraded, until some are free again', async (t) => {
  const server = await startLimited(t, '-n 100', { ORDINATE_DATA: dataFolder });
  const ask = keepAlive(t, server);
  t.match(await ask('/readyz'), READY);

  const { port } = new URL(server.address);
  const sockets: Socket[] = [];
  let refused = 0;
  t.teardown(() => sockets.forEach((socket) => void socket.destroy()));
  await until('the server to have no descriptors left', () => {
    // A connection beyond the limit is accepted and closed at once.
    if (refused > 0) return true;
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
    socket.once('close', () => refused++);
    sockets.push(socket);
    return undefined;
  });
  t.match(await ask('/api/v1/projects/Proj1/site'), NOT_NOW);
  t.match(await ask('/api/v1/projects/Proj1/breakdowns'), NOT_NOW, 'also what was never asked before');
  t.not((await ask('/api/v1/projects/Proj1/pages?limit=1&period=2d')).status, 500);
  t.match(await ask('/readyz'), { status: 200, body: { status: 'degraded' } }, 'what needs no file is answered');
  t.match(await ask('/livez'), READY, 'the process lives');
  t.equal((await ask('/api/v1/projects')).status, 200, 'what needs no file is answered');

  for (const socket of sockets) socket.destroy();
  const isReady = async () => ((await ask('/readyz')).body as { status: string }).status === 'ok';
  await until('descriptors', async () => (await isReady()) || undefined);
  t.match(await ask('/api/v1/projects/Proj1/site'), { status: 200, body: { totals: { clicks: 3 } } });
  t.match(await ask('/api/v1/projects/Proj1/breakdowns'), { status: 200 });
  t.match(await ask('/api/v1/projects/Proj1/pages?limit=1&period=2d'), {
    status: 200,
    body: { paging: { total: 10_000 } },
  });

  const all = MANY.map((id) => ({ id, totals: { clicks: 3 } }));
  const portfolio = await server.get('/portfolio', key);
  t.match(portfolio, { status: 200, body: { projects: [...all, { id: 'Proj1' }] } }, 'more projects than descriptors');
});

t.test('files that cannot grow, as on a full disk: no 500', async (t) => {
  const server = await startLimited(t, '-f 100', { ORDINATE_DATA: dataFolder });
  const { status, headers, body } = await server.get('/projects/Proj1/pages?limit=1&period=3d', key);
  if (status === 200) t.match(body, { paging: { total: 10_000 } });
  else t.match({ status, headers, body }, NOT_NOW);
  t.match(await server.get('/projects/Proj1/site', key), { status: 200, body: { totals: { clicks: 3 } } });
});

/** Mounts a small disk in place of a folder; undefined if this user may not. */
function mount(t: Test, folder: string, options: string): { unmount: () => void } | undefined {
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]).status !== 0) return undefined;
  let isMounted = true;
  const unmount = (): void => {
    if (isMounted) isMounted = spawnSync('umount', ['--lazy', folder]).status !== 0;
  };
  t.teardown(unmount);
  return { unmount };
}

async function askReady({ address }: Server): Promise<{ status: number; headers: object; body: unknown }> {
  const response = await fetch(`${address}/readyz`);
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.json() };
}

t.test('a disk that fills up and is cleared, and folders that become read-only', async (t) => {
  const disk = temporaryFolder(t);
  const mounted = mount(t, disk, 'size=24m');
  if (mounted === undefined) {
    t.pass('not run', { skip: 'this user may not mount a small disk' });
    return;
  }
  const copy = join(disk, 'data');
  t.equal(spawnSync('cp', ['-r', dataFolder, copy]).status, 0);
  const server = await startServer(t, { ORDINATE_DATA: copy, ORDINATE_MIN_FREE: '4MB' });
  t.match(await askReady(server), READY);

  const filler = join(disk, 'filler');
  t.throws(() => writeFileSync(filler, Buffer.alloc(30_000_000)), { code: 'ENOSPC' });
  t.match(await askReady(server), degraded(/data folder cannot be written/));
  /** A list is answered whole, or not now. */
  const listsOrNot = async (days: number): Promise<void> => {
    const { status, headers, body } = await server.get(`/projects/Proj1/pages?limit=1&period=${days}d`, key);
    if (status === 200) t.match(body, { paging: { total: 10_000 } });
    else t.match({ status, headers, body }, NOT_NOW);
  };
  await listsOrNot(4);
  t.match(await server.get('/projects/Proj1/site', key), { status: 200, body: { totals: { clicks: 3 } } });

  rmSync(filler);
  t.match(await askReady(server), READY);
  t.equal((await server.get('/projects/Proj1/pages?limit=1&period=4d', key)).status, 200);

  // Folders that become read-only.
  const lists = mount(t, join(copy, 'lists'), 'ro,size=1m');
  await listsOrNot(5);
  const temporary = mount(t, join(copy, 'temporary'), 'ro,size=1m');
  t.match(await askReady(server), degraded(/cannot be written/));
  temporary?.unmount();
  lists?.unmount();
  t.match(await askReady(server), READY);
  t.equal((await server.get('/projects/Proj1/pages?limit=1&period=5d', key)).status, 200);
  server.child.kill('SIGTERM');
  t.equal((await server.ended).code, 0, 'it ends in order');
});

t.test(
  'readiness: facts that cannot be opened, temporary files that cannot be written, too little space',
  async (t) => {
    const { app, dataFolder: folder } = await makeWorld(t, { site_daily: SITE });
    const ready = async () => {
      const { statusCode, headers, body } = await app.inject('/readyz');
      return { status: statusCode, headers, body: JSON.parse(body) as unknown };
    };
    t.match(await ready(), READY);
    for (const [name, message] of [
      ['facts', /fact files cannot be opened/],
      ['temporary', /data folder cannot be written/],
    ] as const) {
      renameSync(join(folder, name), join(folder, 'away'));
      const answer = await ready();
      t.match(answer, degraded(message));
      t.notMatch(JSON.stringify(answer), folder, 'no path for the world');
      renameSync(join(folder, 'away'), join(folder, name));
      t.match(await ready(), READY);
    }
    const wanting = await makeWorld(t, {}, { environment: { ORDINATE_MIN_FREE: '1000000TB' } });
    const { statusCode, body } = await wanting.app.inject('/readyz');
    t.match({ statusCode, body }, { statusCode: 200, body: /degraded.*\d+ MB left, less than ORDINATE_MIN_FREE/ });
    const content = await makeWorld(t, {}, { environment: { ORDINATE_MIN_FREE: '0MB' } });
    t.equal((await content.app.inject('/readyz')).statusCode, 200, 'no facts yet, and none are missed');
  },
);

t.test('readiness: a fact file whose content is another; the metrics say so without waiting', async (t) => {
  const { app, scrape, dataFolder: folder } = await makeWorld(t, { site_daily: SITE }, { measured: true });
  const isUp = async () => valuesOf(await scrape(), 'ordinate_component_up', { component: 'files' });
  t.match((await app.inject('/readyz')).json(), { status: 'ok' });
  t.strictSame(Object.values(await isUp()), [1]);
  const [file] = globSync('facts/**/*.parquet', { cwd: folder });
  const path = join(folder, file!);
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(path, bytes);
  const { statusCode, body } = await app.inject('/readyz');
  t.match(
    { statusCode, body: JSON.parse(body) as unknown },
    { statusCode: 200, body: { status: 'degraded', components: { files: 'damaged', catalog: 'ok' } } },
  );
  t.notMatch(body, folder);
  t.strictSame(Object.values(await isUp()), [0]);
});

t.test('readiness: a node without the file of keys of stored secrets, or with another one, is not ready', async (t) => {
  const keys = temporaryFolder(t);
  const secretsKeyFile = join(keys, 'secrets.key');
  const environment = { ORDINATE_SECRETS_KEY_FILE: secretsKeyFile, ORDINATE_DELIVERY_LOOPBACK: 'on' };
  const { app, catalog, settings, log } = await makeWorld(t, { site_daily: SITE }, { environment });
  const ready = async () => {
    const { statusCode, body } = await app.inject('/readyz');
    return { status: statusCode, body: JSON.parse(body) as unknown };
  };
  t.match(await ready(), READY, 'nothing is encrypted');
  const input = { kind: 'webhook', to: 'http://127.0.0.1:9/' };
  await perform({ catalog, settings }, channelCreation, { workspace: 'acme', input, at: 0 });
  t.match(await ready(), READY);
  const refused = {
    status: 503,
    body: {
      error: { message: 'The service is not ready: its file of keys (ORDINATE_SECRETS_KEY_FILE) cannot be used.' },
      components: { secretsKey: 'away', catalog: 'ok', files: 'ok' },
    },
  };
  renameSync(secretsKeyFile, `${secretsKeyFile}.away`);
  t.match(await ready(), refused);
  t.match(log.join(''), /secretsKey.*is missing, but there are secrets that need it/);
  const other = join(keys, 'other.key');
  writeFileSync(other, `0123456789abcdef ${'A'.repeat(43)}\n`, { mode: 0o600 });
  await t.rejects(
    checkSecretsKey(catalog, { ...settings, secretsKeyFile: other }),
    /must be the one of the other nodes/,
  );
  renameSync(`${secretsKeyFile}.away`, secretsKeyFile);
  t.match(await ready(), READY, 'it needs no restart');
});
