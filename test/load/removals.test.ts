// A removal waits for a load, counts what goes, and at a terminal asks for the id.
import { PassThrough } from 'node:stream';
import t from 'tap';
import { confirmRemoval } from '../../cli/removals.ts';
import { withLoadLock } from '../../server/load/change-facts.ts';
import { removeProject } from '../../server/load/remove.ts';
import { setConnection } from '../../server/providers/connections.ts';
import { makeLazyWorld } from '../world.ts';
import { EVERYTHING } from './snapshots.ts';

t.test('a removal waits for a load to end, and counts what it deletes', async (t) => {
  const world = await makeLazyWorld(t, EVERYTHING);
  const connection = {
    kind: 'search-console',
    credentials: '/google.json',
    endpoint: null,
    tokenEndpoint: null,
  } as const;
  const more = { dataset: null, location: null, grant: null, archive: 'queries,pages' } as const;
  await setConnection(world.catalog, 'Proj1', { ...connection, ...more }, 0);
  const projects = async (): Promise<string[]> =>
    ((await world.get('/projects')).body.projects as { id: string }[]).map(({ id }) => id);
  const removal = await withLoadLock(world.catalog.locks, { lockTimeout: 0 }, async () => {
    const waits = Promise.withResolvers<void>();
    const ended = removeProject(world, 'Proj1', waits.resolve);
    await Promise.race([waits.promise, ended]);
    t.strictSame(await projects(), ['Proj1', 'Proj2']);
    return { ended };
  });
  const { facts, files, bytes, ...counts } = await removal.ended;
  t.strictSame(counts, {
    ...{ id: 'Proj1', workspace: 'acme', property: 'sc-domain:shop.example', keywords: 3, groups: 3, groupMembers: 2 },
    ...{ pageGroups: 1, alerts: 1, notes: 1, connections: 1, lists: 0 },
  });
  t.match([Object.keys(facts).length, files, bytes > 0], [9, 14, true]);
  t.strictSame(await projects(), ['Proj2']);
});

t.test('at a terminal the id is asked for', async (t) => {
  const ask = async (typed: string, isTTY = true): Promise<string> => {
    const input = Object.assign(new PassThrough(), { isTTY });
    const output = Object.assign(new PassThrough(), { isTTY: true });
    const shown: string[] = [];
    output.on('data', (chunk: Buffer) => shown.push(String(chunk)));
    input.write(`${typed}\n`);
    return confirmRemoval('Shop1', ['  3 keywords'], undefined, { input, output }).then(
      () => shown.join(''),
      ({ message }: Error) => message,
    );
  };
  t.match(await ask('Shop1'), /3 keywords.*Type Shop1 to remove it/s);
  t.match(await ask(' Shop1 '), /Type Shop1/);
  const others = ['y', '', 'shop1', 'SHOP1', 'Shop', 'Shop11', 'Shop1 Shop1'];
  t.strictSame(
    await Promise.all(others.map((typed) => ask(typed))),
    others.map((typed) => `Nothing was removed: '${typed}' is not 'Shop1'.`),
  );
  t.match(await ask('Shop1', false), /add --confirm Shop1/);
});
