// A deploy writes a note and learns from the exit code whether to try again.
// Whether it helped, the list says: test/fixtures/dialogues/notes-of-effects.txt.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { withLoadLock } from '../../server/load/change-facts.ts';
import { command } from '../command.ts';
import { page } from '../effects/world.ts';
import { localOnly } from '../stores.ts';
import { type LazyWorld, makeLazyWorld, PROJECT, temporaryFolder, WORKSPACE } from '../world.ts';

const ADD = ['add', '--project', 'Proj1', '--text', 'Shorter titles', '--page', page(3)];
const runIn =
  ({ dataFolder }: Pick<LazyWorld, 'dataFolder'>) =>
  (...words: string[]) =>
    command({ ORDINATE_DATA: dataFolder }, 'notes', ...words);
const RAW = { workspaces: [WORKSPACE], projects: [PROJECT] };

t.test('a deploy writes its note also while a load runs', localOnly, async (t) => {
  const world = await makeLazyWorld(t, RAW);
  const run = runIn(world);
  const added = await withLoadLock(world.catalog.locks, { lockTimeout: 0 }, () => run(...ADD));
  t.match(added, { code: 0, stdout: /^Note \S+ was added\.$/m, stderr: '' });
  const empty = temporaryFolder(t);
  t.match(await runIn({ dataFolder: join(empty, 'none') })(...ADD), { code: 1 }, 'a folder without a catalog stays so');
  rmSync(join(world.dataFolder, 'catalog.sqlite'));
  t.match(await run(...ADD), { code: 1, stderr: /rebuild/ }, 'nor is a lost catalog back by itself');
});
