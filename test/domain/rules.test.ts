// Group rules match as documented, and an invalid rule is rejected by name.
import fc from 'fast-check';
import t from 'tap';
import type { GroupedKeyword } from '../../server/domain/groups.ts';
import type { Measures } from '../../server/domain/metrics.ts';
import { RowColumns } from '../../server/domain/row-columns.ts';
import { compileRule, KEYWORD_FIELDS, type Rule, ruleProblem } from '../../server/domain/rules.ts';
import { markMatches } from '../../server/domain/select-rows.ts';
import { resultOf } from '../steps.ts';

const TEXT = ['contains', 'not_contains', 'equals', 'not_equals', 'starts_with', 'ends_with', 'matches'];
const NUMBER = ['eq', 'neq', 'lt', 'lte', 'gt', 'gte'];
const FIELDS = ['query', 'intent', 'source', 'clicks', 'impressions', 'ctr', 'position'];

type Subject = Omit<GroupedKeyword, 'id'> & Measures;

const SUBJECT: Subject = {
  query: 'Red Shoes',
  intent: 'commercial',
  source: 'manual',
  clicks: 1,
  impressions: 3,
  sumPosition: 7,
};

/** Whether a rule of one condition matches. */
function matches(field: string, op: string, value: string | number, subject: Partial<Subject> = {}): boolean {
  const rule: Rule = { match: 'all', conditions: [{ field, op, value }] };
  const problem = ruleProblem(rule, 'keywords');
  if (problem !== undefined) throw new Error(problem);
  return isMatch(rule, { ...SUBJECT, ...subject });
}

function isMatch(rule: Rule, subject: Subject): boolean {
  const compiled = compileRule(rule);
  const columns = new RowColumns([subject], { measuresOf: () => subject, textsOf: () => subject });
  const [matched] = resultOf(markMatches(columns, compiled.ofTexts));
  return compiled.matches(matched === 1, subject);
}

t.test('the text operators do what their names say, without regard to case', async () => {
  const words = fc.string({ unit: fc.constantFrom('a', 'B', 'b', 'É', 'é', ' ', '🐍', '.'), maxLength: 6 });
  const meanings: Readonly<Record<string, (text: string, value: string) => boolean>> = {
    contains: (text, value) => text.includes(value),
    not_contains: (text, value) => !text.includes(value),
    equals: (text, value) => text === value,
    not_equals: (text, value) => text !== value,
    starts_with: (text, value) => text.startsWith(value),
    ends_with: (text, value) => text.endsWith(value),
  };
  for (const [op, meaning] of Object.entries(meanings)) {
    fc.assert(
      fc.property(words, words, (query, value) => {
        const expected = meaning(query.toLowerCase(), value.toLowerCase());
        return (
          matches('query', op, value, { query }) === expected &&
          matches('query', op, value.toUpperCase(), { query: query.toLowerCase() }) === expected
        );
      }),
    );
  }
});

t.test('matches: RE2 anywhere in the text', async (t) => {
  const found = (expression: string, query: string): boolean => matches('query', 'matches', expression, { query });
  t.ok(found('shoe', 'Red Shoes'));
  t.ok(found('^RED\\s+shoes$', 'red Shoes'));
  t.notOk(found('^shoes', 'red shoes'));
  t.ok(found('\\bhow|why\\b', 'tell me WHY'));
  t.ok(found('[[:digit:]]{2,}', 'top 10'));
  t.ok(found('^\\pL+$', 'Ünïcödé'));
  t.ok(found('É', 'café'));
  t.ok(found('^.$', '🐍'), 'a character is a code point');
  t.ok(found('(?i)A', 'a'));
  t.ok(found('', 'anything'));
  // takes linear time, where backtracking would never end
  t.notOk(found('^(a+)+$', `${'a'.repeat(10_000)}b`));
});

t.test('the number operators compare unrounded numbers', async () => {
  const meanings: Readonly<Record<string, (a: number, b: number) => boolean>> = {
    eq: (a, b) => a === b,
    neq: (a, b) => a !== b,
    lt: (a, b) => a < b,
    lte: (a, b) => a <= b,
    gt: (a, b) => a > b,
    gte: (a, b) => a >= b,
  };
  const counted = fc.record({
    clicks: fc.nat(9),
    impressions: fc.integer({ min: 1, max: 9 }),
    sumPosition: fc.nat(30),
  });
  for (const [op, meaning] of Object.entries(meanings)) {
    fc.assert(
      fc.property(counted, fc.oneof(fc.nat(9), fc.double({ min: 0, max: 9, noNaN: true })), (subject, value) => {
        const { clicks, impressions, sumPosition } = subject;
        return (
          matches('clicks', op, value, subject) === meaning(clicks, value) &&
          matches('impressions', op, value, subject) === meaning(impressions, value) &&
          matches('ctr', op, value, subject) === meaning(clicks / impressions, value) &&
          // equal ratios, however they are computed
          (Math.abs(sumPosition / impressions + 1 - value) < 1e-9 ||
            matches('position', op, value, subject) === meaning(sumPosition / impressions + 1, value))
        );
      }),
    );
  }
});

t.test('without impressions nothing on ctr or position matches', async (t) => {
  for (const field of ['ctr', 'position']) {
    for (const op of NUMBER) {
      for (const value of [-1, 0, 1, 100]) {
        t.notOk(matches(field, op, value, { clicks: 0, impressions: 0, sumPosition: 0 }), `${field} ${op} ${value}`);
      }
    }
  }
  t.ok(matches('clicks', 'eq', 0, { clicks: 0, impressions: 0, sumPosition: 0 }));
  t.ok(matches('impressions', 'lt', 1, { clicks: 0, impressions: 0, sumPosition: 0 }));
});

t.test('choices are compared as texts', async (t) => {
  t.ok(matches('intent', 'equals', 'Commercial'));
  t.notOk(matches('intent', 'not_equals', 'commercial'));
  t.ok(matches('source', 'equals', 'manual'));
  t.ok(matches('source', 'not_equals', 'import'));
});

t.test('all and any, of conditions on texts and on numbers', async () => {
  const conditions = fc.array(
    fc.oneof(
      fc.record({ field: fc.constant('clicks'), op: fc.constantFrom(...NUMBER), value: fc.nat(3) }),
      fc.record({
        field: fc.constant('query'),
        op: fc.constantFrom('contains', 'not_contains', 'matches'),
        value: fc.constantFrom('red', 'blue', 's'),
      }),
    ),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(conditions, fc.nat(3), fc.constantFrom('red shoes', 'blue'), (list, clicks, query) => {
      const subject = { ...SUBJECT, clicks, query };
      const each = list.map(({ field, op, value }) => matches(field, op, value, subject));
      return (
        isMatch({ match: 'all', conditions: list }, subject) === each.every(Boolean) &&
        isMatch({ match: 'any', conditions: list }, subject) === each.some(Boolean)
      );
    }),
  );
});

const keywordRule = (condition: unknown): unknown => ({ match: 'all', conditions: [condition] });

t.test('every field takes its operators and no others', async (t) => {
  t.strictSame([...KEYWORD_FIELDS].sort(), [...FIELDS].sort());
  for (const field of FIELDS) {
    const isNumber = ['clicks', 'impressions', 'ctr', 'position'].includes(field);
    const value = isNumber ? 1 : 'a';
    for (const op of [...TEXT, ...NUMBER]) {
      const problem = ruleProblem(keywordRule({ field, op, value }), 'keywords');
      if (NUMBER.includes(op) === isNumber) t.equal(problem, undefined, `${field} ${op}`);
      else t.match(problem, new RegExp(`"${op}".*${field}`), `${field} ${op}`);
    }
  }
  for (const op of TEXT) t.equal(ruleProblem(keywordRule({ op, value: '/a' }), 'pages'), undefined, op);
  for (const op of NUMBER) t.match(ruleProblem(keywordRule({ op, value: 1 }), 'pages'), op);
});

t.test('unknown fields and operators are rejected by name', async (t) => {
  for (const field of ['volume', 'Query', '', 'constructor', '__proto__', 'toString', 'sumPosition']) {
    const problem = ruleProblem(keywordRule({ field, op: 'contains', value: 'a' }), 'keywords');
    t.match(problem, `"${field}"`, field);
    t.match(problem, /field/, field);
  }
  for (const op of ['between', 'Contains', '', 'constructor', '__proto__', '=']) {
    for (const kind of ['keywords', 'pages'] as const) {
      const problem = ruleProblem(keywordRule({ field: 'query', op, value: 'a' }), kind);
      t.match(problem, `"${op}"`, op);
      t.match(problem, /operator/, op);
    }
  }
  t.match(ruleProblem(keywordRule({ op: 'contains', value: 'a' }), 'keywords'), /field/, 'no field');
  t.match(ruleProblem(keywordRule({ field: 'query', value: 'a' }), 'keywords'), /operator/, 'no operator');
});

t.test('values of the wrong type, and expressions that RE2 does not have', async (t) => {
  const wrong: readonly (readonly [string, string, unknown])[] = [
    ['query', 'contains', 1],
    ['query', 'contains', null],
    ['query', 'contains', undefined],
    ['query', 'contains', ['a']],
    ['clicks', 'gt', '1'],
    ['clicks', 'gt', null],
    ['clicks', 'gt', Number.NaN],
    ['query', 'matches', '('],
    ['query', 'matches', '(?=a)'],
    ['query', 'matches', '(a)\\1'],
    ['query', 'matches', '*'],
    ['query', 'matches', '(\\pL*\\pN?){900}z'],
    ['query', 'matches', '(?<n>a)'],
  ];
  for (const [field, op, value] of wrong) {
    t.type(ruleProblem(keywordRule({ field, op, value }), 'keywords'), 'string', `${field} ${op} ${String(value)}`);
  }
  t.type(ruleProblem(keywordRule({ op: 'matches', value: '[' }), 'pages'), 'string');
  const half = { field: 'query', op: 'matches', value: 'a{600}' };
  t.equal(ruleProblem({ match: 'any', conditions: [half] }, 'keywords'), undefined);
  t.match(ruleProblem({ match: 'any', conditions: [half, half] }, 'keywords'), /all expressions together .*1000/);
});

t.test('any rule is either rejected with a message or can be compiled and run', async (t) => {
  for (const rule of [null, 1, 'x', [], {}, { match: 'all' }, { match: 'none', conditions: [] }]) {
    t.type(ruleProblem(rule, 'keywords'), 'string', JSON.stringify(rule));
  }
  for (const condition of [null, 1, 'x', [], {}]) t.type(ruleProblem(keywordRule(condition), 'keywords'), 'string');
  t.type(ruleProblem({ match: 'all', conditions: {} }, 'keywords'), 'string');
  const condition = fc.oneof(
    fc.record(
      {
        field: fc.oneof(fc.constantFrom(...FIELDS), fc.string()),
        op: fc.oneof(fc.constantFrom(...TEXT, ...NUMBER), fc.string()),
        value: fc.oneof(fc.string(), fc.integer(), fc.anything()),
      },
      { requiredKeys: [] },
    ),
    fc.anything(),
  );
  fc.assert(
    fc.property(fc.constantFrom('all', 'any'), fc.array(condition, { maxLength: 3 }), (match, conditions) => {
      const problem = ruleProblem({ match, conditions }, 'keywords');
      if (problem !== undefined) return problem !== '';
      return typeof isMatch({ match, conditions } as Rule, SUBJECT) === 'boolean';
    }),
    { numRuns: 500 },
  );
  fc.assert(fc.property(fc.anything(), (any) => ['string', 'undefined'].includes(typeof ruleProblem(any, 'pages'))));
});
