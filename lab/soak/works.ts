import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, type Day, eachDay } from '../../server/domain/dates.ts';
import type { Random } from '../../test/random.ts';
import { ordinate } from '../server.ts';
import { CREATED, projectOf, type Row, WORKSPACE, workspaceOf, writeTables } from '../tables.ts';
import { type Client, Unexpected } from './client.ts';
import { serverProcesses } from './limits.ts';
import { FIRST_LAST_DAY, keywordIds, PROJECTS, type State, type Truth } from './truth.ts';

/** The workspace whose keys are rotated; those of the other one belong to the traffic. */
const ROTATED = 'rotated';
/** Days that are added before only corrections follow, so that the data has an end. */
const MAX_NEW_DAYS = 200;

/** What runs beside the requests: commands, as an operator or a timer runs them. */
export interface Works {
  readonly folder: string;
  readonly dataFolder: string;
  readonly truth: Truth;
  readonly random: Random;
  readonly client: Client;
  /** The first process of a server with several. */
  readonly primary: number | undefined;
}

type Where = Pick<Works, 'folder' | 'dataFolder' | 'truth'>;

/** Loads the first state. */
export async function loadFirst(where: Where, days: number): Promise<void> {
  const ids = keywordIds(where.truth.rows);
  const state = where.truth.begin(eachDay(addDays(FIRST_LAST_DAY, 1 - days), FIRST_LAST_DAY));
  await load(where, state, {
    workspaces: [WORKSPACE, ROTATED].map(workspaceOf),
    ...tablesOf(where.truth, state, [...state.versions.keys()]),
    keywords: PROJECTS.flatMap((project_id) =>
      ids.map((id) => ({ project_id, id, query: `word ${id}`, tracked_since: CREATED })),
    ),
  });
}

async function load({ folder, dataFolder, truth }: Where, state: State, tables: Record<string, Row[]>): Promise<void> {
  const snapshot = join(folder, `state${state.number}`);
  writeTables(snapshot, tables);
  await ordinate({ dataFolder }, 'load', snapshot, '--json');
  truth.seen(state);
}

function tablesOf(truth: Truth, state: State, days: readonly Day[]): Record<string, Row[]> {
  const projects = PROJECTS.map((id) => projectOf(id, { synced_through: state.lastDay }));
  return { projects, ...truth.tables(state, days) };
}

async function change(works: Works, last: Day): Promise<void> {
  const days = eachDay(addDays(last, -2), last);
  const state = works.truth.begin(days);
  await load(works, state, tablesOf(works.truth, state, days));
}

export const backupTarget = (folder: string): string => join(folder, 'backup');

/** A key is made, rotated and revoked; each takes effect with the next request. */
async function rotate({ dataFolder, client }: Works): Promise<void> {
  const keys = async (...words: string[]) =>
    JSON.parse(await ordinate({ dataFolder }, 'keys', ...words, '--workspace', ROTATED, '--json')) as Record<
      'id' | 'key',
      string
    >;
  // 429: this address has failed too often in this minute, with the requests of the traffic that have no key.
  const ask = (key: string, ...statuses: number[]) => client.send('/projects', { key, statuses });
  const old = await keys('create', '--name', 'rotated');
  await ask(old.key, 200);
  const made = await keys('rotate', old.id, '--overlap', '1h');
  await ask(old.key, 200);
  await keys('revoke', old.id);
  await ask(old.key, 401, 429);
  await ask(made.key, 200);
  await keys('revoke', made.id);
  await ask(made.key, 401, 429);
}

/** All server processes are replaced; no request may fail meanwhile. */
async function replace({ primary }: Works): Promise<void> {
  if (primary === undefined) return;
  const [, ...before] = serverProcesses(primary);
  process.kill(primary, 'SIGUSR2');
  const deadline = performance.now() + 120_000;
  while (before.some((pid) => existsSync(`/proc/${pid}`))) {
    if (performance.now() > deadline) throw new Unexpected('the server processes were not replaced');
    await sleep(100);
  }
}

const command = async ({ dataFolder }: Works, ...words: string[]): Promise<void> =>
  void (await ordinate({ dataFolder }, ...words, '--json'));

/** A day is added, with the late numbers of the two before it. */
const newDay = (works: Works): Promise<void> =>
  change(works, addDays(works.truth.last.lastDay, works.truth.last.versions.size < MAX_NEW_DAYS ? 1 : 0));
const correction = (works: Works): Promise<void> =>
  change(works, addDays(works.truth.last.lastDay, -works.random.whole(0, 50)));
const backup = (works: Works): Promise<void> =>
  command(works, 'backup', backupTarget(works.folder), '--keep', '3', ...(works.random.chance(0.3) ? ['--quick'] : []));

/** Each runs once; then any, the first ones most often. */
export const WORKS: Readonly<Record<string, (works: Works) => Promise<void>>> = {
  load: newDay,
  correction,
  backup,
  rotate,
  verify: (works) => command(works, 'verify'),
  'verify-backup': (works) => command(works, 'verify', backupTarget(works.folder)),
  replace,
};
export const FREQUENT: readonly string[] = ['load', 'correction', 'load', 'correction', 'backup'];
