// Sitemaps of connected projects are read once a day; an answer without them says why, and what was read stays.
import t from 'tap';
import type { SubmittedSitemap } from '../../cli/demo/provider/site.ts';
import { readSitemaps } from '../../server/jobs/read-sitemaps.ts';
import { connect } from '../fakes/connected.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { withoutPauses } from '../fakes/without-pauses.ts';
import { makeWorld, type Row } from '../world.ts';
import { type SyncWorld, syncWorld } from './sync-world.ts';

const HOUR = 3_600_000;
const PLAIN: SubmittedSitemap = {
  path: 'https://shop.example/sitemap.xml',
  type: 'sitemap',
  isSitemapsIndex: false,
  isPending: false,
  lastSubmitted: '2026-03-01T10:00:00.5Z',
  lastDownloaded: '2026-03-14T23:30:00-08:00',
  warnings: '2',
  errors: '0',
  contents: [
    { type: 'image', submitted: '900', indexed: '0' },
    { type: 'web', submitted: '120', indexed: '0' },
  ],
};
const NEW: SubmittedSitemap = { path: 'https://shop.example/a.xml', isPending: true };
const AS_ANSWERED = {
  path: 'https://shop.example/sitemap.xml',
  type: 'sitemap',
  isIndex: false,
  lastSubmitted: '2026-03-01T10:00:00.500Z',
  lastDownloaded: '2026-03-15T07:30:00.000Z',
  isPending: false,
  warnings: 2,
  errors: 0,
  urls: 120,
};

/** One run of the job. */
function run(world: SyncWorld, signal = new AbortController().signal) {
  const { settings, catalog } = world;
  const keep = (line: unknown): void => void world.lines.push(line as Row);
  const log = { debug: keep, info: keep, warn: keep, error: keep };
  return readSitemaps.run({ settings, catalog, log, now: () => world.clock, report: () => {} }, signal);
}

const requests = ({ provider }: SyncWorld) => provider.model.log.filter(({ kind }) => kind === 'sitemaps');
const answer = async (world: SyncWorld) => (await world.ask('/sitemaps')).body as Row & { sitemaps: Row[] };
const ofSitemaps = { which: ({ kind }: { kind: string }) => kind === 'sitemaps' };

t.test('a project without a connection, or whose sitemaps were not read yet, says what is needed', async (t) => {
  const world = await makeWorld(t, {});
  t.match((await world.ask('/sitemaps')).body, { fetchedAt: null, reason: /no connection/, sitemaps: [] });
  await connect(world.catalog, {});
  t.match((await world.ask('/sitemaps')).body, { fetchedAt: null, reason: /not been read yet/, sitemaps: [] });
});

t.test('sitemaps are read once a day, with one line in the log', async (t) => {
  const world = await syncWorld(t, { tracked: 0 });
  world.site.sitemaps = [PLAIN, NEW];
  t.strictSame(await run(world), { read: 1, failed: 0 });
  const found = await answer(world);
  t.match(found, { fetchedAt: '2026-03-15T19:00:00.000Z', reason: null });
  t.strictSame(found.sitemaps, [
    {
      ...AS_ANSWERED,
      path: NEW.path,
      type: null,
      lastSubmitted: null,
      lastDownloaded: null,
      isPending: true,
      warnings: 0,
      urls: null,
    },
    AS_ANSWERED,
  ]);
  t.match(
    world.lines.filter((line) => 'outcome' in line),
    [{ project: 'Proj1', sitemaps: 2, outcome: 'fetched' }],
  );
  world.clock += 23 * HOUR;
  t.strictSame(await run(world), {});
  world.site.sitemaps = [];
  world.clock += HOUR;
  t.strictSame(await run(world), { read: 1, failed: 0 });
  t.match(await answer(world), { reason: null, sitemaps: [] }, 'none is an answer, too');
  t.equal(requests(world).length, 2);
});

t.test('a failure keeps what was read, says why, and is tried again after an hour', async (t) => {
  const world = await syncWorld(t, { tracked: 0 });
  world.site.sitemaps = [PLAIN];
  await run(world);
  world.clock += 24 * HOUR;
  world.provider.fail(FAILURES.forbidden, ofSitemaps);
  t.strictSame(await run(world), { read: 0, failed: 1 });
  t.match(await answer(world), {
    fetchedAt: '2026-03-15T19:00:00.000Z',
    reason: /no longer grants access/,
    sitemaps: [AS_ANSWERED],
  });
  t.strictSame(await run(world), {}, 'not at once');
  world.provider.heal();
  world.clock += HOUR;
  t.strictSame(await run(world), { read: 1, failed: 0 });
  t.match(await answer(world), { fetchedAt: '2026-03-16T20:00:00.000Z', reason: null });
});

t.test('a pause of the property is respected, and answers of another form are failures', async (t) => {
  withoutPauses(t);
  const world = await syncWorld(t, { tracked: 0 });
  world.provider.fail(FAILURES.loadQuota, { ...ofSitemaps, times: 1 });
  t.strictSame(await run(world), { read: 0, failed: 1 });
  t.match(await answer(world), { reason: /quota/, sitemaps: [] });
  world.clock += HOUR;
  t.strictSame(await run(world), { read: 1, failed: 0 });
  for (const wrong of [{ path: 'https://shop.example/a.xml', errors: 'some' }, { type: 'sitemap' }]) {
    world.site.sitemaps = [wrong as SubmittedSitemap];
    world.clock += 24 * HOUR;
    t.strictSame(await run(world), { read: 0, failed: 1 });
    t.match(await answer(world), { reason: /cannot be reached/, sitemaps: [] });
  }
});

t.test('a stopped run stores nothing of what was under way, and the next one reads it', async (t) => {
  const world = await syncWorld(t, { tracked: 0 });
  world.site.sitemaps = [PLAIN];
  const stop = new AbortController();
  world.provider.onRequest = ({ kind }) => {
    if (kind === 'sitemaps') stop.abort(new Error('the process ends'));
  };
  await t.rejects(run(world, stop.signal));
  t.match(await answer(world), { reason: /not been read yet/ });
  world.provider.onRequest = () => {};
  t.strictSame(await run(world), { read: 1, failed: 0 });
});

t.test('the sitemaps of another property are not those of the project', async (t) => {
  const world = await syncWorld(t, { tracked: 0 });
  world.site.sitemaps = [PLAIN];
  await run(world);
  const other = 'https://shop.example/';
  await world.load({ projects: [{ ...(await world.row()), property: other }] });
  t.match(await answer(world), { fetchedAt: null, reason: /not been read yet/, sitemaps: [] });
  t.strictSame(await run(world), { read: 0, failed: 1 }, 'it is asked for at once');
  t.match(await answer(world), { fetchedAt: null, reason: /access/, sitemaps: [] });
});
