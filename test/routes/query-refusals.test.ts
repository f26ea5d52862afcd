// The order of the rows of a question is complete, and what cannot be answered is refused with the nearest questions.
import t from 'tap';
import { filesOf } from '../../server/catalog/manifest.ts';
import { DuckDBReader } from '../../server/facts/duckdb/reader.ts';
import { StoredFacts } from '../../server/facts/stored-facts.ts';
import { ConcurrencyLimit } from '../../server/runtime/limits.ts';
import { FolderStore } from '../../server/storage/folder-store.ts';
import { localOnly } from '../stores.ts';
import { facts, keyword, makeWorld, PROJECT, sharedEngine, WORKSPACE } from '../world.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-02' };
const SUMS = [
  ['a', 1, 10, 0],
  ['b', 4, 40, 0],
  ['c', 4, 40, 40],
  ['d', 2, 20, 20],
  ['e', 4, 80, 0],
] as const;
const world = await makeWorld(t, {
  workspaces: [{ ...WORKSPACE, keyword_history_days: 180 }],
  projects: [PROJECT],
  keywords: SUMS.map(([query], at) => keyword(`Kw00${at}`, query)),
  site_daily: facts('date device', ['2026-03-01', 'desktop', 100, 1000, 0]),
  query_daily: facts('query date country', ...SUMS.map(([query, ...sums]) => [query, '2026-03-01', 'usa', ...sums])),
  keyword_daily: facts(
    'keyword_id date device',
    ...SUMS.map(([, ...sums], at) => [`Kw00${at}`, '2026-03-01', 'desktop', ...sums]),
  ),
});
const ask = (question: object) =>
  world.get(`/projects/Proj1/query?q=${encodeURIComponent(JSON.stringify({ range: DAYS, ...question }))}`);
t.test('equal rows follow clicks, then impressions, then names', async (t) => {
  for (const dimension of ['query', 'keyword']) {
    const inOrder = async (...sort: string[]): Promise<string> => {
      const { body } = await ask({ dimensions: [dimension], sort });
      return (body.rows as Record<string, string>[]).map((row) => row[dimension]).join('');
    };
    t.equal(await inOrder('ctr'), 'ebcda', `${dimension}: four have the same`);
    t.equal(await inOrder('-position'), 'cdeba', dimension);
    t.equal(await inOrder('position', 'impressions'), 'abedc', dimension);
    t.equal(await inOrder(`-${dimension}`), 'edcba', dimension);
  }
});

t.test('an expression finds rows by what both engines know', async (t) => {
  for (const dimension of ['query', 'keyword']) {
    const filters = [['matches', dimension, ['^(?:[a\\pN]|(?P<n>z))$', 'd']]];
    const { body } = await ask({ dimensions: [dimension], metrics: ['clicks'], filters });
    t.strictSame(body.rows, [
      { [dimension]: 'd', clicks: 2 },
      { [dimension]: 'a', clicks: 1 },
    ]);
  }
});

t.test('the filters of a question have at most 1000 values', async (t) => {
  for (const [count, status] of [
    [1000, 200],
    [1001, 400],
  ] as const) {
    const values = Array.from({ length: count }, (_, at) => `q${at}`);
    t.equal((await ask({ filters: [['equals', 'query', values]] })).status, status, String(count));
  }
});

t.test('what DuckDB refuses of a value is told to the client', localOnly, async (t) => {
  const files = new FolderStore(world.settings.dataFolder);
  const reader = new DuckDBReader(await sharedEngine(world.settings), files, new ConcurrencyLimit(1));
  const question = new StoredFacts(reader).question({
    files: await filesOf(world.catalog, 'Proj1', 'query_daily', DAYS),
    range: DAYS,
    signal: new AbortController().signal,
    table: 'query_daily',
    by: ['query'],
    // No request has it, because expressions are checked.
    test: { op: 'matches', column: 'query', values: ['(?<n>a)'] },
    isTotal: false,
    order: [],
    limit: 1,
    offset: 0,
  });
  await t.rejects(question, {
    code: 'invalid_request',
    message: /^filters: the values cannot be compared: invalid perl/,
  });
});

t.test('the nearest questions are those that are answered', async (t) => {
  const nearestOf = async (question: object): Promise<[string, object[]]> => {
    const { status, body } = await ask(question);
    t.equal(status, 400, JSON.stringify(question));
    for (const parts of body.nearest) {
      const whole = Object.entries({ ...question, ...parts }).filter(([, part]) => part !== null);
      const next = await ask(Object.fromEntries(whole));
      t.equal(next.status, 200, `${JSON.stringify(parts)}: ${JSON.stringify(next.body.error)}`);
    }
    return [body.error.message, body.nearest];
  };
  // The plan has 180 days of keywords.
  const range = { from: '2025-01-01', to: '2026-03-01' };
  t.match(await nearestOf({ range, dimensions: ['query', 'device'] }), [
    /^dimensions: query by device is not stored\. Nearest questions: keyword by device, range from .* on\.$/,
    [{ dimensions: ['keyword', 'device'], range: { to: '2026-03-01' } }],
  ]);
  t.match(await nearestOf({ range, dimensions: ['keyword'] }), [
    /^range: keywords before .* are not known/,
    [{ range: {} }],
  ]);
  const day = { from: '2026-03-01', to: '2026-03-01' };
  const compare = { from: '2025-01-01', to: '2025-01-02' };
  t.strictSame((await nearestOf({ dimensions: ['keyword'], compare }))[1], [{ compare: null }]);
  t.match(await nearestOf({ range: day, dimensions: ['brand', 'appearance'] }), [
    /^dimensions: brand by appearance is not stored\.$/,
    [],
  ]);
  t.match(await nearestOf({ range: day, dimensions: ['page'] }), [
    /not known\. Nearest questions: dimensions date, over any range\.$/,
    [{ dimensions: ['date'] }],
  ]);
});
