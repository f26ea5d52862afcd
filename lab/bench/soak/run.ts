import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEngine } from '../baselines.ts';
import { ordinate, startServer } from '../ordinate.ts';
import { type Model, startModel } from '../sync/model.ts';
import { SoakClient } from './http.ts';
import { FACT_KINDS, type Kind, type Traffic } from './kinds.ts';
import { errorLines, findLeftovers } from './leftovers.ts';
import type { Found } from './limits.ts';
import { OTHER_KINDS } from './other-kinds.ts';
import { Random } from './random.ts';
import { type Counts, Tally } from './tally.ts';
import { trend, Watch } from './watch.ts';
import { backupTarget, FREQUENT, plantFault, WORKS, type Works } from './works.ts';
import { makeSynced, makeTrafficKeys, makeTruth } from './world.ts';

export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  /** Clients that send one request after the other. */
  readonly clients: number;
  /** Milliseconds that a client waits between requests, on average. */
  readonly pause: number;
  /** Server processes (`serve --workers`); undefined: one, as by default. */
  readonly workers?: number;
  readonly keywords: number;
  readonly days: number;
  /** Names of works; those of the synced project need the model of the provider. */
  readonly works: readonly string[];
  /** Loads a wrong number, to show that the soak fails. */
  readonly plant: boolean;
}

export interface Soaked {
  readonly counts: readonly Counts[];
  readonly works: readonly Counts[];
  readonly found: Found;
  /** The first unexpected answers and failed works. */
  readonly first: readonly string[];
  readonly jobsPeak: number;
}

const KINDS: Readonly<Record<string, Kind>> = { ...FACT_KINDS, ...OTHER_KINDS };
/** Settings with which caches are full within minutes: otherwise memory grows for as long as they fill. */
const SETTINGS = {
  ORDINATE_CACHE: '2MB',
  ORDINATE_LISTS_MEMORY: '2MB',
  ORDINATE_MEMORY_LIMIT: '256MB',
  ORDINATE_LISTS_LIFETIME: '60',
  ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '100000',
  ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
};
const SYNC_WORKS = ['sync', 'refresh'];
const WORK_PAUSE = 1500;

/** Soaks a new server in a folder. */
export async function soak(folder: string, options: SoakOptions, report: (step: string) => void): Promise<Soaked> {
  Object.assign(process.env, SETTINGS);
  const dataFolder = join(folder, 'data');
  mkdirSync(folder, { recursive: true });
  const { seed, keywords, days, workers } = options;
  const needsModel = options.works.some((name) => SYNC_WORKS.includes(name));
  const model = needsModel
    ? await startModel(folder, { properties: 1, queries: 100, latency: 20, perMinute: 100_000 })
    : undefined;
  report('making data');
  const synced = model && (await makeSynced(folder, dataFolder, model));
  const truth = await makeTruth(folder, dataFolder, { seed, keywords, queries: keywords, days });
  const keys = await makeTrafficKeys(dataFolder);
  const server = await startServer({ dataFolder, keys, cache: true, ...(workers === undefined ? {} : { workers }) });
  const engine = await openEngine(folder, 1);
  const client = new SoakClient(server.address, server.keys);
  const tallies = { requests: new Tally(), works: new Tally() };
  const watch = new Watch(server.pid);
  const primary = workers === undefined ? undefined : server.pid;
  const works = { folder, dataFolder, truth, random: new Random(seed), client, synced, primary };
  const started = performance.now();
  if (options.plant) await plantFault(works);
  const isOver = { now: false };
  const traffic = Array.from({ length: options.clients }, (_, index) => {
    const random = new Random(seed + index + 1);
    return sendRequests({ client, truth, random, engine, folder, synced }, { ...options, isOver }, tallies.requests);
  });
  report('soaking');
  await runWorks(works, options, tallies.works, started + options.minutes * 60_000);
  isOver.now = true;
  await Promise.all(traffic);
  const minutes = (performance.now() - started) / 60_000;
  watch.stop();
  report('looking at what is left');
  await server.stop();
  await engine.close();
  return {
    counts: tallies.requests.rows,
    works: tallies.works.rows,
    first: [...tallies.requests.first, ...tallies.works.first],
    jobsPeak: trend(watch.samples, 'jobs').peak,
    found: {
      minutes,
      right: tallies.requests.sum('right') + tallies.works.sum('right'),
      unexpected: tallies.requests.sum('unexpected') + tallies.works.sum('unexpected'),
      never: [...tallies.requests.rows, ...tallies.works.rows].flatMap(({ kind, right }) => (right > 0 ? [] : [kind])),
      memory: trend(watch.samples, 'server'),
      descriptors: trend(watch.samples, 'descriptors'),
      ...(await lookAtFiles(folder, dataFolder, model)),
    },
  };
}

async function lookAtFiles(folder: string, dataFolder: string, model: Model | undefined) {
  await model?.stop();
  const succeeds = (...words: string[]): Promise<boolean> =>
    ordinate(dataFolder, ...words, '--json').then(
      () => true,
      () => false,
    );
  return {
    leftovers: await findLeftovers(dataFolder, backupTarget(folder)),
    errors: errorLines(`${dataFolder}.log`),
    verified: await succeeds('verify'),
    backupsVerified:
      (await succeeds('backup', backupTarget(folder))) && (await succeeds('verify', backupTarget(folder))),
  };
}

/** One client: each kind once, then any, until it is over. */
async function sendRequests(
  traffic: Traffic,
  { pause, isOver }: { pause: number; isOver: { readonly now: boolean } },
  tally: Tally,
): Promise<void> {
  const { random } = traffic;
  const names = Object.keys(KINDS).filter((name) => name !== 'synced' || traffic.synced !== undefined);
  const once = names.toSorted(() => random.next() - 0.5);
  while (!isOver.now || once.length > 0) {
    const name = once.pop() ?? random.pick(names);
    await tally.run(name, () => KINDS[name]!(traffic));
    await sleep(random.next() * 2 * pause);
  }
}

/** Each work once, then any, one after the other, until the time is over. */
async function runWorks(works: Works, { works: names }: SoakOptions, tally: Tally, end: number): Promise<void> {
  const { random } = works;
  const once = names.filter((name) => name !== 'replace' || works.primary !== undefined);
  const often = [...once, ...FREQUENT.filter((name) => once.includes(name))];
  while (once.length > 0 || performance.now() < end) {
    const name = once.shift() ?? random.pick(often);
    await tally.run(name, () => WORKS[name]!(works));
    await sleep(Math.min(random.next() * 2 * WORK_PAUSE, Math.max(0, end - performance.now())));
  }
}
