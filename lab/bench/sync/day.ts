import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import pino from 'pino';
import { print } from '../../../cli/cli.ts';
import { openCatalog } from '../../../server/catalog/open-catalog.ts';
import { readSyncProject } from '../../../server/catalog/sync-projects.ts';
import { addChannel } from '../../../server/channels/channels.ts';
import { dayOf } from '../../../server/domain/dates.ts';
import { digestRange, digestTimes } from '../../../server/domain/digest-periods.ts';
import { HOUR } from '../../../server/domain/hours.ts';
import { toMicroseconds } from '../../../server/domain/instants.ts';
import type { JobContext } from '../../../server/jobs/job.ts';
import { JOBS } from '../../../server/jobs/jobs.ts';
import { readSettings } from '../../../server/settings/settings.ts';
import { Receiver } from '../../evidence/receiver.ts';
import { PeakMemory, processorSeconds } from '../memory.ts';
import { startServer } from '../ordinate.ts';
import { tables } from '../report.ts';
import { atLeast, atMost } from '../results.ts';
import type { Latencies } from './light.ts';
import { inWords } from './light.ts';
import type { LightWork } from './light-thread.ts';
import { startModel } from './model.ts';
import { makeKeys, makeProjects, sharedQueries } from './world.ts';

export interface DayOptions {
  readonly projects: number;
  readonly keywords: number;
  /** Days that each project has. */
  readonly days: number;
  readonly latency: number;
}

const DAY = 24 * HOUR;
/** Simulated time from one look at the jobs to the next. */
const STEP = 300_000;
/** Projects are first due within so long: three more syncs, each after up to 6.6 hours and a step, fit into the day. */
const FIRST_DUE_WITHIN = 3.5 * HOUR;
const SYNCS = 4;
/** Channels that hear of alerts and want a digest. */
const CHANNELS = 20;

/**
 * A day of many projects in as little time as its work takes: all background jobs run whenever their time has come on a
 * simulated clock, while light requests are sent to a server over the same folder. So they meet a day's work without pauses.
 * The day is one on whose morning digests of the week are written.
 */
export async function measureDay(folder: string, options: DayOptions): Promise<void> {
  const { projects, keywords, days, latency } = options;
  const start = startOfDay();
  process.env['ORDINATE_SECRETS_KEY_FILE'] = join(folder, 'secrets.key');
  process.env['ORDINATE_DELIVERY_LOOPBACK'] = 'on';
  process.env['ORDINATE_PROVIDER_REQUESTS_PER_MINUTE'] = '100000';
  process.env['ORDINATE_PROVIDER_REQUESTS_PER_SECOND'] = '1000';
  process.env['ORDINATE_JOBS'] = 'off';
  const queries = Math.max(20, keywords);
  const model = await startModel(folder, { properties: projects, queries, latency, perMinute: 1_000_000 });
  model.setTime(start);
  const dataFolder = join(folder, 'data');
  const ids = await makeProjects(folder, dataFolder, {
    properties: model.properties,
    connection: model.connection,
    keywords: sharedQueries(queries).slice(0, keywords),
    days,
    now: start,
    dueAt: (index) => start + Math.floor((index * FIRST_DUE_WITHIN) / projects),
  });
  const settings = readSettings({ ...process.env, ORDINATE_DATA: dataFolder });
  const receiver = new Receiver(() => 0);
  const origin = await receiver.listen();
  await using catalog = await openCatalog(settings);
  for (let index = 0; index < CHANNELS; index++) {
    const events = ['alert.opened', 'alert.resolved', 'digest.weekly'] as const;
    const channel = { workspace: 'bench', kind: 'webhook', to: `${origin}/${index}`, events } as const;
    await addChannel({ settings, catalog }, channel, { by: 'bench', at: toMicroseconds(start - 14 * DAY) });
  }
  const keys = await makeKeys(dataFolder, 'bench');
  const server = await startServer({ dataFolder, keys, cache: false });
  const memory = new PeakMemory(server.pid);
  const workerData: LightWork = { address: server.address.href, keys, projects: ids, now: start };
  const light = new Worker(new URL('./light-thread.ts', import.meta.url), { workerData });
  const reported = once(light, 'message');

  const [began, processor] = [performance.now(), processorSeconds(process.pid)!];
  const counts = new Map<string, number>();
  const synced = new Map<string, Set<number>>(ids.map((id) => [id, new Set()]));
  const nextAt = new Map(JOBS.map(({ name }) => [name, start]));
  let now = start;
  const log = pino({ level: 'warn' }, pino.destination(2));
  const context: JobContext = { settings, catalog, log, now: () => now, report: () => {} };
  for (; now < start + DAY; now += STEP) {
    model.setTime(now);
    for (const job of JOBS) {
      if (nextAt.get(job.name)! > now) continue;
      nextAt.set(job.name, now + job.every);
      for (const [what, count] of Object.entries(await job.run(context, AbortSignal.timeout(HOUR)))) {
        if (typeof count !== 'number') continue;
        const name = `${job.name} ${what}`;
        counts.set(name, (counts.get(name) ?? 0) + count);
      }
    }
    for (const id of ids) {
      const { lastSuccessAt } = await readSyncProject(catalog, id);
      if (lastSuccessAt !== null) synced.get(id)!.add(lastSuccessAt);
    }
  }
  const seconds = (performance.now() - began) / 1000;
  const used = processorSeconds(process.pid)! - processor;
  light.postMessage('stop');
  const [latencies] = (await reported) as [Latencies];
  await light.terminate();
  const peak = memory.look().peak;
  await server.stop();
  receiver.close();
  const asked = await model.stop();

  print(`${projects} projects with ${keywords} keywords and ${days} days; a day in ${seconds.toFixed(0)} s`);
  print(`light requests beside it: ${inWords(latencies)}`);
  print(`jobs: ${[...counts].map(([what, count]) => `${what} ${count}`).join(', ')}`);
  print(`received: ${receiver.received}; asked: ${asked.length} requests for data`);
  print(`processor: ${used.toFixed(0)} s of jobs and clients; peak memory of the server ${peak?.toFixed(0)} MB`);
  const fewest = Math.min(...[...synced.values()].map(({ size }) => size));
  const targets = [
    atMost('day: light requests, p95', latencies.p95, 30, 'ms'),
    atMost('day: failed light requests', latencies.failures, 0, 'requests'),
    atLeast('day: syncs of the project with the fewest', fewest, SYNCS, 'syncs'),
    atMost('day: hours of one machine that its work takes', seconds / 3600, 24, 'h'),
  ];
  print(`\n${tables({ lines: [], targets })}`);
}

/** The last day on whose middle the digests of a week were sent at the latest. */
function startOfDay(): number {
  const latest = (at: number): number => digestTimes(digestRange('week', dayOf(at))).latest - DAY / 2;
  const start = latest(Date.now());
  return start + DAY < Date.now() ? start : latest(Date.now() - 7 * DAY);
}
