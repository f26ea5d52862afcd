import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, dayOf } from '../../../server/domain/dates.ts';
import { API } from '../bench-context.ts';
import { Connection } from '../connection.ts';
import type { Server } from '../ordinate.ts';
import { quantile } from '../rounds.ts';

/** Milliseconds between two requests, like a user of a dashboard. */
const PAUSE = 60;
/** The first ones open files. */
const WARM_UP = 20;

/** Milliseconds of light requests, and of those that only take a turn of the event loop. */
export interface Latencies {
  readonly median: number;
  readonly p95: number;
  readonly loopP95: number;
  readonly loopMax: number;
  readonly failures: number;
}

/** Sends light requests about some projects, one after the other, until `signal` is aborted. */
export async function lightRequests(
  server: Pick<Server, 'address' | 'keys'>,
  projects: readonly string[],
  signal: AbortSignal,
  now = Date.now(),
): Promise<Latencies> {
  const connection = await Connection.open(server.address);
  const [times, loop]: [number[], number[]] = [[], []];
  let failures = 0;
  for (let index = 0; !signal.aborted; index++) {
    const project = projects[index % projects.length]!;
    const to = addDays(dayOf(now), -3 - (index % 20));
    const path = `/projects/${project}/${index % 2 === 0 ? 'site' : 'keywords'}?limit=100&period=14d&to=${to}`;
    const [key] = await server.keys.take(1);
    const answer = await connection.get(API + path.replace(/(site\?)limit=100&/, '$1'), {
      authorization: `Bearer ${key}`,
    });
    const live = await connection.get('/livez');
    if (answer.status !== 200 || live.status !== 200) failures++;
    else if (index >= WARM_UP) {
      times.push(answer.ms);
      loop.push(live.ms);
    }
    await sleep(PAUSE);
  }
  connection.close();
  return {
    median: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    loopP95: quantile(loop, 0.95),
    loopMax: quantile(loop, 1),
    failures,
  };
}

export function inWords({ median, p95, loopP95, loopMax, failures }: Latencies): string {
  const [a, b, c, d] = [median, p95, loopP95, loopMax].map((ms) => ms.toFixed(1));
  return `median ${a} ms, p95 ${b} ms; /livez p95 ${c} ms, max ${d} ms; ${failures} failed`;
}
