// Hours are final as far as the sync knows, and those of a year take little space.
import t from 'tap';
import { filesOf } from '../../server/catalog/fact-files.ts';
import { NEVER_SYNCED, putHoursUntil, putSyncProject } from '../../server/catalog/sync-projects.ts';
import { eachDay } from '../../server/domain/dates.ts';
import { hoursOf } from '../../server/domain/hours.ts';
import { EVERY_DAY } from '../../server/domain/range.ts';
import { facts, makeWorld } from '../world.ts';

const hour = Date.UTC(2026, 2, 9, 11);

t.test('the last final hour is what the sync knows', async (t) => {
  const site_hourly = facts('date hour', ['2026-03-06', '2026-03-06T12:00:00Z', 1, 10, 5]);
  const { ask, catalog } = await makeWorld(t, { site_hourly });
  await putSyncProject(catalog, 'Proj1', NEVER_SYNCED);
  await putHoursUntil(catalog, 'Proj1', hour * 1000);
  const { range } = (await ask('/hours?from=2026-03-06&to=2026-03-06')).body;
  t.equal(range.provisionalAfter, '2026-03-09T03:00:00-07:00');
});

t.test('a year of hours of a large property takes less than 2 MB', async (t) => {
  const random = (index: number, most: number): number => (Math.imul(index + 1, 2_654_435_761) >>> 0) % most;
  const rows = eachDay('2025-01-01', '2025-12-31').flatMap((day) =>
    hoursOf(day).map((start): (string | number)[] => {
      const index = start / 3_600_000;
      const impressions = 500_000 + random(index, 1_000_000);
      const sum = impressions * 9 + random(index, 9999);
      return [day, new Date(start).toISOString(), random(index + 7, 90_000), impressions, sum];
    }),
  );
  const { catalog } = await makeWorld(t, { site_hourly: facts('date hour', ...rows) });
  const files = await filesOf(catalog, 'Proj1', 'site_hourly', EVERY_DAY);
  t.strictSame([rows.length, files.length], [8760, 12]);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  t.ok(bytes < 2_000_000, `${bytes} bytes`);
});
