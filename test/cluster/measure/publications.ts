import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { BenchOptions } from '../../../lab/bench/options.ts';
import { processorOf } from '../../../lab/bench/processor.ts';
import { atMost, type Line, type Outcome } from '../../../lab/bench/results.ts';
import { quantile } from '../../../lab/bench/rounds.ts';
import { makeTexts, plans, writeFacts } from '../../../lab/bench/snapshots.ts';
import { openJoinedStore } from '../../../server/catalog/joined-store.ts';
import { openCatalog } from '../../../server/catalog/open-catalog.ts';
import { newUuid } from '../../../server/domain/ids.ts';
import { Engine } from '../../../server/facts/duckdb/engine.ts';
import { openJournal } from '../../../server/load/journal.ts';
import { loadSnapshot } from '../../../server/load/load.ts';
import { publishFiles } from '../../../server/load/publish.ts';
import { loadFolders, type Stores } from '../../../server/load/stores.ts';
import { readSettings } from '../../../server/settings/settings.ts';
import { S3_KEYS } from '../servers/s3.ts';
import type { Cluster } from './cluster.ts';
import type { Sizes } from './sizes.ts';

/** Days of a load. */
const DAYS = 7;
const PARTS = ['2025-09', '2025-10', '2025-11', '2025-12'];

/**
 * Loads of different projects at a time, compared with the same loads one after the other: whole ones, by the function of
 * `ordinate load` in one process with one engine, and only their publications, the transactions at their end.
 */
export async function measurePublications(cluster: Cluster, sizes: Sizes, options: BenchOptions): Promise<Outcome> {
  Object.assign(process.env, S3_KEYS);
  const settings = readSettings({ ...cluster.settings, ORDINATE_DATA: cluster.place() });
  await using catalog = await openCatalog(settings);
  const stores = { settings, catalog };
  const projects = plans(options).others.slice(-sizes.loads);
  const ids = projects.map(({ id }) => id);
  const loads = await compare(cluster, sizes, await wholeLoads(stores, projects));
  // Last: it names files that do not exist.
  const publications = await compare(cluster, sizes, await onlyPublications(stores, ids, sizes.publications));
  const names = [`${sizes.loads} loads of ${DAYS} days`, `${sizes.loads * sizes.publications} publications`] as const;
  return {
    lines: [
      ...linesOf(names[0], sizes.loads, loads),
      ...linesOf(names[1], sizes.loads * sizes.publications, publications),
    ],
    targets: [
      atMost(`${names[0]}: ${sizes.loads} at a time against one after the other`, ratio(loads), 1),
      atMost(`${names[1]}: ${sizes.loads} at a time against one after the other`, ratio(publications), 1),
    ],
  };
}

/** Milliseconds of a round, and processor time of the stores in it. */
interface Round {
  readonly ms: number;
  readonly processor: number;
  readonly stores: number;
}

interface Rounds {
  readonly alone: Round[];
  readonly together: Round[];
}

/** Runs the works in turn one after the other and all at a time. */
async function compare(
  { postgres, s3 }: Cluster,
  { rounds }: Sizes,
  { works, close }: { works: readonly (() => Promise<void>)[]; close: () => Promise<void> },
): Promise<Rounds> {
  const found: Rounds = { alone: [], together: [] };
  try {
    for (let round = -1; round < rounds; round++) {
      for (const [name, atATime] of [
        ['alone', 1],
        ['together', works.length],
      ] as const) {
        const limit = pLimit(atATime);
        const theirs = [postgres.pid!, s3.pid!];
        const before = [performance.now(), processorOf([process.pid]), processorOf(theirs)] as const;
        await Promise.all(works.map((work) => limit(work)));
        const ms = performance.now() - before[0];
        const processor = processorOf([process.pid]) - before[1];
        if (round >= 0) found[name].push({ ms, processor, stores: processorOf(theirs) - before[2] });
      }
    }
  } finally {
    await close();
  }
  return found;
}

async function wholeLoads(stores: Stores, projects: ReturnType<typeof plans>['others']) {
  const { dataFolder } = stores.settings;
  const snapshots = join(dataFolder, 'snapshots');
  const engine = await Engine.open({
    memoryLimit: '1GB',
    threads: 2,
    temporaryFolder: join(dataFolder, 'memory'),
    folders: [snapshots, ...loadFolders(stores.settings)],
  });
  using session = await engine.session();
  await makeTexts(session, projects);
  const folders: string[] = [];
  for (const project of projects) {
    const folder = join(snapshots, project.id);
    mkdirSync(folder, { recursive: true });
    await writeFacts(session, folder, 'site_daily', [{ ...project, days: DAYS }]);
    folders.push(folder);
  }
  const works = folders.map((folder) => async (): Promise<void> => {
    await loadSnapshot(stores, { folder, engine: async () => engine });
  });
  return { works, close: async () => engine.close() };
}

/** Loads have their connection and their locks long before they publish. */
async function onlyPublications({ settings, catalog }: Stores, ids: readonly string[], each: number) {
  const opened = new AsyncDisposableStack();
  const journal = openJournal(settings);
  const store = opened.use(await openJoinedStore(settings, catalog));
  const works: (() => Promise<void>)[] = [];
  for (const project of ids) {
    const lock = opened.use((await catalog.locks.takeLoad('projects'))!);
    if (!(await lock.takeProjects([project]))) throw new Error(`${project} is locked.`);
    works.push(async () => {
      for (let done = 0; done < each; done++) {
        const changes = PARTS.map((part) => {
          const file = `facts/site_daily/${project}/${part}-${newUuid()}.parquet`;
          const days = { firstDay: `${part}-01`, lastDay: `${part}-28` };
          const written = { file, rows: 1, bytes: 1, sha256: '0'.repeat(64), ...days };
          return { project, table: 'site_daily' as const, part, written };
        });
        await publishFiles({ catalog, journal, lock, files: { store, lock } }, { changes });
      }
    });
  }
  return { works, close: () => opened.disposeAsync() };
}

function linesOf(name: string, count: number, { alone, together }: Rounds): Line[] {
  const lineOf = (how: string, rounds: readonly Round[]): Line => {
    const middle = (read: (round: Round) => number): number => quantile(rounds.map(read), 0.5);
    const [median, p95] = [
      middle(({ ms }) => ms),
      quantile(
        rounds.map(({ ms }) => ms),
        0.95,
      ),
    ];
    const processor = {
      servers: middle(({ processor }) => processor) / count,
      stores: middle(({ stores }) => stores) / count,
    };
    return {
      name: `${name}, ${how}`,
      median,
      p95,
      samples: rounds.length,
      requestsPerSecond: count / (median / 1000),
      processor,
      baselines: {},
    };
  };
  return [lineOf('one after the other', alone), lineOf('at a time', together)];
}

function ratio({ alone, together }: Rounds): number {
  return quantile(
    together.map(({ ms }, round) => ms / alone[round]!.ms),
    0.5,
  );
}
