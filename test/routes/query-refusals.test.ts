// The order of the rows of a question is complete, and a refusal names the part that is wrong.
import t, { type Test } from 'tap';
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
const refused = async (t: Test, question: object, message: RegExp): Promise<void> => {
  const { status, body } = await ask(question);
  t.match({ status, ...body.error }, { status: 400, code: 'invalid_request', message }, JSON.stringify(question));
};

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

t.test('an error of the range to compare with names its part', async (t) => {
  const compare = (sent: object, message: RegExp): Promise<void> => refused(t, { compare: sent }, message);
  await compare({ from: '2026-02-30', to: '2026-03-01' }, /^compare\.from must be a calendar day/);
  await compare({ from: '2026-03-01', to: 'x' }, /^compare\.to must be a calendar day/);
  await compare({ from: '2026-03-01', days: 2 }, /^compare has no 'days'/);
  await compare({ period: '99m' }, /^compare\.period must be/);
  await compare({ from: '2026-03-02', to: '2026-03-01' }, /^compare must not begin/);
  await refused(t, { range: { from: 'x' } }, /^range\.from must be/);
});

t.test(
  'an expression that an engine does not take, or too large ones together, are refused by their place',
  async (t) => {
    const filters = (sent: readonly unknown[], message: RegExp): Promise<void> =>
      refused(t, { filters: sent }, message);
    const matches = (...texts: string[]) => ['matches', 'query', texts];
    await filters([matches('(')], /^filters\[0\]\[2\]: "\(" is not a regular expression of the RE2 syntax\.$/);
    await filters([matches('a', '(?<n>a)')], /^filters\[0\]\[2\]: .*write \(\?P<name>…\) or \(\?:…\)\.$/);
    await filters([['matches', 'page', ['[\\pL\\pN]{500}']]], /^filters\[0\]\[2\]: .*a smaller count than \{500\}, or/);
    const two = [matches('a{600}'), ['not', matches('b{600}')]];
    await filters(two, /^filters\[1\]\[1\]\[2\]: .*together may have 1000; .*fewer expr/);
    await filters([['matches', 'keyword', ['(\\pL*\\pN?){900}z']]], /^filters\[0\]\[2\]: .*smaller count than \{900\}/);
    for (const dimension of ['query', 'keyword']) {
      const found = await ask({
        dimensions: [dimension],
        metrics: ['clicks'],
        filters: [['matches', dimension, ['^(?:[a\\pN]|(?P<n>z))$', 'd']]],
      });
      t.strictSame(found.body.rows, [
        { [dimension]: 'd', clicks: 2 },
        { [dimension]: 'a', clicks: 1 },
      ]);
    }
  },
);

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
