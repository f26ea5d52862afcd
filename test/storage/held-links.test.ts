// A link to a file stays for two seconds after its last reader, and goes as soon as its room is needed.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { type Held, HeldLinks } from '../../server/storage/s3/held-links.ts';
import { temporaryFolder } from '../world.ts';

const isIntact = (): boolean => true;

/** Links to files of ten bytes, on a clock of the test. */
function makeLinks(t: Test, cacheBytes = 10_000) {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  let now = 1;
  const links = new HeldLinks(cacheBytes, { now: () => now });
  const folder = temporaryFolder(t);
  let made = 0;
  const stored = (file: string) => ({ file, bytes: 10, sha256: '' });
  return {
    links,
    pass: (milliseconds: number): void => {
      now += milliseconds;
      mock.timers.tick(milliseconds);
    },
    add: (file: string): Held => {
      const path = join(folder, `${file}-${made++}`);
      writeFileSync(path, '');
      return links.add(file, { path, ready: Promise.resolve() });
    },
    release: (file: string, held: Held, isUsable = true): void => links.release(stored(file), held, isUsable),
  };
}

t.test('a link that nothing reads is that of the next reader, for two seconds after the last one', async (t) => {
  const { links, pass, add, release } = makeLinks(t);
  const held = add('a');
  release('a', held);
  pass(1900);
  t.equal(links.find('a', isIntact), held);
  pass(5000);
  t.ok(existsSync(held.path), 'while it is read');
  t.equal(links.find('a', isIntact), held);
  release('a', held);
  pass(5000);
  t.ok(existsSync(held.path), 'the other one reads it still');
  release('a', held);
  pass(1900);
  t.ok(existsSync(held.path));
  pass(200);
  t.equal(links.find('a', isIntact), undefined);
  t.equal(await links.shrink(), true);
  t.notOk(existsSync(held.path));
  t.equal(await links.shrink(), false);
});

t.test('links that are of no use to another reader go at once', async (t) => {
  const { links, add, release } = makeLinks(t, 250);
  const failed = add('failed');
  release('failed', failed, false);
  t.equal(links.find('failed', isIntact), undefined);
  const dropped = add('dropped');
  release('dropped', dropped);
  links.drop('dropped');
  t.equal(links.find('dropped', isIntact), undefined);
  const changed = add('changed');
  release('changed', changed);
  t.equal(
    links.find('changed', () => false),
    undefined,
  );
  const before = add('before');
  links.clear();
  const after = add('before');
  release('before', before);
  t.equal(links.find('before', isIntact), after, 'those of a lost folder are not mixed with new ones');
  const many = ['a', 'b', 'c'].map((file): Held => {
    const held = add(file);
    release(file, held);
    return held;
  });
  t.equal(links.find('a', isIntact), undefined, 'they have no room');
  await links.shrink();
  for (const { path } of [failed, dropped, changed, ...many]) t.notOk(existsSync(path));
  t.ok(existsSync(after.path));
});
