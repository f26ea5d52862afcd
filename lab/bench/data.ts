import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKey } from '../../server/catalog/keys.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import type { Engine } from '../../server/facts/duckdb/engine.ts';
import type { BenchOptions } from './options.ts';
import { load } from './ordinate.ts';
import {
  equalPlans,
  LARGE,
  MIDDLE,
  makeTexts,
  type ProjectPlan,
  plans,
  workspaceName,
  writeEntities,
  writeFacts,
  writeLists,
} from './snapshots.ts';
import { makeOnce, stampOf } from './stamp.ts';

/** The files that generate the data of the benchmark, and the files that decide how it is stored. */
const GENERATOR = ['sql/bench/*.sql', 'lab/bench/snapshots.ts', 'lab/bench/data.ts'];
const STORE = ['server/load/*.ts', 'server/catalog/*.ts', 'server/facts/**/*.ts', 'sql/{load,catalog,facts}/**/*.sql'];

/** A loaded data folder and the keys of its workspaces. */
export interface Data {
  readonly folder: string;
  /** Keys by workspace. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
}

export interface BenchData extends Data {
  /** Snapshot with only the large project's keyword facts. */
  readonly largeSnapshot: string;
  /** Plain daily file of a project's keyword facts, as a user of DuckDB would store it. */
  readonly plain: (project: typeof LARGE | typeof MIDDLE) => string;
}

/** A load stages the months of all projects at once: more projects do not fit into its memory. */
const PROJECTS_PER_LOAD = 100;

type Report = (step: string) => void;

/** The data of all measurements except that of many projects. Generated unless data for the same options exists. */
export async function prepareData(engine: Engine, options: BenchOptions, report: Report): Promise<BenchData> {
  const { keywords, middleKeywords, smallKeywords, days, queries, pages, listDays, workspaces, keys } = options;
  const sizes = { keywords, middleKeywords, smallKeywords, days, queries, pages, listDays, workspaces, keys };
  const { large, others } = plans(options);
  const snapshots = join(options.folder, 'snapshots');
  const largeSnapshot = join(snapshots, 'large');
  const otherSnapshot = join(snapshots, 'others');
  const plain = (project: string) => join(snapshots, `plain-${project}.parquet`);

  await makeOnce(snapshots, stampOf(sizes, GENERATOR), async () => {
    using session = await engine.session();
    report(`making keyword facts of ${LARGE}`);
    await makeTexts(session, [large, ...others]);
    await writeEntities(session, largeSnapshot, [large]);
    await writeFacts(session, largeSnapshot, 'keyword_daily', [large]);
    report('making all other facts');
    await writeEntities(session, otherSnapshot, others);
    await writeFacts(session, otherSnapshot, 'keyword_daily', others);
    await writeFacts(session, otherSnapshot, 'site_daily', [large, ...others]);
    await writeFacts(session, otherSnapshot, 'query_daily', [large], listDays);
    await writeFacts(session, otherSnapshot, 'page_daily', [large], listDays);
    report('making plain daily files');
    for (const [folder, project] of [[largeSnapshot, LARGE] as const, [otherSnapshot, MIDDLE] as const]) {
      const source = join(folder, 'keyword_daily.parquet');
      await session.runFile('bench/plain_daily', { source, project, target: plain(project) });
    }
  });
  const names = Array.from({ length: workspaces }, (_, index) => workspaceName(index + 1));
  const stamp = stampOf(sizes, [...GENERATOR, ...STORE]);
  const data = await loadOnce(join(options.folder, 'data'), stamp, [largeSnapshot, otherSnapshot], names, keys, report);
  return { ...data, largeSnapshot, plain };
}

/** A data folder with one project that has days of queries and pages as a site has them. */
export async function prepareLists(
  engine: Engine,
  { folder: root, keys }: BenchOptions,
  name: string,
  sizes: Pick<ProjectPlan, 'queries' | 'pages' | 'days'>,
  report: Report,
): Promise<Data> {
  const plan = { ...sizes, id: LARGE, workspace: workspaceName(1), keywords: 0 };
  const snapshot = join(root, `snapshots-${name}`);
  await makeOnce(snapshot, stampOf(sizes, GENERATOR), async () => {
    report(`making the rows of ${name}`);
    using session = await engine.session();
    await makeTexts(session, [{ ...plan, queries: 1 }]);
    await writeEntities(session, snapshot, [plan]);
    await writeFacts(session, snapshot, 'site_daily', [plan]);
    await writeLists(session, snapshot, plan);
  });
  const stamp = stampOf(sizes, [...GENERATOR, ...STORE]);
  return loadOnce(join(root, `data-${name}`), stamp, [snapshot], [plan.workspace], keys, report);
}

/** Equal projects of one workspace. */
interface EqualProjects {
  readonly count: number;
  readonly keywords: number;
  readonly days: number;
}

/** A data folder with `count` equal projects. */
export async function prepareProjects(
  engine: Engine,
  { folder: root, keys }: BenchOptions,
  { count, keywords, days }: EqualProjects,
  report: Report,
): Promise<Data> {
  const { name, snapshots } = await prepareSnapshots(engine, root, { count, keywords, days }, report);
  const stamp = stampOf({ keywords, days, count, keys }, [...GENERATOR, ...STORE]);
  return loadOnce(join(root, `data-${name}`), stamp, snapshots, [workspaceName(1)], keys, report);
}

/** The snapshots of `count` equal projects, to be loaded in order. */
export async function prepareSnapshots(
  engine: Engine,
  root: string,
  { count, keywords, days }: EqualProjects,
  report: Report,
): Promise<{ readonly name: string; readonly snapshots: readonly string[] }> {
  const projects = equalPlans(count, keywords, days);
  const name = `${count}-${keywords}-${days}`;
  const folder = join(root, `snapshots-${name}`);
  const parts = Array.from({ length: Math.ceil(count / PROJECTS_PER_LOAD) }, (_, index) => ({
    snapshot: join(folder, String(index + 1)),
    projects: projects.slice(index * PROJECTS_PER_LOAD, (index + 1) * PROJECTS_PER_LOAD),
  }));
  await makeOnce(folder, stampOf({ keywords, days, count }, GENERATOR), async () => {
    report(`making the snapshots of ${count} projects`);
    using session = await engine.session();
    await makeTexts(session, projects.slice(0, 1));
    for (const part of parts) {
      await writeEntities(session, part.snapshot, part.projects);
      if (keywords > 0) await writeFacts(session, part.snapshot, 'keyword_daily', part.projects);
      await writeFacts(session, part.snapshot, 'site_daily', part.projects);
    }
  });
  return { name, snapshots: parts.map(({ snapshot }) => snapshot) };
}

/** Loads snapshots into a data folder and creates keys, unless this was done before. */
async function loadOnce(
  folder: string,
  stamp: string,
  snapshots: readonly string[],
  workspaces: readonly string[],
  keys: number,
  report: Report,
): Promise<Data> {
  const file = join(folder, 'keys.json');
  await makeOnce(folder, stamp, async () => {
    mkdirSync(folder, { recursive: true });
    for (const snapshot of snapshots) {
      report(`loading ${snapshot}`);
      await load(folder, snapshot);
    }
    writeFileSync(file, JSON.stringify(await makeKeys(folder, workspaces, keys)), { mode: 0o600 });
  });
  return { folder, keys: JSON.parse(readFileSync(file, 'utf8')) as Data['keys'] };
}

export async function makeKeys(folder: string, workspaces: readonly string[], count: number): Promise<Data['keys']> {
  await using catalog = await openCatalog(sqliteIn(folder));
  const at = toMicroseconds(Date.now());
  const made: Record<string, string[]> = {};
  for (const workspace of workspaces) {
    made[workspace] = [];
    for (let number = 1; number <= count; number++) {
      const { key } = await createKey(catalog, { workspace, name: `bench ${number}`, by: null, at });
      made[workspace].push(key);
    }
  }
  return made;
}
