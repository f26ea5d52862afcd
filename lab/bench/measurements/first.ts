import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, Client, withNewServer, withServer } from '../bench-context.ts';
import { load } from '../ordinate.ts';
import { atMost, type Line, type Outcome } from '../results.ts';
import { quantile, type Sample, summarise } from '../rounds.ts';
import { LARGE, LAST_DAY, makeTexts, plans, writeFacts } from '../snapshots.ts';

const QUESTION = `/projects/${LARGE}/keywords?period=28d&limit=5000`;
/** Questions until one is warm, and those whose median it is; in a quick run. */
const WARM_UP = 20;
const QUICK_WARM_UP = 2;
/** Milliseconds in which a server that is ready prepares for its first question. */
const REST = 1000;

interface Waits {
  readonly first: Sample[];
  readonly warm: Sample[];
}

/** The first question of a process, and the first after a publication, against warm ones, without a response cache. */
export async function measureFirst({ data, engine, options }: Bench): Promise<Outcome> {
  const rounds = Math.min(options.rounds, 7);
  const warmUp = options.quick ? QUICK_WARM_UP : WARM_UP;
  const atOnce: Waits = { first: [], warm: [] };
  const rested: Waits = { first: [], warm: [] };
  for (let round = 0; round < rounds; round++) {
    for (const [waits, rest] of [[atOnce, 0] as const, [rested, REST] as const]) {
      await withServer(data, { cache: false }, async (server) => {
        await sleep(rest);
        const client = await Client.of(server);
        waits.first.push(await client.time(QUESTION));
        waits.warm.push(await warmOf(client, warmUp));
        client.close();
      });
    }
  }
  // A copy: the other measurements read the data as it was made.
  const folder = join(options.folder, 'published');
  const snapshot = join(options.folder, 'one-day');
  rmSync(folder, { recursive: true, force: true });
  cpSync(data.folder, folder, { recursive: true });
  mkdirSync(snapshot, { recursive: true });
  {
    using session = await engine.session();
    const { large } = plans(options);
    await makeTexts(session, [large]);
    await writeFacts(session, snapshot, 'keyword_daily', [{ ...large, days: 1 }]);
  }
  const published: Waits = { first: [], warm: [] };
  await withNewServer({ ...data, folder }, { cache: false }, async (server) => {
    const client = await Client.of(server);
    await warmOf(client, warmUp);
    for (let round = 0; round < rounds; round++) {
      published.warm.push(await warmOf(client, warmUp));
      await load(folder, snapshot);
      published.first.push(await client.time(QUESTION));
    }
    client.close();
  });
  for (const made of [folder, snapshot, `${folder}.log`]) rmSync(made, { recursive: true, force: true });
  return {
    lines: [
      lineOf('first question of a process, as soon as it is ready', atOnce),
      lineOf('first question of a process, a second later', rested),
      lineOf(`first question after a load of ${LAST_DAY}`, published),
    ],
    targets: [
      atMost('first question of a process against a warm one, as soon as it is ready', ratioOf(atOnce), 2),
      atMost('first question of a process against a warm one, a second later', ratioOf(rested), 2),
      atMost('first question after a publication against a warm one', ratioOf(published), 1.3),
    ],
  };
}

/** The median of warm questions. */
async function warmOf(client: Client, warmUp: number): Promise<Sample> {
  const samples: Sample[] = [];
  for (let index = -warmUp; index < warmUp; index++) {
    const sample = await client.time(QUESTION);
    if (index >= 0) samples.push(sample);
  }
  return { ms: summarise(samples).median };
}

const lineOf = (name: string, { first, warm }: Waits): Line => ({
  name,
  ...summarise(first),
  baselines: { warm: summarise(warm).median },
});

/** The median over rounds of what the first took against a warm one of the same round. */
const ratioOf = ({ first, warm }: Waits): number =>
  quantile(
    first.map(({ ms }, round) => ms / warm[round]!.ms),
    0.5,
  );
