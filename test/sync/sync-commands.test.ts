// Operators can run, plan, inspect and verify the sync by command.
import t from 'tap';
import { addDays, pacificDayOf } from '../../server/domain/dates.ts';
import { command } from '../command.ts';
import { syncWorld } from './sync-world.ts';

const today = pacificDayOf(Date.now());

t.test('sync, sync status, sync --dry-run and verify of a connected project', async (t) => {
  const from = addDays(today, -35);
  const world = await syncWorld(t, { clock: () => Date.now(), since: from, from, archive: 'queries' });
  const environment = {
    ORDINATE_DATA: world.dataFolder,
    ORDINATE_THREADS: '1',
    ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '100000',
    ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
  };
  const run = (...words: string[]) => command(environment, ...words);

  const plan = await run('sync', '--dry-run');
  t.equal(plan.code, 0, plan.stderr);
  t.match(plan.stdout, new RegExp(`newest +${addDays(today, -27)} +${today}`));
  const planned = Number(/(\d+) requests/.exec(plan.stdout)?.[1]);
  t.equal(world.provider.asked().length, 0, 'nothing is asked');

  const [before] = JSON.parse((await run('sync', 'status', '--json')).stdout);
  t.match(before, {
    id: 'Proj1',
    lastRun: null,
    nextRun: null,
    backfill: { from, through: today, done: 0, total: 36 },
  });

  const synced = await run('sync', '--project', 'Proj1');
  t.equal(synced.code, 0, synced.stderr);
  const asked = world.provider.asked('all');
  const appearances = asked.filter(({ request }) =>
    request.filters.some(({ dimension }) => dimension === 'searchAppearance'),
  );
  t.equal(asked.length, planned + appearances.length, 'as many requests as were planned');
  const line = synced.stderr.split('\n').find((text) => text.includes('"outcome"'));
  t.match(JSON.parse(line ?? '{}'), { project: 'Proj1', requests: asked.length, retries: 0, outcome: 'done' });

  const status = await run('sync', 'status', '--project', 'Proj1', '--json');
  const [after] = JSON.parse(status.stdout);
  t.match(after, { id: 'Proj1', status: 'ok', lastError: null, backfill: { from, done: 36, total: 36 } });
  t.match(after.tables.query_daily, { firstDay: from, pendingDays: 0, cutOffDays: 0 });
  t.ok(after.nextRun > after.lastRun);
  t.match((await run('sync', 'status')).stdout, /36 of 36/);

  t.match(await run('verify', '--project', 'Proj1'), { code: 0, stdout: /All is in order/ });
  const moved = addDays(today, -20);
  world.searches.change(moved);
  const found = await run('verify', '--project', 'Proj1', '--days', '30');
  t.equal(found.code, 1);
  t.strictSame(found.stdout.match(/\d{4}-\d{2}-\d{2}/g), [moved]);
  t.equal((await run('verify', '--project', 'Proj1', '--days', '10')).code, 0, 'the day is older');
  const repaired = await run('verify', '--project', 'Proj1', '--repair');
  t.equal(repaired.code, 0, repaired.stderr);
  t.match(await run('verify', '--project', 'Proj1'), { code: 0 });

  world.provider.take('sc-domain:shop.example');
  t.match(await run('sync'), { code: 1, stdout: /access-lost/ });
  t.match(await run('sync', '--project', 'none0'), { code: 1, stderr: /There is no project 'none0'/ });
});
