// What clients asked lately is asked again after a publication, which changes no answer and holds up no shutdown.
import { globSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { localOnly } from '../stores.ts';
import { facts, keyword, makeWorld, NOW, ofProject, PROJECT, type World } from '../world.ts';
import { beforeFiles } from './before-files.ts';

/** A publication is seen at once. */
const limits = { followEvery: 0 };
const OTHER = 'Proj2';

const daysOf = (clicks: number) => facts('date keyword_id device', ['2026-03-09', 'Keyw1', 'mobile', clicks, 10, 20]);
const otherDays = (clicks: number) => ofProject(OTHER, daysOf(clicks)).map((row) => ({ ...row, keyword_id: 'Keyw2' }));

async function makeListening(t: Test, now: () => number = () => NOW): Promise<World> {
  const tables = {
    projects: [PROJECT, { ...PROJECT, id: OTHER }],
    keywords: [keyword('Keyw1', 'red shoes'), { ...keyword('Keyw2', 'red boots'), project_id: OTHER }],
    keyword_daily: [...daysOf(1), ...otherDays(1)],
  };
  const world = await makeWorld(t, tables, { limits, now });
  await world.app.listen();
  await world.app.prepared();
  return world;
}

const filesOf = ({ dataFolder }: World): Set<string> => new Set(globSync('facts/**/*.parquet', { cwd: dataFolder }));

/** Notes the projects whose new files the server compares from now on; `until` waits for one of them. */
function watchProjects(t: Test, world: World): { seen: string[]; until: (project: string) => Promise<void> } {
  // Loads compare the files that they replace.
  const old = filesOf(world);
  const seen: string[] = [];
  beforeFiles(t, (file) => void (old.has(file) || seen.push(file.split('/')[2]!)));
  const until = async (project: string): Promise<void> => {
    while (!seen.includes(project)) await nextTurn();
  };
  return { seen, until };
}

t.test('new files are compared before anyone asks again, and answers have the new days', localOnly, async (t) => {
  const world = await makeListening(t);
  await world.ask('/keywords?period=7d');
  const { seen, until } = watchProjects(t, world);
  await world.load({ keyword_daily: daysOf(5) });
  await until('Proj1');
  const { body } = await world.ask('/keywords?period=7d');
  t.equal(body.keywords[0].metrics.clicks, 5);
  t.strictSame(seen, ['Proj1'], 'the client found a file that was compared');
});

t.test(
  'questions about projects that nobody asked about, or that did not change, are not asked',
  localOnly,
  async (t) => {
    const world = await makeListening(t);
    await world.ask('/keywords?period=7d');
    const { seen, until } = watchProjects(t, world);
    await world.load({ keyword_daily: otherDays(2) });
    await world.load({ keyword_daily: daysOf(2) });
    await until('Proj1');
    t.notOk(seen.includes(OTHER));
  },
);

t.test('long answers are not asked again', localOnly, async (t) => {
  const world = await makeListening(t);
  await world.get(`/projects/${OTHER}/keywords?period=7d`);
  // The last one would be asked again first.
  await world.ask('/keywords?period=7d&daily=1');
  const { seen, until } = watchProjects(t, world);
  await world.load({ keyword_daily: [...daysOf(2), ...otherDays(2)] });
  await until(OTHER);
  t.notOk(seen.includes('Proj1'));
});

t.test('what was asked more than ten minutes ago is not asked again', localOnly, async (t) => {
  let now = NOW;
  const world = await makeListening(t, () => now);
  await world.ask('/keywords?period=7d');
  now += 11 * 60_000;
  await world.get(`/projects/${OTHER}/keywords?period=7d`);
  for (const clicks of [2, 3]) {
    const { seen, until } = watchProjects(t, world);
    await world.load({ keyword_daily: [...daysOf(clicks), ...otherDays(clicks)] });
    await until(OTHER);
    t.notOk(seen.includes('Proj1'));
  }
});

t.test('a failure is a warning, and the next publication is followed again', localOnly, async (t) => {
  const world = await makeListening(t);
  await world.ask('/keywords?period=7d');
  const old = filesOf(world);
  let isBroken = true;
  beforeFiles(t, (file) => {
    if (isBroken && !old.has(file)) throw new Error('planted');
  });
  await world.load({ keyword_daily: daysOf(2) });
  while (!world.log.some((line) => line.includes('could not prepare for the next question'))) await nextTurn();
  isBroken = false;
  const { until } = watchProjects(t, world);
  await world.load({ keyword_daily: daysOf(3) });
  await until('Proj1');
  const { body } = await world.ask('/keywords?period=7d');
  t.equal(body.keywords[0].metrics.clicks, 3);
});

t.test('a server stops in the middle of it', localOnly, async (t) => {
  const world = await makeListening(t);
  await world.ask('/keywords?period=7d');
  const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const old = filesOf(world);
  beforeFiles(t, async (file) => {
    if (old.has(file)) return;
    reached.resolve();
    await goOn.promise;
  });
  await world.load({ keyword_daily: daysOf(2) });
  await reached.promise;
  const closed = world.app.close();
  await nextTurn();
  goOn.resolve();
  await closed;
  t.notOk(world.log.some((line) => line.includes('could not prepare')));
});
