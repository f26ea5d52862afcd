// The simulation repeats itself, finds a fault and shortens it.
import t from 'tap';
import { bundle } from '../../lab/simulate/bundle.ts';
import { PLANTS } from '../../lab/simulate/plants.ts';
import { runSeed, shorten } from '../../lab/simulate/run.ts';
import { worldNamed } from '../../lab/simulate/worlds.ts';
import { atNight } from '../night.ts';

t.test('a seed does the same each time, and another seed something else', atNight, async (t) => {
  const program = await bundle();
  for (const name of ['versions', 'jobs', 'facts']) {
    const world = worldNamed(name);
    const first = await runSeed(program, world, 3);
    t.equal(first.violation, undefined, name);
    t.equal((await runSeed(program, world, 3)).fingerprint, first.fingerprint, name);
    t.not((await runSeed(program, world, 4)).fingerprint, first.fingerprint, name);
  }
});

t.test('a fault in the code is found, and repeated with fewer decisions', atNight, async (t) => {
  const plant = PLANTS.find(({ name }) => name === 'an idle connection that was ended is a failure')!;
  const program = await bundle([plant]);
  const world = worldNamed(plant.world);
  const found = await runSeed(program, world, 1);
  t.match(found.violation, /answers 503, and the database was there/);
  const short = await shorten(program, world, 1, found);
  t.equal(short.violation, found.violation);
  t.ok(short.decisions.length <= found.decisions.length);
  t.ok(
    short.decisions.every((decision) => decision.startsWith('end a connection#')),
    'no restart is needed',
  );
  t.match(short.trace.at(-1) ?? '', /is killed|violated/);
});

t.test('an answer of the object store that ends before it is read does not end the process', atNight, async (t) => {
  const plant = PLANTS.find(({ name }) => name === 'an answer that ends before it is read')!;
  const world = worldNamed(plant.world);
  const program = await bundle([plant]);
  let seed = 0;
  let violation: string | undefined;
  while (violation === undefined && seed < 20) ({ violation } = await runSeed(program, world, ++seed));
  t.match(violation, /nobody handles a failure/);
  t.equal((await runSeed(await bundle(), world, seed)).violation, undefined);
});
