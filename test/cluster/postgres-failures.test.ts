// While PostgreSQL is down answers are 503, the service recovers by itself, and no error shows the password.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { valuesOf } from '../metrics/scrape-text.ts';
import { logOf, run, type Server, startServer, until } from '../process.ts';
import { facts, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { newDatabase, query } from './databases.ts';
import { hasPostgres, Postgres } from './servers/postgres.ts';
import { SessionPooler } from './servers/session-pooler.ts';

const skip = hasPostgres ? false : 'there is no PostgreSQL to start';
const PASSWORD = 'pass-word-of-postgres';

const snapshot = writeSnapshot(t, {
  workspaces: [WORKSPACE],
  projects: [PROJECT],
  site_daily: facts('date device', ['2026-03-01', 'mobile', 3, 100, 900]),
});
const SITE = '/projects/Proj1/site?from=2026-03-01&to=2026-03-01';

/** The settings of a catalog in a database of `postgres`, with a loaded project and a key. */
async function loaded(t: Test, postgres: Postgres) {
  const url = await newDatabase(t, postgres.url);
  const settings = { ORDINATE_DATA: join(temporaryFolder(t), 'data'), ORDINATE_CATALOG: url };
  const load = await run(t, settings, 'load', snapshot, '--accept-implausible');
  if (load.code !== 0) throw new Error(load.stderr);
  const made = await run(t, settings, 'keys', 'create', '--workspace', 'acme', '--name', 'test', '--json');
  const { key } = JSON.parse(made.stdout) as { key: string };
  return { settings, key, url };
}

/** A server over it. */
async function serving(
  t: Test,
  postgres: Postgres,
  ...words: string[]
): Promise<{ server: Server; key: string; url: string }> {
  const { settings, key, url } = await loaded(t, postgres);
  return { server: await startServer(t, settings, ...words), key, url };
}

t.test('while the database is away, answers are 503; it recovers by itself', { skip }, async (t) => {
  const postgres = await Postgres.start(PASSWORD);
  t.teardown(() => postgres.remove());
  const { settings, key } = await loaded(t, postgres);
  const server = await startServer(t, { ...settings, ORDINATE_METRICS_PORT: '0', ORDINATE_JOBS: 'off' });
  const answer = () => server.get(SITE, key);
  t.equal((await answer()).status, 200);
  const metrics = await until(
    'the address of metrics',
    () => /"address":"([^"]+)","msg":"metrics/.exec(server.printed.stderr)?.[1],
  );
  const waits = async (outcome: string): Promise<Record<string, number>> =>
    valuesOf(await (await fetch(metrics)).text(), 'ordinate_postgres_waits_total', { outcome });
  t.match(await waits('away'), { 'connection server': 0, 'version server': 0, 'work server': 0 });
  t.ok(Object.values(await waits('ok')).every((count) => count > 0));
  const places = valuesOf(await (await fetch(metrics)).text(), 'ordinate_places', { gate: 'postgres' });
  t.strictSame(places, { server: 12 });
  for (const how of ['fast', 'immediate'] as const) {
    await postgres.stop(how);
    for (const { status, headers, body } of await Promise.all([answer(), answer(), answer()])) {
      t.equal(status, 503, how);
      t.ok(Number(headers['retry-after']) > 0);
      t.match(body, { error: { code: 'unavailable', message: 'The service cannot reach its catalog right now.' } });
    }
    const ready = await fetch(`${server.address}/readyz`);
    t.equal(ready.status, 503);
    t.equal((await fetch(`${server.address}/livez`)).status, 200, 'the process itself is well');
    await postgres.start();
    t.equal((await answer()).status, 200, 'the first request after that is answered');
    t.ok((await waits('away'))['connection server']! > 0, how);
  }
  t.equal(server.child.exitCode, null);
  const log = await logOf(server);
  t.match(log, /"msg":"answer unavailable"/);
  t.match(log, /the database 'ordinate_test_\w+' on 127\.0\.0\.1:\d+ \(user 'admin'\)/);
  t.notMatch(log + server.printed.stdout, new RegExp(PASSWORD));
});

t.test('idle connections that a pooler closes are replaced', { skip }, async (t) => {
  const postgres = await Postgres.start(PASSWORD);
  t.teardown(() => postgres.remove());
  const pooler = await SessionPooler.start(t, postgres.url);
  const { settings, key } = await loaded(t, postgres);
  const server = await startServer(t, { ...settings, ORDINATE_CATALOG: pooler.through(settings.ORDINATE_CATALOG) });
  const answer = () => server.get(SITE, key);
  for (const how of ['end', 'reset', 'unnoticed'] as const) {
    t.equal((await answer()).status, 200);
    t.ok(pooler.closeIdle(how) > 0);
    for (const { status } of await Promise.all([answer(), answer(), answer()])) t.equal(status, 200, how);
  }
  // A connection that is being opened may be among the closed ones; what opens it in the background says so and tries again.
  t.notMatch(await logOf(server), /"level":(?:50|60)|answer unavailable/);
});

t.test('a database that ends idle sessions does not end locks', { skip }, async (t) => {
  const postgres = await Postgres.start(PASSWORD);
  t.teardown(() => postgres.remove());
  const { settings, url } = await loaded(t, postgres);
  await query(url, `alter database ${new URL(url).pathname.slice(1)} set idle_session_timeout = '5ms'`);
  const more = writeSnapshot(t, { site_daily: facts('date device', ['2026-03-02', 'mobile', 5, 100, 900]) });
  t.match(await run(t, settings, 'load', more, '--accept-implausible'), { code: 0 });
});

t.test('connections that the server ends are replaced', { skip }, async (t) => {
  const postgres = await Postgres.start(PASSWORD);
  t.teardown(() => postgres.remove());
  const { server, key, url } = await serving(t, postgres, '--workers', '2');
  const answer = () => server.get(SITE, key);
  for (let n = 0; n < 5; n++) {
    await Promise.all(Array.from({ length: 8 }, answer));
    await query(
      url,
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    for (const { status } of await Promise.all(Array.from({ length: 8 }, answer))) t.equal(status, 200);
  }
  t.notMatch(await logOf(server), /"level":(?:50|60)/, 'no process has ended');
});

t.test('what is wrong is said, without the password', { skip }, async (t) => {
  const postgres = await Postgres.start(PASSWORD);
  t.teardown(() => postgres.remove());
  const dataFolder = join(temporaryFolder(t), 'data');
  const wrong = async (change: (url: URL) => void, message: RegExp): Promise<void> => {
    const url = new URL(postgres.url);
    change(url);
    const { code, stdout, stderr } = await run(
      t,
      { ORDINATE_DATA: dataFolder, ORDINATE_CATALOG: url.href, ORDINATE_LOG_LEVEL: 'debug' },
      'workspaces',
      'list',
    );
    t.equal(code, 1);
    t.match(stderr, message);
    t.notMatch(stderr + stdout, new RegExp(`${PASSWORD}|other-pass`));
  };
  await wrong((url) => {
    url.password = 'other-pass';
  }, /the database 'postgres' on .* refused the password .*Check the user and the password/s);
  await wrong((url) => {
    url.pathname = '/nothing';
  }, /the database 'nothing' .* does not exist/);
  await wrong((url) => {
    url.port = '1';
  }, /cannot be reached .*ECONNREFUSED/);
  await wrong((url) => {
    url.searchParams.set('sslmode', 'sometimes');
  }, /sslmode=sometimes; it may be disable, require, verify-ca, verify-full/);
  await wrong((url) => {
    url.searchParams.set('colour', 'red');
  }, /has the parameter 'colour'; it may have host, /);
  await wrong((url) => {
    url.searchParams.set('sslmode', 'require');
  }, /cannot be reached .*SSL/);
  await wrong(() => {}, /There is no catalog in the database 'postgres'/);
  await wrong((url) => {
    url.protocol = 'mysql:';
  }, /ORDINATE_CATALOG must be an address such as postgres:/);
});

t.test('the password may be in the environment or a file', { skip }, async (t) => {
  const postgres = await Postgres.start('p:w\\d');
  t.teardown(() => postgres.remove());
  const url = new URL(postgres.url);
  url.password = '';
  const file = join(temporaryFolder(t), 'passwords');
  writeFileSync(file, `# comment\nelsewhere:*:*:*:wrong\n127.0.0.1:${url.port}:*:admin:p\\:w\\\\d\n`, { mode: 0o600 });
  const settings = { ORDINATE_DATA: join(temporaryFolder(t), 'data'), ORDINATE_CATALOG: url.href };
  const create = (more: NodeJS.ProcessEnv, id: string) =>
    run(t, { ...settings, ...more }, 'workspaces', 'create', '--id', id, '--name', 'Acme', '--plan', 'team');
  t.equal((await create({ PGPASSWORD: 'p:w\\d' }, 'a')).code, 0);
  t.equal((await create({ PGPASSFILE: file }, 'b')).code, 0);
  url.searchParams.set('passfile', file);
  t.equal((await create({ ORDINATE_CATALOG: url.href }, 'c')).code, 0);
  t.match((await create({}, 'd')).stderr, /was given no password, or a wrong one .* PGPASSWORD/);
  chmodSync(file, 0o644);
  t.match((await create({ ORDINATE_CATALOG: url.href }, 'e')).stderr, /give it the mode 0600/);
});

t.test('an empty database is not taken for the catalog of facts that are there', { skip }, async (t) => {
  const postgres = await Postgres.start(PASSWORD);
  t.teardown(() => postgres.remove());
  const dataFolder = join(temporaryFolder(t), 'data');
  const settings = { ORDINATE_DATA: dataFolder };
  t.equal((await run(t, settings, 'load', snapshot, '--accept-implausible')).code, 0);
  const place = { dataFolder, catalogUrl: postgres.url };
  await t.rejects(openCatalog(place), { message: /contains facts; nothing was changed\. Copy the catalog/ });
  t.equal((await run(t, settings, 'workspaces', 'list')).code, 0, 'the folder is as it was');
});
