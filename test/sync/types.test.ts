// Search types that a property has are stored from its first sync on, each for itself.
import t from 'tap';
import { stageOf } from '../../cli/demo/provider/days.ts';
import { countByPage, countByProperty } from '../../cli/demo/provider/searches.ts';
import { addDays, type Day, eachDay, pacificDayOf } from '../../server/domain/dates.ts';
import { hasQueries, type OtherType } from '../../server/domain/search-types.ts';
import { withoutPauses } from '../fakes/without-pauses.ts';
import type { Row } from '../world.ts';
import { type SyncWorld, syncWorld } from './sync-world.ts';

const HOUR = 3_600_000;
/** Fewer tables: these tests are about types. */
const SMALL = { tracked: 0, from: '2026-03-01', archive: 'none' } as const;
const SHARES = { image: 0.7, discover: 0.9 } as const;

/** Clicks and impressions by day, from the searches alone. */
function expected({ site, clock }: SyncWorld, type: keyof typeof SHARES, country: string | null = null): Row[] {
  const share = SHARES[type];
  const { timetable: ofWeb, lateTypes } = site.options;
  const timetable = { ...ofWeb, finalAfterDays: ofWeb.finalAfterDays + (lateTypes[type] ?? 0) };
  return eachDay('2026-03-01', pacificDayOf(clock)).flatMap((date) => {
    const cells = new Map<string, [clicks: number, impressions: number]>();
    const sums: [number, number] = [0, 0];
    const add = ([clicks, impressions]: [number, number]): void => {
      const shown = Math.floor(impressions * share);
      sums[0] += Math.min(shown, Math.floor(clicks * share));
      sums[1] += shown;
    };
    for (const search of site.source.searches(date, stageOf(date, clock, timetable))) {
      if (country !== null && search.country !== country) continue;
      if (!hasQueries(type)) {
        for (const result of search.results) {
          const { clicks, impressions } = countByPage(search, result);
          add([clicks, impressions]);
        }
        continue;
      }
      const key = `${search.country} ${search.device}`;
      const cell = cells.get(key) ?? [0, 0];
      const { clicks, impressions } = countByProperty(search);
      cells.set(key, [cell[0] + clicks, cell[1] + impressions]);
    }
    for (const cell of cells.values()) add(cell);
    return sums[1] === 0 ? [] : [{ date, clicks: sums[0], impressions: sums[1] }];
  });
}

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
  t.strictSame(asked(world, 'image'), ['2026-03-01 date,device', '2026-03-01 date,country']);
  t.strictSame(asked(world, 'discover'), ['2026-03-01 date', '2026-03-01 date,country'], 'it has no devices');
  t.strictSame(asked(world, 'video'), ['2026-03-01 date,device'], 'a type without rows has no countries');
  const check = async (what: string): Promise<void> => {
    for (const type of ['image', 'discover'] as const) {
      t.strictSame(await answered(world, type), expected(world, type), `${type} ${what}`);
      t.strictSame(await answered(world, type, '&country=usa'), expected(world, type, 'usa'), `${type} of usa ${what}`);
    }
  };
  await check('at first');
  t.strictSame(await answered(world, 'video'), []);

  const { factsRevision } = await world.project();
  await world.sync();
  t.equal((await world.project()).factsRevision, factsRevision, 'nothing changed, so nothing is published');

  for (const hours of [6, 12, 40]) {
    world.clock += hours * HOUR;
    world.provider.forget();
    await world.sync();
    await check(`${hours} hours later`);
    t.equal(asked(world, 'image').length, 2);
    t.ok(
      asked(world, 'image').every((text) => text >= '2026-03-12'),
      'final days are not asked again',
    );
    t.strictSame(asked(world, 'video'), []);
  }
  t.ok((await world.project()).factsRevision > factsRevision);
});

t.test('a type that is final later than web is fetched again until then, and says so everywhere', async (t) => {
  const world = await syncWorld(t, SMALL);
  Object.assign(world.site.options.types, SHARES);
  Object.assign(world.site.options.lateTypes, { discover: 4 });
  await world.sync();
  const check = async (what: string): Promise<void> => {
    const web = (await world.project()).provisionalAfter!;
    const late = addDays(web, -4);
    const { surfaces } = (await world.ask('/surfaces?from=2026-03-01&compare=previous')).body as { surfaces: Row[] };
    const told = Object.fromEntries(surfaces.map(({ type, provisionalAfter }) => [type, provisionalAfter]));
    t.match(told, { web, image: web, discover: late }, what);
    const days = `from=${addDays(late, -1)}&to=${late}&compare=${addDays(late, -3)}..${addDays(late, -2)}`;
    const after = `from=${late}&to=${addDays(late, 1)}&compare=${addDays(late, -3)}..${addDays(late, -2)}`;
    for (const path of ['/site', '/breakdowns']) {
      const { range, totals } = (await world.ask(`${path}?type=discover&${after}`)).body as Row & { totals: Row };
      t.match(range, { provisionalAfter: late }, `${path} ${what}`);
      if (path === '/site') t.match(totals['unsafe'], { clicks: ['provisional'] });
    }
    const final = (await world.ask(`/site?type=discover&${days}`)).body as { totals: Row };
    t.notMatch(final.totals['unsafe'], { clicks: ['provisional'] });
    const { projects } = (await world.ask(`/../../portfolio?type=discover&${after}`)).body as { projects: Row[] };
    t.match(projects, [{ range: { provisionalAfter: late }, totals: { unsafe: { clicks: ['provisional'] } } }]);
    t.strictSame(await answered(world, 'discover'), expected(world, 'discover'), what);
  };
  await check('at first');
  for (const hours of [24, 30]) {
    world.clock += hours * HOUR;
    await world.sync();
    await check(`${hours} hours later`);
  }
});

t.test('a type that appears later is found within a month, with its whole history', async (t) => {
  const world = await syncWorld(t, SMALL);
  await world.sync();
  const { surfaces } = (await world.ask('/surfaces')).body as { surfaces: Row[] };
  t.strictSame(
    surfaces.map(({ type }) => type),
    ['web'],
  );
  Object.assign(world.site.options.types, SHARES);
  world.clock += 20 * 24 * HOUR;
  world.provider.forget();
  await world.sync();
  t.strictSame(asked(world, 'image'), []);
  world.clock += 11 * 24 * HOUR;
  await world.sync();
  t.strictSame(asked(world, 'image'), ['2026-03-01 date,device', '2026-03-01 date,country']);
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

t.test('a type that the provider answers wrongly stops no other, and is asked again later', async (t) => {
  withoutPauses(t);
  const world = await syncWorld(t, SMALL);
  Object.assign(world.site.options.types, SHARES);
  const isImage = ({ request }: { request?: { type: string } }) => request?.type === 'image';
  const rows = [{ keys: ['2026-03-14', 'MOBILE'], clicks: -1, impressions: 1, ctr: 1, position: 1 }];
  world.provider.fail({ status: 200, body: { rows } }, { which: isImage });
  t.match(await world.sync(), { outcome: 'table-failed', reason: /site_daily_image/ });
  t.match(await world.project(), { syncStatus: 'warning', syncedThrough: '2026-03-15' });
  t.strictSame(await answered(world, 'discover'), expected(world, 'discover'));
  world.provider.heal();
  world.provider.forget();
  await world.sync();
  t.strictSame(asked(world, 'image'), [], 'not before its pause ends');
  world.clock += 2 * HOUR;
  t.match(await world.sync(), { outcome: 'done' });
  t.strictSame(await answered(world, 'image'), expected(world, 'image'));
});

t.test('an exhausted quota ends the run, and what was stored stays', async (t) => {
  const world = await syncWorld(t, SMALL);
  Object.assign(world.site.options.types, SHARES);
  await world.sync();
  const before = await answered(world, 'image', '&to=final');
  world.clock += 7 * HOUR;
  const error = { domain: 'usageLimits', reason: 'quotaExceeded', message: 'Load quota' };
  const isImage = ({ request }: { request?: { type: string } }) => request?.type === 'image';
  const body = { error: { code: 403, message: 'Load quota', errors: [error] } };
  world.provider.fail({ status: 403, body }, { which: isImage });
  t.match(await world.sync(), { outcome: 'quota' });
  t.strictSame((await answered(world, 'image', '&to=final')).slice(0, before.length), before);
});

t.test('the first window of a new project comes before its types', async (t) => {
  const world = await syncWorld(t, { ...SMALL, from: '2026-01-15' });
  Object.assign(world.site.options.types, SHARES);
  await world.sync();
  const days = world.provider.model.log.flatMap(({ request }) => (request === undefined ? [] : [request]));
  const first = days.findIndex(({ type }) => type !== 'web');
  const isNewest = (from: Day): boolean => from >= '2026-02-16';
  t.ok(days.slice(0, first).some(({ dimensions }) => dimensions.join() === 'date,device'));
  t.ok(
    days.slice(0, first).every(({ from }) => isNewest(from)),
    'the history of web comes after them',
  );
});
