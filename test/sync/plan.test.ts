// The sync requests each missing day once, the newest first, and no final day that is stored.
import fc from 'fast-check';
import { RE2JS } from 're2js';
import t from 'tap';
import type { SyncDay } from '../../server/catalog/sync-days.ts';
import { addDays, countDays, type Day, eachDay } from '../../server/domain/dates.ts';
import { batchesOf, brandExpressions, MAX_ROWS } from '../../server/sync/batches.ts';
import { coverageAfter } from '../../server/sync/keyword-coverage.ts';
import { type PlanInput, planWindows, type SyncWindow } from '../../server/sync/plan.ts';
import { SYNC_TABLES, type SyncTable, tablesOf } from '../../server/sync/tables.ts';
import { syncDay } from '../sync-day.ts';

const TODAY = '2026-03-15';
const FIRST = '2024-11-01';

const NEW: PlanInput = {
  syncRange: { from: FIRST, to: TODAY },
  provisionalAfter: '2026-03-12',
  tables: SYNC_TABLES,
  days: [],
  keywords: [{ id: 'kw001', query: 'red shoes' }],
  fetchedKeywords: [],
  brandTerms: [],
  brandChanged: false,
  refetched: new Set(),
  monthlyThrough: null,
  now: 1000,
  staleBefore: 0,
};

const published = (table: SyncTable, day: Day, more: Partial<SyncDay> = {}): SyncDay =>
  syncDay(table, day, { final: day <= NEW.provisionalAfter, compared: 30, fetchedAt: 500, ...more });

/** Every table and day that is asked for, as often as it is. */
function asked(windows: readonly SyncWindow[]): string[] {
  return windows.flatMap(({ dayQueries }) =>
    dayQueries.flatMap(({ table, from, to }) => eachDay(from, to).map((day) => `${table} ${day}`)),
  );
}

t.test('a first window of very many keywords asks for final and provisional days together', (t) => {
  const keywords = Array.from({ length: 8000 }, (_, index) => ({ id: `n${index}`, query: `query number ${index}` }));
  const [newest] = planWindows({ ...NEW, keywords });
  t.strictSame(
    newest!.dayQueries.map(({ table, from, to, dataState }) => [table, from, to, dataState]),
    tablesOf('none').map((table) => [table, '2026-02-16', TODAY, 'all']),
  );
  t.end();
});

const anyDay = fc.integer({ min: 0, max: countDays(FIRST, TODAY) - 1 }).map((days) => addDays(FIRST, days));
const anyState = fc.record({
  table: fc.constantFrom(...SYNC_TABLES),
  day: anyDay,
  final: fc.boolean(),
  state: fc.constantFrom('done' as const, 'empty' as const, 'failed' as const),
  nextTry: fc.constantFrom(null, 900, 1100),
  fetchedAt: fc.constantFrom(0, 500),
});

t.test('what is needed is asked for once, and no final day that is published', (t) => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anyState, { maxLength: 400, selector: ({ table, day }) => `${table} ${day}` }),
      fc.uniqueArray(anyDay, { maxLength: 3 }),
      fc.constantFrom('queries,pages' as const, 'queries' as const, 'none' as const),
      fc.boolean(),
      (states, refetched, archive, brandChanged) => {
        const days = states.map((state) =>
          published(state.table, state.day, { ...state, final: state.final && state.day <= NEW.provisionalAfter }),
        );
        const tables = tablesOf(archive);
        const known = new Map(days.map((day) => [`${day.table} ${day.day}`, day]));
        // The keyword has been fetched for all days, so that it lacks none.
        const fetchedKeywords = [{ ...NEW.keywords[0]!, from: FIRST, to: TODAY }];
        const input = { ...NEW, days, tables, refetched: new Set(refetched), brandChanged, fetchedKeywords };
        const found = asked(planWindows(input));
        if (new Set(found).size !== found.length) throw new Error('a day is asked for twice');
        const asks = new Set(found);
        for (const table of tables) {
          for (const day of eachDay(FIRST, TODAY)) {
            const key = `${table} ${day}`;
            const state = known.get(key);
            const waits = state !== undefined && state.nextTry !== null && state.nextTry > input.now;
            const isRight =
              state !== undefined &&
              state.state !== 'failed' &&
              state.nextTry === null &&
              !refetched.includes(day) &&
              (state.final || (day > input.provisionalAfter && state.fetchedAt > input.staleBefore));
            const isOfBrand = brandChanged && table === 'brand_daily' && state !== undefined;
            if (asks.has(key) !== (isOfBrand || (!waits && !isRight))) throw new Error(`${key} ${asks.has(key)}`);
          }
        }
        for (const key of asks) if (!tables.includes(key.split(' ')[0] as SyncTable)) throw new Error(key);
      },
    ),
    { numRuns: 20 },
  );
  t.end();
});

t.test('expressions find each keyword and nothing else, and are short enough', (t) => {
  const anyQuery = fc.oneof(
    fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' }),
    fc.constantFrom('a|b', 'x.*', '(c', '$5', 'é+'),
  );
  const keywordsOf = (queries: readonly string[]) => queries.map((query, at) => ({ id: String(at), query }));
  fc.assert(
    fc.property(fc.uniqueArray(anyQuery, { maxLength: 300 }), fc.integer({ min: 1, max: 31 }), (queries, days) => {
      const batches = batchesOf(keywordsOf(queries), days);
      const wanted = [...new Set(queries.map((query) => query.toLowerCase()))];
      const isEach = batches.flatMap((batch) => batch.queries).join('\n') === wanted.join('\n');
      return (
        isEach &&
        batches.every(({ queries: own, expression }) => {
          const compiled = RE2JS.compile(expression);
          const isOnly = own.includes(`${own[0]}x`) || !compiled.matcher(`${own[0]}x`).find();
          const isShort = expression.length <= 4096 && own.length * 3 * days < MAX_ROWS;
          return isOnly && isShort && own.every((query) => compiled.matcher(query).find());
        })
      );
    }),
    { numRuns: 20 },
  );
  // As long as an expression may be, and one character more: of brands, and of keywords, in which four are added.
  const brands = (...lengths: number[]) =>
    brandExpressions(lengths.map((length, at) => 'abc'[at]!.repeat(length))).map(({ length }) => length);
  const keywords = (...lengths: number[]) =>
    batchesOf(keywordsOf(lengths.map((length, at) => 'abc'[at]!.repeat(length))), 1).map(
      ({ expression }) => expression.length,
    );
  t.strictSame(
    [brands(2000, 2095), brands(2000, 2096), brands(4096, 4097, 1), brandExpressions(['', ' '])],
    [[4096], [2000, 2096], [4096, 1], []],
  );
  t.strictSame(
    [keywords(2000, 2091), keywords(2000, 2092), keywords(4092, 4093, 1)],
    [[4096], [2004, 2096], [4096, 5]],
  );
  t.end();
});

t.test('a keyword that is tracked later gets all published days, in one window where it is one of few', (t) => {
  const days = eachDay(FIRST, TODAY).flatMap((day) => SYNC_TABLES.map((table) => published(table, day)));
  const old = { ...NEW.keywords[0]!, from: FIRST, to: TODAY };
  const keywords = [...NEW.keywords, { id: 'kw002', query: 'Blue Shoes' }];
  const [newest, lacking, ...more] = planWindows({ ...NEW, days, keywords, fetchedKeywords: [old], staleBefore: 600 });
  t.match(newest, { kind: 'newest', from: '2026-03-13', to: TODAY });
  t.match(lacking, { kind: 'keywords', from: FIRST, to: '2026-03-12' });
  t.ok(lacking!.dayQueries.every((ask) => ask.keywords.length === 1 && ask.keywords[0]!.id === 'kw002'));
  t.strictSame(more, []);

  const many = Array.from({ length: 400 }, (_, index) => ({ id: `n${index}`, query: `query number ${index}` }));
  const windows = planWindows({ ...NEW, days, keywords: many, fetchedKeywords: [], staleBefore: 600 });
  const lacked = windows.filter(({ kind }) => kind === 'keywords');
  t.equal(lacked.length, 17, 'many come month by month');
  const of = new Set(asked(lacked));
  t.equal(of.size, 2 * countDays(FIRST, '2026-03-12'));
  t.end();
});

t.test('what is covered of a keyword', (t) => {
  const known = new Set(eachDay('2026-01-01', '2026-03-15'));
  const one = { id: 'kw001', query: 'a' };
  const before = new Map([['kw001', { ...one, from: '2026-02-01', to: '2026-02-28' }]]);
  const after = (range: { from: Day; to: Day }, query = 'a') =>
    coverageAfter(before, { ...range, keywords: [{ id: 'kw001', query }] }, known).get('kw001');
  t.match(after({ from: '2026-01-01', to: '2026-01-31' }), { from: '2026-01-01', to: '2026-02-28' });
  t.match(after({ from: '2026-03-01', to: '2026-03-15' }), { from: '2026-02-01', to: '2026-03-15' });
  t.match(after({ from: '2026-03-03', to: '2026-03-15' }), { from: '2026-03-03' }, 'published days lie between');
  t.match(after({ from: '2026-01-01', to: '2026-01-31' }, 'b'), { to: '2026-01-31' }, 'another query');
  t.end();
});
