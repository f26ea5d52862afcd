// On a full disk, reading commands work and writing commands fail with an error that names the disk.
import { join } from 'node:path';
import t from 'tap';
import { command } from '../command.ts';
import { atNight } from '../night.ts';
import { makeDataFolder, run, type Server, startServer } from '../process.ts';
import { smallDisk } from '../small-disk.ts';
import { localOnly } from '../stores.ts';
import { facts, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';

const READS = [
  ['workspaces', 'list'],
  ['projects', 'list'],
  ['keys', 'list', '--workspace', 'acme'],
  ['members', 'list', '--workspace', 'acme'],
  ['audit', 'list'],
  ['jobs', 'status'],
  ['sync', 'status'],
  ['lists', 'status'],
  ['verify'],
];
const WRITES = [
  ['login', '--workspace', 'acme', '--by', 'owner@acme.example'],
  ['keys', 'create', '--workspace', 'acme', '--name', 'other'],
];

t.test('on a full disk, commands that only read work, and others name the full disk', localOnly, async (t) => {
  const folder = join(temporaryFolder(t), 'disk');
  const disk = smallDisk(t, folder, 12);
  if (disk === undefined) {
    t.pass('not run', { skip: 'a small disk cannot be mounted here; that takes Linux and its root' });
    return;
  }
  const settings = { ORDINATE_DATA: join(folder, 'data') };
  const site = { site_daily: facts('date device', ['2026-03-01', 'mobile', 3, 100, 900]) };
  const snapshot = writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT], ...site });
  t.match(await command(settings, 'load', snapshot, '--accept-implausible'), { code: 0 });
  const owner = ['members', 'add', '--workspace', 'acme', '--email', 'owner@acme.example', '--role', 'owner'];
  for (const words of [owner, ...WRITES]) t.match(await command(settings, ...words), { code: 0 }, words.join(' '));
  const read = () => Promise.all(READS.map((words) => command(settings, ...words)));
  const before = await read();
  t.strictSame(
    before.map(({ code }) => code),
    READS.map(() => 0),
  );
  for (const left of [0, 20_000]) {
    disk.fill(left);
    t.strictSame(await read(), before, `${left} bytes left`);
    for (const words of WRITES) {
      const { code, stderr } = await command(settings, ...words);
      t.match({ code, stderr }, { code: 1, stderr: /because its disk is full/ }, words.join(' '));
      t.notMatch(stderr, /disk is failing/);
    }
    disk.clear();
    t.strictSame(await read(), before);
  }
  for (const words of WRITES) t.match(await command(settings, ...words), { code: 0 });
});

t.test(
  'a server goes on answering on a full disk, and starts when there is space',
  { ...localOnly, ...atNight },
  async (t) => {
    const folder = join(temporaryFolder(t), 'disk');
    const disk = smallDisk(t, folder, 24);
    if (disk === undefined) {
      t.pass('not run', { skip: 'a small disk cannot be mounted here; that takes Linux and its root' });
      return;
    }
    const site = { site_daily: facts('date device', ['2026-03-01', 'mobile', 3, 100, 900]) };
    const snapshot = writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT], ...site });
    const { dataFolder, keys } = await makeDataFolder(t, [snapshot], { folder: join(folder, 'data') });
    const settings = { ORDINATE_DATA: dataFolder };
    const answers = async (server: Server): Promise<void> => {
      t.match(await server.get('/projects/Proj1/site', keys[0]!), { status: 200, body: { totals: { clicks: 3 } } });
    };
    const running = await startServer(t, settings);
    disk.fill();
    await answers(running);
    running.child.kill('SIGTERM');
    t.equal((await running.ended).code, 0);
    // Its log of the catalog took some.
    disk.fill();
    for (const words of [[], ['--workers', '2']]) {
      const { code, stderr } = await run(t, { ...settings, PORT: '0' }, 'serve', ...words);
      t.match({ code, stderr }, { code: 1, stderr: /because its disk is full.*\. Free some space and try again\.$/m });
    }
    disk.clear();
    await answers(await startServer(t, settings));
  },
);
