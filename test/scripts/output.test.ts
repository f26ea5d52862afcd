import { mock } from 'node:test';
import t from 'tap';
import { progressLines } from '../../scripts/progress-lines.ts';
import { formatTable } from '../../scripts/table.ts';

t.test('a table: aligned columns, numbers on the right, no quotes and no index', (t) => {
  const rows = [
    { id: 'acme', name: 'Acme & Co', keywordHistoryDays: 90, finished: true, revokedAt: null },
    { id: 'b', name: '', keywordHistoryDays: 486, finished: false, revokedAt: null },
  ];
  t.equal(
    formatTable(rows),
    [
      'ID    NAME       KEYWORD HISTORY DAYS  FINISHED',
      'acme  Acme & Co                    90  yes',
      'b     -                           486  no',
    ].join('\n'),
  );
  t.end();
});

t.test('a table: a value that only one row has, wide letters, control characters', (t) => {
  const rows = [
    { name: '東京', rows: 1 },
    { name: 'a\u001b[31m\nb\u202e', location: 'EU' },
    { name: 'zoë', rows: null },
  ];
  t.equal(
    formatTable(rows),
    [
      'NAME                      ROWS  LOCATION',
      '東京                         1  -',
      'a\\u001b[31m\\u000ab\\u202e     -  EU',
      'zoë                          -  -',
    ].join('\n'),
  );
  t.end();
});

t.test('progress without a terminal: the first step at once, then the current one every few seconds', (t) => {
  mock.timers.enable({ apis: ['setInterval', 'Date'] });
  t.teardown(() => mock.timers.reset());
  const lines: string[] = [];
  const { report, end } = progressLines((line) => lines.push(line));
  report('making pages');
  t.strictSame(lines, ['making pages\n']);
  report('making queries');
  report('reading pages');
  t.equal(lines.length, 1, 'not every step');
  mock.timers.tick(3000);
  t.strictSame(lines.slice(1), ['reading pages (3 s)\n']);
  mock.timers.tick(3000);
  mock.timers.tick(3000);
  t.strictSame(lines.slice(2), ['reading pages (6 s)\n', 'reading pages (9 s)\n'], 'also while a step takes long');
  end();
  mock.timers.tick(60_000);
  t.equal(lines.length, 4, 'none after the end');
  t.end();
});
