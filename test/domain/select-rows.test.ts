// Filtering and sorting in steps gives the same rows as doing it at once.
import fc from 'fast-check';
import t from 'tap';
import type { SortField } from '../../server/domain/filter.ts';
import type { Measures } from '../../server/domain/metrics.ts';
import { RowColumns } from '../../server/domain/row-columns.ts';
import { type Condition, numberOf, type Rule } from '../../server/domain/rules.ts';
import { type Selection, selectFrom, selectRows } from '../../server/domain/select-rows.ts';
import { compareTexts } from '../../server/domain/texts.ts';
import { resultOf } from '../steps.ts';

type ListRow = Measures & { readonly text: string };

const READERS = { measuresOf: (row: ListRow) => row, textsOf: ({ text }: ListRow) => ({ query: text }) };

const TEXT_TESTS: Readonly<Record<string, (text: string, value: string) => boolean>> = {
  contains: (text, value) => text.includes(value),
  not_contains: (text, value) => !text.includes(value),
  equals: (text, value) => text === value,
  starts_with: (text, value) => text.startsWith(value),
  matches: (text, value) => new RegExp(value, 'u').test(text),
};
const NUMBER_TESTS: Readonly<Record<string, (number: number, value: number) => boolean>> = {
  eq: (number, value) => number === value,
  neq: (number, value) => number !== value,
  lt: (number, value) => number < value,
  lte: (number, value) => number <= value,
  gt: (number, value) => number > value,
  gte: (number, value) => number >= value,
};

function isMatch(row: ListRow, { field = '', op, value }: Condition): boolean {
  if (typeof value === 'string') return TEXT_TESTS[op]!(row.text.toLowerCase(), value.toLowerCase());
  const number = numberOf(row, field);
  return number !== undefined && NUMBER_TESTS[op]!(number, value);
}

/** What the words of the documentation say, row by row. */
function expected(rows: readonly ListRow[], { filter, sort }: Selection): ListRow[] {
  const kept = rows.filter((row) => {
    if (filter === null) return true;
    const each = filter.conditions.map((one) => isMatch(row, one));
    return filter.match === 'all' ? each.every(Boolean) : each.some(Boolean);
  });
  return kept.toSorted((a, b) => {
    for (const { field, descending } of sort ?? []) {
      if (field === 'query') {
        const order = compareTexts(a.text, b.text);
        if (order !== 0) return descending ? -order : order;
        continue;
      }
      const [x, y] = [numberOf(a, field), numberOf(b, field)];
      if (x === y) continue;
      if (x === undefined) return 1;
      if (y === undefined) return -1;
      return descending ? y - x : x - y;
    }
    return 0;
  });
}

/** With reserved ranks by text, as stored lists have them. */
function withRanks(rows: readonly ListRow[]): RowColumns<ListRow> {
  const texts = [...new Set(rows.map(({ text }) => text))].sort(compareTexts);
  const query = Float64Array.from(rows, ({ text }) => texts.indexOf(text));
  return new RowColumns(rows, { ...READERS, ranks: { query }, areKept: true });
}

const row = fc
  .record({
    text: fc.string({ unit: fc.constantFrom('a', 'B', 'é', '🥾', '\uffff', '\n'), maxLength: 3 }),
    impressions: fc.oneof(fc.nat(3), fc.nat(), fc.maxSafeNat(), fc.constant(Number.NaN)),
    share: fc.constantFrom(0, 1 / 3, 0.5, 1),
    sumPosition: fc.nat(1e6),
  })
  .map(
    ({ share, impressions, ...rest }): ListRow => ({ ...rest, impressions, clicks: Math.floor(impressions * share) }),
  );
const condition = fc.oneof(
  fc.record({
    field: fc.constantFrom('clicks', 'impressions', 'ctr', 'position'),
    op: fc.constantFrom('eq', 'neq', 'lt', 'lte', 'gt', 'gte'),
    value: fc.constantFrom(0, 1 / 3, 0.5, 1, 2, 1000),
  }),
  fc.record({
    field: fc.constant('query'),
    op: fc.constantFrom('contains', 'not_contains', 'equals', 'starts_with', 'matches'),
    value: fc.constantFrom('', 'a', 'b', 'É', 'ab', '\n', 'a\na'),
  }),
);
const rule: fc.Arbitrary<Rule> = fc.record({
  match: fc.constantFrom('all', 'any'),
  conditions: fc.array(condition, { minLength: 1, maxLength: 3 }),
});
const sort: fc.Arbitrary<SortField[]> = fc.uniqueArray(
  fc.record({
    field: fc.constantFrom('clicks', 'impressions', 'ctr', 'position', 'query'),
    descending: fc.boolean(),
  }),
  { minLength: 1, maxLength: 3, selector: ({ field }) => field },
);
const selection: fc.Arbitrary<Selection> = fc.record({ filter: fc.option(rule), sort: fc.option(sort) });

t.test('a selection has the rows that match, in the order of its fields', (t) => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 40 }), fc.array(selection, { maxLength: 3 }), (rows, selections) => {
      const columns = withRanks(rows);
      for (const one of selections) {
        const wanted = expected(rows, one);
        t.strictSame(resultOf(selectRows(rows, one, READERS)), wanted);
        t.strictSame(resultOf(selectFrom(columns, one)), wanted, 'by columns that were read before');
      }
    }),
    { numRuns: 300 },
  );
  t.end();
});

t.test('many rows are sorted like few', (t) => {
  const rows = Array.from({ length: 20_000 }, (_, index): ListRow => {
    const number = (index * 7919) % 10_007;
    return { text: `query ${number % 5003}`, clicks: number % 11, impressions: number, sumPosition: index };
  });
  for (const fields of ['query', '-query', '-clicks,query', 'ctr,-query', '-impressions']) {
    const by = fields.split(',').map((field) => ({ field: field.replace('-', ''), descending: field.startsWith('-') }));
    const one = { filter: null, sort: by };
    const wanted = expected(rows, one);
    t.ok(
      resultOf(selectRows(rows, one, READERS)).every((found, index) => found === wanted[index]),
      fields,
    );
  }
  t.end();
});

t.test('many rows are filtered like few', (t) => {
  const rows = Array.from({ length: 20_000 }, (_, index): ListRow => {
    const number = (index * 7919) % 10_007;
    return { text: `Query ${number % 503} ${index}`, clicks: number % 11, impressions: number, sumPosition: index };
  });
  const kept = new RowColumns(rows, { ...READERS, areKept: true });
  const clicks = (value: number) => ({ field: 'clicks', op: 'gte', value });
  const text = (op: string, value: string) => ({ field: 'query', op, value });
  for (const match of ['all', 'any'] as const) {
    for (const conditions of [
      [text('contains', 'QUERY 5')],
      [text('not_contains', '17')],
      [text('contains', '9'), text('not_contains', '99')],
      // Many and few rows are left for the text.
      [clicks(1), text('contains', '3 1')],
      [clicks(10), text('contains', '3 1')],
    ]) {
      const one = { filter: { match, conditions }, sort: null };
      const wanted = expected(rows, one);
      for (const [how, found] of Object.entries({
        once: resultOf(selectRows(rows, one, READERS)),
        kept: resultOf(selectFrom(kept, one)),
      })) {
        t.ok(
          found.length === wanted.length && found.every((row, index) => row === wanted[index]),
          `${match} of ${JSON.stringify(conditions)}, ${how}: ${wanted.length} rows`,
        );
      }
    }
  }
  t.end();
});
