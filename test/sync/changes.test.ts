// The sync picks up changed days, keywords, brand terms and countries, and reads nothing else again.
import t from 'tap';
import type { MadeSearches } from '../../cli/demo/provider/made-searches.ts';
import { addDays, countDays } from '../../server/domain/dates.ts';
import type { FakeProvider } from '../fakes/provider.ts';
import {
  BRAND_TERMS,
  HOUR,
  holdsAll,
  NOW,
  type OperatorWorld,
  openApi,
  setClock,
  syncedWorld,
  wanted,
} from './operator-world.ts';

const DAY = 24 * HOUR;
/** Their tables take as long as all others together. */
const NO_KEYWORDS = { tracked: [] };
/** A published day is asked for again only if it is one of the newest. */
const NEWEST_DAYS = 13;

type Asked = ReturnType<FakeProvider['asked']>;

/** The requests that are for days which are published, and not the newest; but for comparisons. */
function again(asked: Asked, today: string): Asked {
  return asked.filter(({ request }) => countDays(request.from, today) > NEWEST_DAYS && !isComparison(request));
}

const state = (world: OperatorWorld) => {
  const columns = 'sync_status, synced_through, provisional_after, history_backfilling';
  return world.catalog(`select ${columns} from projects where id = :project`)[0];
};

t.test('days that are not final are read again whole, until they are final', async (t) => {
  const world = await syncedWorld(t);
  setClock(NOW + 6 * HOUR);
  const provisional = await world.sync();
  await holdsAll(t, world, wanted(world), 'six hours later');
  t.strictSame(again(provisional, '2026-03-15'), []);
  t.match(state(world), { provisional_after: '2026-03-12', synced_through: '2026-03-15' });

  setClock(NOW + 2 * DAY);
  const asked = await world.sync();
  await holdsAll(t, world, wanted(world), 'two days later');
  t.strictSame(again(asked, '2026-03-17'), []);
  t.match(state(world), { provisional_after: '2026-03-14', synced_through: '2026-03-17', sync_status: 'ok' });
});

/** One request grouped by date compares the sums of final days. */
function isComparison({ dimensions, filters }: Asked[number]['request']): boolean {
  return dimensions.join() === 'date' && filters.length === 0;
}

t.test('a keyword that is tracked from now on gets its history, and nothing else is read again', async (t) => {
  const world = await syncedWorld(t);
  await world.done('keywords', 'add', '--project', world.project, '--query', 'ABC shoes', '--query', 'light boots');
  t.strictSame(again(world.provider.asked(), '2026-03-15'), [], 'it fetches nothing');
  const unknown = () => world.catalog('select distinct keyword_id from keyword_gaps').length;
  t.equal(unknown(), 1, 'its history is unknown until the next sync');
  const asked = await world.sync();
  t.equal(unknown(), 0);
  await holdsAll(t, world, wanted(world), 'with one more keyword');
  const keyword = world.keywords().find(({ query }) => query === 'ABC shoes')!;
  const rows = await world.stored('keyword_daily');
  t.ok(rows.filter((row) => row['keyword_id'] === keyword.id).length > 30);
  const old = again(asked, '2026-03-15');
  t.ok(old.length > 0);
  t.ok(
    old.every(({ request: { dimensions, filters } }) => {
      return (
        dimensions.includes('query') && filters.every(({ expression }) => /^\^\((\?:)?abc shoes\)\$$/.test(expression))
      );
    }),
    'only what it lacks',
  );
  t.strictSame(again(await world.sync(), '2026-03-15'), [], 'once');
});

t.test('a keyword that is archived is not asked for any more; what is stored of it stays', async (t) => {
  const world = await syncedWorld(t);
  const before = await world.stored('keyword_daily');
  const keyword = world.keywords().find(({ query }) => query === 'light boots')!;
  await world.done('keywords', 'archive', '--project', world.project, '--query', 'LIGHT boots');
  const asked = await world.sync();
  t.ok(asked.every(({ request }) => request.filters.every(({ expression }) => !expression.includes('light boots'))));
  const of = (rows: typeof before) =>
    rows.filter((row) => row['keyword_id'] === keyword.id && String(row['date']) < '2026-03-01');
  t.ok(of(before).length > 5);
  t.strictSame(of(await world.stored('keyword_daily')), of(before));
});

t.test('changed brand terms fetch the split again, and nothing else, however many they are', async (t) => {
  const world = await syncedWorld(t, NO_KEYWORDS);
  await world.done('projects', 'set', '--project', world.project, '--brand-term', 'boots', '--brand-term', 'shoes');
  await holdsAll(t, world, wanted(world, { brandTerms: BRAND_TERMS }), 'before the sync');
  const asked = await world.sync();
  await holdsAll(t, world, wanted(world, { brandTerms: ['boots', 'shoes'] }), 'after it');
  const old = again(asked, '2026-03-15');
  t.ok(old.length > 0);
  t.ok(old.every(({ request }) => request.filters.some(({ dimension }) => dimension === 'query')));
  t.ok(old.every(({ request }) => request.dimensions.join() === 'date'));
  await world.done('projects', 'set', '--project', world.project, '--brand-term', 'trail', '--brand-word', 'BOÖTS');
  await world.sync();
  const words = { text: 'boots', match: 'word' } as const;
  await holdsAll(t, world, wanted(world, { brandTerms: ['trail', words] }), 'with whole words');
  // With one letter less, 41 of them would fill an expression of 4,096 characters.
  const many = [...Array.from({ length: 40 }, (_, index) => `${index}`.padEnd(100, 'x')), 'y'.repeat(57), 'boots'];
  await world.done('projects', 'set', '--project', world.project, ...many.flatMap((term) => ['--brand-term', term]));
  const requests = await world.sync();
  await holdsAll(t, world, wanted(world, { brandTerms: many }), 'with more terms than an expression holds');
  const lengths = requests.flatMap(({ request }) => request.filters.map(({ expression }) => expression.length));
  t.equal(Math.max(...lengths), 4039);
});

t.test('another country fetches all again', async (t) => {
  const world = await syncedWorld(t);
  await world.done('projects', 'set', '--project', world.project, '--country', 'usa');
  const asked = await world.sync();
  await holdsAll(t, world, wanted(world, { country: 'usa' }), 'of one country');
  const filters = asked.map(({ request }) => request.filters.find(({ dimension }) => dimension === 'country'));
  t.ok(filters.every((filter) => filter?.operator === 'equals' && filter.expression === 'usa'));
});

t.test('final days that change are noticed a week and a month later, and nothing else is read again', async (t) => {
  const world = await syncedWorld(t);
  const searches = world.site.source as MadeSearches;
  const old = (asked: Asked, before: string, moved: string) =>
    asked.filter(({ request }) => request.to < before && request.from !== moved && !isComparison(request));
  searches.change('2026-03-10');
  setClock(NOW + 9 * DAY);
  const asked = await world.sync();
  await holdsAll(t, world, wanted(world), 'after nine days');
  t.ok(asked.filter(({ request }) => isComparison(request)).length <= 3, 'few requests find them');
  t.strictSame(old(asked, '2026-03-12', '2026-03-10'), []);
  searches.change('2026-03-11');
  // Nobody came by for weeks.
  setClock(NOW + 36 * DAY);
  const late = await world.sync();
  await holdsAll(t, world, wanted(world), 'after five weeks');
  t.strictSame(old(late, '2026-03-20', '2026-03-11'), []);
  t.match(state(world), { provisional_after: addDays('2026-03-12', 36), synced_through: addDays('2026-03-15', 36) });
  setClock(NOW + 36 * DAY + HOUR);
  t.strictSame(old(await world.sync(), '2026-03-20', ''), [], 'once');
  const ask = await openApi(t, world, NOW + 37 * DAY);
  const { quality } = (await ask(`/projects/${world.project}/site?period=7d&quality=1`)).body as { quality: object };
  t.match(quality, { daysExpected: 7, daysStored: 7, reconciledAt: /^2026-04-20T19:00:/ });
});

t.test('verify names the days that moved, and repairs them', async (t) => {
  const world = await syncedWorld(t);
  const verify = (...words: string[]) => world.ordinate('verify', '--project', world.project, '--days', '26', ...words);
  const searches = world.site.source as MadeSearches;
  for (const day of ['2026-02-20', '2026-03-01']) searches.change(day);
  const differing = await verify();
  t.not(differing.code, 0);
  const days = new Set((differing.stdout + differing.stderr).match(/\d{4}-\d\d-\d\d/g));
  t.strictSame([...days].sort(), ['2026-02-20', '2026-03-01']);
  t.match(await verify('--repair'), { code: 0 });
  await holdsAll(t, world, wanted(world), 'repaired');
  t.match(await verify(), { code: 0 });
});
