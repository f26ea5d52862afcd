// Rate limits are exact over all servers with Redis, and per server while Redis is down.
import t from 'tap';
import { logOf, makeDataFolder, type Server, startServer, until } from '../process.ts';
import { facts, PROJECT, WORKSPACE, writeSnapshot } from '../world.ts';
import { Redis } from './servers/redis.ts';

const { ORDINATE_TEST_REDIS } = process.env;
const skip = ORDINATE_TEST_REDIS ? false : 'ORDINATE_TEST_REDIS names no Redis';
const PASSWORD = 'pass-word-of-redis';

const snapshot = writeSnapshot(t, {
  workspaces: [WORKSPACE],
  projects: [PROJECT],
  site_daily: facts('date device', ['2026-03-01', 'mobile', 3, 100, 900]),
});

async function remaining(server: Server, key: string): Promise<number> {
  const { status, headers } = await server.get('/projects', key);
  return status === 200 ? Number(headers['x-ratelimit-remaining']) : -1;
}

const messages = ({ printed }: Server, message: string): number => printed.stderr.split(message).length - 1;
const IN_MEMORY = '"msg":"limits are counted in memory';
const IN_REDIS = '"msg":"limits are counted in Redis again"';

/** Its state in `/readyz`, which is 200 in any case. */
async function readiness({ address }: Server): Promise<unknown> {
  const response = await fetch(`${address}/readyz`);
  const { components } = (await response.json()) as { components: { redis: unknown } };
  return response.status === 200 ? components.redis : response.status;
}

async function metrics(server: Server): Promise<string> {
  const address = await until(
    'the address of metrics',
    () => /"address":"([^"]+)","msg":"metrics/.exec(server.printed.stderr)?.[1],
  );
  return (await fetch(address)).text();
}

t.test('exactly 120 of 150 requests are answered over two servers', { skip }, async (t) => {
  const { dataFolder, keys } = await makeDataFolder(t, [snapshot]);
  const settings = { ORDINATE_DATA: dataFolder, ORDINATE_LIMITS: ORDINATE_TEST_REDIS };
  const servers = [await startServer(t, settings), await startServer(t, settings, '--workers', '2')];
  const answers = await Promise.all(
    Array.from({ length: 150 }, (_, index) => servers[index % 2]!.get('/projects', keys[0]!)),
  );
  const statuses = answers.map(({ status }) => status);
  t.strictSame(
    [200, 429].map((wanted) => statuses.filter((status) => status === wanted).length),
    [120, 30],
  );
  const left = answers.filter(({ status }) => status === 200).map((answer) => answer.headers['x-ratelimit-remaining']);
  t.equal(new Set(left).size, 120, 'each was counted once');
  const parts = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      fetch(`${servers[index % 2]!.address}/api/v1/projects/Proj1/snapshot/none`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${keys[0]!}` },
      }),
    ),
  );
  const partsLeft = parts.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
  t.strictSame(
    partsLeft.sort((a, b) => b - a),
    Array.from({ length: 20 }, (_, index) => 2399 - index),
    'requests for files are counted together too, apart',
  );
  const refused = answers.find(({ status }) => status === 429)!;
  const wait = Number(refused.headers['retry-after']);
  t.ok(wait >= 1 && wait <= 60, `they may come back in ${wait} s`);
});

t.test('while Redis is away or hangs, limits are counted in memory', { skip }, async (t) => {
  const redis = await Redis.start(PASSWORD);
  t.teardown(() => redis.stop());
  const { dataFolder, keys } = await makeDataFolder(t, [snapshot], { keys: 4 });
  const settings = { ORDINATE_DATA: dataFolder, ORDINATE_LIMITS: redis.url, ORDINATE_METRICS_PORT: '0' };
  const [one, two] = [await startServer(t, settings), await startServer(t, settings, '--workers', '2')];
  const inTurn = async (key: string) => [await remaining(one, key), await remaining(two, key)];
  t.strictSame(await inTurn(keys[0]!), [119, 118], 'they count together');
  t.match(await metrics(one), /^ordinate_limits_redis_away\{[^}]*\} 0$/m);

  t.equal(await readiness(one), 'ok');
  await redis.stop();
  const alone = [...(await inTurn(keys[1]!)), ...(await inTurn(keys[1]!))];
  t.strictSame(alone, [119, 119, 118, 118], 'each server counts for itself, its processes together');
  await until('a line in the log', () => messages(one, IN_MEMORY) || undefined);
  t.equal(messages(one, IN_MEMORY), 1, 'it is said once');
  t.match(one.printed.stderr, /"redis":"redis:\/\/127.0.0.1:\d+","reason":"[^"]+"/);
  t.equal(await readiness(one), 'away', 'it is no reason to take a server out');
  const away = await metrics(one);
  t.match(away, /^ordinate_limits_redis_away\{[^}]*\} 1$/m);
  t.match(away, /^ordinate_limits_in_memory_total\{[^}]*\} 2$/m);

  await redis.start();
  // The server with two processes has a connection in each.
  await until('connections', () => (messages(one, IN_REDIS) && messages(two, IN_REDIS) === 2 ? true : undefined));
  t.strictSame(await inTurn(keys[2]!), [119, 118], 'they count together again, without a restart');
  t.match(await metrics(one), /^ordinate_limits_redis_away\{[^}]*\} 0$/m);

  redis.pause();
  const hanging = await Promise.all(Array.from({ length: 20 }, () => remaining(one, keys[3]!)));
  t.equal(new Set(hanging).size, 20, 'no request fails, and each is counted');
  t.equal(Math.min(...hanging), 100);
  await until('a second line in the log', () => (messages(one, IN_MEMORY) === 2 ? true : undefined));
  redis.resume();
  await until('the connection', () => (messages(one, IN_REDIS) === 2 ? true : undefined));

  for (const server of [one, two]) t.notMatch((await logOf(server)) + server.printed.stdout, PASSWORD);
});

t.test('a server starts without its Redis', { skip }, async (t) => {
  const redis = await Redis.start();
  const { url } = redis;
  await redis.stop();
  const { dataFolder, keys } = await makeDataFolder(t, [snapshot]);
  const server = await startServer(t, { ORDINATE_DATA: dataFolder, ORDINATE_LIMITS: url });
  t.equal(await remaining(server, keys[0]!), 119);
  await until('a line in the log', () => messages(server, IN_MEMORY) || undefined);

  await redis.start();
  t.teardown(() => redis.stop());
  await until('the connection', () => messages(server, IN_REDIS) || undefined);
  t.equal(await remaining(server, keys[0]!), 119, 'it counts from the start');
  server.child.kill('SIGTERM');
  t.equal((await server.ended).code, 0, 'and stops');
});

t.test('a wrong password is said, and limits are counted in memory', { skip }, async (t) => {
  const redis = await Redis.start(PASSWORD);
  t.teardown(() => redis.stop());
  const { dataFolder, keys } = await makeDataFolder(t, [snapshot]);
  const wrong = redis.url.replace(PASSWORD, 'wrong-password');
  const server = await startServer(t, { ORDINATE_DATA: dataFolder, ORDINATE_LIMITS: wrong });
  t.equal(await remaining(server, keys[0]!), 119);
  await until('a line in the log', () => messages(server, IN_MEMORY) || undefined);
  const log = await logOf(server);
  t.match(log, /"reason":"WRONGPASS/);
  t.notMatch(log, /wrong-password/);
});
