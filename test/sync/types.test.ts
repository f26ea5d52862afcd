// Search types that a property has are stored from its first sync on, each for itself.
import t from 'tap';
import { addDays, pacificDayOf } from '../../server/domain/dates.ts';
import type { OtherType } from '../../server/domain/search-types.ts';
import type { Row } from '../world.ts';
import { modelled, type SyncWorld, syncWorld } from './sync-world.ts';

const HOUR = 3_600_000;
/** Fewer tables: these tests are about types. */
const SMALL = { tracked: 0, from: '2026-03-01', archive: 'none' } as const;
const SHARES = { image: 0.7, discover: 0.9 } as const;
const WHOLE_IMAGE = ['2026-03-01 date,device', '2026-03-01 date,country'];

/** What the days of the API must be. */
const expected = (world: SyncWorld, type: OtherType, country: string | null = null): Row[] =>
  modelled(world, { from: '2026-03-01', to: pacificDayOf(world.clock) }, { type, country });

async function answered(world: SyncWorld, type: OtherType, more = ''): Promise<Row[]> {
  const { daily } = (await world.ask(`/site?from=2026-03-01&type=${type}${more}`)).body as { daily: Row[] };
  return daily
    .filter(({ impressions }) => Number(impressions) > 0)
    .map(({ date, clicks, impressions }) => ({ date, clicks, impressions }));
}

const asked = (world: SyncWorld, type: OtherType) =>
  world.provider.asked(type).map(({ request: { from, dimensions } }) => `${from} ${dimensions.join()}`);

t.test('the types that a property has, with their countries; later only the days that may change', async (t) => {
  const world = await syncWorld(t, SMALL);
  Object.assign(world.site.options.types, SHARES);
  t.match(await world.sync(), { outcome: 'done' });
  t.strictSame(asked(world, 'image'), WHOLE_IMAGE);
  t.strictSame(asked(world, 'discover'), ['2026-03-01 date', '2026-03-01 date,country'], 'it has no devices');
  t.strictSame(asked(world, 'video'), ['2026-03-01 date,device'], 'a type without rows has no countries');
  t.strictSame(await answered(world, 'video'), []);
  const check = async (what: string): Promise<void> => {
    for (const type of ['image', 'discover'] as const) {
      t.strictSame(await answered(world, type), expected(world, type), `${type} ${what}`);
      t.strictSame(await answered(world, type, '&country=usa'), expected(world, type, 'usa'), `${type} of usa ${what}`);
    }
  };
  await check('at first');
  const { factsRevision } = await world.project();
  await world.sync();
  t.equal((await world.project()).factsRevision, factsRevision, 'nothing changed, so nothing is published');

  for (const hours of [6, 12, 40]) {
    world.clock += hours * HOUR;
    world.provider.forget();
    await world.sync();
    await check(`${hours} hours later`);
    const again = asked(world, 'image').map((text) => text >= '2026-03-12');
    t.strictSame([again, asked(world, 'video')], [[true, true], []], 'final days are not asked again');
  }
  t.ok((await world.project()).factsRevision > factsRevision);
});

t.test('a type that is final later than web is fetched again until then, and says so everywhere', async (t) => {
  const world = await syncWorld(t, SMALL);
  Object.assign(world.site.options.types, SHARES);
  Object.assign(world.site.options.lateTypes, { discover: 4 });
  for (const hours of [0, 24, 30]) {
    world.clock += hours * HOUR;
    await world.sync();
    const web = (await world.project()).provisionalAfter!;
    const late = addDays(web, -4);
    const { surfaces } = (await world.ask('/surfaces?from=2026-03-01&compare=previous')).body as { surfaces: Row[] };
    const told = Object.fromEntries(surfaces.map(({ type, provisionalAfter }) => [type, provisionalAfter]));
    t.match(told, { web, image: web, discover: late }, `${hours} hours later`);
    const compare = `compare=${addDays(late, -3)}..${addDays(late, -2)}`;
    const after = `type=discover&from=${late}&to=${addDays(late, 1)}&${compare}`;
    const provisional = { unsafe: { clicks: ['provisional'] } };
    const site = (await world.ask(`/site?${after}`)).body;
    t.match(site, { range: { provisionalAfter: late }, totals: provisional });
    t.match((await world.ask(`/breakdowns?${after}`)).body, { range: { provisionalAfter: late } });
    const { projects } = (await world.get(`/portfolio?${after}`)).body;
    t.match(projects, [{ range: { provisionalAfter: late }, totals: provisional }]);
    const final = (await world.ask(`/site?type=discover&from=${addDays(late, -1)}&to=${late}&${compare}`)).body;
    t.notMatch(final.totals, provisional);
    t.strictSame(await answered(world, 'discover'), expected(world, 'discover'));
  }
});

t.test('a type that appears later is found within a month, with its whole history', async (t) => {
  const world = await syncWorld(t, SMALL);
  await world.sync();
  const { surfaces } = (await world.ask('/surfaces')).body as { surfaces: Row[] };
  const types = surfaces.map(({ type }) => type);
  Object.assign(world.site.options.types, SHARES);
  const found: string[][] = [];
  for (const days of [20, 11]) {
    world.clock += days * 24 * HOUR;
    world.provider.forget();
    await world.sync();
    found.push(asked(world, 'image'));
  }
  t.strictSame([types, ...found], [['web'], [], WHOLE_IMAGE]);
  t.strictSame(await answered(world, 'image'), expected(world, 'image'));
});

t.test('a project of one country has the types of that country, also after it has changed', async (t) => {
  const world = await syncWorld(t, { ...SMALL, project: { country: 'usa' } });
  Object.assign(world.site.options.types, SHARES);
  await world.sync();
  t.strictSame(await answered(world, 'image'), expected(world, 'image', 'usa'));
  await world.load({ projects: [{ ...(await world.row()), country: 'gbr' }] });
  await world.sync();
  t.strictSame(await answered(world, 'image'), expected(world, 'image', 'gbr'));
});

t.test('the first window of a new project comes before its types, and these before its history', async (t) => {
  const world = await syncWorld(t, { ...SMALL, from: '2026-01-15' });
  Object.assign(world.site.options.types, SHARES);
  await world.sync();
  const all = world.provider.model.log.flatMap(({ request }) => (request === undefined ? [] : [request]));
  const before = all.slice(
    0,
    all.findIndex(({ type }) => type !== 'web'),
  );
  t.ok(before.some(({ dimensions }) => dimensions.join() === 'date,device'));
  t.ok(before.every(({ from }) => from >= '2026-02-16'));
});
