// Processes share the fetch of a list, and a killed process blocks no other.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type ConnectedWorld, connectedWorld } from '../fakes/connected.ts';
import { environmentOf, PROGRAM } from '../process.ts';
import { localOnly } from '../stores.ts';

const PATH = '/api/v1/projects/Proj1/pages?from=2026-02-01&to=2026-02-28&limit=1';

interface Server {
  readonly process: ChildProcess;
  readonly ask: () => Promise<{ status: number; body: { source: { fetchedAt: string } } }>;
}

/** A server process over the data folder of a world. */
async function startServer(t: Test, { dataFolder, key }: ConnectedWorld, waitSeconds = '30'): Promise<Server> {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0'], {
    env: environmentOf({ ORDINATE_DATA: dataFolder, ORDINATE_LISTS_WAIT_SECONDS: waitSeconds, ORDINATE_THREADS: '1' }),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  for await (const line of createInterface({ input: child.stdout! })) {
    const [, address] = /ready at (\S+)/.exec(line) ?? [];
    if (address === undefined) continue;
    const ask = async () => {
      const response = await fetch(`${address}${PATH}`, { headers: { authorization: `Bearer ${key}` } });
      return { status: response.status, body: (await response.json()) as { source: { fetchedAt: string } } };
    };
    return { process: child, ask };
  }
  throw new Error('the server did not start');
}

t.test('two server processes make one fetch', async (t) => {
  const world = await connectedWorld(t);
  world.google.pages = [{ key: '/', clicks: 1, impressions: 2, position: 1 }];
  world.google.delay = 500;
  const servers = await Promise.all([startServer(t, world), startServer(t, world)]);
  const answers = await Promise.all(servers.flatMap(({ ask }) => Array.from({ length: 25 }, ask)));
  t.strictSame([...new Set(answers.map(({ status }) => status))], [200]);
  t.equal(new Set(answers.map(({ body }) => body.source.fetchedAt)).size, 1);
  t.equal(world.google.requests.length, 1);
});

t.test('a kill in mid-fetch blocks nobody and leaves no list', localOnly, async (t) => {
  const world = await connectedWorld(t);
  world.google.pages = [{ key: '/', clicks: 1, impressions: 2, position: 1 }];
  world.google.failure = { how: 'hang', times: 1 };
  const [killed, other] = await Promise.all([startServer(t, world), startServer(t, world)]);
  const lost = killed.ask().catch(() => undefined);
  while (world.google.requests.length === 0) await sleep(10);
  const waiting = other.ask();
  await sleep(50);
  killed.process.kill('SIGKILL');
  t.equal((await waiting).status, 200);
  await lost;
  t.equal(world.google.requests.length, 2);
  t.equal(readdirSync(join(world.dataFolder, 'lists')).filter((name) => name.endsWith('.parquet')).length, 1);
});
