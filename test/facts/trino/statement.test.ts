// No text in a query can change the Trino statement that contains it.
import fc from 'fast-check';
import t from 'tap';
import { sumsSql } from '../../../server/facts/sums.ts';
import { literal } from '../../../server/facts/trino/literal.ts';
import { trinoStatement } from '../../../server/facts/trino/statement.ts';

/** Characters that end literals, comments and statements, in any order. */
const hostile = fc.string({
  unit: fc.constantFrom("'", '"', '\\', '-', '/', '*', ';', '?', '$', ',', '\n', '\0', 'a', 'é', '🐍'),
});
const text = fc.oneof(fc.string({ unit: 'grapheme' }), hostile);

/** Reads one literal by the rules of the SQL standard: two quotes are one, and nothing else has a meaning. */
function readText(sql: string, start: number): { value: string; end: number } {
  if (sql[start] !== "'") throw new Error(`no text at ${start} of ${sql}`);
  let value = '';
  for (let at = start + 1; ; at++) {
    if (at >= sql.length) throw new Error(`a text does not end: ${sql}`);
    if (sql[at] !== "'") value += sql[at];
    else if (sql[at + 1] === "'") value += sql[at++];
    else return { value, end: at + 1 };
  }
}

t.test('a text is one literal, whatever it contains', async (t) => {
  fc.assert(
    fc.property(text, (value) => {
      const sql = literal(value);
      const read = readText(sql, 0);
      return read.value === value && read.end === sql.length;
    }),
    { numRuns: 2000 },
  );
  t.pass('any text');
});

t.test('a list of texts is one literal', async (t) => {
  fc.assert(
    fc.property(fc.array(text), (values) => {
      const [before, after] = ['cast(json_parse(', ') as array(varchar))'];
      const sql = literal(values);
      const read = readText(sql, before.length);
      const isWhole = sql.startsWith(before) && sql.slice(read.end) === after;
      return isWhole && JSON.stringify(JSON.parse(read.value)) === JSON.stringify(values);
    }),
    { numRuns: 1000 },
  );
  t.pass('any list');
});

t.test('values stand after the statement, in the order of its parameters', async (t) => {
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 1 }),
      fc.array(text, { minLength: 1 }),
      text,
      (projects, files, country) => {
        const test = { op: 'contains', field: 'country', values: [country], fold: false } as const;
        const { fills, values } = sumsSql({ table: 'country_daily', by: ['date'], test });
        const days = { from: '2026-03-01', to: '2026-03-31' };
        const sql = trinoStatement('facts/sums', 'country_daily', { projects, files, ...values, ...days }, fills);
        const before = 'execute immediate ';
        const statement = readText(sql, before.length);
        const expected = [...projects, ...files, '2026-03-01', '2026-03-31', country];
        let at = statement.end + ' using '.length;
        for (const value of expected) {
          const read = readText(sql, at);
          if (read.value !== value) throw new Error(`${read.value} instead of ${value}`);
          at = read.end + ', '.length;
        }
        const placeholders = statement.value.match(/\?/g)?.length;
        return at - 2 === sql.length && placeholders === expected.length && !statement.value.includes('$v0');
      },
    ),
  );
  t.pass('any values');
});

t.test('other values', async (t) => {
  t.equal(literal(null), 'null');
  t.equal(literal(true), 'true');
  t.equal(literal(-5), "bigint '-5'");
  t.equal(literal(Number.MAX_SAFE_INTEGER), "bigint '9007199254740991'");
  for (const wrong of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) t.throws(() => literal(wrong), TypeError);
  t.throws(() => trinoStatement('facts/keyword_days', 'keyword_daily', {}), /sql\/facts\/keyword_days\.sql needs \$/);
});
