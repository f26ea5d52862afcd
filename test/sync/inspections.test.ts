// The index state of pages is read within the provider's quota, stored batch by batch, and what failed is tried again.
import t, { type Test } from 'tap';
import { putInspections } from '../../server/catalog/inspections.ts';
import { NEVER_SYNCED, putSyncProject } from '../../server/catalog/sync-projects.ts';
import { addDays, pacificDayOf } from '../../server/domain/dates.ts';
import type { IndexState } from '../../server/domain/index-state.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import { inspectPages } from '../../server/jobs/inspect-pages.ts';
import { start } from '../process.ts';
import type { Row } from '../world.ts';
import { NOW, ORIGIN, type SyncWorld, syncWorld } from './sync-world.ts';
import { syncTalks } from './talk.ts';

const DAY = 86_400_000;
const today = pacificDayOf(NOW);
const stored = async ({ ask }: SyncWorld): Promise<string[]> => {
  const { pages } = (await ask('/index')).body as { pages: { url: string }[] };
  return pages.map(({ url }) => url);
};
const asked = ({ provider }: SyncWorld): string[] =>
  provider.model.log.flatMap(({ kind, page = '' }) => (kind === 'inspection' ? [page] : []));

/** A connected project with so many pages that have a click. */
function pagesWorld(t: Test, pages: number): Promise<SyncWorld> {
  const date = addDays(today, -2);
  const page_daily = Array.from({ length: pages }, (_, page): Row => {
    const numbers = { clicks: 1, impressions: 100, sum_position: 50 };
    return { project_id: 'Proj1', date, country: 'usa', url: `${ORIGIN}p${page}`, ...numbers };
  });
  return syncWorld(t, {
    tracked: [],
    project: { synced_through: date, provisional_after: date },
    tables: { page_daily },
  });
}

syncTalks('inspections.txt');

t.test('at most ten requests a second are sent for a property', async (t) => {
  const world = await pagesWorld(t, 12);
  await world.job(inspectPages);
  const lines = world.lines.filter((line) => 'outcome' in line);
  t.match(lines, [{ project: 'Proj1', requests: 12, pages: 12, outcome: 'fetched' }], 'one line for a batch');
  const [{ ms }] = lines as [{ ms: number }];
  t.ok(ms > 990, `the eleventh waits: ${ms} ms`);
  t.strictSame(await world.job(inspectPages), {}, 'nothing is due');
});

t.test('a stopped run keeps what was answered, and the next one goes on', async (t) => {
  const world = await pagesWorld(t, 15);
  const stop = new AbortController();
  world.provider.onRequest = () => {
    if (asked(world).length === 11) stop.abort(new Error('the process ends'));
  };
  await t.rejects(world.job(inspectPages, stop.signal));
  const { length } = await stored(world);
  t.ok(length >= 7, `${length} pages are stored`);
  world.provider.onRequest = () => {};
  t.match(await world.job(inspectPages), { inspected: 15 - length });
});

t.test('the newest 200 states of a page are kept', async (t) => {
  const world = await pagesWorld(t, 1);
  const url = `${ORIGIN}p0`;
  const connected = { id: 'Proj1', property: String((await world.row())['property']) };
  for (let day = 0; day < 203; day++) {
    const at = toMicroseconds(world.clock + day * DAY);
    const state = { ...(world.site.indexStateOf(url) as IndexState), crawledAs: `${day}` };
    const result = { url, at, clicks: 1, isWatched: false, inspection: { state, lastCrawlTime: null } };
    await putInspections(world.catalog, connected, [result], { dueAt: at, reason: null });
  }
  const { history } = (await world.ask(`/index/history?page=${encodeURIComponent(url)}`)).body as { history: Row[] };
  const kept = history.map((row) => row['crawledAs']);
  t.strictSame([kept.length, kept[0], kept.at(-1)], [200, '202', '3']);
});

t.test('a killed process loses the batch under way; what was stored is not asked for again', async (t) => {
  const world = await pagesWorld(t, 70);
  const { catalog, provider, environment } = world;
  // The sync of the project is not due.
  await putSyncProject(catalog, 'Proj1', { ...NEVER_SYNCED, nextRunAt: Number.MAX_SAFE_INTEGER });
  const { child, ended } = start(t, { ...environment, ORDINATE_JOBS: 'on' }, 'work');
  const reached = new Promise<void>((done) => {
    provider.onRequest = () => {
      if (asked(world).length === 55) done();
    };
  });
  await Promise.race([reached, ended]);
  child.kill('SIGKILL');
  await ended;
  provider.onRequest = () => {};
  const kept = await stored(world);
  t.equal(kept.length, 50, 'the first batch');
  world.clock = Date.now();
  provider.forget();
  t.match(await world.job(inspectPages), { inspected: 20 });
  t.strictSame(
    asked(world).filter((page) => kept.includes(page)),
    [],
  );
});
