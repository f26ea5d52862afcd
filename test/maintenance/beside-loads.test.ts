// A backup made during loads is one consistent state that was served at its time.
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { lastPublication } from '../../server/catalog/fact-files.ts';
import { backup } from '../../server/maintenance/backup.ts';
import { restore } from '../../server/maintenance/restore.ts';
import { verifyBackup } from '../../server/maintenance/verify-backup.ts';
import { answersOf, SECOND } from '../load/snapshots.ts';
import { isNight } from '../night.ts';
import { facts, keyword, makeWorld, NOW, ofProject, PROJECT, type Tables, temporaryFolder } from '../world.ts';
import { served } from './scene.ts';

/** ORDINATE_TEST_BACKUPS=20 makes 20 backups beside 100 loads. */
const BACKUPS = Number(process.env['ORDINATE_TEST_BACKUPS'] ?? (isNight ? 4 : 2));
const LOADS = 5 * BACKUPS;

/** Rows of load number n: every table says n, for two projects. */
function tables(n: number): Tables {
  const site = facts('date device', ['2026-03-01', 'desktop', n, 1000, 9000]);
  const days = facts('keyword_id date device', ['Kw001', '2026-03-01', 'desktop', n, 1000, 9000]);
  const entities = n === 1 ? { projects: [PROJECT, SECOND], keywords: [keyword('Kw001', 'a')] } : {};
  return { ...entities, site_daily: [...site, ...ofProject('Proj2', site)], keyword_daily: days };
}

t.test(`${BACKUPS} backups beside ${LOADS} loads: each is what was served at its time`, async (t) => {
  /** A minute between loads, so that no request is one too many. */
  let now = NOW;
  const world = await makeWorld(t, tables(1), { now: () => now });
  const target = join(temporaryFolder(t), 'target');
  /** What was served, by the publication of the last load. */
  const answers = new Map<number, unknown>();
  const note = async (): Promise<void> => {
    answers.set((await lastPublication(world.catalog)).number, await answersOf(world));
  };
  await note();
  using db = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'), { timeout: 30_000 });
  let isLoading = true;
  const loading = (async () => {
    for (let n = 2; n <= LOADS; n++) {
      await world.load(tables(n));
      now += 60_000;
      await note();
      // The next load removes the files that this one replaced, as if an hour had passed.
      db.exec('update retired_files set retired_at = 0');
    }
    isLoading = false;
  })();
  const ids: string[] = [];
  let beside = 0;
  const stores = { settings: world.settings, catalog: world.catalog };
  for (let n = 0; n < BACKUPS; n++) {
    const { id } = await backup(stores, { target, keep: BACKUPS, quick: n % 2 === 0 });
    ids.push(id);
    if (isLoading) beside++;
    // Spread over the loads.
    const wanted = Math.floor(((n + 1) * LOADS) / BACKUPS) - 2;
    while (isLoading && answers.size < wanted) await new Promise((done) => setTimeout(done, 1));
  }
  await loading;
  t.ok(beside >= BACKUPS - 1, `${beside} of ${BACKUPS} ended while loads ran`);
  t.equal(new Set(ids).size, BACKUPS);
  t.match(await verifyBackup(target), { ok: true, backups: BACKUPS });
  const states = new Set<number>();
  for (const id of ids) {
    const dataFolder = join(temporaryFolder(t), 'restored');
    await restore({ usedFolder: '', backup: target, dataFolder, at: id });
    const restored = await served(t, dataFolder, world.key);
    states.add(restored.publication);
    t.strictSame(restored.answers, answers.get(restored.publication), `${id}: load ${restored.publication}`);
  }
  t.ok(states.size >= BACKUPS / 2, `${states.size} states`);
});

t.test('when files are replaced and removed while a backup copies, it copies the newer state', async (t) => {
  const world = await makeWorld(t, tables(1));
  const target = join(temporaryFolder(t), 'target');
  let replaced = 0;
  const report = (step: string): void => {
    // As a load of another process does, whose replaced file is removed at once. Twice: in the second state too.
    if (!step.startsWith('comparing and copying files: 1 of') || replaced === 2) return;
    using db = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'));
    const last = 'select file from fact_files order by project_id desc, fact_table desc limit 1';
    const { file } = db.prepare(last).get() as { file: string };
    const newer = `facts/site_daily/Proj1/all-0a1b2c3d-0000-4000-8000-00000000000${++replaced}.parquet`;
    db.prepare('update fact_files set file = ? where file = ?').run(newer, file);
    renameSync(join(world.dataFolder, file), join(world.dataFolder, newer));
  };
  const { id, files } = await backup(world, { target, keep: 1, report });
  t.equal(replaced, 2);
  t.match(await verifyBackup(target), { ok: true, backups: 1, files: files + 1 });
  const dataFolder = join(temporaryFolder(t), 'restored');
  await restore({ usedFolder: '', backup: target, dataFolder, at: id });
  t.strictSame((await served(t, dataFolder, world.key)).answers, await answersOf(world));
});
