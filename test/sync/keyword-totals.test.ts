// Keyword totals are correct while the history of a project is still incomplete.
import t, { type Test } from 'tap';
import { filesOf } from '../../server/catalog/fact-files.ts';
import { EVERY_DAY } from '../../server/domain/range.ts';
import { verify } from '../../server/maintenance/verify.ts';
import { holds, type SyncWorld, syncWorld } from './sync-world.ts';

const DAY = 86_400_000;

/** Clicks and impressions of each keyword over a range, as the days are stored. */
async function sumsOfDays(world: SyncWorld, from: string, to: string): Promise<Map<string, [number, number]>> {
  const sums = new Map<string, [number, number]>();
  for (const { keyword_id: id, date, clicks, impressions } of await world.stored('keyword_daily')) {
    if (String(date) < from || String(date) > to) continue;
    const [before, shown] = sums.get(String(id)) ?? [0, 0];
    sums.set(String(id), [before + Number(clicks), shown + Number(impressions)]);
  }
  return sums;
}

async function answersRight(t: Test, world: SyncWorld, name: string): Promise<void> {
  for (const [from, to] of [
    ['2026-02-20', '2026-03-10'],
    ['2026-01-15', '2026-03-05'],
    ['2025-12-20', '2026-03-15'],
  ] as const) {
    const { body } = await world.ask(`/keywords?from=${from}&to=${to}`);
    const answered = (body as { keywords: { id: string; metrics: { clicks: number; impressions: number } }[] })
      .keywords;
    const totals = answered
      .filter(({ metrics: { impressions } }) => impressions > 0)
      .map(({ id, metrics: { clicks, impressions } }) => [id, [clicks, impressions]]);
    t.strictSame(Object.fromEntries(totals), Object.fromEntries(await sumsOfDays(world, from, to)), `${name}: ${from}`);
  }
  const { settings, catalog } = world;
  t.strictSame((await verify({ settings, catalog }, { project: 'Proj1' })).problems, [], `${name}: verify`);
}

t.test('totals are right while a history is fetched; those by day are written once it is complete', async (t) => {
  // The oldest month has no rows: its window publishes nothing of keywords.
  const world = await syncWorld(t, { from: '2025-12-20', since: '2026-01-10', tracked: 3 });
  const months = async (table: 'keyword_all' | 'keyword_cumulative'): Promise<number> =>
    (await filesOf(world.catalog, 'Proj1', table, EVERY_DAY)).length;
  const seen: number[] = [];
  for (let outcome = 'part'; outcome === 'part'; ) {
    ({ outcome } = await world.sync({ maxWindows: 1, staleAfter: DAY }));
    seen.push(await months('keyword_cumulative'));
    await answersRight(t, world, `after window ${seen.length}`);
  }
  t.equal(await months('keyword_all'), 3);
  t.strictSame(seen, [0, 0, 0, 3]);
  await holds(t, world);

  const [keyword] = world.queries.slice(5);
  await world.load({
    keywords: [{ id: 'added', project_id: 'Proj1', query: keyword, tracked_since: '2026-01-01T00:00:00' }],
  });
  world.clock += DAY;
  await world.sync({ maxWindows: 1 });
  await answersRight(t, world, 'before the days that a new keyword lacks');
  await world.sync();
  t.equal(await months('keyword_cumulative'), 3);
  await answersRight(t, world, 'with a new keyword');
});
