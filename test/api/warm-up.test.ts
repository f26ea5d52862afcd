// A server that listens prepares for its first question, which changes no answer and holds up no shutdown.
import { globSync, truncateSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { localOnly } from '../stores.ts';
import { facts, keyword, makeWorld } from '../world.ts';
import { beforeFiles } from './before-files.ts';

const TABLES = {
  keywords: [keyword('Keyw1', 'red shoes')],
  keyword_daily: facts('date keyword_id device', ['2026-03-09', 'Keyw1', 'mobile', 1, 10, 20]),
};
const QUESTION = '/keywords?period=7d';

t.test('files are compared before anyone asks, and answers stay what they are', localOnly, async (t) => {
  const world = await makeWorld(t, TABLES);
  const expected = (await (await makeWorld(t, TABLES)).ask(QUESTION)).body as unknown;
  const read = Promise.withResolvers<void>();
  beforeFiles(t, () => read.resolve());
  await world.app.listen();
  await read.promise;
  t.strictSame((await world.ask(QUESTION)).body, expected);
  t.match(await world.app.inject('/readyz').then((ready) => ready.json<object>()), { answers: { hits: 0, misses: 1 } });
  await world.load({ keyword_daily: facts('date keyword_id device', ['2026-03-09', 'Keyw1', 'mobile', 5, 10, 20]) });
  t.equal((await world.ask(QUESTION)).body.keywords[0].metrics.clicks, 5);
});

t.test('a failure is a warning; the server answers as it would without', localOnly, async (t) => {
  const world = await makeWorld(t, TABLES);
  for (const file of globSync(`${world.dataFolder}/facts/keyword_*/**/*.parquet`)) truncateSync(file, 10);
  await world.app.listen();
  while (!world.log.some((line) => line.includes('could not prepare'))) await nextTurn();
  t.equal((await world.ask(QUESTION)).status, 503, 'a lost rollup is made again, for which its days would be needed');
  t.equal((await world.ask('/keywords?from=2026-03-01&to=2026-03-02&group=Nope1')).status, 404);
});

/** A server that listens and waits, while it prepares, until `goOn`. */
async function makePreparing(t: Test, preparation = 60_000) {
  const world = await makeWorld(t, TABLES, { limits: { preparation } });
  const [reached, { promise, resolve: goOn }] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  beforeFiles(t, () => {
    reached.resolve();
    return promise;
  });
  await world.app.listen();
  await reached.promise;
  return { world, goOn };
}

t.test('a server is ready when it is prepared', localOnly, async (t) => {
  const { world, goOn } = await makePreparing(t);
  let isReady = false;
  const ready = world.app.prepared().then(() => {
    isReady = true;
  });
  const asked = world.app.inject('/readyz');
  t.equal((await world.app.inject('/livez')).statusCode, 200, 'it answers meanwhile');
  t.notOk(isReady);
  goOn();
  await ready;
  t.equal((await asked).statusCode, 200);
});

t.test('or has prepared for long enough', localOnly, async (t) => {
  const { world, goOn } = await makePreparing(t, 0);
  await t.resolves(world.app.prepared());
  goOn();
});

t.test('a server stops in the middle of it', localOnly, async (t) => {
  const { world, goOn } = await makePreparing(t);
  const closed = world.app.close();
  await nextTurn();
  goOn();
  await closed;
  t.notOk(world.log.some((line) => line.includes('could not prepare')));
});

t.test('a project without days, or none, is nothing to prepare for', async (t) => {
  const world = await makeWorld(t, {});
  await world.app.listen();
  t.equal((await world.ask('/site')).status, 200);
  await world.app.close();
  t.notOk(world.log.some((line) => line.includes('could not prepare')));
});
