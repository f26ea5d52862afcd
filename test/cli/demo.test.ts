// The demo never shows data of future days.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { writeDemoSnapshot } from '../../cli/demo/snapshot.ts';
import { temporaryFolder } from '../world.ts';

/** The rows of the demo's entities, as it is made at an instant. Its facts end the day before it was synced. */
async function entitiesAt(t: Test, now: number): Promise<Record<string, unknown>[]> {
  const folder = join(temporaryFolder(t), 'demo');
  await writeDemoSnapshot(
    folder,
    now,
    async () => {},
    () => {},
  );
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n'));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

t.test('nothing of the demo lies in the future, at any hour', async (t) => {
  for (const [time, synced] of [
    ['2026-03-10T00:00:00Z', '2026-03-09'],
    ['2026-03-10T04:10:30Z', '2026-03-09'],
    ['2026-03-10T04:20:00Z', '2026-03-10'],
    ['2026-03-10T23:59:59Z', '2026-03-10'],
  ] as const) {
    const rows = await entitiesAt(t, Date.parse(time));
    const instants = rows.flatMap((row) =>
      Object.entries(row).flatMap(([name, value]) =>
        /(_at|_since)$/.test(name) && typeof value === 'string' ? [Date.parse(`${value}Z`)] : [],
      ),
    );
    t.ok(instants.length > 100 && instants.every((at) => at <= Date.parse(time)), `made at ${time}`);
    const projects = rows.filter((row) => 'last_synced_at' in row);
    t.ok(projects.length > 0 && projects.every((row) => String(row['last_synced_at']).startsWith(synced)), synced);
  }
});
