// Removals name and count what they would delete, and delete only what is confirmed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { confirmRemoval } from '../../cli/removals.ts';
import { createKey } from '../../server/catalog/keys.ts';
import { filesOf } from '../../server/catalog/manifest.ts';
import { addMember } from '../../server/catalog/workspaces.ts';
import { withLoadLock } from '../../server/load/change-facts.ts';
import { removeProject } from '../../server/load/remove.ts';
import { setConnection } from '../../server/providers/connections.ts';
import { command } from '../command.ts';
import type { Ended } from '../process.ts';
import { isLocal } from '../stores.ts';
import { facts, makeWorld, ofProject, PROJECT, WORKSPACE, type World, writeSnapshot } from '../world.ts';
import { answersOf, EVERYTHING, loadFolder, SECOND } from './snapshots.ts';

const ordinate = ({ dataFolder }: World, ...words: string[]): Promise<Ended> =>
  command({ ORDINATE_DATA: dataFolder }, ...words);

const projectsOf = async ({ get }: World): Promise<string[]> =>
  ((await get('/projects')).body.projects as { id: string }[]).map(({ id }) => id);

t.test('projects remove: only what is confirmed, with all that belongs to it', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const { catalog, dataFolder } = world;
  t.equal((await world.ask('/pages')).status, 200, 'there is a stored list');
  const file = join(dataFolder, 'google.json');
  await setConnection(
    catalog,
    'Proj1',
    {
      kind: 'search-console',
      credentials: file,
      endpoint: null,
      tokenEndpoint: null,
      dataset: null,
      location: null,
      grant: null,
      archive: 'queries,pages',
    },
    0,
  );
  const before = await answersOf(world);
  const [fact] = await filesOf(catalog, 'Proj1', 'site_daily', { from: '2000-01-01', to: '2099-12-31' });

  for (const words of [[], ['--confirm', 'Proj2'], ['--confirm', '']]) {
    const refused = await ordinate(world, 'projects', 'remove', 'Proj1', ...words);
    t.match(refused, {
      code: 1,
      stdout: '',
      stderr: /^Nothing was removed: .*project Proj1.*3 keywords.*1 connection.*site_daily/s,
    });
  }
  t.match(await ordinate(world, 'projects', 'remove', '--confirm', 'Proj1'), { code: 1, stderr: /id is missing/ });
  t.match(await ordinate(world, 'projects', 'remove', 'Proj9', '--confirm', 'Proj9'), {
    code: 1,
    stderr: /There is no project 'Proj9'/,
  });
  t.match(await ordinate(world, 'projects', 'remove', 'Proj1', '--project', 'Proj2', '--confirm', 'Proj1'), {
    code: 1,
  });
  t.strictSame(await answersOf(world), before);

  const removed = await ordinate(world, 'projects', 'remove', '--project', 'Proj1', '--confirm', 'Proj1', '--json');
  t.match(removed, { code: 0, stderr: '' });
  t.match(JSON.parse(removed.stdout), { removed: { id: 'Proj1', keywords: 3, notes: 1, connections: 1 } });
  t.strictSame(await projectsOf(world), ['Proj2']);
  t.equal((await world.ask('/keywords')).status, 404);
  if (isLocal) t.ok(existsSync(join(dataFolder, fact!.file)), 'a request may still be reading its files');
  t.match((await world.get('/projects/Proj2/keywords')).body.keywords, [{ query: 'blog' }], 'others stay');
  t.match(await ordinate(world, 'projects', 'remove', 'Proj2', '--confirm', 'Proj2'), {
    code: 0,
    stdout: /^Removed:\n {2}project Proj2 /,
  });
});

t.test('workspaces remove: with its projects, keys and members', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const { catalog, load } = world;
  await load({
    workspaces: [{ ...WORKSPACE, id: 'beta' }],
    projects: [{ ...SECOND, id: 'Beta1', workspace_id: 'beta' }],
    site_daily: ofProject('Beta1', facts('date device', ['2026-03-01', 'mobile', 1, 2, 3])),
  });
  await addMember(catalog, 'acme', 'a@acme.example', 'owner');
  const other = (await createKey(catalog, { workspace: 'beta', name: 'k', by: null, at: 0 })).key;

  const refused = await ordinate(world, 'workspaces', 'remove', 'acme');
  t.match(refused, { code: 1, stdout: '' });
  t.match(
    refused.stderr,
    /--confirm acme.*workspace acme +Acme\n +with 2 projects, 1 active key, 1 member, 1 note of the workspace\n.*Proj1.*Proj2/s,
  );
  t.strictSame(await projectsOf(world), ['Proj1', 'Proj2']);

  const removed = await ordinate(world, 'workspaces', 'remove', 'acme', '--confirm', 'acme', '--json');
  t.match(removed, { code: 0, stderr: '' });
  t.match(JSON.parse(removed.stdout), {
    removed: { id: 'acme', keys: 1, projects: [{ id: 'Proj1' }, { id: 'Proj2' }] },
  });
  t.equal((await world.get('/projects')).status, 401, 'its keys are gone');
  t.match((await world.get('/projects', { authorization: `Bearer ${other}` })).body.projects, [{ id: 'Beta1' }]);
  await loadFolder(world, writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT] }));
  const { status } = await world.get('/projects');
  t.equal(status, 401, 'and stay gone when the id is used again');
});

t.test('a removal waits for a load to end', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const removal = await withLoadLock(world.catalog.locks, { lockTimeout: 0 }, async () => {
    const waits = Promise.withResolvers<void>();
    const ended = removeProject(world, 'Proj1', waits.resolve);
    await Promise.race([waits.promise, ended]);
    t.strictSame(await projectsOf(world), ['Proj1', 'Proj2']);
    return { ended };
  });
  t.match(await removal.ended, { id: 'Proj1' });
  t.strictSame(await projectsOf(world), ['Proj2']);
});

t.test('at a terminal the id is asked for', async (t) => {
  const terminal = (typed: string) => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const output = Object.assign(new PassThrough(), { isTTY: true });
    const shown: string[] = [];
    output.on('data', (chunk: Buffer) => shown.push(String(chunk)));
    input.write(`${typed}\n`);
    return { input, output, shown };
  };
  const right = terminal('Shop1');
  await confirmRemoval('Shop1', ['  3 keywords'], undefined, right);
  t.match(right.shown.join(''), /3 keywords.*Type Shop1 to remove it/s);
  await confirmRemoval('Shop1', [], undefined, terminal(' Shop1 '));
  for (const typed of ['y', '', 'shop1', 'SHOP1', 'Shop', 'Shop11', 'Shop1 Shop1']) {
    const message = `Nothing was removed: '${typed}' is not 'Shop1'.`;
    await t.rejects(confirmRemoval('Shop1', [], undefined, terminal(typed)), { message }, typed);
  }
  const silent = Object.assign(terminal('Shop1'), { input: Object.assign(new PassThrough(), { isTTY: false }) });
  await t.rejects(confirmRemoval('Shop1', [], undefined, silent), { message: /add --confirm Shop1/ });
});
