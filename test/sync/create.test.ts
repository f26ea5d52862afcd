// A project is created and synced with one command, however its property is written.
import t from 'tap';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { connection, newWorld, PROPERTY } from './operator-world.ts';

t.test('properties as people write them', async (t) => {
  const world = await newWorld(t);
  const { provider } = world;
  for (const property of ['https://www.two.example/', 'http://plain.example/']) {
    provider.give(property, 'siteOwner');
  }
  provider.give('https://unverified.example/', 'siteUnverifiedUser');
  const list = JSON.parse(await world.done('properties', ...connection(provider).slice(4), '--json')) as object[];
  t.match(
    list.find((each) => (each as { property: string }).property === PROPERTY),
    { permission: 'siteFullUser' },
  );

  const create = (property: string) =>
    world.ordinate('projects', 'create', ...connection(provider, property), '--json');
  for (const [given, found] of [
    ['shop.example', PROPERTY],
    ['https://www.two.example', 'https://www.two.example/'],
    ['http://plain.example', 'http://plain.example/'],
  ] as const) {
    const { code, stdout, stderr } = await create(given);
    t.equal(code, 0, stderr);
    t.match((JSON.parse(stdout) as { project: object }).project, { property: found }, given);
  }
  for (const [given, nearest] of [
    ['two.example', 'https://www.two.example/'],
    ['sc-domain:shop.exampel', PROPERTY],
    ['https://plain.example/x', 'http://plain.example/'],
  ] as const) {
    const { code, stderr } = await create(given);
    t.not(code, 0, given);
    t.ok(stderr.includes(nearest), `${given}: ${stderr}`);
  }
  t.not((await create('https://unverified.example/')).code, 0, 'nobody may read it');
});

t.test('the queries with most clicks, tracked and synced by one command', async (t) => {
  const world = await newWorld(t);
  // Only the first requests: the history of all 16 months is that of other tests.
  let answered = 0;
  world.provider.fail(FAILURES.badRequest, { which: ({ request }) => request !== undefined && ++answered > 20 });
  const words = ['--track-top', '5', '--sync', '--archive', 'none', '--json'];
  const { stdout } = await world.ordinate('projects', 'create', ...connection(world.provider), ...words);
  const { id } = (JSON.parse(stdout) as { project: { id: string } }).project;
  const listed = JSON.parse(await world.done('projects', 'list', '--json')) as { id: string }[];
  const found = listed.find((each) => each.id === id);
  t.match(found, { trackedKeywords: 5, syncedThrough: '2026-03-15', coverage: { keyword_daily: {} } });
});
