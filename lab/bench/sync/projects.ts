import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { print } from '../../../cli/cli.ts';
import { sqliteIn } from '../../../server/catalog/location.ts';
import { openCatalog } from '../../../server/catalog/open-catalog.ts';
import { findAnyProject } from '../../../server/catalog/projects.ts';
import { PeakMemory, processorSeconds } from '../memory.ts';
import { startServer } from '../ordinate.ts';
import { quantile } from '../rounds.ts';
import { inWords, lightRequests } from './light.ts';
import { type Asked, startModel } from './model.ts';
import { makeKeys, makeProjects, sharedQueries } from './world.ts';

export interface ProjectsOptions {
  /** Projects that are due at once, when the server starts. */
  readonly projects: number;
  readonly keywords: number;
  /** Days that each of them wants. */
  readonly days: number;
  readonly latency: number;
  readonly perMinute: number;
  /** Minutes after which the measurement ends, whether all have been synced or not. */
  readonly minutes: number;
  /** Seconds of light requests to the idle server. */
  readonly idle: number;
}

const LOOK_EVERY = 1000;

/** Many projects are due at once on one server: who waits how long, and what it costs. */
export async function measureProjects(folder: string, options: ProjectsOptions): Promise<void> {
  const { projects, keywords, days, latency, perMinute, minutes, idle } = options;
  const model = await startModel(folder, {
    properties: projects,
    queries: Math.max(20, keywords),
    latency,
    perMinute: 100_000,
  });
  const dataFolder = join(folder, 'data');
  const queries = sharedQueries(Math.max(20, keywords)).slice(0, keywords);
  const world = { properties: model.properties, connection: model.connection, keywords: queries, days };
  const ids = await makeProjects(folder, dataFolder, world);
  const keys = await makeKeys(dataFolder, 'bench');
  print(`${projects} projects with ${keywords} keywords and ${days} days each, ${latency} ms an answer`);

  process.env['ORDINATE_PROVIDER_REQUESTS_PER_MINUTE'] = String(perMinute);
  const started = Date.now();
  const server = await startServer({ dataFolder, keys, cache: false });
  const memory = new PeakMemory(server.pid);
  const ended = new AbortController();
  const beside = lightRequests(server, ids, ended.signal);
  const worker = new WorkerCost(server.pid);
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const waited = new Map<string, number>();
  while (waited.size < ids.length && Date.now() - started < minutes * 60_000) {
    await sleep(LOOK_EVERY);
    worker.look();
    for (const id of ids) {
      const at = waited.has(id) ? null : (await findAnyProject(catalog, id))!.lastSyncedAt;
      if (at !== null && at !== undefined) waited.set(id, at / 1000 - started);
    }
  }
  const seconds = (Date.now() - started) / 1000;
  ended.abort();
  print(`light requests beside them: ${inWords(await beside)}`);
  if (waited.size === ids.length) {
    const afterwards = await lightRequests(server, ids, AbortSignal.timeout(idle * 1000));
    print(`light requests afterwards: ${inWords(afterwards)}`);
  }
  const peak = memory.look().peak;
  await server.stop();
  const asked = await model.stop();
  const waits = [...waited.values()].map((ms) => ms / 1000);
  print(`${waited.size} of ${ids.length} synced in ${seconds.toFixed(0)} s`);
  print(
    `wait for the first numbers: median ${quantile(waits, 0.5).toFixed(0)} s, longest ${Math.max(...waits).toFixed(0)} s`,
  );
  print(
    `asked: ${asked.length} requests, ${asked.filter(({ status }) => status !== 200).length} refused; ${spread(asked)}`,
  );
  print(
    `peak memory: server ${peak?.toFixed(0)} MB, jobs ${worker.peak.toFixed(0)} MB; processor of jobs ${worker.processor.toFixed(0)} s`,
  );
}

/** Requests in whole minutes, and the most in a second, of all properties and of one. */
function spread(asked: readonly Asked[]): string {
  const first = asked[0]?.at ?? 0;
  const counts = (key: (request: Asked) => string): number[] =>
    [...Map.groupBy(asked, key).values()].map(({ length }) => length);
  const minutes = counts(({ at }) => String(Math.floor((at - first) / 60_000)));
  const inSecond = Math.max(...counts(({ at }) => String(Math.floor(at / 1000))));
  const ofOne = Math.max(...counts(({ at, property }) => `${property} ${Math.floor(at / 1000)}`));
  return `by minute ${minutes.join(', ')}; at most ${inSecond} in a second, ${ofOne} of one property`;
}

/** The memory and the processor time of the process of background jobs, which may be started again. */
class WorkerCost {
  readonly #server: number;
  readonly #seen = new Map<number, { memory: PeakMemory; processor: number }>();

  constructor(server: number) {
    this.#server = server;
  }

  look(): void {
    for (const pid of childrenOf(this.#server)) {
      const known = this.#seen.get(pid) ?? { memory: new PeakMemory(pid), processor: 0 };
      known.memory.look();
      this.#seen.set(pid, { ...known, processor: processorSeconds(pid) ?? known.processor });
    }
  }

  get peak(): number {
    return Math.max(0, ...[...this.#seen.values()].map(({ memory }) => memory.peak ?? 0));
  }

  get processor(): number {
    return [...this.#seen.values()].reduce((sum, { processor }) => sum + processor, 0);
  }
}

function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'));
  return lists.flatMap((list) => list.trim().split(' ').filter(Boolean).map(Number));
}
