// The simulation with the catalog in PostgreSQL repeats itself, and finds a race between connections.
import t from 'tap';
import { bundle } from '../../lab/simulate/bundle.ts';
import { PLANTS } from '../../lab/simulate/plants.ts';
import { Databases } from '../../lab/simulate/postgres/databases.ts';
import { runSeed } from '../../lab/simulate/run.ts';
import { worldNamed } from '../../lab/simulate/worlds.ts';
import { atNight } from '../night.ts';
import { hasPostgres, Postgres } from './servers/postgres.ts';

/** Seeds within which the planted fault is found. */
const SEEDS = 20;

const how = hasPostgres ? atNight : { skip: 'there is no PostgreSQL to start' };

t.test('a seed does the same each time, and a fault in the code is found', how, async (t) => {
  const postgres = await Postgres.make('unused', 'trust');
  t.teardown(() => postgres.remove());
  const databases = await Databases.open(postgres.url);
  const world = worldNamed('jobs');
  const program = await bundle();
  const first = await runSeed(program, world, 1, { databases });
  t.equal(first.violation, undefined);
  t.equal((await runSeed(program, world, 1, { databases })).fingerprint, first.fingerprint);
  const plant = PLANTS.find(({ name }) => name === 'progress after the end of a run')!;
  const planted = await bundle([plant]);
  // Whether a seed meets it depends on when other jobs run: the state that it leaves is called that of a run, or later that
  // of a run that was interrupted.
  let violation: string | undefined;
  for (let seed = 1; seed <= SEEDS && violation === undefined; seed++) {
    ({ violation } = await runSeed(planted, world, seed, { databases }));
  }
  t.match(violation, /after a run that succeeded|a run is called interrupted, and no process has ended/);
  await databases.close();
});
