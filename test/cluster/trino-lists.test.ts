// Trino and DuckDB rank lists of queries and pages equally.
import fc from 'fast-check';
import t from 'tap';
import { filesOf, manifestOf } from '../../server/catalog/manifest.ts';
import type { ListKind } from '../../server/catalog/stored-lists.ts';
import { EVERY_DAY } from '../../server/domain/range.ts';
import { OwnRows } from '../../server/lists/own-rows.ts';
import type { ListQuery } from '../../server/providers/provider.ts';
import { openFileStore } from '../../server/storage/open-file-store.ts';
import { facts, sharedEngine } from '../world.ts';
import { skip, trinoWorld } from './trino-world.ts';

const { signal } = new AbortController();
const TEXTS = ['b', 'B-side', "it's", 'été', '\u{1f40d} skin', '\uff21 b', 'a b', '"a"', 'a', '\\'];

const measures = fc
  .tuple(fc.nat(2), fc.nat(3), fc.nat(50))
  .map(([clicks, more, sum]) => [clicks, clicks + more, sum] as const);
/** Few different counts, so that texts decide the order. */
const cells = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom(...TEXTS),
    fc.constantFrom('2026-02-28', '2026-03-01', '2026-03-05'),
    fc.constantFrom('usa', 'deu'),
    measures,
  ),
  { minLength: 8, maxLength: 40, selector: ([text, date, country]) => `${text} ${date} ${country}` },
);

t.test('lists are ranked equally by both engines', { skip }, async (t) => {
  const check = fc.asyncProperty(
    cells,
    fc.constantFrom(null, 'usa', 'fra'),
    fc.integer({ min: 1, max: 12 }),
    async (rows, country, max) => {
      const { world, reader } = await trinoWorld(t, {
        query_daily: facts(
          'query date country',
          ...rows.map(([text, date, of, counts]) => [text, date, of, ...counts]),
        ),
        page_daily: facts(
          'url date country',
          ...rows.map(([text, date, of, counts]) => [`https://a.example/${encodeURI(text)}`, date, of, ...counts]),
        ),
        query_period: facts(
          'query first_day last_day',
          ...TEXTS.map((text, at) => [text, '2026-01-01', '2026-01-31', 1, 2 + (at % 3), 3]),
        ),
        page_period: facts(
          'url first_day last_day',
          ...TEXTS.map((text, at) => [
            `https://a.example/${encodeURI(text)}`,
            '2026-01-01',
            '2026-01-31',
            1,
            2 + (at % 3),
            3,
          ]),
        ),
      });
      const engine = await sharedEngine(world.settings);
      const files = await openFileStore(world.settings);
      t.teardown(() => files[Symbol.asyncDispose]());
      const here = new OwnRows({ engine, files, distant: undefined, signal });
      const there = new OwnRows({ engine, files, distant: { reads: () => true, rows: reader.listRows }, signal });
      for (const kind of ['queries', 'pages'] satisfies ListKind[]) {
        const range = { from: '2026-03-01', to: '2026-03-31' };
        const query: ListQuery = {
          kind,
          property: 'sc-domain:shop.example',
          range,
          country,
          type: 'web',
          pair: null,
          allowMissingRecentDays: true,
        };
        const stored = await filesOf(world.catalog, 'Proj1', kind === 'queries' ? 'query_daily' : 'page_daily', range);
        const [period] = await manifestOf(
          world.catalog,
          'Proj1',
          kind === 'queries' ? 'query_period' : 'page_period',
          EVERY_DAY,
        );
        const read = async (rowsOf: OwnRows) => {
          using days = await rowsOf.ofDays(stored, query, max);
          using all = await rowsOf.ofPeriod(period!, query);
          return { days: await days.read(1000), count: days.count, all: await all.read(1000) };
        };
        const [expected, found] = [await read(here), await read(there)];
        if (!t.strictSame(found, expected)) throw new Error(`${kind} differ`);
        if (expected.all.length !== TEXTS.length) throw new Error('the list of a range has all rows');
      }
    },
  );
  await fc.assert(check, { numRuns: Number(process.env['ORDINATE_TEST_RUNS'] ?? 3), endOnFailure: true });
});
