import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteIn } from '../../../server/catalog/location.ts';
import { openCatalog } from '../../../server/catalog/open-catalog.ts';
import { listAllProjects } from '../../../server/catalog/projects.ts';
import { NEVER_SYNCED, putSyncProject } from '../../../server/catalog/sync-projects.ts';
import { addDays } from '../../../server/domain/dates.ts';
import { toMicroseconds } from '../../../server/domain/instants.ts';
import { setConnection } from '../../../server/providers/connections.ts';
import { type Bench, Client, withServer } from '../bench-context.ts';
import { makeKeys, prepareSnapshots } from '../data.ts';
import { type Cost, load, measured } from '../ordinate.ts';
import { processorOf } from '../processor.ts';
import { atMost, type Line, type Outcome, type Target } from '../results.ts';
import { summarise } from '../rounds.ts';
import { LAST_DAY, workspaceName } from '../snapshots.ts';

/** How many times as many keywords or projects the larger of two worlds has. */
const FACTOR = 10;
/** Requests of each question. */
const ASKED = 20;

interface World {
  readonly projects: number;
  readonly keywords: number;
  readonly days: number;
}

/** Seconds of processor time of each step: what other work on the machine changes least. */
type Steps = Readonly<Record<string, number>>;

/**
 * Everything from a load to an answer, for a project with ten times as many keywords, and for ten times as many projects.
 * What a step costs may grow as its work does, and not faster.
 */
export async function measureScale(bench: Bench): Promise<Outcome> {
  const { scale, keywords } = bench.options;
  const pairs: readonly [string, World][] = [
    ['keywords', { projects: 1, keywords: 2 * keywords, days: 28 }],
    ['projects', { projects: scale, keywords: 0, days: 28 }],
  ];
  const lines: Line[] = [];
  const targets: Target[] = [];
  for (const [what, small] of pairs) {
    const large = { ...small, [what]: small[what as 'keywords' | 'projects'] * FACTOR };
    const [few, many] = [await runAll(bench, small), await runAll(bench, large)];
    const count = large[what as 'keywords' | 'projects'].toLocaleString('en');
    for (const [step, seconds] of Object.entries(many)) {
      const name = `scale: processor time, ${count} ${what}, ${step}`;
      const time = summarise([{ ms: seconds * 1000 }]);
      lines.push({ name, ...time, baselines: { 'a tenth': few[step]! * 1000 } });
      targets.push(atMost(`${name}, against ${FACTOR} × a tenth`, seconds / (FACTOR * few[step]!), 1));
    }
  }
  return { lines, targets };
}

/** Loads a world, plans its syncs, evaluates its alerts, and asks for a portfolio and for keywords. */
async function runAll({ engine, options, report }: Bench, { projects, keywords, days }: World): Promise<Steps> {
  const equal = { count: projects, keywords, days };
  const { name, snapshots } = await prepareSnapshots(engine, options.folder, equal, report);
  const folder = join(options.folder, `scale-${name}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  report(`${projects} projects with ${keywords} keywords: load`);
  let loading = 0;
  for (const snapshot of snapshots) loading += costOf(await load(folder, snapshot));
  await connectAll(folder);
  report('sync plan and alerts');
  const planned = await measured(folder, 'sync', '--dry-run');
  const alerts = await measured(folder, 'alerts', 'evaluate', '--json');
  const keys = await makeKeys(folder, [workspaceName(1)], options.keys);
  const steps = await withServer({ folder, keys }, { cache: false }, async (server) => {
    const client = await Client.of(server);
    const ask = async (path: string): Promise<number> => {
      await client.time(path);
      const before = processorOf([server.pid]);
      for (let time = 0; time < ASKED; time++) await client.time(path);
      return (processorOf([server.pid]) - before) / 1000 / ASKED;
    };
    // All projects: JSON has a thousand of them at a time.
    const portfolio = await ask('/portfolio.csv?compare=previous');
    const answer = await ask(`/projects/P0001/keywords?period=14d&limit=5000`);
    client.close();
    return { portfolio, 'keywords of a project': answer };
  });
  rmSync(folder, { recursive: true, force: true });
  return { load: loading, 'sync plan': costOf(planned), alerts: costOf(alerts), ...steps };
}

const costOf = ({ processor, seconds }: Cost): number => processor ?? seconds;

/** Connects all projects, so that a sync plans the days that they lack. Nothing is asked. */
async function connectAll(folder: string): Promise<void> {
  await using catalog = await openCatalog(sqliteIn(folder));
  const at = toMicroseconds(Date.now());
  const connection = {
    kind: 'search-console',
    credentials: join(folder, 'none.json'),
    endpoint: null,
    tokenEndpoint: null,
    dataset: null,
    location: null,
    grant: null,
    archive: 'none',
  } as const;
  for (const { id } of await listAllProjects(catalog, null)) {
    await setConnection(catalog, id, connection, at);
    await putSyncProject(catalog, id, { ...NEVER_SYNCED, firstDay: addDays(LAST_DAY, -27) });
  }
}
