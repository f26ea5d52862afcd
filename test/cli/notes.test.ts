// A deploy writes a note and learns from the exit code whether to try again; later the list says whether it helped.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { withLoadLock } from '../../server/load/change-facts.ts';
import { command } from '../command.ts';
import { CHANGE, EFFECT_WORLD, note, page, uuid } from '../effects/world.ts';
import { localOnly } from '../stores.ts';
import { type LazyWorld, makeLazyWorld, PROJECT, temporaryFolder, WORKSPACE } from '../world.ts';

const ADD = ['add', '--project', 'Proj1', '--text', 'Shorter titles', '--page', page(3)];
const runIn =
  ({ dataFolder }: Pick<LazyWorld, 'dataFolder'>) =>
  (...words: string[]) =>
    command({ ORDINATE_DATA: dataFolder }, 'notes', ...words);
const RAW = { workspaces: [WORKSPACE], projects: [PROJECT] };

t.test('a deploy that finds a load running is told to try again later', localOnly, async (t) => {
  const world = await makeLazyWorld(t, RAW);
  const run = runIn(world);
  const busy = await withLoadLock(world.catalog.locks, { lockTimeout: 0 }, () => run(...ADD, '--wait', '0'));
  t.match(busy, { code: 75, stdout: '', stderr: /^Another load has been running.*Try again/ });
  t.strictSame(JSON.parse((await run('list', '--project', 'Proj1', '--json')).stdout), [], 'nothing was written');
  t.match(await run(...ADD), { code: 0, stdout: /^Note \S+ was added\.$/m, stderr: '' });
  const empty = temporaryFolder(t);
  t.match(await runIn({ dataFolder: join(empty, 'none') })(...ADD), { code: 1 }, 'a folder without a catalog stays so');
  rmSync(join(world.dataFolder, 'catalog.sqlite'));
  t.match(await run(...ADD), { code: 1, stderr: /rebuild/ }, 'nor is a lost catalog back by itself');
});

t.test('the list says what became of each change', async (t) => {
  const notes = [
    ...EFFECT_WORLD['notes']!,
    note(8, 'page', '2026-02-20', { page: page(2) }),
    note(9, 'page', '2025-12-20', { page: 'https://shop.example/rare' }),
  ];
  const world = await makeLazyWorld(t, { ...EFFECT_WORLD, notes });
  const run = runIn(world);
  const listed = JSON.parse((await run('list', '--project', 'Proj1', '--json')).stdout) as {
    id: string;
    effect: { verdict: string; reasons: string[]; text: string };
  }[];
  t.strictSame(
    Object.fromEntries(
      listed.map(({ id, effect: { verdict, reasons } }) => [Number(id.slice(0, 8)), [verdict, ...reasons]]),
    ),
    {
      1: ['more'],
      2: ['not_comparable', 'no_controls'],
      3: ['fewer'],
      4: ['not_comparable', 'other_note'],
      5: ['not_comparable', 'other_note'],
      6: ['not_comparable', 'no_controls'],
      7: ['no_evidence'],
      8: ['interim'],
      9: ['too_small', 'few_clicks'],
    },
  );
  for (const { id, effect } of listed) {
    const { text, verdict, reasons } = (await world.ask(`/effects?note=${id}`)).body as Record<string, unknown>;
    t.strictSame(effect, { verdict, reasons, text }, 'the same as of the API');
  }
  const { stdout } = await run('list', '--project', 'Proj1');
  t.match(stdout, /VERDICT +EFFECT/);
  const line = stdout.split('\n').find((each) => each.startsWith(uuid(1)));
  t.match(line, new RegExp(`${CHANGE} .*more +\\d+% more clicks than expected`));
});

t.test('notes without a project or without data have no verdict that they cannot have', async (t) => {
  const world = await makeLazyWorld(t, {
    ...EFFECT_WORLD,
    projects: [PROJECT, { ...PROJECT, id: 'NoDay' }, { ...PROJECT, id: 'Soon1', setup_finished: false }],
  });
  const run = runIn(world);
  t.strictSame(
    JSON.parse((await run('list', '--workspace', 'acme', '--json')).stdout).map((one: object) =>
      Object.keys(one).includes('effect'),
    ),
    [false],
  );
  t.match(await run('add', '--project', 'Soon1', '--text', 'x'), { code: 0 });
  t.match(await run('list', '--project', 'Soon1'), { code: 0, stdout: /x/ });
});
