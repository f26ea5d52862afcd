import t from 'tap';
import { sameFacts, syncWorld } from './sync-world.ts';

t.test('a first run brings all days of all tables, and the state of the project', async (t) => {
  const world = await syncWorld(t);
  const result = await world.sync();
  t.match(result, { outcome: 'done', reason: null });
  await sameFacts(t, world);
  t.match(world.project(), {
    syncStatus: 'ok',
    syncedThrough: '2026-03-15',
    provisionalAfter: '2026-03-12',
    historyBackfilling: false,
    lastSyncedAt: world.clock * 1000,
  });
  console.log(result, world.provider.asked().length);
});
