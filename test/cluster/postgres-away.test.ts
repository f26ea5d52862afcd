// While PostgreSQL is down, hangs, is full or refuses, answers are 503 and errors say why; then all goes on.
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openLeases } from '../../server/catalog/open-leases.ts';
import { command } from '../command.ts';
import { metricsOf, valuesOf } from '../metrics/scrape-text.ts';
import { logOf, type Server, start, startServer, until } from '../process.ts';
import { smallDisk } from '../small-disk.ts';
import { keyword, temporaryFolder, writeSnapshot } from '../world.ts';
import { newDatabase, query } from './databases.ts';
import { endpoint, filled, load, makeCluster, ofDay, SITE, skip as skipCluster } from './nodes.ts';
import { FaultyProxy } from './servers/faulty-proxy.ts';
import { hasPostgres, Postgres, reachableFolder } from './servers/postgres.ts';
import { SessionPooler } from './servers/session-pooler.ts';

const skip = skipCluster || (hasPostgres ? false : 'there is no PostgreSQL to start');
const { ORDINATE_TEST_POSTGRES = '' } = process.env;
const AWAY = {
  status: 503,
  headers: { 'retry-after': /\d/ },
  body: { error: { code: 'unavailable', message: 'The service cannot reach its catalog right now.' } },
};
const FAULTS = /"level":(?:50|60)/;
const ofClicks = (clicks: number) => ({ status: 200, body: { totals: { clicks } } });

async function ownPostgres(t: Test, password = 'pass-word-of-tests'): Promise<Postgres> {
  const postgres = await Postgres.make(password);
  t.teardown(() => postgres.remove());
  return postgres;
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

/** Ends all connections to a database. */
const disconnect = (url: string, admin = ORDINATE_TEST_POSTGRES) =>
  query(admin, 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [nameOf(url)]);

/** A data folder whose catalog is in a database, with a loaded project. */
async function makeNode(t: Test, catalogUrl: string) {
  const settings = {
    ORDINATE_DATA: join(temporaryFolder(t), 'data'),
    ORDINATE_CATALOG: catalogUrl,
    ORDINATE_CACHE: '0MB',
  };
  return { settings, key: await filled(t, settings) };
}

const isAnswered = (server: Server, key: string) =>
  until('an answer', async () => (await server.get(SITE, key)).status === 200 || undefined);

t.test('while the database is away', { skip }, async (t) => {
  const postgres = await ownPostgres(t);
  const { settings, key } = await makeNode(t, await newDatabase(t, postgres.url));
  const server = await startServer(t, { ...settings, ORDINATE_METRICS_PORT: '0', ORDINATE_JOBS: 'off' });
  const answer = () => server.get(SITE, key);
  t.match(await answer(), ofClicks(1));
  const scrape = await metricsOf(server);
  const waits = async (outcome: string): Promise<Record<string, number>> =>
    valuesOf(await scrape(), 'ordinate_postgres_waits_total', { outcome });
  t.match(await waits('away'), { 'connection server': 0, 'version server': 0, 'work server': 0 });
  t.ok(Object.values(await waits('ok')).every((count) => count > 0));
  t.strictSame(valuesOf(await scrape(), 'ordinate_places', { gate: 'postgres' }), { server: 12 });
  // The second one is like a crash.
  for (const how of ['SIGINT', 'SIGQUIT'] as const) {
    await postgres.stop(how);
    t.match(await Promise.all([answer(), answer(), answer()]), [AWAY, AWAY, AWAY], how);
    t.equal((await fetch(`${server.address}/readyz`)).status, 503);
    t.equal((await fetch(`${server.address}/livez`)).status, 200, 'the process itself is well');
    await postgres.start();
    t.match(await answer(), ofClicks(1), 'the first request after that is answered');
    t.ok((await waits('away'))['connection server']! > 0, how);
  }
  t.equal(server.child.exitCode, null);
  const log = await logOf(server);
  t.match(log, /"msg":"answer unavailable"/);
  t.match(log, /the database 'ordinate_test_\w+' on 127\.0\.0\.1:\d+ \(user 'admin'\)/);
  t.notMatch(log + server.printed.stdout, /pass-word-of-tests/);
});

t.test('connections that a pooler or the server closes are replaced', { skip }, async (t) => {
  const pooler = await SessionPooler.start(t, ORDINATE_TEST_POSTGRES);
  const { settings, key } = await makeNode(t, await newDatabase(t));
  const server = await startServer(t, { ...settings, ORDINATE_CATALOG: pooler.through(settings.ORDINATE_CATALOG) });
  const many = async (asked: Server, count: number) =>
    new Set((await Promise.all(Array.from({ length: count }, () => asked.get(SITE, key)))).map(({ status }) => status));
  for (const how of ['end', 'reset', 'unnoticed'] as const) {
    t.strictSame(await many(server, 1), new Set([200]));
    t.ok(pooler.closeIdle(how) > 0);
    t.strictSame(await many(server, 3), new Set([200]), how);
  }
  // A connection that is being opened may be among the closed ones; what opens it in the background says so and tries again.
  t.notMatch(await logOf(server), /"level":(?:50|60)|answer unavailable/);
  const workers = await startServer(t, settings, '--workers', '2');
  for (let round = 0; round < 5; round++) {
    await many(workers, 8);
    await disconnect(settings.ORDINATE_CATALOG);
    t.strictSame(await many(workers, 8), new Set([200]));
  }
  t.notMatch(await logOf(workers), FAULTS, 'no process has ended');
  await query(
    ORDINATE_TEST_POSTGRES,
    `alter database ${nameOf(settings.ORDINATE_CATALOG)} set idle_session_timeout = '5ms'`,
  );
  t.match(await load(t, settings, ofDay(5)), { code: 0 }, 'ends of idle sessions do not end locks');
});

t.test('what is wrong is said, without the password', { skip }, async (t) => {
  for (const [change, message] of [
    [
      { password: 'other-pass' },
      /the database 'postgres' on .* refused the password .*Check the user and the password/s,
    ],
    [{ pathname: '/nothing' }, /the database 'nothing' .* does not exist/],
    [{ port: '1' }, /cannot be reached .*ECONNREFUSED/],
    [{ search: 'sslmode=sometimes' }, /sslmode=sometimes; it may be disable, require, verify-ca, verify-full/],
    [{ search: 'colour=red' }, /has the parameter 'colour'; it may have host, /],
    [{ search: 'sslmode=require' }, /cannot be reached .*SSL/],
    [{}, /There is no catalog in the database 'postgres'/],
    [{ protocol: 'mysql:' }, /ORDINATE_CATALOG must be an address such as postgres:/],
  ] as const) {
    const ORDINATE_CATALOG = Object.assign(new URL(ORDINATE_TEST_POSTGRES), change as Partial<URL>).href;
    const settings = { ORDINATE_DATA: join(temporaryFolder(t), 'data'), ORDINATE_CATALOG, ORDINATE_LOG_LEVEL: 'debug' };
    const { code, stdout, stderr } = await command(settings, 'workspaces', 'list');
    t.match({ code, stderr }, { code: 1, stderr: message });
    t.notMatch(stderr + stdout, new RegExp(`${new URL(ORDINATE_TEST_POSTGRES).password}|other-pass`));
  }
});

t.test('the password may be in the environment or a file', { skip }, async (t) => {
  const url = new URL((await ownPostgres(t, 'p:w\\d')).url);
  url.password = '';
  const file = join(temporaryFolder(t), 'passwords');
  writeFileSync(file, `# comment\nelsewhere:*:*:*:wrong\n127.0.0.1:${url.port}:*:admin:p\\:w\\\\d\n`, { mode: 0o600 });
  const passfile = { ORDINATE_CATALOG: `${url.href}?passfile=${encodeURIComponent(file)}` };
  const settings = { ORDINATE_DATA: join(temporaryFolder(t), 'data'), ORDINATE_CATALOG: url.href };
  const create = (more: NodeJS.ProcessEnv, id: string) =>
    start(t, { ...settings, ...more }, 'workspaces', 'create', '--id', id, '--name', 'Acme', '--plan', 'team').ended;
  t.match(await create({ PGPASSWORD: 'p:w\\d' }, 'a'), { code: 0 });
  t.match(await create({ PGPASSFILE: file }, 'b'), { code: 0 });
  t.match(await create(passfile, 'c'), { code: 0 });
  t.match((await create({}, 'd')).stderr, /was given no password, or a wrong one .* PGPASSWORD/);
  chmodSync(file, 0o644);
  t.match((await create(passfile, 'e')).stderr, /give it the mode 0600/);
});

t.test('while PostgreSQL hangs', { skip }, async (t) => {
  const postgres = await ownPostgres(t);
  const { node, catalogUrl } = await makeCluster(t, { server: postgres.url });
  const proxy = await FaultyProxy.start(t, endpoint);
  const settings = node();
  const key = await filled(t, settings);
  const server = await startServer(t, settings);
  const cached = await startServer(t, { ...settings, ORDINATE_CACHE: '64MB' });
  for (const { get } of [server, cached]) t.match(await get(SITE, key), ofClicks(1));
  const leases = openLeases({ dataFolder: '', catalogUrl });
  const lease = (await leases.acquire('a'))!;
  proxy.fault = (method) => (method === 'PUT' ? 'held' : undefined);
  const through = { ...settings, ORDINATE_STORAGE_ENDPOINT: proxy.url };
  const loading = start(t, through, 'load', writeSnapshot(t, ofDay(2)), '--accept-implausible');
  await until('a held request', () => (proxy.held > 0 ? true : undefined));
  postgres.pause();
  proxy.fault = () => undefined;
  proxy.release();
  const [ready, live, ...answers] = await Promise.all([
    fetch(`${server.address}/readyz`),
    fetch(`${server.address}/livez`),
    ...[server, server, server, cached].map(({ get }) => get(SITE, key)),
  ]);
  t.match(answers, [AWAY, AWAY, AWAY, AWAY]);
  t.equal(live.status, 200, 'the process itself is well');
  t.equal(ready.status, 503);
  t.match(await ready.json(), {
    error: { message: 'The service is not ready: its catalog does not answer.' },
    components: { catalog: 'away', engine: 'ok', files: 'unknown' },
  });
  await lease.release();
  t.pass('a job does not wait at its end');
  t.match(await command(settings, 'workspaces', 'list'), { code: 1, stderr: /cannot be reached \(.*time/ });

  postgres.resume();
  await isAnswered(server, key);
  t.equal((await fetch(`${server.address}/readyz`)).status, 200);
  await (await until('the lease', () => leases.acquire('a'))).release();
  const { code, stderr } = await loading.ended;
  t.match(await server.get(SITE, key), ofClicks(code === 0 ? 2 : 1));
  if (code !== 0) t.match(stderr, /The catalog, the database/);
  t.match(await load(t, settings, ofDay(3)), { code: 0 });
  t.match(await server.get(SITE, key), ofClicks(3));
  t.match(await command(settings, 'verify'), { code: 0 });
  await until('no connection that waits', async () => {
    const waiting = "select 1 from pg_stat_activity where datname = current_database() and state like 'idle in%'";
    return (await query(catalogUrl, waiting)).length === 0 || undefined;
  });
  t.notMatch(await logOf(server), FAULTS);
});

interface Limited {
  readonly settings: NodeJS.ProcessEnv;
  readonly server: Server;
  readonly key: string;
}

/** While the database refuses writes it answers, and says why to whoever writes; afterwards a load is published. */
async function refusesWrites(t: Test, { settings, server, key }: Limited, why: RegExp, tables = ofDay(2)) {
  t.match(await load(t, settings, tables), { code: 1, stderr: why });
  t.match(await server.get(SITE, key), ofClicks(1), 'nothing has changed');
  t.equal((await fetch(`${server.address}/readyz`)).status, 200);
}

async function goesOn(t: Test, { settings, server, key }: Limited, tables = ofDay(2)) {
  t.match(await load(t, settings, tables), { code: 0 });
  await isAnswered(server, key);
  t.match(await server.get(SITE, key), ofClicks(2));
  t.match(await command(settings, 'verify'), { code: 0 });
  t.notMatch(await logOf(server), FAULTS);
}

t.test('a database that accepts too few connections', { skip }, async (t) => {
  const url = new URL(await newDatabase(t));
  const role = `of_${nameOf(url.href)}`;
  await query(ORDINATE_TEST_POSTGRES, `create role ${role} login password '${url.password}'`);
  await query(ORDINATE_TEST_POSTGRES, `alter database ${nameOf(url.href)} owner to ${role}`);
  url.username = role;
  const node = await makeNode(t, url.href);
  const server = await startServer(t, node.settings);
  const answers = (count: number) => Promise.all(Array.from({ length: count }, () => server.get(SITE, node.key)));
  const limitTo = async (connections: number): Promise<void> => {
    await query(ORDINATE_TEST_POSTGRES, `alter role ${role} connection limit ${connections}`);
    await disconnect(url.href);
  };
  await limitTo(3);
  for (let round = 0; round < 3; round++) {
    for (const found of await answers(30)) t.match(found, found.status === 503 ? AWAY : ofClicks(1));
  }
  await isAnswered(server, node.key);
  await limitTo(0);
  t.match(await answers(3), [AWAY, AWAY, AWAY]);
  t.match(await (await fetch(`${server.address}/readyz`)).json(), { components: { catalog: 'away' } });
  const why = new RegExp(`accepts no more connections \\(too many connections for role \\\\?"${role}\\\\?"\\)`);
  await until('a line in the log', () => why.test(server.printed.stderr) || undefined);
  t.match(await command(node.settings, 'workspaces', 'list'), { code: 1, stderr: why });
  t.match(await load(t, node.settings, ofDay(2)), { code: 1, stderr: why });
  await limitTo(-1);
  await goesOn(t, { ...node, server });
});

t.test('a database that is read-only', { skip }, async (t) => {
  const url = await newDatabase(t);
  const node = await makeNode(t, url);
  const server = await startServer(t, node.settings);
  const alter = async (how: string): Promise<void> => {
    await query(ORDINATE_TEST_POSTGRES, `alter database ${nameOf(url)} ${how}`);
    await disconnect(url);
    await isAnswered(server, node.key);
  };
  await alter('set default_transaction_read_only = on');
  const why = /is read-only \(.*\)\. Name the primary server in ORDINATE_CATALOG, not a standby/;
  await refusesWrites(t, { ...node, server }, why);
  const create = ['keys', 'create', '--workspace', 'acme', '--name', 'other'];
  t.match(await command(node.settings, ...create), { code: 1, stderr: why });
  await alter('reset default_transaction_read_only');
  await goesOn(t, { ...node, server });
});

t.test('a database whose disk is full', { skip }, async (t) => {
  const { url: admin } = await ownPostgres(t);
  const folder = reachableFolder('tablespace');
  const [found] = await query<{ data_directory: string }>(admin, 'show data_directory');
  const { uid, gid } = statSync(found!.data_directory);
  // After the disk was unmounted.
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const place = join(folder, 'disk');
  const disk = smallDisk(t, place, 60);
  if (disk === undefined) {
    t.pass('not run', { skip: 'this user may not mount a small disk' });
    return;
  }
  const space = join(place, 'space');
  mkdirSync(space, { mode: 0o700 });
  chownSync(space, uid, gid);
  await query(admin, `create tablespace small location '${space}'`);
  const url = await newDatabase(t, admin);
  await query(admin, `alter database ${nameOf(url)} set tablespace small`);
  const node = await makeNode(t, url);
  const server = await startServer(t, node.settings);
  disk.fill();
  const keywords = Array.from({ length: 20_000 }, (_, number) =>
    keyword(String(number).padStart(5, '0'), `a keyword with a number ${number}`),
  );
  const why = /cannot grow because the disk of its server is full \(.*No space left on device/s;
  await refusesWrites(t, { ...node, server }, why, { ...ofDay(2), keywords });
  disk.clear();
  await goesOn(t, { ...node, server }, { ...ofDay(2), keywords });
});
