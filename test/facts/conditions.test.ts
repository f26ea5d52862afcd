// A condition on texts finds the same in SQL and in JavaScript, whatever the alphabet, or is not left to SQL.
import { DuckDBInstance, listValue } from '@duckdb/node-api';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import t from 'tap';
import { compileExpression, ExpressionCheck } from '../../server/domain/expressions.ts';
import { comparedValues, type TextTest, textTest } from '../../server/domain/predicate.ts';
import { canTestInSql, EVERY_ROW, sumsSql } from '../../server/facts/sums.ts';

const duckdb = await DuckDBInstance.create(':memory:');
const connection = await duckdb.connect();
t.after(() => {
  connection.closeSync();
  duckdb.closeSync();
});

type Leaf = Pick<TextTest, 'op' | 'values' | 'fold'>;

/** For each text whether SQL finds it. */
async function foundInSql(leaf: Leaf, texts: readonly string[]): Promise<boolean[]> {
  const having = { ...leaf, field: 'query' } as const;
  const { fills, values } = sumsSql({ table: 'query_daily', by: ['query'], test: EVERY_ROW, having });
  const test = fills['where']!.replace('where ', '');
  const names = Object.keys(values).filter((name) => test.includes(`$${name}`));
  const bound = Object.fromEntries(
    names.map((name) => [name, Array.isArray(values[name]) ? listValue(values[name] as string[]) : values[name]!]),
  );
  await connection.run(
    'create or replace table texts as select unnest($texts) as d0, generate_subscripts($texts, 1) as place',
    {
      texts: listValue([...texts]),
    },
  );
  const reader = await connection.runAndReadAll(`select ${test} from texts order by place`, bound as never);
  return reader.getColumnsJS()[0] as boolean[];
}

function foundHere(leaf: Leaf, texts: readonly string[]): boolean[] {
  const { op, values, fold } = leaf;
  if (op === 'matches') {
    const tests = values.map((text) => compileExpression({ text, ignoresCase: fold }));
    return texts.map((text) => tests.some((test) => test(text)));
  }
  const holds = textTest({ op, values, fold });
  return texts.map((text) => holds(fold ? text.toLowerCase() : text));
}

const ALL = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => code > 0 && !(code >= 0xd800 && code < 0xe000))
  .map((code) => String.fromCodePoint(code));

t.test('each character in lower case is the same for SQL, or no value with it is left to SQL', async (t) => {
  await connection.run(
    'create or replace table texts as select unnest($texts) as d0, generate_subscripts($texts, 1) as place',
    {
      texts: listValue(ALL),
    },
  );
  const reader = await connection.runAndReadAll(
    `select lower(case when strpos(d0, '\u0130') > 0 then replace(d0, '\u0130', 'i\u0307') else d0 end) from texts order by place`,
  );
  const lower = reader.getColumnsJS()[0] as string[];
  const isLeftToSql = (text: string): boolean =>
    Array.from(text).some(
      (one) => one === one.toLowerCase() && canTestInSql({ op: 'contains', values: [one], fold: true }),
    );
  const differ = ALL.filter((one, at) => lower[at]!.replace('\ufeff', '') !== one.toLowerCase().replace('\ufeff', ''));
  t.ok(differ.length > 0 && differ.length < 60, `${differ.length} differ`);
  // What either makes of such a character must not be in a value: then it can be in no text that is found.
  const made = differ.flatMap((one) => [one.toLowerCase(), lower[ALL.indexOf(one)]!]);
  t.strictSame(made.filter((one) => one === one.toLowerCase()).filter(isLeftToSql), []);
  for (const sigma of ['\u03c3', '\u03c2', '\u03a3']) {
    t.notOk(
      canTestInSql({ op: 'equals', values: [`a${sigma}b`], fold: true }),
      'the form of a sigma depends on what follows',
    );
  }
});

const pieces = [
  ...[
    'a',
    'B',
    'k',
    'K',
    '\u212a',
    's',
    'S',
    '\u017f',
    'i',
    'I',
    '\u0130',
    '\u0131',
    '\u0307',
    'i\u0307',
    'ß',
    'ẞ',
    'SS',
  ],
  ...['é', 'É', 'e\u0301', 'σ', 'ς', 'Σ', 'ΟΔΟΣ', 'мир', 'МИР', '靴', '\u{1f40d}', '\uff21', '\uff41', ' ', '.', '\n'],
  ...[
    '\u2126',
    'Å',
    '\u212b',
    'ǆ',
    'ǅ',
    'Ǆ',
    '\ua7dc',
    '\u019b',
    'ﬅ',
    'ﬆ',
    '\u{10400}',
    '\u{10428}',
    'ա',
    'Ա',
    'ა',
    'Ა',
  ],
];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join(''));
const value = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''));

t.test('texts of all alphabets are found alike, with case and without', async (t) => {
  const op = fc.constantFrom('equals', 'contains', 'starts_with', 'ends_with');
  const values = fc.array(value, { minLength: 1, maxLength: 3 });
  const inSql = { yes: 0, no: 0 };
  await fc.assert(
    fc.asyncProperty(
      op,
      values,
      fc.boolean(),
      fc.array(text, { minLength: 30, maxLength: 60 }),
      async (op, values, fold, some) => {
        const leaf = { op, values, fold } as const;
        if (!canTestInSql(leaf)) {
          inSql.no++;
          return;
        }
        inSql.yes++;
        // Values in another case must be found too.
        const texts = [...some, ...values, ...comparedValues(leaf), ...values.map((one) => `${one.toUpperCase()}a`)];
        t.strictSame(await foundInSql(leaf, texts), foundHere(leaf, texts), JSON.stringify(leaf));
      },
    ),
    { numRuns: 150 },
  );
  t.ok(inSql.yes > 50 && inSql.no > 5, JSON.stringify(inSql));
});

t.test('an expression that ignores case finds the same in SQL, or is not left to SQL', async (t) => {
  const atom = fc.constantFrom(
    ...[
      'a',
      'K',
      's',
      'é',
      'σ',
      'ß',
      '[a-z]',
      '[^k]',
      '[^a-z]',
      '\\w',
      '\\W',
      '\\d',
      '\\S',
      '.',
      '\\b',
      '[[:alpha:]]',
      '[[:^upper:]]',
    ],
    ...['[éк]', 'м?', '(?:i|b)+', '^', '$', '\\pL', '[а-я]', '\\x{264}', '\ua7cb', 'ƛ', '(?-i:k)', '[sſ]'],
  );
  const expression = fc.array(atom, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
  const inSql = { yes: 0, no: 0 };
  await fc.assert(
    fc.asyncProperty(expression, fc.array(text, { minLength: 30, maxLength: 60 }), async (one, texts) => {
      const leaf = { op: 'matches', values: [one], fold: true } as const;
      if (new ExpressionCheck().problemOf({ text: one, ignoresCase: true }) !== undefined) return;
      if (!canTestInSql(leaf)) {
        inSql.no++;
        return;
      }
      inSql.yes++;
      t.strictSame(await foundInSql(leaf, texts), foundHere(leaf, texts), one);
    }),
    { numRuns: 150 },
  );
  t.ok(inSql.yes > 30 && inSql.no > 5, JSON.stringify(inSql));
});

t.test('each character finds the same ones in any case, or is not left to SQL', async (t) => {
  // Those with a case, by all that is known of it here.
  const cased = ALL.filter(
    (one) => /\p{Changes_When_Casemapped}/u.test(one) || /\p{Changes_When_Casefolded}/u.test(one),
  );
  const groups = Map.groupBy(cased, (one) => one.toUpperCase().toLowerCase().toUpperCase());
  const others = (one: string): string[] => [
    ...new Set([...groups.get(one.toUpperCase().toLowerCase().toUpperCase())!, 'k', 's', 'å']),
  ];
  const all = cased.join('');
  const wrong: string[] = [];
  for (const one of cased) {
    if (!canTestInSql({ op: 'matches', values: [one], fold: true })) continue;
    const reader = await connection.runAndReadAll('select regexp_extract_all($all, $one)', { all, one: `(?i)${one}` });
    const there = (reader.getColumnsJS()[0]![0] as string[]).toSorted();
    const compiled = RE2JS.compile(one, RE2JS.CASE_INSENSITIVE);
    const here = others(one).filter((other) => compiled.test(other));
    if (there.join('') !== here.toSorted().join('')) wrong.push(`${one}: ${there.join(' ')}, not ${here.join(' ')}`);
  }
  t.strictSame(wrong, []);
});

t.test('an anchor is one wherever it stands', async (t) => {
  const parts = ['', '^', '$', '\\A', '\\z', '(?:^)', '(?m:$)', 'a', '.*'];
  const texts = ['', 'a', 'b', 'ab', 'ba', '\na', 'a\nb'];
  const all = parts.flatMap((one) => parts.flatMap((two) => parts.map((three) => one + two + three)));
  const differ: string[] = [];
  for (const expression of new Set(all)) {
    for (const fold of [false, true]) {
      const leaf = { op: 'matches', values: [expression], fold } as const;
      const found = await foundInSql(leaf, texts);
      if (found.join() !== foundHere(leaf, texts).join()) differ.push(expression);
    }
  }
  t.strictSame(differ, []);
});
