// Implausible data is rejected or causes a warning, and can be accepted explicitly.
import t from 'tap';
import { LoadRejected } from '../../server/domain/problems.ts';
import { command } from '../command.ts';
import { facts, keyword, makeLazyWorld, ofProject, type Row, writeSnapshot } from '../world.ts';
import { problemsOf } from './refused.ts';
import { answersOf, loadFolder, places, SECOND } from './snapshots.ts';

const day = (number: number): string => `2026-02-${String(number).padStart(2, '0')}`;

t.test('more clicks than impressions are refused by row, unless they are accepted', async (t) => {
  const world = await makeLazyWorld(t);
  const before = await answersOf(world);
  const tables = {
    site_daily: facts(
      'date device',
      [day(1), 'desktop', 1, 1, 1],
      [day(2), 'mobile', 3, 2, 1],
      [day(3), 'mobile', 1, 0, 0],
    ),
    query_daily: facts('date query country', [day(1), 'shoes', 'usa', 9, 8, 1]),
  };
  const folder = writeSnapshot(t, tables);
  for (const dryRun of [true, false]) {
    const problems = await problemsOf(loadFolder(world, folder, { dryRun }));
    t.strictSame(places(problems), ['query_daily.clicks', 'site_daily.clicks']);
    t.match(new LoadRejected(problems).message, /site_daily\.clicks: 2 rows with more clicks.*--accept-implausible/);
    t.match(problems.find(({ table }) => table === 'site_daily')?.rows, [
      { project_id: 'Proj1', date: day(2), device: 'mobile', clicks: 3, impressions: 2 },
      { project_id: 'Proj1', date: day(3), device: 'mobile', clicks: 1, impressions: 0 },
    ]);
  }
  t.strictSame(await answersOf(world), before);

  const load = (...words: string[]) => command({ ORDINATE_DATA: world.dataFolder }, 'load', folder, ...words);
  const refused = await load();
  t.equal(refused.code, 1);
  t.match(refused.stderr, /2 rows with more clicks than impressions/);
  const accepted = await load('--accept-implausible');
  t.match(accepted, { code: 0, stderr: '', stdout: /Warning: query_daily\.clicks: 1 row with more clicks.*shoes/s });
  t.match(accepted.stdout, /"file":"site_daily\.\w+","line":\d+/, 'a warning names places, too');
  t.match((await world.ask(`/site?from=${day(1)}&to=${day(3)}`)).body.totals, { clicks: 5, impressions: 3 });
});

/** A month of a site: impressions between two numbers, a position that wanders. */
function month(
  impressionsOf: (index: number) => number,
  sumOf: (position: number, impressions: number) => number,
): Row[] {
  return Array.from({ length: 28 }, (_, index) => {
    const impressions = impressionsOf(index);
    const position = 4 + ((index * 7) % 11);
    return {
      project_id: 'Proj1',
      date: day(index + 1),
      device: 'mobile',
      clicks: 1,
      impressions,
      sum_position: sumOf(position, impressions),
    };
  });
}

t.test('sum_position with average positions is warned of; sums are not', async (t) => {
  const world = await makeLazyWorld(t, { projects: [{ ...SECOND, id: 'Proj1' }, SECOND] });
  const alike = (index: number): number => 900 + (index % 7) * 20;
  const spread = (index: number): number => 10 + index * index;
  const sum = (position: number, impressions: number): number => Math.round((position - 1) * impressions);
  const average = (position: number): number => position;
  const warningsOf = async (rows: Row[]): Promise<readonly string[]> =>
    (await loadFolder(world, writeSnapshot(t, { site_daily: rows }))).warnings.filter((text) =>
      /sum_position/.test(text),
    );
  t.match(await warningsOf(month(alike, average)), [
    /^site_daily: the sum_position of project Proj1 looks like average/,
  ]);
  t.match(await warningsOf(month(spread, average)), [/project Proj1 .*round\(\(position - 1\) \* impressions\)/]);
  for (const impressions of [alike, spread]) {
    t.strictSame(await warningsOf(month(impressions, sum)), []);
    t.strictSame(await warningsOf(month(impressions, (_, number) => Math.round(number * 0.15))), [], 'first places');
    t.strictSame(await warningsOf(month(impressions, () => 0)), [], 'nothing but first places');
  }
  t.strictSame(await warningsOf(month(alike, average).slice(0, 5)), [], 'too few to tell');
  const mixed = [...month(spread, sum), ...ofProject('Proj2', month(spread, average))];
  t.match(await warningsOf(mixed), [/project Proj2 /], 'of several projects, which');
});

t.test('keywords without any data are warned of', async (t) => {
  const world = await makeLazyWorld(t);
  const rows = (...ids: string[]): Row[] =>
    facts('keyword_id date device', ...ids.map((id) => [id, day(1), 'mobile', 1, 2, 3]));
  const warningsOf = async (tables: Record<string, Row[]>): Promise<readonly string[]> =>
    (await loadFolder(world, writeSnapshot(t, tables))).warnings;
  const keywords = [keyword('Kw001', 'shoes'), keyword('Kw002', 'hats'), keyword('Kw003', 'old', { archived: true })];
  t.match(await warningsOf({ keywords }), [
    /Project Proj1 has 2 keywords without any row in keyword_daily: 'hats', 'shoes'\./,
  ]);
  t.match(await warningsOf({ keywords, keyword_daily: rows('Kw001') }), [/1 keyword without .*: 'hats'\./]);
  t.match(await warningsOf({ keywords }), [/1 keyword without .*: 'hats'\./], 'what is stored counts');
  t.strictSame(await warningsOf({ keywords, keyword_daily: rows('Kw001', 'Kw002') }), []);
  t.strictSame(await warningsOf({ keywords }), []);
  const many = Array.from({ length: 9 }, (_, index) => keyword(`Kx00${index}`, `query ${index}`));
  t.match(await warningsOf({ keywords: many }), [/9 keywords .*: 'query 0', .*'query 4' and others\./]);
});
