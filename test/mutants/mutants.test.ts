// A planted fault is the change that its catalogue says, and one that no longer fits the code is refused.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../world.ts';
import { lineOf, parseCatalogue, plant } from './catalogue.ts';
import { calledNames, readCoverage, type TestLines, testsOfLine } from './line-map.ts';

const CATALOGUE = `# Comments are left out.

Days include the last one.
file server/days.ts
-   return day < to;
- }
+   return day <= to;
+
+ }
tests browser/charts browser/clicks

An old list is removed.
file server/lists.ts
- await prune();
`;

t.test('a block is a promise, a file, the old text, and the new one', async (t) => {
  t.strictSame(parseCatalogue('dates', CATALOGUE), [
    {
      room: 'dates',
      promise: 'Days include the last one.',
      file: 'server/days.ts',
      find: '  return day < to;\n}',
      replace: '  return day <= to;\n\n}',
      tests: ['browser/charts', 'browser/clicks'],
    },
    {
      room: 'dates',
      promise: 'An old list is removed.',
      file: 'server/lists.ts',
      find: 'await prune();',
      replace: '',
      tests: [],
    },
  ]);
  t.throws(() => parseCatalogue('dates', 'file server/days.ts\n- a\n+ b\n'), {
    message: 'dates: a block begins without a promise: file server/days.ts',
  });
  t.throws(() => parseCatalogue('dates', 'A promise.\nfile server/days.ts\n+ b\n'), {
    message: "dates: A promise.\n  It needs a line 'file PATH' and lines '- old text'.",
  });
});

t.test('the old text must stand in the file once', async (t) => {
  const [, mutant] = parseCatalogue('dates', CATALOGUE);
  t.equal(plant(mutant!, 'load();\nawait prune();\nend();\n'), 'load();\n\nend();\n');
  t.equal(lineOf(mutant!, 'load();\nawait prune();\nend();\n'), 2);
  for (const [text, count] of [
    ['', 0],
    ['await prune(); await prune();', 2],
  ] as const) {
    t.throws(() => plant(mutant!, text), {
      message: `dates: An old list is removed.\n  Its old text stands ${count} times in server/lists.ts, and must stand there once:\nawait prune();`,
    });
  }
});

t.test('the lines that ran, and the tests that ran one', async (t) => {
  const root = temporaryFolder(t);
  mkdirSync(join(root, 'server'));
  const source =
    'const a = 1;\nfunction ran() {\n  if (a > 1) {\n    never();\n  }\n  return a;\n}\nfunction never() {\n  return 0;\n}\n';
  writeFileSync(join(root, 'server/a.ts'), source);
  const coverage = mkdtempSync(join(root, 'coverage-'));
  const at = (text: string): number => source.indexOf(text);
  const range = (from: number, to: number, count: number): object => ({ startOffset: from, endOffset: to, count });
  const functions = [
    { functionName: '', ranges: [range(0, source.length, 1)] },
    {
      functionName: 'ran',
      ranges: [range(at('function ran'), at('function never'), 3), range(at('{\n    never'), at('\n  return a'), 0)],
    },
    { functionName: 'never', ranges: [range(at('function never'), source.length, 0)] },
  ];
  writeFileSync(
    join(coverage, '1.json'),
    JSON.stringify({ result: [{ url: `file://${root}/server/a.ts`, functions }] }),
  );
  writeFileSync(join(coverage, '2.json'), '{"result":[');
  const lines = readCoverage(coverage, root);
  t.strictSame(lines, {
    'server/a.ts': [
      [2, 3],
      [6, 7],
    ],
  });

  const one: TestLines = { test: 'one', time: 1, passes: true, hash: '', lines };
  const other: TestLines = { ...one, test: 'other', lines: { 'server/a.ts': [[9, 9]] } };
  const found = (line: number): string[] => testsOfLine([one, other], 'server/a.ts', line).map(({ test }) => test);
  t.strictSame(
    [found(6), found(9), found(1)],
    [['one'], ['other'], ['one', 'other']],
    'outside functions, all of the file',
  );
});

t.test('a line of SQL is run by what calls its statement', async (t) => {
  const text = [
    '-- Keys.',
    '-- part: key',
    'k.id',
    '-- name: one',
    '-- A key.',
    'select {>key} from keys',
    '-- name: of_workspace (postgres)',
    'select {>key}',
    'from keys',
    '-- name: revoke',
    'delete from keys',
  ].join('\n');
  const of = (line: number): string[] => calledNames('keys', text, line);
  t.strictSame(
    [of(3), of(5), of(9), of(11)],
    [['keys.one', 'keys.of_workspace'], ['keys.one'], ['keys.of_workspace'], ['keys.revoke']],
  );
  t.strictSame(of(1), ['keys.one', 'keys.of_workspace', 'keys.revoke'], 'the first comment is about all');
  t.strictSame(calledNames('key_used', '-- A use.\nselect 1', 2), ['key_used']);
});
