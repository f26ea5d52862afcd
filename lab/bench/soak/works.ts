import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, type Day } from '../../../server/domain/dates.ts';
import { ordinate } from '../ordinate.ts';
import { expectStatus, type SoakClient, Unexpected } from './http.ts';
import type { Random } from './random.ts';
import type { Truth } from './truth.ts';
import { serverProcesses } from './watch.ts';
import { loadDays, ROTATED } from './world.ts';

/** What runs beside the requests: each is a command, as an operator or a timer runs it. */
export interface Works {
  readonly folder: string;
  readonly dataFolder: string;
  readonly truth: Truth;
  readonly random: Random;
  readonly client: SoakClient;
  readonly synced: string | undefined;
  /** The first process of a server with several; undefined: it has one only. */
  readonly primary: number | undefined;
}

/** Throws if a command fails or says that something is wrong. */
type Work = (works: Works) => Promise<void>;

/** Days that are added before only corrections follow, so that the range of the data has an end. */
const MAX_NEW_DAYS = 200;
const KEEP = 3;
/** Milliseconds that a replacement may take. */
const REPLACEMENT = 120_000;

export const backupTarget = (folder: string): string => join(folder, 'backup');

/** A day is added, with the late numbers of the two before it. */
async function newDay(works: Works): Promise<void> {
  const { truth } = works;
  const { lastDay, versions } = truth.last;
  if (versions.size > truth.sizes.days + MAX_NEW_DAYS) return correction(works);
  await change(
    works,
    [-1, 0, 1].map((days) => addDays(lastDay, days)),
  );
}

/** Some days get other numbers. */
async function correction(works: Works): Promise<void> {
  const { truth, random } = works;
  const last = addDays(truth.last.lastDay, -random.whole(0, truth.sizes.days - 5));
  await change(
    works,
    [-2, -1, 0].map((days) => addDays(last, days)),
  );
}

async function change({ folder, dataFolder, truth }: Works, days: readonly Day[]): Promise<void> {
  const state = truth.begin(days);
  await loadDays(folder, dataFolder, truth, { state, days });
  truth.published();
}

/** Loads one click more than the soak knows, to show that it notices. */
export async function plantFault({ folder, dataFolder, truth }: Works): Promise<void> {
  const state = truth.last;
  await loadDays(folder, dataFolder, truth, { state, days: [state.lastDay] }, (tables) => {
    const row = tables['site_daily']![0] as { clicks: number };
    tables['site_daily']![0] = { ...row, clicks: row.clicks + 1 };
  });
}

const backup: Work = async ({ folder, dataFolder, random }) => {
  const quick = random.next() < 0.3 ? ['--quick'] : [];
  await ordinate(dataFolder, 'backup', backupTarget(folder), '--keep', String(KEEP), ...quick, '--json');
};

const verifyBackup: Work = async ({ folder, dataFolder }) => {
  await ordinate(dataFolder, 'verify', backupTarget(folder), '--json');
};

const verify: Work = async ({ dataFolder }) => {
  await ordinate(dataFolder, 'verify', '--json');
};

/** A key is made, rotated and revoked; each takes effect with the next request. */
const rotate: Work = async ({ dataFolder, client }) => {
  const keys = async (...words: string[]) =>
    JSON.parse(await ordinate(dataFolder, 'keys', ...words, '--workspace', ROTATED, '--json')) as {
      id: string;
      key: string;
    };
  const ask = async (key: string, statuses: readonly number[]) =>
    expectStatus(await client.send('GET', '/api/v1/projects', { authorization: `Bearer ${key}` }), statuses);
  const old = await keys('create', '--name', 'rotated');
  await ask(old.key, [200]);
  const made = await keys('rotate', old.id, '--overlap', '1h');
  await ask(old.key, [200]);
  await keys('revoke', old.id);
  // 429: this address has failed too often in this minute, with the bad keys of the traffic.
  await ask(old.key, [401, 429]);
  await ask(made.key, [200]);
  await keys('revoke', made.id);
  await ask(made.key, [401, 429]);
};

const sync: Work = async ({ dataFolder, synced }) => {
  if (synced !== undefined) await ordinate(dataFolder, 'sync', '--project', synced);
};

const refresh: Work = async ({ dataFolder, synced }) => {
  if (synced !== undefined)
    await ordinate(dataFolder, 'lists', 'warm', '--project', synced, '--period', '14d', '--json');
};

/** All server processes are replaced; no request may fail meanwhile. */
const replace: Work = async ({ primary }) => {
  if (primary === undefined) return;
  const [, ...before] = serverProcesses(primary);
  process.kill(primary, 'SIGUSR2');
  const deadline = performance.now() + REPLACEMENT;
  while (before.some((pid) => existsSync(`/proc/${pid}`))) {
    if (performance.now() > deadline) throw new Unexpected('the server processes were not replaced');
    await sleep(100);
  }
};

const audit: Work = async ({ dataFolder }) => {
  const entries = JSON.parse(await ordinate(dataFolder, 'audit', 'list', '--json')) as unknown;
  if (!JSON.stringify(entries).includes('load')) throw new Unexpected('the audit trail has no load');
};

export const WORKS: Readonly<Record<string, Work>> = {
  load: newDay,
  correction,
  sync,
  backup,
  'verify-backup': verifyBackup,
  rotate,
  refresh,
  verify,
  audit,
  replace,
};

/** More often than the others. */
export const FREQUENT = ['load', 'correction', 'load', 'correction', 'sync', 'backup'];
