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
const DAY = 24 * HOUR;
const PLAIN: SubmittedSitemap = {
  ...{ path: 'https://shop.example/sitemap.xml', type: 'sitemap', isSitemapsIndex: false, isPending: false },
  ...{ lastSubmitted: '2026-03-01T10:00:00.5Z', lastDownloaded: '2026-03-14T23:30:00-08:00' },
  ...{ warnings: '2', errors: '0' },
  contents: [
    { type: 'image', submitted: '900', indexed: '0' },
    { type: 'web', submitted: '120', indexed: '0' },
  ],
};
const NEW: SubmittedSitemap = { path: 'https://shop.example/a.xml', isPending: true };
const AS_ANSWERED = {
  ...{ path: PLAIN.path, type: 'sitemap', isIndex: false, isPending: false, warnings: 2, errors: 0, urls: 120 },
  ...{ lastSubmitted: '2026-03-01T10:00:00.500Z', lastDownloaded: '2026-03-15T07:30:00.000Z' },
};
const NEW_ANSWERED = {
  ...{ path: NEW.path, type: null, isIndex: false, isPending: true, warnings: 0, errors: 0, urls: null },
  ...{ lastSubmitted: null, lastDownloaded: null },
};

/** One run of the job: how many projects were read and failed. */
async function run(world: SyncWorld, signal = new AbortController().signal): Promise<string> {
  const { settings, catalog } = world;
  const keep = (line: unknown): void => void world.lines.push(line as Row);
  const log = { debug: keep, info: keep, warn: keep, error: keep };
  const done = await readSitemaps.run({ settings, catalog, log, now: () => world.clock, report: () => {} }, signal);
  return Object.entries(done).join(' ');
}

const answer = async ({ ask }: Pick<SyncWorld, 'ask'>): Promise<[string | null, string | null, Row[]]> => {
  const { fetchedAt, reason, sitemaps } = (await ask('/sitemaps')).body;
  return [fetchedAt, reason, sitemaps];
};
const ofSitemaps = { which: ({ kind }: { kind: string }) => kind === 'sitemaps' };
const READ = 'read,1 failed,0';
const FAILED = 'read,0 failed,1';

t.test('before they are read, what is needed; then once a day, with one line in the log', async (t) => {
  const without = await makeWorld(t, {});
  t.match(await answer(without), [null, /no connection/, []]);
  await connect(without.catalog, {});
  t.match(await answer(without), [null, /not been read yet/, []]);

  const world = await syncWorld(t, { tracked: 0 });
  world.site.sitemaps = [PLAIN, NEW];
  const runs = [await run(world)];
  t.strictSame(await answer(world), ['2026-03-15T19:00:00.000Z', null, [NEW_ANSWERED, AS_ANSWERED]]);
  const lines = world.lines.filter((line) => 'outcome' in line);
  t.match(lines, [{ project: 'Proj1', sitemaps: 2, outcome: 'fetched' }]);
  world.clock += 23 * HOUR;
  runs.push(await run(world));
  world.site.sitemaps = [];
  world.clock += HOUR;
  runs.push(await run(world));
  t.strictSame(runs, [READ, '', READ]);
  t.strictSame((await answer(world)).slice(1), [null, []], 'none is an answer, too');
  t.equal(world.provider.model.log.filter(ofSitemaps.which).length, 2);
});

t.test('a failure keeps what was read, says why, and is tried again after an hour', async (t) => {
  withoutPauses(t);
  const world = await syncWorld(t, { tracked: 0 });
  world.provider.fail(FAILURES.loadQuota, { ...ofSitemaps, times: 1 });
  t.equal(await run(world), FAILED);
  t.match(await answer(world), [null, /quota/, []]);
  world.clock += HOUR;
  world.site.sitemaps = [PLAIN];
  t.equal(await run(world), READ);
  const [at] = await answer(world);
  t.strictSame((await world.ask('/sitemaps.ndjson')).body, AS_ANSWERED);
  world.clock += DAY;
  world.provider.fail(FAILURES.forbidden, ofSitemaps);
  t.strictSame([await run(world), await run(world)], [FAILED, ''], 'not at once');
  t.match(await answer(world), [at, /no longer grants access/, [AS_ANSWERED]]);
  world.provider.heal();
  // Answers of another form are failures.
  for (const wrong of [{ path: 'https://shop.example/a.xml', errors: 'some' }, { type: 'sitemap' }]) {
    world.site.sitemaps = [wrong as SubmittedSitemap];
    world.clock += DAY;
    t.equal(await run(world), FAILED);
    t.match(await answer(world), [at, /cannot be reached/, [AS_ANSWERED]]);
  }
  world.site.sitemaps = [NEW];
  world.clock += HOUR;
  t.equal(await run(world), READ);
  t.match(await answer(world), [/2026-03-18T21/, null, [NEW_ANSWERED]]);
});

t.test('a stopped run stores nothing of what was under way, and the next one reads it', async (t) => {
  const world = await syncWorld(t, { tracked: 0 });
  const stop = new AbortController();
  world.provider.onRequest = ({ kind }) => {
    if (kind === 'sitemaps') stop.abort(new Error('the process ends'));
  };
  await t.rejects(run(world, stop.signal));
  t.match(await answer(world), [null, /not been read yet/, []]);
  world.provider.onRequest = () => {};
  t.equal(await run(world), READ);
});

t.test('the sitemaps of another property are not those of the project', async (t) => {
  const world = await syncWorld(t, { tracked: 0 });
  world.site.sitemaps = [PLAIN];
  await run(world);
  await world.load({ projects: [{ ...(await world.row()), property: 'https://shop.example/' }] });
  t.match(await answer(world), [null, /not been read yet/, []]);
  t.equal(await run(world), FAILED, 'it is asked for at once');
  t.match(await answer(world), [null, /access/, []]);
});
