// A backup, restore, load, revocation or rebuild killed at any moment loses nothing and can be repeated.
import { cpSync, existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { command } from '../command.ts';
import { EVERYTHING } from '../load/snapshots.ts';
import { isNight } from '../night.ts';
import { type Ended, makeDataFolder, run } from '../process.ts';
import { facts, temporaryFolder, writeSnapshot } from '../world.ts';
import { filesIn, served } from './scene.ts';

const SEED = Number(process.env['ORDINATE_TEST_SEED'] ?? Date.now() % 1_000_000);
/** How many processes are killed in each test. */
const KILLS = isNight ? 4 : 1;

const everything = writeSnapshot(t, EVERYTHING);

/** Numbers from 1 to `most`, one in each of `KILLS` equal parts, so that early and late moments are among them. */
function moments(most: number): number[] {
  let state = SEED;
  const random = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  return Array.from({ length: KILLS }, (_, part) => 1 + Math.floor(((part + random()) * most) / KILLS));
}

/** Runs a command in its own process, which is killed before its change number `at` of the disk. 0: never. */
function killed(t: Test, settings: NodeJS.ProcessEnv, at: number, ...words: readonly string[]): Promise<Ended> {
  const killer = new URL('../fakes/kill-at.ts', import.meta.url);
  return run(t, { ...settings, KILL_AT: String(at), NODE_OPTIONS: `--import ${killer.href}` }, ...words);
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

t.test(
  'a catalog that is lost after a process was killed at any moment comes back, and nothing revoked with it',
  async (t) => {
    const { dataFolder, keys } = await makeDataFolder(t, [everything]);
    const base = { ORDINATE_DATA: dataFolder };
    await load(t, base, 1);
    const { id } = await json(t, base, 'keys', 'create', '--workspace', 'acme', '--name', 'revoked');
    const days = facts('date device', ['2026-03-01', 'desktop', 7, 100, 900]);
    const pages = facts('url date country', ['https://shop.example/a', '2026-03-01', 'usa', 7, 100, 900]);
    const snapshot = writeSnapshot(t, { site_daily: days, page_daily: pages });
    const lose = (folder: string): void => {
      for (const file of globSync(`${folder}/catalog.sqlite*`)) rmSync(file);
    };
    const isRevoked = async (settings: NodeJS.ProcessEnv): Promise<boolean> => {
      const listed = await json<{ id: string; revokedAt: string | null }[]>(
        t,
        settings,
        'keys',
        'list',
        '--workspace',
        'acme',
      );
      return listed.find((key) => key.id === id)!.revokedAt !== null;
    };
    const seen = async (folder: string) => ({
      answers: (await served(t, folder, keys[0]!)).answers,
      isRevoked: await isRevoked({ ORDINATE_DATA: folder }),
    });
    const copyOf = (from: string): string => {
      const to = join(temporaryFolder(t), 'data');
      cpSync(from, to, { recursive: true, filter: (file) => !file.endsWith('-shm') });
      return to;
    };
    const before = await seen(dataFolder);
    for (const [what, ...words] of [
      ['load', 'load', snapshot],
      ['revocation', 'keys', 'revoke', id, '--workspace', 'acme'],
      ['rebuild', 'rebuild'],
    ] as const) {
      const begin = (): string => {
        const folder = copyOf(dataFolder);
        if (what === 'rebuild') lose(folder);
        return folder;
      };
      const counted = join(temporaryFolder(t), 'count');
      const whole = begin();
      t.match(await killed(t, { ORDINATE_DATA: whole, KILL_COUNT: counted }, 0, ...words), { code: 0 });
      const after = await seen(whole);
      const changes = Number(readFileSync(counted, 'utf8'));
      for (const at of moments(changes)) {
        const moment = `${what} killed before change ${at} of ${changes}`;
        const folder = begin();
        const settings = { ORDINATE_DATA: folder };
        await killed(t, settings, at, ...words);
        const live = what === 'rebuild' ? before : await seen(folder);
        lose(folder);
        t.match(await command(settings, 'rebuild'), { code: 0 }, moment);
        t.match(await command(settings, 'verify'), { code: 0 }, moment);
        const found = await seen(folder);
        const wanted = JSON.stringify(live.answers) === JSON.stringify(after.answers) ? [after] : [before, after];
        t.ok(
          wanted.some(({ answers }) => JSON.stringify(answers) === JSON.stringify(found.answers)),
          `${moment}: all of it or nothing, and nothing that was there is lost`,
        );
        t.ok(found.isRevoked || !live.isRevoked, moment);
      }
    }
  },
);
