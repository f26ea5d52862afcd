// npm run test:cluster: starts PostgreSQL, an S3 server, Redis and Trino, as far as they are installed, and runs the tests that
// need them. The contract follows on PostgreSQL and S3; with --whole, all tests of answers, loads and lists on each combination
// of stores. Says what is missing.
import '../cli/threads.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { fail, print } from '../cli/cli.ts';
import { namesOf } from '../cli/names.ts';
import { openCatalog } from '../server/catalog/open-catalog.ts';
import { trinoDefinitions } from '../server/facts/open-facts.ts';
import { query } from '../test/cluster/databases.ts';
import { hasPostgres, Postgres } from '../test/cluster/servers/postgres.ts';
import { hasRedisServer, Redis } from '../test/cluster/servers/redis.ts';
import { hasS3Server, S3_KEYS, S3Server } from '../test/cluster/servers/s3.ts';
import { askTrino, missingForTrino, storageOfTests, Trino } from '../test/cluster/servers/trino.ts';

interface Options {
  /** Fails where a server is not installed. */
  readonly all?: boolean;
  readonly only?: readonly string[];
  readonly whole?: boolean;
}

/** The combinations of stores, but the default one, which is that of `npm test`. */
const COMBINATIONS: readonly { stores: string; needs: readonly string[]; more: readonly string[] }[] = [
  // Inspections, because nodes share their quota. With Trino, each of these takes minutes.
  {
    stores: 'postgres+s3+duckdb',
    needs: ['PostgreSQL', 'S3'],
    more: ['test/sync/inspections.test.ts', 'test/{api,mcp}/dialogues.test.ts', 'test/api/access.test.ts'],
  },
  { stores: 'postgres+s3+trino', needs: ['PostgreSQL', 'S3', 'Trino'], more: [] },
];
/** What every change runs on the first of them. */
const CONTRACT = ['test/contract/*.test.ts', 'test/recorded-answers.test.ts'];
const CONFORMANCE = [
  ...CONTRACT,
  'test/routes/*.test.ts',
  'test/facts/*.test.ts',
  'test/load/*.test.ts',
  'test/lists/*.test.ts',
  'test/sandbox/*.test.ts',
];
/** Tests about the files of a data folder: their damage, durability and loss. */
const LOCAL = ['damage', 'durability', 'lost-catalog', 'upgrade'].map((name) => `test/load/${name}.test.ts`);
/** The tests of Trino that run for every change: it answers ten times as slowly as DuckDB. */
const TRINO_SMOKE = 'test/cluster/trino-server.test.ts';
const BUCKET = 'ordinate';

const program = new Command('test:cluster')
  .description('Runs the tests that need PostgreSQL, S3, Redis or Trino.')
  .argument('[files...]', 'only these test files')
  .option('--all', 'fail if a server is not installed, instead of leaving its tests out')
  .option(
    '--only <names>',
    'servers (the tests in test/cluster) or combinations such as postgres+s3+duckdb, with commas',
    namesOf(['servers', ...COMBINATIONS.map(({ stores }) => stores)]),
  )
  .option('--whole', 'all tests on all stores, as at night');

/** A server that tests need. */
interface Kind {
  readonly name: string;
  /** What is not installed; undefined if everything is. */
  readonly missing: () => string | undefined;
  /** Starts it; returns the environment of tests, and what stops it. */
  readonly start: (folder: string, started: NodeJS.ProcessEnv) => Promise<[NodeJS.ProcessEnv, () => Promise<void>]>;
}

const KINDS: readonly Kind[] = [
  {
    name: 'PostgreSQL',
    missing: () => (hasPostgres ? undefined : 'PostgreSQL (POSTGRES_BIN names the folder of initdb)'),
    async start() {
      const postgres = await Postgres.make('pass-word-of-tests');
      await makeTemplate(postgres.url);
      return [{ ORDINATE_TEST_POSTGRES: postgres.url }, () => postgres.remove()];
    },
  },
  {
    name: 'S3',
    missing: () => (hasS3Server() ? undefined : 'versitygw (S3_SERVER names the program)'),
    async start(folder) {
      const s3 = await S3Server.make(join(folder, 's3'), BUCKET);
      return [{ ORDINATE_TEST_S3: s3.endpoint, ORDINATE_TEST_S3_FOLDER: s3.folder, ...S3_KEYS }, () => s3.stop()];
    },
  },
  {
    name: 'Redis',
    missing: () => (hasRedisServer() ? undefined : 'redis-server (REDIS_SERVER names the program)'),
    async start() {
      const redis = await Redis.make();
      return [{ ORDINATE_TEST_REDIS: redis.url }, () => redis.stop()];
    },
  },
  {
    name: 'Trino',
    missing: () => missingForTrino() ?? (hasS3Server() ? undefined : 'Trino needs an S3 server'),
    async start(_folder, started) {
      Object.assign(process.env, started);
      const trino = await Trino.start({ storage: storageOfTests(BUCKET), workers: 2 });
      // Worlds share a folder of the bucket: questions name their files, and defining tables takes seconds.
      const storage = `s3://${BUCKET}/worlds`;
      for (const statement of await trinoDefinitions(storage, `${trino.url}/hive/worlds`))
        await askTrino(trino.url, statement);
      const settings = {
        ORDINATE_TEST_TRINO: trino.url,
        ORDINATE_TEST_TRINO_STORAGE: storage,
        ORDINATE_TEST_TRINO_TABLES: `${trino.url}/hive/worlds`,
      };
      return [settings, () => trino.stop()];
    },
  },
];

/** A database with the schema, which tests copy. */
async function makeTemplate(server: string): Promise<void> {
  await query(server, 'create database ordinate_template');
  const url = new URL(server);
  url.pathname = '/ordinate_template';
  await (await openCatalog({ dataFolder: tmpdir(), catalogUrl: url.href })).close();
}

/** Appends what failed to the file `failures`. */
async function runTests(
  title: string,
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  failures: string,
): Promise<boolean> {
  print(`\n== ${title}\n`);
  const child = spawn(process.execPath, ['scripts/test.ts', ...words], {
    stdio: 'inherit',
    env: { ...process.env, ...environment, TEST_FAILURES: failures },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

async function main(): Promise<void> {
  program.parse();
  const { all = false, only, whole = false } = program.opts<Options>();
  const chosen = program.args.length > 0 ? program.args : undefined;
  const isChosen = (name: string): boolean => only?.includes(name) ?? true;
  const isWanted = (file: string): boolean => whole || !/\/trino-/.test(file) || file === TRINO_SMOKE;
  // With the first combination alone, unless the others are asked for.
  const combinations = COMBINATIONS.filter(
    ({ stores }, index) => isChosen(stores) && (index === 0 || whole || chosen !== undefined || only !== undefined),
  );
  const needed = isChosen('servers') ? undefined : new Set(combinations.flatMap(({ needs }) => needs));
  await using stops = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'ordinate-cluster-'));
  stops.defer(() => rmSync(folder, { recursive: true, force: true }));
  const environment: NodeJS.ProcessEnv = {};
  const outcomes: string[] = [];
  const failures = join(folder, 'failures');
  writeFileSync(failures, '');
  let isOk = true;
  const missing = new Map<string, string>();
  for (const { name, missing: find, start } of KINDS) {
    if (needed?.has(name) === false) continue;
    const found = find();
    if (found !== undefined) {
      missing.set(name, found);
      continue;
    }
    const [settings, stop] = await start(folder, environment);
    Object.assign(environment, settings);
    stops.defer(stop);
    print(`${name} runs`);
  }
  // Files that are named run whole.
  const suite = whole || chosen !== undefined ? {} : { TEST_SUITE: 'change' };
  const run = async (title: string, words: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<void> => {
    const passed = await runTests(title, words, { ...environment, ...suite, ...more }, failures);
    outcomes.push(`${passed ? 'passed' : 'FAILED'}  ${title}`);
    isOk &&= passed;
  };
  if (isChosen('servers')) await run('test/cluster', chosen ?? globSync('test/cluster/**/*.test.ts').filter(isWanted));
  for (const { stores, needs, more } of combinations) {
    const without = needs.filter((name) => missing.has(name));
    const files = globSync(whole ? [...CONFORMANCE, ...more] : CONTRACT, { exclude: LOCAL }).sort();
    if (without.length > 0) outcomes.push(`left out  ${stores}: without ${without.join(', ')}`);
    else await run(stores, chosen ?? ['--together', ...files], { ORDINATE_TEST_STORES: stores });
  }
  if (!whole && chosen === undefined) outcomes.push('left out  what --whole adds');
  print(`\n${readFileSync(failures, 'utf8').trim()}`);
  print(`\n${outcomes.join('\n')}`);
  for (const what of missing.values()) print(`not installed: ${what}`);
  if (!isOk || (all && missing.size > 0)) process.exitCode = 1;
}

await main().catch(fail);
