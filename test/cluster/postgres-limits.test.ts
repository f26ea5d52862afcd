// A PostgreSQL that is full, read-only or short of connections causes clear errors and no wrong answers.
import { chownSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Ended, logOf, run, type Server, startServer, until } from '../process.ts';
import { smallDisk } from '../small-disk.ts';
import { facts, keyword, PROJECT, type Tables, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { newDatabase, query } from './databases.ts';
import { hasPostgres, Postgres, reachableFolder } from './servers/postgres.ts';

const skip = hasPostgres ? false : 'there is no PostgreSQL to start';
const PASSWORD = 'pass-word-of-tests';
const SITE = '/projects/Proj1/site?from=2026-03-01&to=2026-03-01';

interface Node {
  readonly server: Server;
  readonly key: string;
  readonly answer: () => ReturnType<Server['get']>;
  readonly load: (clicks: number, more?: Tables) => Promise<Ended>;
  readonly command: (...words: string[]) => Promise<Ended>;
}

/** A server over a database, with a loaded project. */
async function startNode(t: Test, catalogUrl: string, key?: string): Promise<Node> {
  const settings = {
    ORDINATE_DATA: join(temporaryFolder(t), 'data'),
    ORDINATE_CATALOG: catalogUrl,
    ORDINATE_CACHE: '0MB',
  };
  const command = (...words: string[]) => run(t, settings, ...words);
  const load: Node['load'] = (clicks, more = {}) => {
    const site = { site_daily: facts('date device', ['2026-03-01', 'mobile', clicks, 100, 900]) };
    const tables = { workspaces: [WORKSPACE], projects: [PROJECT], ...site, ...more };
    return command('load', writeSnapshot(t, tables), '--accept-implausible');
  };
  const { code, stderr } = await load(1);
  if (code !== 0) throw new Error(stderr);
  const made = await command('keys', 'create', '--workspace', 'acme', '--name', 'test', '--json');
  const own = key ?? (JSON.parse(made.stdout) as { key: string }).key;
  const server = await startServer(t, settings);
  return { server, key: own, answer: () => server.get(SITE, own), load, command };
}

const ofClicks = (clicks: number) => ({ status: 200, body: { totals: { clicks } } });
const AWAY = { error: { code: 'unavailable', message: 'The service cannot reach its catalog right now.' } };

async function onOwnServer(t: Test): Promise<{ admin: string; end: (url: string) => Promise<unknown> }> {
  const postgres = await Postgres.start(PASSWORD);
  t.teardown(() => postgres.remove());
  const end = (url: string) =>
    query(postgres.url, 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      new URL(url).pathname.slice(1),
    ]);
  return { admin: postgres.url, end };
}

t.test('a database that accepts too few connections', { skip }, async (t) => {
  const { admin, end } = await onOwnServer(t);
  await query(admin, `create role reporting login password '${PASSWORD}'`);
  const url = new URL(await newDatabase(t, admin));
  await query(admin, `alter database ${url.pathname.slice(1)} owner to reporting`);
  url.username = 'reporting';
  const { server, answer, load, command } = await startNode(t, url.href);
  const limitTo = async (connections: number): Promise<void> => {
    await query(admin, `alter role reporting connection limit ${connections}`);
    await end(url.href);
  };

  await limitTo(3);
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(Array.from({ length: 30 }, answer));
    for (const found of answers) t.match(found, found.status === 503 ? { body: AWAY } : ofClicks(1));
  }
  await until('an answer', async () => (await answer()).status === 200 || undefined);

  await limitTo(0);
  for (const found of await Promise.all([answer(), answer(), answer()])) {
    t.match(found, { status: 503, headers: { 'retry-after': /\d/ }, body: AWAY });
  }
  t.match(await (await fetch(`${server.address}/readyz`)).json(), { components: { catalog: 'away' } });
  const why = /accepts no more connections \(too many connections for role \\?"reporting\\?"\)/;
  await until('a line in the log', () => why.test(server.printed.stderr) || undefined);
  t.match(await command('workspaces', 'list'), { code: 1, stderr: why });
  t.match(await load(2), { code: 1, stderr: why });

  await limitTo(-1);
  await until('an answer', async () => (await answer()).status === 200 || undefined);
  t.match(await answer(), ofClicks(1));
  t.match(await load(2), { code: 0 });
  t.match(await answer(), ofClicks(2));
  t.notMatch(await logOf(server), /"level":(?:50|60)/);
});

t.test('a database that is read-only', { skip }, async (t) => {
  const { admin, end } = await onOwnServer(t);
  const url = await newDatabase(t, admin);
  const { server, answer, load, command } = await startNode(t, url);
  const name = new URL(url).pathname.slice(1);
  await query(admin, `alter database ${name} set default_transaction_read_only = on`);
  await end(url);
  await until('an answer', async () => (await answer()).status === 200 || undefined);
  t.match(await answer(), ofClicks(1), 'it answers');
  t.equal((await fetch(`${server.address}/readyz`)).status, 200);
  const why = /is read-only \(.*\)\. Name the primary server in ORDINATE_CATALOG, not a standby/;
  t.match(await load(2), { code: 1, stderr: why });
  t.match(await command('keys', 'create', '--workspace', 'acme', '--name', 'other'), { code: 1, stderr: why });
  t.match(await answer(), ofClicks(1));

  await query(admin, `alter database ${name} reset default_transaction_read_only`);
  await end(url);
  t.match(await load(2), { code: 0 });
  await until('the new facts', async () => ((await answer()).status === 200 ? true : undefined));
  t.match(await answer(), ofClicks(2));
  t.notMatch(await logOf(server), /"level":(?:50|60)/);
});

t.test('a database whose disk is full', { skip }, async (t) => {
  const { admin } = await onOwnServer(t);
  const folder = reachableFolder('tablespace');
  const [{ data_directory: data }] = (await query<{ data_directory: string }>(admin, 'show data_directory')) as [
    { data_directory: string },
  ];
  const { uid, gid } = statSync(data);
  // After the disk was unmounted.
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const place = join(folder, 'disk');
  const disk = smallDisk(t, place, 60);
  if (disk === undefined) {
    t.pass('not run', { skip: 'this user may not mount a small disk' });
    return;
  }
  mkdirSync(join(place, 'space'), { mode: 0o700 });
  chownSync(join(place, 'space'), uid, gid);
  await query(admin, `create tablespace small location '${join(place, 'space')}'`);
  const url = await newDatabase(t, admin);
  await query(admin, `alter database ${new URL(url).pathname.slice(1)} set tablespace small`);
  const { server, answer, load, command } = await startNode(t, url);

  disk.fill();
  const keywords = Array.from({ length: 20_000 }, (_, number) =>
    keyword(String(number).padStart(5, '0'), `a keyword with a number ${number}`),
  );
  const why = /cannot grow because the disk of its server is full \(.*No space left on device/s;
  t.match(await load(2, { keywords }), { code: 1, stderr: why });
  t.match(await answer(), ofClicks(1), 'nothing has changed');
  t.equal((await fetch(`${server.address}/readyz`)).status, 200);

  disk.clear();
  t.match(await load(2, { keywords }), { code: 0 });
  t.match(await answer(), ofClicks(2));
  t.match(await command('verify'), { code: 0 });
  t.notMatch(await logOf(server), /"level":(?:50|60)/);
});
