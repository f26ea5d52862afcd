// Nodes are upgraded one by one: those of the release before go on beside the new ones, and no request fails.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import t from 'tap';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import type * as Dialect from '../../server/catalog/postgres/dialect.ts';
import type * as Tables from '../../server/load/tables.ts';
import type * as Sql from '../../server/runtime/sql.ts';
import { run, type Server, startProgram, until, untilReady } from '../process.ts';
import { templateFills } from '../template-fills.ts';
import { facts, keyword, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { newDatabase, query } from './databases.ts';
import { makeCluster, skip as skipCluster } from './nodes.ts';
import { hasReleaseBefore, releaseBefore } from './release-before.ts';

const skip = skipCluster || (hasReleaseBefore ? false : 'this checkout has no release before');
/** How many requests are sent at least. */
const REQUESTS = Number(process.env['ORDINATE_TEST_REQUESTS'] ?? 300);
const CLIENTS = 4;
const ONLY_SQLITE = /^(?:catalog\/copy_into|usage\/create_)/;

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
class Traffic {
  nodes: readonly Server[];
  sent = 0;
  readonly failures: string[] = [];
  readonly #key: string;
  readonly #clients: Promise<void>[];
  readonly #busy = new Map<Server, number>();
  #isOn = true;

  constructor(nodes: readonly Server[], key: string) {
    this.nodes = nodes;
    this.#key = key;
    this.#clients = Array.from({ length: CLIENTS }, () => this.#send());
  }

  /** Takes a node out, and waits for its running requests. */
  async drain(node: Server): Promise<void> {
    this.nodes = this.nodes.filter((other) => other !== node);
    await until('no running requests', () => ((this.#busy.get(node) ?? 0) === 0 ? true : undefined));
  }

  /** Waits until so many more were sent. */
  async more(count: number): Promise<void> {
    const wanted = this.sent + count;
    while (this.sent < wanted) await pause(5);
  }

  async stop(): Promise<void> {
    this.#isOn = false;
    await Promise.all(this.#clients);
  }

  async #send(): Promise<void> {
    while (this.#isOn) {
      const number = this.sent++;
      const node = this.nodes[number % this.nodes.length]!;
      this.#busy.set(node, (this.#busy.get(node) ?? 0) + 1);
      const path = PATHS[number % PATHS.length]!;
      const failed = await node.get(path, this.#key).then(
        ({ status, body }) => (status === 200 ? undefined : `${status} ${JSON.stringify(body)}`),
        (error: Error) => `${error.message} ${String(error.cause)}`,
      );
      if (failed !== undefined) this.failures.push(`${path}: ${failed}`);
      this.#busy.set(node, this.#busy.get(node)! - 1);
    }
  }
}

t.test('two nodes of the release before become two of this one under traffic', { skip }, async (t) => {
  const before = releaseBefore(t);
  const { catalogUrl, node } = await makeCluster(t, { isEmpty: true });
  const program = join(before, 'cli/ordinate.ts');
  // The release before does not know this setting.
  const old = (settings: NodeJS.ProcessEnv, ...words: string[]) =>
    startProgram(t, { ...settings, ORDINATE_RANKING_UPDATES: undefined }, process.execPath, program, ...words);
  const serveOld = () => untilReady(old({ PORT: '0', ...settingsOf() }, 'serve'));
  const serveNew = () =>
    untilReady(startProgram(t, { PORT: '0', ...settingsOf() }, process.execPath, 'cli/ordinate.ts', 'serve'));
  const settingsOf = (): NodeJS.ProcessEnv => node({ ORDINATE_CACHE: '1MB' });
  const load = (day: string): string =>
    writeSnapshot(t, { site_daily: facts('date device', [day, 'mobile', 5, 100, 900]) });

  const first = await old(settingsOf(), 'load', writeSnapshot(t, SNAPSHOT), '--accept-implausible').ended;
  t.equal(first.code, 0, first.stderr);
  const limits = await old(settingsOf(), 'workspaces', 'set', 'acme', '--requests-per-minute', '100000').ended;
  t.equal(limits.code, 0, limits.stderr);
  const made = await old(settingsOf(), 'keys', 'create', '--workspace', 'acme', '--name', 'one', '--json').ended;
  const { key } = JSON.parse(made.stdout) as { key: string };

  const one = await serveOld();
  const two = await serveOld();
  const traffic = new Traffic([one, two], key);
  const share = Math.ceil(REQUESTS / 6);
  await traffic.more(share);

  // The first new node migrates the catalog.
  const three = await serveNew();
  t.match(await query(catalogUrl, 'select schema, migrations from catalog_version'), [{ schema: 16 }]);
  traffic.nodes = [...traffic.nodes, three];
  await traffic.more(share);

  t.match(await old(settingsOf(), 'load', load('2026-03-02')).ended, { code: 0 }, 'the release before loads');
  t.match(await run(t, settingsOf(), 'load', load('2026-03-03')), { code: 0 }, 'the new one, too');
  await traffic.more(share);
  const answers = await Promise.all([one, two, three].map((server) => server.get(PATHS[0]!, key)));
  for (const { body } of answers) t.match(body, { totals: { clicks: 13 } }, 'all nodes answer from both loads');

  await traffic.drain(one);
  one.child.kill('SIGTERM');
  t.equal((await one.ended).code, 0);
  const again = await serveOld();
  traffic.nodes = [...traffic.nodes, again];
  await traffic.more(share);
  const added = await old(settingsOf(), 'keys', 'create', '--workspace', 'acme', '--name', 'two', '--json').ended;
  t.equal(added.code, 0, 'the release before writes');
  const other = (JSON.parse(added.stdout) as { key: string }).key;
  t.equal((await three.get(PATHS[0]!, other)).status, 200);

  const four = await serveNew();
  traffic.nodes = [...traffic.nodes, four];
  for (const server of [again, two]) {
    await traffic.drain(server);
    server.child.kill('SIGTERM');
    t.equal((await server.ended).code, 0);
    await traffic.more(share);
  }
  await traffic.stop();
  t.strictSame(traffic.failures, []);
  t.ok(traffic.sent >= REQUESTS, `${traffic.sent} requests`);
  t.match(await run(t, settingsOf(), 'verify'), { code: 0, stdout: /All is in order/ });

  await query(catalogUrl, 'update catalog_version set schema = 1000, value = value + 1');
  t.match(await three.get(PATHS[0]!, key), { status: 503 }, 'a migration that takes something away ends releases');
});

t.test('what the release before reads and writes is still there', { skip }, async (t) => {
  const before = releaseBefore(t);
  const of = async <T>(path: string): Promise<T> => (await import(join(before, 'server', path))) as T;
  const { statementOf } = await of<typeof Dialect>('catalog/postgres/dialect.ts');
  const { sqlNames, sqlText } = await of<typeof Sql>('runtime/sql.ts');
  const { ENTITIES } = await of<typeof Tables>('load/tables.ts');
  const catalogUrl = await newDatabase(t);
  await (await openCatalog({ dataFolder: temporaryFolder(t), catalogUrl })).close();
  const client = new pg.Client({ connectionString: catalogUrl });
  await client.connect();
  t.teardown(() => client.end());
  const missing: string[] = [];
  let prepared = 0;
  for (const kind of ['catalog', 'usage'] as const) {
    for (const path of sqlNames(kind).filter((name) => !ONLY_SQLITE.test(name))) {
      const name = path.slice(kind.length + 1);
      const isTemplate = kind === 'catalog' && /\{\w+\}/.test(sqlText(path));
      const statements = isTemplate
        ? ENTITIES.flatMap((entity) => templateFills(path, entity)).map((fills) => ({
            template: name,
            fills,
            // As the release before calls it.
            parts: fills,
          }))
        : [name];
      for (const statement of statements) {
        const { text } = statementOf(kind, statement);
        await client.query(`prepare of_before as ${text}; deallocate of_before`).catch((error: Error) => {
          missing.push(`${path}: ${error.message}`);
        });
        prepared++;
      }
    }
  }
  t.strictSame(missing, [], 'a migration may not drop or rename it: that is for the release after');
  t.ok(prepared > 250, `${prepared} statements`);
});
