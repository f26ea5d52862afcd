import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { print } from '../../cli/cli.ts';
import { listChannels } from '../../server/catalog/channels.ts';
import { listDeliveries } from '../../server/catalog/deliveries.ts';
import { sendDue } from '../../server/channels/send.ts';
import { Postgres } from '../../test/cluster/servers/postgres.ts';
import { addChannels, ask, printTimes, type Scene, withScene, withServer } from './delivery-scene.ts';

interface OldOptions {
  readonly rows: number;
  readonly minutes: number;
  readonly postgres?: boolean;
}

/** A delivery is kept for so many milliseconds after its end. */
const KEPT = 30 * 86_400_000;

/** Asks beside delivered rows of nearly 30 days ago, and while they are forgotten; and an empty outbox by turns. */
export async function measureOld({ rows, minutes, postgres }: OldOptions): Promise<void> {
  const server = postgres === true ? await Postgres.start('pass-word') : undefined;
  try {
    const [full, empty] = await Promise.all(['full', 'empty'].map((name) => newCatalog(server, name)));
    await withScene((scene) => withScene((calm) => measure(scene, calm, { rows, minutes }), { catalogUrl: empty }), {
      catalogUrl: full,
    });
  } finally {
    await server?.remove();
  }
}

async function newCatalog(server: Postgres | undefined, name: string): Promise<string | undefined> {
  if (server === undefined) return undefined;
  await queryPostgres(server.url, `create database ordinate_${name}`);
  return Object.assign(new URL(server.url), { pathname: `/ordinate_${name}` }).href;
}

async function measure(scene: Scene, calm: Scene, { rows, minutes }: OldOptions): Promise<void> {
  for (const each of [scene, calm]) await addChannels(each, 1);
  await withServer(scene, (busy) =>
    withServer(calm, async (idle) => {
      const clients = [busy, idle];
      await ask(clients, sleep(8000));
      const before = await ask(clients, sleep(25_000));
      const began = performance.now();
      await addDelivered(scene, rows, Date.now() + 200_000 + rows / 8);
      print(`\n${rows} delivered rows written in ${Math.round((performance.now() - began) / 1000)} s`);
      await ask(clients, sleep(30_000));
      const beside = await ask(clients, sleep(60_000));
      for (const [what, look] of Object.entries({ 'nothing due': lookForDue, 'newest deliveries': listNewest })) {
        const [first, other] = await timeByTurns([scene, calm], look);
        print(`${what}: ${first} µs beside them, ${other} µs without`);
      }
      if ((await countDeliveries(scene)) < rows) throw new Error('They are forgotten already; begin with fewer rows.');
      while ((await countDeliveries(scene)) >= rows) await sleep(1000);
      const during = await ask(clients, sleep(minutes * 60_000));
      print(`${rows - (await countDeliveries(scene))} forgotten in ${minutes} min`);
      printTimes({ before, beside, during });
    }),
  );
}

/** Inserts deliveries that are to be forgotten from an instant on. */
async function addDelivered({ settings, catalog }: Scene, rows: number, forgottenAt: number): Promise<void> {
  const [channel] = await listChannels(catalog, null);
  const body = JSON.stringify({ type: 'alert.opened', data: { text: 'x'.repeat(700) } });
  const values = [channel!.id, body, (forgottenAt - KEPT) * 1000];
  const insert = (numbers: string): string => `
    insert into deliveries (id, channel_id, event, subject, body, state, attempts, created_at, sent_at, ended_at)
    select 'old-' || i, $1, 'alert.opened', 'a', $2, 'sent', 1, at + i, at + i, at + i
    from (select cast($3 as bigint) as at) as first cross join ${numbers}`;
  if (settings.catalogUrl === '') {
    using db = new DatabaseSync(join(settings.dataFolder, 'catalog.sqlite'), { timeout: 60_000 });
    const numbers = `(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows}) select i from n) as n`;
    db.prepare(insert(numbers).replaceAll(/\$\d/g, '?')).run(...values);
  } else await queryPostgres(settings.catalogUrl, insert(`generate_series(1, ${rows}) as n(i)`), values);
}

async function queryPostgres(url: string, text: string, values: unknown[] = []): Promise<{ count: string }[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<{ count: string }>(text, values)).rows;
  } finally {
    await client.end();
  }
}

async function countDeliveries({ settings }: Scene): Promise<number> {
  const text = "select count(*) as count from deliveries where subject = 'a'";
  if (settings.catalogUrl !== '') return Number((await queryPostgres(settings.catalogUrl, text))[0]!.count);
  using db = new DatabaseSync(join(settings.dataFolder, 'catalog.sqlite'), { readOnly: true, timeout: 60_000 });
  return Number(db.prepare(text).get()!['count']);
}

/** What the job does every three seconds where nothing is due. */
async function lookForDue({ catalog, settings }: Scene): Promise<void> {
  const options = { settings, now: Date.now, random: Math.random, sleep: (ms: number) => sleep(ms).then(() => {}) };
  const fail = (error: unknown): never => {
    throw error;
  };
  await sendDue(catalog, { ...options, onError: fail, signal: new AbortController().signal });
}

/** What the page of channels asks. */
async function listNewest({ catalog }: Scene): Promise<void> {
  const [channel] = await listChannels(catalog, null);
  await listDeliveries(catalog, channel!.id, 100);
}

/** The median time of some work for each scene, by turns, in microseconds. */
async function timeByTurns(scenes: readonly Scene[], work: (scene: Scene) => Promise<void>): Promise<number[]> {
  const times = scenes.map((): number[] => []);
  const inOrder = (turn: number) => (turn % 2 === 0 ? [...scenes.entries()] : [...scenes.entries()].reverse());
  for (let turn = 0; turn < 200; turn++) {
    for (const [index, scene] of inOrder(turn)) {
      const began = performance.now();
      await work(scene);
      times[index]!.push(1000 * (performance.now() - began));
    }
    await sleep(4);
  }
  return times.map((all) => Math.round(all.sort((a, b) => a - b)[all.length / 2]!));
}
