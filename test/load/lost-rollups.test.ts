// A server that misses a rollup makes it again from the days.
import t from 'tap';
import { openJoinedStore } from '../../server/catalog/joined-store.ts';
import { type ManifestRow, ROLLUPS } from '../../server/catalog/manifest.ts';
import { verify } from '../../server/maintenance/verify.ts';
import { until } from '../process.ts';
import { makeWorld } from '../world.ts';
import { EVERYTHING } from './snapshots.ts';

const RANGE = 'from=2025-12-01&to=2026-03-10';
/** Questions that read the files of a rollup. */
const ASKED = {
  keyword_all: `/keywords?${RANGE}&daily=1`,
  keyword_running: `/keywords?${RANGE}&device=desktop`,
  keyword_cumulative: `/keywords?${RANGE}`,
};

t.test('a server makes lost rollups again that it misses, and answers 503 until then', async (t) => {
  const { body: right } = await (await makeWorld(t, EVERYTHING)).ask(ASKED.keyword_all);
  for (const table of ROLLUPS) {
    const world = await makeWorld(t, EVERYTHING, { environment: { ORDINATE_CACHE: '0MB' } });
    const files = await world.catalog.statements.all<ManifestRow>('manifest_all');
    await using store = await openJoinedStore(world.settings, world.catalog);
    for (const { table: name, file } of files) if (name === table) await store.remove(file);
    const { status, headers, body } = await world.ask(ASKED[table]);
    t.match({ status, headers }, { status: 503, headers: { 'retry-after': '60' } }, table);
    t.match(body.error, { code: 'unavailable', message: /being made again/ });
    const ended = /lost rollups (were made|could not)|the lost rollups again/;
    await until('the end of the work', () => world.log.find((line) => ended.test(line)));
    t.equal((await world.ask(ASKED[table])).status, 200);
    t.strictSame((await world.ask(ASKED.keyword_all)).body, right);
    const { problems } = await verify(world);
    t.strictSame(
      problems.filter(({ project }) => project === 'Proj1'),
      [],
      'all is in order',
    );
    t.match(world.log.join(''), /it is missing.*lost rollups were made again/s);
  }
});

t.test('days that were lost are a failure of the service: nothing can make them', async (t) => {
  const world = await makeWorld(t, EVERYTHING, { environment: { ORDINATE_CACHE: '0MB' } });
  const files = await world.catalog.statements.all<ManifestRow>('manifest_all');
  await using store = await openJoinedStore(world.settings, world.catalog);
  for (const { table, file } of files) if (table === 'keyword_daily') await store.remove(file);
  const { status } = await world.ask(`/keywords?${RANGE}&daily=1&device=desktop`);
  t.equal(status, 500);
});
