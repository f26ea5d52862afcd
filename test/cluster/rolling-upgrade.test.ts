// Nodes are upgraded one by one: those of the release before go on beside the new ones, and no request fails.
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import type * as Dialect from '../../server/catalog/postgres/dialect.ts';
import type * as LoadTables from '../../server/load/tables.ts';
import type * as Sql from '../../server/runtime/sql.ts';
import { command } from '../command.ts';
import { type Server, startProgram, startServer, until, untilReady } from '../process.ts';
import { ROOT } from '../readme.ts';
import { templatesOf } from '../template-fills.ts';
import { facts, keyword, PROJECT, type Tables, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { newDatabase, query } from './databases.ts';
import { load, makeCluster, skip as skipCluster } from './nodes.ts';

/** The commit of the release that nodes are upgraded from. It moves with each release. */
const RELEASE_BEFORE = '0983d6262b2bb946d1f1115309687cd9084d9a2e';

const git = (...words: readonly string[]) => spawnSync('git', words, { cwd: ROOT, maxBuffer: 1e9 });
/** A checkout without its history, or the package, does not have it. */
const hasReleaseBefore = git('cat-file', '-e', `${RELEASE_BEFORE}^{commit}`).status === 0;

/**
 * Checks out the release before in a temporary folder, with the packages of this one. Those that only the release before
 * needs are packages for development. Returns the folder.
 */
function releaseBefore(t: Test): string {
  const folder = join(temporaryFolder(t), 'before');
  mkdirSync(folder);
  const parts = ['cli', 'client', 'scripts', 'server', 'sql', 'docs', 'package.json'];
  const { stdout, status } = git('archive', RELEASE_BEFORE, ...parts);
  if (status !== 0) throw new Error('git archive failed');
  const unpacked = spawnSync('tar', ['-x', '-C', folder], { input: stdout });
  if (unpacked.status !== 0) throw new Error(String(unpacked.stderr));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

const skip = skipCluster || (hasReleaseBefore ? false : 'this checkout has no release before');
/** How many requests are sent at least. */
const REQUESTS = Number(process.env['ORDINATE_TEST_REQUESTS'] ?? 300);
const CLIENTS = 4;

const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03'];
const SNAPSHOT = {
  workspaces: [WORKSPACE],
  projects: [PROJECT],
  keywords: [keyword('kw000', 'red shoes')],
  site_daily: facts('date device', ...DAYS.map((day) => [day, 'mobile', 3, 100, 900])),
  keyword_daily: facts('keyword_id date device', ...DAYS.map((day) => ['kw000', day, 'mobile', 2, 50, 100])),
};
const PATHS = ['site', 'keywords', 'keywords?daily=1', 'portfolio'].map((what) => {
  const path = what === 'portfolio' ? '/portfolio' : `/projects/Proj1/${what}`;
  return `${path}${path.includes('?') ? '&' : '?'}from=2026-03-01&to=2026-03-03`;
});

/** Clients of a balancer: each request goes to the next node, until `stop`. */
function startTraffic(first: readonly Server[], key: string) {
  let nodes = first;
  let sent = 0;
  let isOn = true;
  const failures: string[] = [];
  const busy = new Map<Server, number>();
  const client = async (): Promise<void> => {
    while (isOn) {
      const number = sent++;
      const node = nodes[number % nodes.length]!;
      busy.set(node, (busy.get(node) ?? 0) + 1);
      const path = PATHS[number % PATHS.length]!;
      const failed = await node.get(path, key).then(
        ({ status, body }) => (status === 200 ? undefined : `${status} ${JSON.stringify(body)}`),
        (error: Error) => `${error.message} ${String(error.cause)}`,
      );
      if (failed !== undefined) failures.push(`${path}: ${failed}`);
      busy.set(node, busy.get(node)! - 1);
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  return {
    failures,
    /** Waits until a sixth of the requests were sent. */
    more: async (): Promise<void> => {
      for (const wanted = sent + REQUESTS / 6; sent < wanted; ) await pause(5);
    },
    add: (node: Server): void => {
      nodes = [...nodes, node];
    },
    /** Takes a node out, waits for its running requests, and stops it. */
    drain: async (node: Server) => {
      nodes = nodes.filter((other) => other !== node);
      await until('no running requests', () => (busy.get(node) ? undefined : true));
      node.child.kill('SIGTERM');
      return node.ended;
    },
    stop: async (): Promise<number> => {
      isOn = false;
      await Promise.all(clients);
      return sent;
    },
  };
}

t.test('two nodes of the release before become two of this one under traffic', { skip }, async (t) => {
  const before = releaseBefore(t);
  const { catalogUrl, node } = await makeCluster(t, { isEmpty: true });
  const settings = (): NodeJS.ProcessEnv => node({ ORDINATE_CACHE: '1MB' });
  // The release before does not know this setting.
  const old = (...words: string[]) =>
    startProgram(
      t,
      { PORT: '0', ...settings(), ORDINATE_RANKING_UPDATES: undefined },
      process.execPath,
      join(before, 'cli/ordinate.ts'),
      ...words,
    );
  const done = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await old(...words).ended;
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  const keyOfOld = async (name: string): Promise<string> => {
    const made = await done('keys', 'create', '--workspace', 'acme', '--name', name, '--json');
    return (JSON.parse(made) as { key: string }).key;
  };
  const serveOld = () => untilReady(old('serve'));
  const serveNew = () => startServer(t, settings());
  const dayOf = (day: string): Tables => ({ site_daily: facts('date device', [day, 'mobile', 5, 100, 900]) });

  await done('load', writeSnapshot(t, SNAPSHOT), '--accept-implausible');
  await done('workspaces', 'set', 'acme', '--requests-per-minute', '100000');
  const key = await keyOfOld('one');
  const [one, two] = [await serveOld(), await serveOld()];
  const traffic = startTraffic([one, two], key);
  await traffic.more();

  // The first new node migrates the catalog.
  const three = await serveNew();
  t.match(await query(catalogUrl, 'select schema, migrations from catalog_version'), [{ schema: 16 }]);
  traffic.add(three);
  await traffic.more();

  await done('load', writeSnapshot(t, dayOf('2026-03-02')));
  t.match(await load(t, settings(), dayOf('2026-03-03')), { code: 0 });
  await traffic.more();
  const answers = await Promise.all([one, two, three].map((server) => server.get(PATHS[0]!, key)));
  for (const { body } of answers) t.match(body, { totals: { clicks: 13 } }, 'all nodes answer from both loads');

  t.match(await traffic.drain(one), { code: 0 });
  const again = await serveOld();
  traffic.add(again);
  await traffic.more();
  t.match(await three.get(PATHS[0]!, await keyOfOld('two')), { status: 200 }, 'the release before writes');

  traffic.add(await serveNew());
  for (const server of [again, two]) {
    t.match(await traffic.drain(server), { code: 0 });
    await traffic.more();
  }
  const sent = await traffic.stop();
  t.strictSame(traffic.failures, []);
  t.ok(sent >= REQUESTS, `${sent} requests`);
  t.match(await command(settings(), 'verify'), { code: 0, stdout: /All is in order/ });

  await query(catalogUrl, 'update catalog_version set schema = 1000, value = value + 1');
  t.match(await three.get(PATHS[0]!, key), { status: 503 }, 'a migration that takes something away ends releases');
});

t.test('what the release before reads and writes is still there', { skip }, async (t) => {
  const before = releaseBefore(t);
  const of = async <T>(path: string): Promise<T> => (await import(join(before, 'server', path))) as T;
  const { statementOf } = await of<typeof Dialect>('catalog/postgres/dialect.ts');
  const { sqlNames, sqlText } = await of<typeof Sql>('runtime/sql.ts');
  const { ENTITIES } = await of<typeof LoadTables>('load/tables.ts');
  const client = new pg.Client({ connectionString: await newDatabase(t, undefined, 'ordinate_template') });
  await client.connect();
  t.teardown(() => client.end());
  const missing: string[] = [];
  let prepared = 0;
  for (const kind of ['catalog', 'usage'] as const) {
    for (const { path, fills, statement } of sqlNames(kind).flatMap((path) =>
      templatesOf(kind, path, ENTITIES, sqlText),
    )) {
      // As the release before calls it.
      const { text } = statementOf(
        kind,
        typeof statement === 'string' ? statement : ({ ...statement, parts: fills } as never),
      );
      await client.query(`prepare of_before as ${text}; deallocate of_before`).catch((error: Error) => {
        missing.push(`${path}: ${error.message}`);
      });
      prepared++;
    }
  }
  t.strictSame(missing, [], 'a migration may not drop or rename it: that is for the release after');
  t.ok(prepared > 250, `${prepared} statements`);
});
