// Every backup is complete and can be restored, copies only new files, and damage never goes unnoticed.
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { command } from '../command.ts';
import { EVERYTHING } from '../load/snapshots.ts';
import { makeDataFolder } from '../process.ts';
import { smallDisk } from '../small-disk.ts';
import { transcripts } from '../transcript.ts';
import { facts, temporaryFolder, writeSnapshot } from '../world.ts';
import { filesIn, served } from './scene.ts';

transcripts('backups');

const everything = writeSnapshot(t, EVERYTHING);

t.test('a restored folder answers as the one that was backed up; one process at a time uses a backup', async (t) => {
  const { dataFolder, keys } = await makeDataFolder(t, [everything]);
  const settings = { ORDINATE_DATA: dataFolder };
  const [target, data] = [join(temporaryFolder(t), 'target'), join(temporaryFolder(t), 'restored')];
  const { bytes } = JSON.parse((await command(settings, 'backup', target, '--json')).stdout);
  const size = globSync(['catalogs/*', 'facts/*/*/*'], { cwd: target }).map(
    (file) => statSync(join(target, file)).size,
  );
  t.equal(
    bytes,
    size.reduce((sum, one) => sum + one),
  );
  t.match(await command(settings, 'restore', target, '--data', data), { code: 0 });
  t.strictSame(await served(t, data, keys[0]!), await served(t, dataFolder, keys[0]!));
  using db = new DatabaseSync(join(target, 'backup.lock'));
  db.exec('begin exclusive');
  const used = { code: 1, stderr: /is used by another backup, restore or verify/ };
  for (const words of ['backup', 'verify', 'backup list']) {
    t.match(await command(settings, ...words.split(' '), target), used, words);
  }
});

t.test('a full disk ends a backup with an explanation and leaves the earlier ones', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  const target = join(temporaryFolder(t), 'target');
  const ordinate = (...words: string[]) => command({ ORDINATE_DATA: dataFolder }, ...words);
  const disk = smallDisk(t, target, 4);
  if (disk === undefined) {
    t.comment('this user may not mount a disk');
    return;
  }
  t.match(await ordinate('backup', target), { code: 0 });
  const files = filesIn(target);
  const day = writeSnapshot(t, { site_daily: facts('date device', ['2026-03-01', 'desktop', 9, 100, 900]) });
  t.match(await ordinate('load', day), { code: 0 });
  // First less than the new files need, then less than the catalog.
  for (const left of [0, 100_000]) {
    disk.fill(left);
    const stderr = /'.*target' has no room for this backup.*earlier backups are untouched.*--keep/;
    t.match(await ordinate('backup', target), { code: 1, stderr });
    disk.clear();
    t.strictSame(filesIn(target), files, 'nothing is left of it');
    t.match(await ordinate('verify', target), { code: 0 });
  }
  t.match(await ordinate('backup', target), { code: 0, stdout: /new: 1 files.*2 kept/s });
});
