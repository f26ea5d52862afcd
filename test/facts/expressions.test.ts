// An expression is refused, or every engine takes it and finds the same; refusing costs little.
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import t from 'tap';
import {
  compileExpression,
  countInstructions,
  type Expression,
  ExpressionCheck,
  MAX_INSTRUCTIONS,
  read,
} from '../../server/domain/expressions.ts';
import { methodOf } from '../methods.ts';

const duckdb = await DuckDBInstance.create(':memory:');
const connection = await duckdb.connect();
t.after(() => {
  connection.closeSync();
  duckdb.closeSync();
});

/** Whether DuckDB finds an expression in each text; undefined if it does not take the expression. */
async function foundByDuckdb(expression: string, texts: readonly string[]): Promise<boolean[] | undefined> {
  try {
    // The first text is constant, as in statements about no rows.
    const found: boolean[] = [];
    for (const text of texts) {
      const reader = await connection.runAndReadAll('select regexp_matches($text, $expression)', { text, expression });
      found.push(reader.getRows()[0]![0] as boolean);
    }
    return found;
  } catch (error) {
    if (!String(error).includes('Invalid Input Error')) throw error;
    return undefined;
  }
}

const exactly = (text: string): Expression => ({ text, ignoresCase: false });
const problemOf = (text: string): string | undefined => new ExpressionCheck().problemOf(exactly(text));

/** Names that one of the engines has. */
const NAMES = ['L', 'Lu', 'N', 'Greek', 'Han', 'Any', 'Cn', 'LC', 'Emoji', 'Alphabetic', 'Tai_Yo', 'Nothing'];
const name = fc.constantFrom(...NAMES);
const member = fc.oneof(
  fc.constantFrom('a', 'a-z', 'А-я', 'é', '\\d', '\\W', '\\n', '\\]', '-', '^', '[:alpha:]', '[:^word:]'),
  fc.constantFrom('\\x{100}-\\x{1000}', '\\x{80}-\\x{10ffff}', '\\pL', '\\x41-\\x5a', '(?<n>', '{9}'),
  name.map((one) => `\\p{${one}}`),
);
const atom = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('a', 'b', 'Z', 'é', '🥾', '.', ' ', '\\.', '\\d', '\\w', '\\pL', '\\PN', '\\x41'),
  },
  fc.constantFrom(
    '^',
    '$',
    '\\b',
    '\\A',
    '\\z',
    '\\Qa{9}(?<\\E',
    '\\C',
    '\\Z',
    '\\1',
    '{',
    '(?i)',
    '(?s-m)',
    '\\x{e9}',
  ),
  name.map((one) => `\\p{${one}}`),
  fc
    .tuple(fc.constantFrom('', '^', ']'), fc.array(member, { minLength: 1, maxLength: 4 }))
    .map(([begin, members]) => `[${begin}${members.join('')}]`),
);
const times = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  fc.constantFrom('*', '+', '?', '*?', '{0}', '{2}', '{1,3}', '{2,}', '{,2}', '{40}', '{1000}', '{1001}', '{3}{2}'),
);
const { whole } = fc.letrec<{ whole: string; part: string }>((tie) => ({
  whole: fc
    .array(fc.array(tie('part'), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((branches) => branches.map((parts) => parts.join('')).join('|')),
  part: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(atom, times).map(([one, more]) => one + more),
    fc
      .tuple(fc.constantFrom('(', '(?:', '(?i:', '(?P<n>', '(?<n>', '(?='), tie('whole'), times)
      .map(([open, inside, more]) => `${open}${inside})${more}`),
  ),
}));
const TEXTS = ['', 'a', 'aab', 'Zé 9', '🥾\nb', 'aaaaaaaa(?<9}'];

t.test('what is accepted, both engines take and read alike', async (t) => {
  const outcomes = { accepted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 5, arbitrary: whole }, fc.string({ maxLength: 12 })), async (text) => {
      const problem = problemOf(text);
      outcomes[problem === undefined ? 'accepted' : 'refused']++;
      if (problem !== undefined) return;
      const isFound = compileExpression(exactly(text));
      t.strictSame(await foundByDuckdb(text, TEXTS), TEXTS.map(isFound), JSON.stringify(text));
    }),
    { numRuns: 600 },
  );
  t.ok(outcomes.accepted > 100 && outcomes.refused > 50, JSON.stringify(outcomes));
});

t.test('the size that is read from the text is at least that of the program', (t) => {
  fc.assert(
    fc.property(whole, fc.boolean(), (text, ignoresCase) => {
      const { size } = read({ text, ignoresCase });
      // Larger ones are not compiled.
      if (size > 5 * MAX_INSTRUCTIONS) return;
      let instructions: number;
      try {
        instructions = countInstructions({ text, ignoresCase });
      } catch {
        return;
      }
      t.ok(size >= instructions, `${JSON.stringify(text)}: ${size} for ${instructions}`);
    }),
    { numRuns: 1000 },
  );
  t.end();
});

t.test('what only one engine knows is refused by name', async (t) => {
  for (const text of ['(?<n>a)', '\\p{Emoji}', '\\P{Cn}', '[\\p{Alphabetic}]', '\\p{^Assigned}', '[\\pL\\pN]{500}']) {
    t.type(problemOf(text), 'string', text);
    t.equal(await foundByDuckdb(text, ['a']), undefined, `DuckDB does not take ${text}`);
  }
  t.match(problemOf('(?<n>a)'), /\(\?<n>, which not every engine knows; write \(\?P<name>/);
  t.match(problemOf('\\p{Emoji}'), /\\p\{Emoji\}, which not every engine knows/);
  for (const text of ['[(?<n>]', '\\Q(?<n>\\E', '(?P<n>a)', '\\\\p{Emoji}', '\\(?<'])
    t.equal(problemOf(text), undefined, text);
});

t.test('DuckDB takes the largest that are accepted', async (t) => {
  const scattered = Array.from({ length: 15 }, (_, at) => {
    const from = 0x10801 + at * 0xfa01;
    return `\\x{${from.toString(16)}}-\\x{${(from + 0xf0fd).toString(16)}}`;
  });
  for (const [part, most] of [
    ['a', 998],
    ['[\\pL\\pN]', 20],
    ['\\pL', 23],
    [`[${scattered.join('')}]`, 998],
  ] as const) {
    const largest = `(?:${part}){${most}}`;
    t.equal(problemOf(largest), undefined, largest);
    t.ok(await foundByDuckdb(largest, ['a']), largest);
    t.match(problemOf(`${largest}${part}`), `use a smaller count than {${most}}`);
  }
});

t.test('a set without an end is refused at once, whatever it has', (t) => {
  const compiled = t.capture(RE2JS, 'compile', methodOf(RE2JS, 'compile'));
  // Reading one of these took twice as long for each of its members, and the last ones the cube of their length.
  for (const part of ['\\p{a}', '\\x{41}', '[\\p{', '[\\x{', '[:a', '\\Q', '[^']) {
    t.match(problemOf(`[${part.repeat(700)}`), /is not a regular expression of the RE2 syntax$/, part);
  }
  t.equal(compiled().length, 0);
  t.end();
});

t.test('all expressions of a request share the bound, and refusing one compiles nothing large', (t) => {
  const check = new ExpressionCheck();
  t.equal(check.problemOf(exactly('a{600}')), undefined);
  t.equal(check.problemOf(exactly('b{200}')), undefined);
  t.match(check.problemOf(exactly('c{300}')), /1000; use a smaller count than \{300\}, or fewer expressions$/);
  t.match(
    problemOf('(\\pL*\\pN?){900}z'),
    /"\(\\\\pL.*smaller count than \{900\}, or \[a-z\] or \[0-9\] in place of \\pL$/,
  );
  t.match(problemOf('x'.repeat(1000)), /too many instructions.*use a shorter expression$/);
  // Compiling these takes seconds.
  const { size } = read(exactly(`(${'abc'.repeat(1300)}){300}`));
  t.ok(size > 1e6, `${size}`);
  const compiled = t.capture(RE2JS, 'compile', methodOf(RE2JS, 'compile'));
  t.type(problemOf(`(${'abc'.repeat(1300)}){300}`), 'string');
  t.type(problemOf('[^\\pL\\PL]'.repeat(200)), 'string');
  t.equal(compiled().length, 0);
  t.equal(problemOf('a'), undefined);
  t.equal(compiled().length, 1);
  t.end();
});
