import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Engine } from '../../server/facts/duckdb/engine.ts';
import { createKeys, ordinate, ROOT } from '../server.ts';
import { PROJECT, projectOf, WORKSPACE, WORKSPACES, writeTables } from '../tables.ts';

/** The last day of all data: fixed, so that runs on different days compare, and in mid-month, as most days are. */
export const LAST_DAY = '2025-12-17';
const SEED = 'ordinate bench';
/** As many as a workspace may have: each may send 120 requests a minute. */
const KEYS = 20;
/** Of the keywords, this share is loaded in an order that nothing knows. */
const SHUFFLED = 0.6;
/** Days of queries and pages. */
export const LIST_DAYS = 28;

/** How much data is made. */
export interface Sizes {
  readonly keywords: number;
  readonly days: number;
  readonly queries: number;
  readonly pages: number;
}

/** Snapshots and files for DuckDB. */
export interface Made {
  /** Keyword facts, and all other facts. */
  readonly snapshots: readonly string[];
  /** A file of the keyword facts by day, as a user of DuckDB would store it. */
  readonly plain: string;
  /** A snapshot with some of the keyword facts in no order. */
  readonly shuffled: string;
}

/** DuckDB as a user would run it: all processors, and enough memory. */
export function openEngine(folder: string, threads: number): Promise<Engine> {
  return Engine.open({ memoryLimit: '4GB', threads, temporaryFolder: join(folder, 'memory'), folders: [folder] });
}

/** Makes the rows of the benchmark, unless those of these sizes are there. */
export async function makeRows(engine: Engine, folder: string, sizes: Sizes): Promise<Made> {
  const root = join(folder, 'snapshots');
  const [keywords, others, shuffled] = ['keywords', 'others', 'shuffled'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  const plain = join(root, 'plain.parquet');
  await makeOnce(root, stampOf(sizes, ROOT, ['sql/bench/*.sql', 'lab/bench/data.ts']), async () => {
    using session = await engine.session();
    const project = { ...sizes, id: PROJECT, workspace: WORKSPACE };
    await session.runFile('bench/texts', { seed: SEED, count: Math.max(sizes.keywords, sizes.queries) });
    const use = (plan: object) => session.runFile('bench/projects', { projects: JSON.stringify([plan]) });
    const write = (to: string, table: string, values: Record<string, string | number> = {}) =>
      session.runFile(`bench/${table}`, { ...values, target: join(to, `${table}.parquet`) });
    const projects = [projectOf(PROJECT, { brand_terms: ['acme'], synced_through: LAST_DAY })];
    for (const to of [keywords, others, shuffled]) writeTables(to, { workspaces: WORKSPACES, projects });
    await use(project);
    await write(keywords, 'keywords');
    await write(keywords, 'keyword_daily', { seed: SEED, last: LAST_DAY });
    await write(others, 'site_daily', { seed: SEED, last: LAST_DAY });
    for (const table of ['query_daily', 'page_daily'])
      await write(others, table, { seed: SEED, last: LAST_DAY, days: LIST_DAYS });
    const source = join(keywords, 'keyword_daily.parquet');
    await session.runFile('bench/plain_daily', { source, project: PROJECT, target: plain });
    const some = Math.round(sizes.keywords * SHUFFLED);
    await use({ ...project, keywords: some });
    await write(shuffled, 'keywords');
    const below = String(some).padStart(5, '0');
    await session.runFile('bench/shuffled', { source, below, target: join(shuffled, 'keyword_daily.parquet') });
  });
  return { snapshots: [keywords, others], plain, shuffled };
}

/** A data folder that a program has loaded, and keys. */
export interface Data {
  readonly program: string;
  readonly dataFolder: string;
  readonly keys: readonly string[];
}

/** Loads the snapshots by a program, unless the same code has done so. */
export async function loadRows(folder: string, program: string, { snapshots }: Made): Promise<Data> {
  const where = { program, dataFolder: folder };
  const file = join(folder, 'keys.json');
  const made = readFileSync(`${dirname(snapshots[0]!)}.stamp`, 'utf8');
  const code = ['server/{load,catalog,facts}/**/*.ts', 'sql/{load,catalog,facts}/**/*.sql'];
  await makeOnce(folder, stampOf({ made }, join(dirname(program), '..'), code), async () => {
    for (const snapshot of snapshots) await ordinate(where, 'load', snapshot, '--json');
    writeFileSync(file, JSON.stringify(await createKeys(where, WORKSPACE, KEYS)), { mode: 0o600 });
  });
  return { ...where, keys: JSON.parse(readFileSync(file, 'utf8')) as string[] };
}

/** A hash of values and of files. */
function stampOf(values: object, root: string, files: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(values));
  for (const file of globSync([...files], { cwd: root }).sort())
    digest.update(file).update(readFileSync(join(root, file)));
  return digest.digest('hex');
}

/** Makes a folder, in place of an old one, unless one with this stamp exists. */
async function makeOnce(folder: string, stamp: string, make: () => Promise<void>): Promise<void> {
  const file = `${folder}.stamp`;
  if (existsSync(file) && readFileSync(file, 'utf8') === stamp) return;
  process.stderr.write(`making ${folder}\n`);
  rmSync(file, { force: true });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await make();
  // Written last: an incomplete folder has none.
  writeFileSync(file, stamp);
}
