// A finished backup or restore survives a power failure.
import { existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { restore } from '../../server/maintenance/restore.ts';
import { command } from '../command.ts';
import { EVERYTHING } from '../load/snapshots.ts';
import { makeDataFolder, run } from '../process.ts';
import { temporaryFolder, writeSnapshot } from '../world.ts';

t.test('a restore whose catalog somebody reads fails, and is whole without a copy of it', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [writeSnapshot(t, EVERYTHING)]);
  const target = join(temporaryFolder(t), 'target');
  t.match(await command({ ORDINATE_DATA: dataFolder }, 'backup', target), { code: 0 });
  const into = (folder: string, report: () => void) =>
    restore({ backup: target, dataFolder: folder, at: 'latest', usedFolder: dataFolder, report });
  const read = join(temporaryFolder(t), 'read');
  let reader: DatabaseSync | undefined;
  const begin = (): void => {
    if (reader !== undefined || !existsSync(join(read, 'restoring/catalog.sqlite'))) return;
    reader = new DatabaseSync(join(read, 'restoring/catalog.sqlite'));
    reader.exec('begin');
    reader.prepare('select * from workspaces').all();
  };
  await t.rejects(into(read, begin), /is read by another process/);
  t.ok(reader);
  reader?.close();
  t.notOk(existsSync(read));
  const bare = join(temporaryFolder(t), 'bare');
  const noCopies = (): void => {
    mkdirSync(join(bare, 'facts'), { recursive: true });
    if (!existsSync(join(bare, 'facts/away'))) symlinkSync('nowhere', join(bare, 'facts/copies'));
    writeFileSync(join(bare, 'facts/away'), '');
  };
  await into(bare, noCopies);
  const { stdout } = await command({ ORDINATE_DATA: bare }, 'verify', '--json');
  const kinds = JSON.parse(stdout).problems.map(({ kind }: { kind: string }) => kind);
  t.strictSame(kinds, ['journal'], 'the server makes the first copy');
});

t.test(
  'all files of a backup and their names are on the disk before its index; of a restore, before the catalog',
  async (t) => {
    const { dataFolder } = await makeDataFolder(t, [writeSnapshot(t, EVERYTHING)]);
    const folder = temporaryFolder(t);
    const tracer = new URL('../fakes/trace-disk.ts', import.meta.url);
    const traced = async (name: string, ...words: readonly string[]): Promise<string[]> => {
      const trace = join(folder, name);
      const settings = { ORDINATE_DATA: dataFolder, DISK_TRACE: trace, NODE_OPTIONS: `--import ${tracer.href}` };
      const { code, stderr } = await run(t, settings, ...words);
      t.equal(code, 0, stderr);
      return readFileSync(trace, 'utf8').trimEnd().split('\n');
    };
    const target = join(folder, 'target');
    const facts = globSync('facts/*/*/*.parquet', { cwd: dataFolder });
    const lines = await traced('backup', 'backup', target);
    const [index = ''] = globSync('indexes/*', { cwd: target });
    const [catalog = ''] = globSync('catalogs/*', { cwd: target });
    const renameOf = (file: string): number =>
      lines.findIndex((line) => line.startsWith('rename ') && line.endsWith(` ${join(target, file)}`));
    const published = renameOf(index);
    t.ok(published > 0);
    for (const file of [...facts, catalog, index]) {
      const renamed = renameOf(file);
      const [, unfinished] = lines[renamed]!.split(' ');
      t.ok(
        lines.indexOf(`sync ${unfinished}`) >= 0 && lines.indexOf(`sync ${unfinished}`) < renamed,
        `${file}: its content`,
      );
      for (let parent = dirname(join(target, file)); parent.startsWith(target); parent = dirname(parent)) {
        const synced =
          file === index ? lines.indexOf(`sync ${parent}`, renamed) : lines.lastIndexOf(`sync ${parent}`, published);
        t.ok(synced > renamed, `${file}: the names in ${parent}`);
      }
    }
    t.ok(lines.lastIndexOf(`sync ${folder}`, published) >= 0, 'the name of the new folder itself');

    const data = join(folder, 'restored');
    const restored = await traced('restore', 'restore', target, '--data', data);
    const appeared = restored.findIndex(
      (line) => line.startsWith('rename ') && line.endsWith(` ${join(data, 'catalog.sqlite')}`),
    );
    t.ok(restored.indexOf(`sync ${join(data, 'restoring/catalog.sqlite')}`) < appeared);
    for (const file of facts) {
      const sealed = restored.indexOf(`sync ${join(data, file)}`);
      t.ok(sealed >= 0 && sealed < appeared, `${file}: its content`);
      const named = restored.lastIndexOf(`sync ${dirname(join(data, file))}`, appeared);
      t.ok(named > sealed, `${file}: its name`);
    }
    t.ok(restored.indexOf(`sync ${data}`, appeared) > 0, 'the name of the catalog');
  },
);
