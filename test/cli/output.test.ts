// Command output is readable in every terminal, and plain where there is none.
import { mock } from 'node:test';
import t from 'tap';
import { progressBar } from '../../cli/progress-bar.ts';
import { progressLines } from '../../cli/progress-lines.ts';
import { formatTable } from '../../cli/table.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { withLoadLock } from '../../server/load/change-facts.ts';
import { CTRL_C, makeDataFolder, noTerminals, PROGRAM, startInTerminal, until } from '../process.ts';
import { isLocal } from '../stores.ts';
import { WORKSPACE, writeSnapshot } from '../world.ts';

t.test('a table: aligned columns in one order, numbers on the right, no quotes and no index', (t) => {
  const rows = [
    { id: 'acme', name: '', keywordHistoryDays: 90, finished: true, revokedAt: null },
    { id: 'b', name: 'B & Co', keywordHistoryDays: 486, finished: false, revokedAt: null },
  ];
  t.equal(
    formatTable(rows),
    [
      'ID    NAME    KEYWORD HISTORY DAYS  FINISHED',
      'acme  -                         90  yes',
      'b     B & Co                   486  no',
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

t.test('the bar of a sync: all projects, and which of them wait until they go on', (t) => {
  let now = 0;
  const bar = progressBar(['Proj1', 'Proj2'], () => now);
  const state = { windows: 1, allWindows: 4, requests: 10, allRequests: 40, rows: 1234 };
  t.equal(bar.waiting('Proj2', 'waiting for a load to end'), '0 of 2 projects; Proj2 is waiting for a load to end');
  now = 29_000;
  const ofOne = '[###-----------------] windows 1/8, requests 10/80, 1,234 rows';
  t.equal(
    bar.running({ ...state, project: 'Proj1' }),
    `0 of 2 projects ${ofOne}, 4 min left; Proj2 is waiting for a load to end`,
  );
  const ofBoth = '[#####---------------] windows 2/8, requests 20/80, 2,468 rows';
  t.equal(bar.running({ ...state, project: 'Proj2' }), `0 of 2 projects ${ofBoth}, 87 s left`);
  t.equal(bar.waiting('Proj1', 'slow'), `0 of 2 projects ${ofBoth}, 87 s left; Proj1 is slow`);
  t.equal(bar.ended('Proj1'), `1 of 2 projects ${ofBoth}, 87 s left`);
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

t.test('a spinner in narrow terminals and in those without a size', { skip: noTerminals }, async (t) => {
  const program = `
    const { progress } = await import("./cli/cli.ts");
    for (const value of [0, 1, 10, NaN]) {
      Object.defineProperty(process.stderr, "columns", { value, configurable: true });
      process.stderr.write("\\nwidth " + value + ":");
      const { report, end } = progress();
      report("a step of a long name ".repeat(20));
      await new Promise((done) => setTimeout(done, 120));
      end();
    }`;
  const { ended } = startInTerminal(t, {}, `exec '${process.execPath}' --input-type=module --eval '${program}'`);
  const { code, stdout } = await ended;
  t.equal(code, 0);
  const widths = stdout.split('width ').slice(1);
  t.strictSame(widths.map(Number.parseFloat), [0, 1, 10, Number.NaN]);
  for (const text of widths) {
    t.match(text, 'a', 'the step is shown');
    t.ok(text.length < 5000, `${text.length} bytes`);
  }
});

t.test('Ctrl-C ends a command in a terminal without a size', { skip: noTerminals || !isLocal }, async (t) => {
  const snapshot = writeSnapshot(t, { workspaces: [WORKSPACE] });
  const { dataFolder } = await makeDataFolder(t, [snapshot]);
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const line = `exec '${process.execPath}' '${PROGRAM}' load '${snapshot}'`;
  await withLoadLock(catalog.locks, {}, async () => {
    const load = startInTerminal(t, { ORDINATE_DATA: dataFolder }, line);
    await until('the load to wait', () => load.printed.stdout.includes('waiting') || undefined);
    load.type(CTRL_C);
    const { code, stdout } = await load.ended;
    t.equal(code, 130);
    t.ok(stdout.length < 100_000, `${stdout.length} bytes`);
  });
  const free = startInTerminal(t, { ORDINATE_DATA: dataFolder }, line);
  t.match(await free.ended, { code: 0, stdout: /Loaded/ }, 'and it has left no lock');
});
