// The sync does not fetch days that retention has dropped, unless they are to be kept again.
import t from 'tap';
import { holdsAll, makeSearches, newWorld, wanted } from './operator-world.ts';

const FROM = '2026-01-12';
/** With 30 days until 2026-03-15, the month of 2026-02-14. */
const KEPT = '2026-02-01';

t.test('the sync does not fetch what retention has dropped, and fetches it again when it is to be kept', async (t) => {
  const searches = makeSearches({ since: '2026-01-01', silent: [] });
  const world = await newWorld(t, { searches, from: FROM });
  const days = (of: Awaited<ReturnType<typeof world.sync>>) => of.map(({ request }) => request.from).sort();
  t.ok(days(await world.sync())[0]! < KEPT);
  await holdsAll(t, world, wanted(world, { from: FROM }), 'before');

  await world.done('workspaces', 'set', 'acme', '--keep-days', '30');
  await world.done('prune');
  await holdsAll(t, world, wanted(world, { from: KEPT }), 'what is kept');
  t.match(await world.ordinate('sync', '--dry-run'), { code: 0, stdout: /^(?![\s\S]*2026-01-)/ });
  t.strictSame(
    days(await world.sync()).filter((day) => day < KEPT),
    [],
    'no dropped day is asked for',
  );
  await world.done('keywords', 'add', '--project', world.project, '--query', 'warm boots');
  t.strictSame(
    days(await world.sync()).filter((day) => day < KEPT),
    [],
    'nor for a new keyword',
  );
  t.match(await world.status(), { status: 'ok', backfill: { from: KEPT }, tables: { site_daily: { pendingDays: 0 } } });
  t.equal(world.catalog('select history_backfilling as it from projects')[0]!['it'], 0);
  await holdsAll(t, world, wanted(world, { from: KEPT }), 'after two more syncs');
  t.match(await world.ordinate('verify'), { code: 0 });
  t.match(await world.ordinate('prune'), { stdout: /Nothing is older/ });

  await world.done('workspaces', 'set', 'acme', '--keep-days', 'all');
  t.ok(days(await world.sync())[0]! < KEPT);
  await holdsAll(t, world, wanted(world, { from: FROM }), 'all again');
  t.match(await world.ordinate('verify'), { code: 0 });
});

t.test('a new project is filled from the first day that is kept', async (t) => {
  const searches = makeSearches({ since: '2026-01-01', silent: [] });
  const world = await newWorld(t, { searches, from: FROM, settings: { ORDINATE_KEEP_DAYS: '10' } });
  const asked = await world.sync();
  t.strictSame(
    asked.map(({ request }) => request.from).filter((day) => day < '2026-03-01'),
    [],
  );
  await holdsAll(t, world, wanted(world, { from: '2026-03-01' }), 'from the first of the month');
});
