// Trino and DuckDB rank lists of queries and pages equally, ties by the bytes of their texts.
import t from 'tap';
import { filesOf, manifestOf } from '../../server/catalog/fact-files.ts';
import { EVERY_DAY } from '../../server/domain/range.ts';
import { OwnRows } from '../../server/lists/own-rows.ts';
import { openFileStore } from '../../server/storage/open-file-store.ts';
import { facts, sharedEngine } from '../world.ts';
import { skip, trinoWorld } from './trino-world.ts';

const { signal } = new AbortController();
const TEXTS = ['b', 'B-side', "it's", 'été', '\u{1f40d} skin', '\uff21 b', 'a b', '"a"', 'a', '\\'];
/** Few different counts, so that texts decide the order, and impressions before them. */
const DAYS = TEXTS.flatMap((text, at) =>
  ['2026-02-28', '2026-03-01', '2026-03-05'].flatMap((date, day) =>
    ['usa', 'deu'].slice(at % 2).map((country) => [text, date, country, at % 2, 2 + (at % 3) - (day % 2), at + day]),
  ),
);
const PERIODS = TEXTS.map((text, at) => [text, '2026-01-01', '2026-01-31', 1, 2 + (at % 3), 3]);
const asPage = ([text, ...rest]: unknown[]): unknown[] => [`https://a.example/${encodeURI(String(text))}`, ...rest];

t.test('lists are ranked equally by both engines', { skip }, async (t) => {
  const { world, reader } = await trinoWorld(t, {
    query_daily: facts('query date country', ...DAYS),
    page_daily: facts('url date country', ...DAYS.map(asPage)),
    query_period: facts('query first_day last_day', ...PERIODS),
    page_period: facts('url first_day last_day', ...PERIODS.map(asPage)),
  });
  const engine = await sharedEngine(world.settings);
  const files = await openFileStore(world.settings);
  t.teardown(() => files[Symbol.asyncDispose]());
  const range = { from: '2026-03-01', to: '2026-03-31' };
  const rest = {
    property: 'sc-domain:shop.example',
    range,
    type: 'web',
    pair: null,
    allowMissingRecentDays: true,
  } as const;
  for (const [kind, table] of [
    ['queries', 'query'],
    ['pages', 'page'],
  ] as const) {
    const days = await filesOf(world.catalog, 'Proj1', `${table}_daily`, range);
    const [period] = await manifestOf(world.catalog, 'Proj1', `${table}_period`, EVERY_DAY);
    const read = async (distant: ConstructorParameters<typeof OwnRows>[0]['distant']) => {
      const rows = new OwnRows({ engine, files, distant, signal });
      const found: unknown[] = [];
      for (const country of [null, 'usa', 'fra']) {
        for (const max of [1, 3, 4, 7, 12]) {
          using some = await rows.ofDays(days, { kind, country, ...rest }, max);
          found.push([country, max, some.count, await some.read(1000)]);
        }
      }
      using all = await rows.ofPeriod(period!, { kind, country: null, ...rest });
      return [...found, await all.read(1000)];
    };
    const expected = await read(undefined);
    t.strictSame(await read({ reads: () => true, rows: reader.listRows }), expected, kind);
    t.equal((expected.at(-1) as unknown[]).length, TEXTS.length, 'the list of a range has all rows');
  }
});
