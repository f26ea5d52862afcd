// A backup, restore, load, edit, copy, sweep or rebuild killed at any moment loses nothing and can be repeated.
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Catalog, OpenCatalog } from '../../server/catalog/catalog.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { createLink } from '../../server/catalog/sessions.ts';
import { keepCopy } from '../../server/catalog/store.ts';
import { addMember, setKeepDays } from '../../server/catalog/workspaces.ts';
import { createKey } from '../../server/operations/keys.ts';
import { command } from '../command.ts';
import { EVERYTHING } from '../load/snapshots.ts';
import { isNight } from '../night.ts';
import { type Ended, makeDataFolder, run, startProgram, startServer } from '../process.ts';
import { facts, keyword, temporaryFolder, writeSnapshot } from '../world.ts';
import { filesIn, served } from './scene.ts';

const SEED = Number(process.env['ORDINATE_TEST_SEED'] ?? Date.now() % 1_000_000);
/** How many processes are killed in each test. */
const KILLS = isNight ? 4 : 1;

const KILLER = new URL('../fakes/kill-at.ts', import.meta.url);
const RUN_JOB = new URL('../fakes/run-job.ts', import.meta.url).pathname;

const everything = writeSnapshot(t, EVERYTHING);

/** Numbers from 1 to `most`, one in each of `KILLS` equal parts, so that early and late moments are among them. */
function moments(most: number): number[] {
  const random = randomFrom(SEED);
  return Array.from({ length: KILLS }, (_, part) => 1 + Math.floor(((part + random()) * most) / KILLS));
}

/** Runs a command in its own process, which is killed before its change number `at` of the disk. 0: never. */
function killed(t: Test, settings: NodeJS.ProcessEnv, at: number, ...words: readonly string[]): Promise<Ended> {
  return run(t, { ...settings, KILL_AT: String(at), NODE_OPTIONS: `--import ${KILLER.href}` }, ...words);
}

async function load(t: Test, settings: NodeJS.ProcessEnv, clicks: number): Promise<void> {
  const days = facts('date device', ['2026-03-01', 'desktop', clicks, 100, 900]);
  const pages = facts('url date country', ['https://shop.example/a', '2026-03-01', 'usa', clicks, 100, 900]);
  const rows = { site_daily: days, page_daily: pages };
  t.match(await command(settings, 'load', writeSnapshot(t, rows)), { code: 0 });
}

interface Report {
  readonly id: string;
}

async function json<T = Report>(t: Test, settings: NodeJS.ProcessEnv, ...words: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await command(settings, ...words, '--json');
  t.equal(code, 0, `${words.join(' ')}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

t.test('a backup that is killed at any moment loses neither earlier backups nor data', async (t) => {
  t.comment(`ORDINATE_TEST_SEED=${SEED}`);
  const { dataFolder, keys } = await makeDataFolder(t, [everything]);
  const settings = { ORDINATE_DATA: dataFolder };
  const target = join(temporaryFolder(t), 'target');
  /** What was served when a backup was made, by its id. */
  const wanted = new Map<string, unknown>();
  const note = async (id: string): Promise<void> => void wanted.set(id, await served(t, dataFolder, keys[0]!));
  const counted = join(temporaryFolder(t), 'count');
  for (const clicks of [1, 2]) {
    await load(t, settings, clicks);
    const { code } = await killed(t, { ...settings, KILL_COUNT: counted }, 0, 'backup', target, '--keep', '2');
    t.equal(code, 0);
    const listed = await json<Report[]>(t, settings, 'backup', 'list', target);
    await note(listed.at(-1)!.id);
  }
  // The first one had more files to copy, but no old backup to remove.
  const changes = Number(readFileSync(counted, 'utf8'));
  t.ok(changes > 15, `${changes} changes`);
  for (const [round, at] of moments(changes + 4).entries()) {
    const what = `killed before change ${at} of ${changes}`;
    await load(t, settings, 10 + round);
    const { code } = await killed(t, settings, at, 'backup', target, '--keep', '2');
    const listed = await json<Report[]>(t, settings, 'backup', 'list', target);
    t.ok(listed.length >= 2, `${what}: exit code ${code}, ${listed.length} backups`);
    t.match(await json(t, settings, 'verify', target), { ok: true }, what);
    for (const { id } of listed) {
      if (!wanted.has(id)) await note(id);
      const data = join(temporaryFolder(t), 'restored');
      await json(t, settings, 'restore', target, '--data', data, '--at', id);
      t.strictSame(await served(t, data, keys[0]!), wanted.get(id), `${what}: ${id} is as it was`);
    }
    t.match(await command(settings, 'verify'), { code: 0 }, 'the data folder is in order');
    const { id } = await json(t, settings, 'backup', target, '--keep', '2');
    await note(id);
    const kept = await json<Report[]>(t, settings, 'backup', 'list', target);
    const named = kept.flatMap(({ id }) => {
      const index = readFileSync(join(target, `indexes/${id}.ndjson`), 'utf8');
      return [`indexes/${id}.ndjson`, `catalogs/${id}.sqlite`, ...(index.match(/facts\/[^"]+/g) ?? [])];
    });
    t.strictSame(filesIn(target), [...new Set([...named, 'ordinate-backup.json'])].sort(), 'nothing else is left');
  }
});

t.test(
  'a restore that is killed at any moment leaves a folder that nothing uses, and the same restore goes on',
  async (t) => {
    const { dataFolder, keys } = await makeDataFolder(t, [everything]);
    const settings = { ORDINATE_DATA: dataFolder };
    const target = join(temporaryFolder(t), 'target');
    await json(t, settings, 'backup', target);
    const wanted = await served(t, dataFolder, keys[0]!);
    const counted = join(temporaryFolder(t), 'count');
    const first = join(temporaryFolder(t), 'first');
    t.match(await killed(t, { KILL_COUNT: counted }, 0, 'restore', target, '--data', first), { code: 0 });
    const changes = Number(readFileSync(counted, 'utf8'));
    const refused = {
      code: 1,
      stderr: /is not whole: a restore into it was interrupted.*Run the same 'ordinate restore/,
    };
    for (const at of isNight ? [1, ...moments(changes), changes] : moments(changes)) {
      const data = join(temporaryFolder(t), 'restored');
      const what = `killed before change ${at} of ${changes}`;
      t.match(await killed(t, {}, at, 'restore', target, '--data', data), { code: null }, what);
      // When the mark is gone, all is there, and only a copy of the catalog is missing.
      if (existsSync(join(data, 'restoring'))) {
        const found = filesIn(data);
        for (const words of [
          ['verify'],
          ['projects', 'list'],
          ['load', everything],
          ['rebuild'],
          ['upgrade', '--check'],
        ]) {
          t.match(await command({ ORDINATE_DATA: data }, ...words), refused, `${what}: ${words.join(' ')}`);
        }
        t.strictSame(filesIn(data), found, 'nothing has changed');
        await json(t, {}, 'restore', target, '--data', data);
      }
      t.match(await command({ ORDINATE_DATA: data }, 'verify'), { code: 0 });
      t.strictSame(await served(t, data, keys[0]!), wanted);
    }
  },
);

/** What processes do that are killed. A load has keywords, which its record lacks; a publication has facts alone. */
const ACTIONS = ['load', 'publish', 'edit', 'copy-catalog', 'sweep-facts', 'rebuild', 'restore'] as const;
type Action = (typeof ACTIONS)[number];

/** What is compared after a kill. */
interface Seen {
  readonly publication: number;
  /** Clicks of the site and of its pages, and keywords: a load changes all of them by one, or none. */
  readonly numbers: readonly number[];
  /** But alerts, which commands evaluate after they have loaded. */
  readonly answers: string;
  /** Keys. */
  readonly valid: ReadonlySet<string>;
  readonly revoked: ReadonlySet<string>;
}

t.test('whatever is killed at any moment, all of it or nothing is there, and comes back when it is lost', async (t) => {
  const kills = Number(process.env['KILLS'] ?? 12);
  t.comment(`ORDINATE_TEST_SEED=${SEED} KILLS=${kills}`);
  const random = randomFrom(SEED);
  const { dataFolder, keys } = await makeDataFolder(t, [everything]);
  let folder = dataFolder;
  const settings = (): NodeJS.ProcessEnv => ({ ORDINATE_DATA: folder });
  const lose = (): void => {
    for (const file of globSync(`${folder}/catalog.sqlite*`)) rmSync(file);
  };
  await load(t, settings(), 1);
  const victims: string[] = [];
  {
    await using catalog = await openCatalog(sqliteIn(folder));
    await addMember(catalog, 'acme', 'owner@acme.example', 'owner');
    for (let victim = 0; victim < 3; victim++) victims.push(await addVictim(catalog));
  }
  const target = join(temporaryFolder(t), 'target');
  await json(t, settings(), 'backup', target);

  const look = async (of: string): Promise<Seen> => {
    await using catalog = await openCatalog(sqliteIn(of), { create: false });
    const listed = await catalog.statements.all<{ id: string; revokedAt: number | null }>('keys.of_workspace', {
      workspace: 'acme',
    });
    const [valid, revoked] = [true, false].map(
      (isValid) => new Set(listed.filter(({ revokedAt }) => (revokedAt === null) === isValid).map(({ id }) => id)),
    ) as [Set<string>, Set<string>];
    const { publication, answers } = await served(t, of, keys[0]!);
    type Body = { body: { totals: { clicks: number }; pages: { clicks: number }[] } };
    const ofProject = (path: string) => (answers[`/projects/Proj1/${path}`] as Body).body;
    const numbers = [
      ofProject('site?period=12m').totals.clicks,
      ofProject('pages?period=12m').pages.reduce((sum, { clicks }) => sum + clicks, 0),
      await countKeywords(catalog),
    ];
    const compared = Object.entries(answers).filter(([path]) => !path.endsWith('/alerts'));
    return { publication, numbers, answers: JSON.stringify(compared), valid, revoked };
  };
  const backedUp = await look(folder);
  const isRevoked = new Set<string>();

  /** Does it in a process of its own. Returns where a backup was restored. */
  const act = async (
    action: Action,
    round: number,
    kill: NodeJS.ProcessEnv,
  ): Promise<{ done: boolean; to: string }> => {
    const environment = { ...settings(), ...kill, NODE_OPTIONS: `--import ${KILLER.href}` };
    const to = join(temporaryFolder(t), 'restored');
    let words: string[] = [action];
    if (action === 'edit') {
      const victim = victims.shift() ?? (await withCatalog(folder, addVictim));
      const done = await revokeByServer(t, environment, victim);
      if (done) isRevoked.add(victim);
      return { done, to };
    }
    if (action === 'rebuild') lose();
    if (action === 'restore') words = ['restore', target, '--data', to];
    if (action === 'load' || action === 'publish') {
      const days = facts('date device', ['2026-03-01', 'desktop', 2 + round, 100, 900]);
      const pages = facts('url date country', ['https://shop.example/a', '2026-03-01', 'usa', 2 + round, 100, 900]);
      const added = { keywords: [keyword(`Kill${round}`, `killed ${round}`)] };
      words = ['load', writeSnapshot(t, { site_daily: days, page_daily: pages, ...(action === 'load' && added) })];
    }
    if (action === 'copy-catalog') {
      await withCatalog(folder, (catalog) => setKeepDays(catalog, 'acme', 5000 + (round % 4000)));
    }
    const isJob = action === 'copy-catalog' || action === 'sweep-facts';
    const { code } = isJob
      ? await startProgram(t, environment, process.execPath, RUN_JOB, action).ended
      : await run(t, environment, ...words);
    return { done: code === 0, to };
  };

  const check = async (
    before: Seen,
    { action, round, what }: { action: Action; round: number; what: string },
    done: boolean,
  ) => {
    t.match(await command(settings(), 'verify'), { code: 0 }, what);
    const after = await look(folder);
    if (action === 'load' || action === 'publish') {
      const clicks = (Number(before.numbers[0]) - Number(backedUp.numbers[0])) as number;
      const added = 1 + round - clicks;
      const [site, pages, keywords] = before.numbers as [number, number, number];
      const loaded = [site + added, pages + added, keywords + (action === 'load' ? 1 : 0)];
      const wanted = done ? [loaded] : [before.numbers, loaded];
      const found = JSON.stringify(after.numbers);
      t.ok(
        wanted.some((numbers) => JSON.stringify(numbers) === found),
        `${what}: ${found} of ${JSON.stringify(wanted)}`,
      );
    } else t.strictSame([after.numbers, after.answers], [before.numbers, before.answers], what);
    t.ok(after.publication >= before.publication, `${what}: no publication is lost`);
    for (const id of after.revoked) isRevoked.add(id);
    t.strictSame([...isRevoked.intersection(after.valid)], [], `${what}: nothing revoked is valid`);
    return after;
  };

  const counts = new Map<Action, number>();
  let seen = backedUp;
  for (let round = 0, killed = 0; killed < kills; round++) {
    const action = ACTIONS[round % ACTIONS.length]!;
    // The first time it is counted what there is to kill.
    const changes = counts.get(action);
    const at = changes === undefined ? 0 : 1 + Math.floor(random() * changes);
    const counted = join(temporaryFolder(t), 'count');
    const { done, to } = await act(action, round, { KILL_AT: String(at), KILL_COUNT: counted });
    const what = `${round}: ${action} killed before change ${at} of ${changes}`;
    if (changes === undefined) {
      t.ok(done, `${what}: it does what it should`);
      counts.set(action, Number(readFileSync(counted, 'utf8')));
    } else killed++;
    if (action === 'restore') {
      const used = folder;
      if (existsSync(join(to, 'restoring')) || !existsSync(join(to, 'catalog.sqlite'))) {
        await json(t, settings(), 'restore', target, '--data', to);
      }
      // As a server does within a minute.
      await keepCopy(to);
      folder = to;
      await check(backedUp, { action, round, what }, true);
      // People go on with the one or the other.
      folder = random() < 0.5 ? to : used;
      seen = await look(folder);
      continue;
    }
    if (action === 'rebuild' && !done) t.match(await command(settings(), 'rebuild'), { code: 0 }, what);
    seen = await check(seen, { action, round, what }, done);
    if (random() < 0.5) continue;
    lose();
    t.match(await command(settings(), 'rebuild'), { code: 0 }, `${what}, and lost`);
    seen = await check(seen, { action: 'rebuild', round, what: `${what}, and lost` }, true);
  }
});

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

async function addVictim(catalog: OpenCatalog): Promise<string> {
  return (await createKey(catalog, { workspace: 'acme', name: 'victim', at: 1 })).id;
}

async function withCatalog<T>(folder: string, work: (catalog: OpenCatalog) => Promise<T>): Promise<T> {
  await using catalog = await openCatalog(sqliteIn(folder));
  return await work(catalog);
}

async function countKeywords(catalog: Catalog): Promise<number> {
  const counted = { template: 'rows.all', fills: { table: 'keywords', columns: 'count(*) as count' } };
  return (await catalog.statements.get<{ count: number }>(counted))!.count;
}

/** Revokes a key on the page of a server of its own. Returns whether the server said that it has. */
async function revokeByServer(t: Test, environment: NodeJS.ProcessEnv, key: string): Promise<boolean> {
  let token: string;
  {
    await using catalog = await openCatalog(sqliteIn(environment['ORDINATE_DATA']!));
    const who = { keyId: null, email: 'owner@acme.example' };
    ({ token } = await createLink(catalog, { workspace: 'acme', who, at: Date.now() * 1000 }));
  }
  try {
    const { address, child, ended } = await startServer(t, environment);
    const own = { 'sec-fetch-site': 'same-origin' };
    const signedIn = await fetch(`${address}/app/session`, {
      method: 'POST',
      headers: { ...own, authorization: `Bearer ${token}` },
    });
    const cookie = String(signedIn.headers.get('set-cookie')).split(';')[0]!;
    const { ok } = await fetch(`${address}/app/api/keys/${key}`, { method: 'DELETE', headers: { ...own, cookie } });
    child.kill('SIGTERM');
    await ended;
    return ok;
  } catch {
    // It was killed before it was ready, or before it answered.
    return false;
  }
}
