// Rate limits are exact over all servers with Redis, and per server while Redis is down.
import t, { type Test } from 'tap';
import { metricsOf } from '../metrics/scrape-text.ts';
import { logOf, makeDataFolder, type Server, startServer, until } from '../process.ts';
import { writeSnapshot } from '../world.ts';
import { ofDay } from './nodes.ts';
import { Redis } from './servers/redis.ts';

const skip = process.env['ORDINATE_TEST_REDIS'] ? false : 'ORDINATE_TEST_REDIS names no Redis';
const PASSWORD = 'pass-word-of-redis';
const IN_MEMORY = '"msg":"limits are counted in memory';
const IN_REDIS = '"msg":"limits are counted in Redis again"';

const snapshot = writeSnapshot(t, ofDay(3));

async function startRedis(t: Test): Promise<Redis> {
  const redis = await Redis.make(PASSWORD);
  t.teardown(() => redis.stop());
  return redis;
}

async function remaining(server: Server, key: string): Promise<number> {
  const { status, headers } = await server.get('/projects', key);
  return status === 200 ? Number(headers['x-ratelimit-remaining']) : -1;
}

const count = ({ printed }: Server, message: string): number => printed.stderr.split(message).length - 1;
const untilSaid = (server: Server, message: string, times = 1) =>
  until(`${message}, ${times} times`, () => count(server, message) === times || undefined);

/** Its state in `/readyz`, which is 200 in any case. */
async function readiness({ address }: Server): Promise<unknown> {
  const response = await fetch(`${address}/readyz`);
  const { components } = (await response.json()) as { components: { redis: unknown } };
  return response.status === 200 ? components.redis : response.status;
}

t.test('exactly 120 of 150 requests are answered over two servers', { skip }, async (t) => {
  const { dataFolder, keys } = await makeDataFolder(t, [snapshot], { keys: 5 });
  const settings = { ORDINATE_DATA: dataFolder, ORDINATE_LIMITS: process.env['ORDINATE_TEST_REDIS'] };
  const servers = [await startServer(t, settings), await startServer(t, settings, '--workers', '2')];
  const saidBy = (message: string): number => servers.reduce((sum, server) => sum + count(server, message), 0);
  const each = <T>(count: number, ask: (server: Server) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, index) => ask(servers[index % 2]!)));
  let key = '';
  let left: number[] = [];
  for (key of keys) {
    // On a busy machine Redis may answer too late: the servers say so, and another key is asked with.
    await until('Redis counts', () => saidBy(IN_MEMORY) === saidBy(IN_REDIS) || undefined);
    const late = saidBy(IN_MEMORY);
    left = (await each(150, (server) => remaining(server, key))).sort((a, b) => b - a);
    if (saidBy(IN_MEMORY) === late) break;
  }
  t.strictSame(left, [...Array.from({ length: 120 }, (_, index) => 119 - index), ...Array(30).fill(-1)]);
  const headers = { authorization: `Bearer ${key}` };
  const parts = await each(20, ({ address }) =>
    fetch(`${address}/api/v1/projects/Proj1/snapshot/none`, { method: 'HEAD', headers }),
  );
  t.strictSame(
    parts.map((part) => Number(part.headers.get('x-ratelimit-remaining'))).sort((a, b) => b - a),
    Array.from({ length: 20 }, (_, index) => 2399 - index),
    'requests for files are counted together too, apart',
  );
  const refused = await servers[0]!.get('/projects', key);
  const wait = Number(refused.headers['retry-after']);
  t.ok(refused.status === 429 && wait >= 1 && wait <= 60, `they may come back in ${wait} s`);
});

t.test('while Redis is away or hangs, limits are counted in memory', { skip }, async (t) => {
  const redis = await startRedis(t);
  const { dataFolder, keys } = await makeDataFolder(t, [snapshot], { keys: 4 });
  const settings = { ORDINATE_DATA: dataFolder, ORDINATE_LIMITS: redis.url, ORDINATE_METRICS_PORT: '0' };
  const [one, two] = [await startServer(t, settings), await startServer(t, settings, '--workers', '2')];
  const inTurn = async (key: string) => [await remaining(one, key), await remaining(two, key)];
  const scrape = await metricsOf(one);
  t.strictSame(await inTurn(keys[0]!), [119, 118], 'they count together');
  t.match(await scrape(), /^ordinate_limits_redis_away\{[^}]*\} 0$/m);
  t.equal(await readiness(one), 'ok');

  await redis.stop();
  const alone = [...(await inTurn(keys[1]!)), ...(await inTurn(keys[1]!)), await remaining(two, keys[1]!)];
  t.strictSame(alone, [119, 119, 118, 118, 117], 'each server counts for itself, its processes together');
  await untilSaid(one, IN_MEMORY);
  t.match(one.printed.stderr, /"redis":"redis:\/\/127.0.0.1:\d+","reason":"[^"]+"/);
  t.equal(await readiness(one), 'away', 'it is no reason to take a server out');
  const away = await scrape();
  t.match(away, /^ordinate_limits_redis_away\{[^}]*\} 1$/m);
  t.match(away, /^ordinate_limits_in_memory_total\{[^}]*\} 2$/m);

  await redis.start();
  // The server with two processes has a connection in each.
  await Promise.all([untilSaid(one, IN_REDIS), untilSaid(two, IN_REDIS, 2)]);
  t.strictSame(await inTurn(keys[2]!), [119, 118], 'they count together again, without a restart');
  t.match(await scrape(), /^ordinate_limits_redis_away\{[^}]*\} 0$/m);

  redis.pause();
  const hanging = await Promise.all(Array.from({ length: 20 }, () => remaining(one, keys[3]!)));
  t.strictSame(
    hanging.sort((a, b) => b - a),
    Array.from({ length: 20 }, (_, index) => 119 - index),
    'no request fails, and each is counted',
  );
  await untilSaid(one, IN_MEMORY, 2);
  redis.resume();
  await untilSaid(one, IN_REDIS, 2);
  for (const server of [one, two]) t.notMatch((await logOf(server)) + server.printed.stdout, PASSWORD);
});

t.test('a server starts without its Redis, or with a wrong password, and says it', { skip }, async (t) => {
  const redis = await startRedis(t);
  const { dataFolder, keys } = await makeDataFolder(t, [snapshot]);
  const serve = (url: string) => startServer(t, { ORDINATE_DATA: dataFolder, ORDINATE_LIMITS: url });
  const wrong = await serve(redis.url.replace(PASSWORD, 'wrong-password'));
  t.equal(await remaining(wrong, keys[0]!), 119);
  await untilSaid(wrong, IN_MEMORY);
  const log = await logOf(wrong);
  t.match(log, /"reason":"WRONGPASS/);
  t.notMatch(log, /wrong-password/);

  await redis.stop();
  const server = await serve(redis.url);
  t.equal(await remaining(server, keys[0]!), 119);
  await untilSaid(server, IN_MEMORY);
  await redis.start();
  await untilSaid(server, IN_REDIS);
  t.equal(await remaining(server, keys[0]!), 119, 'it counts from the start');
  server.child.kill('SIGTERM');
  t.match(await server.ended, { code: 0 }, 'and stops');
});
