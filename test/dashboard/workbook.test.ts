// A table saved as a workbook has its texts as texts and its numbers as numbers in a spreadsheet.
import fc from 'fast-check';
import { readSheet } from 'read-excel-file/node';
import t from 'tap';
import { parseCsv } from '../../server/dashboard/client/lib/csv.ts';
import { workbook } from '../../server/dashboard/client/lib/xlsx.ts';
import { facts, makeWorld } from '../world.ts';
import { dashboardOf } from './dashboard-of.ts';

const read = async (file: Uint8Array) => readSheet(Buffer.from(file));

t.test('texts that look like formulas, markup or numbers stay texts', async (t) => {
  const texts = [
    '=1+1',
    '+44',
    '-5',
    '@now',
    '<b>&amp;</b>',
    'line\nbreak',
    ' spaces ',
    'żółć 🥾 שלום',
    '007',
    'a\u0007b',
  ];
  const file = workbook(
    ['query', 'clicks', 'ctr'],
    texts.map((text, index) => [text, index, index === 0 ? null : index / 8]),
  );
  const [heading, ...rows] = await read(file);
  t.strictSame(heading, ['query', 'clicks', 'ctr']);
  t.strictSame(
    rows.map(([, clicks, ctr]) => [clicks, ctr]),
    texts.map((_, index) => [index, index === 0 ? null : index / 8]),
  );
  t.strictSame(
    rows.map(([text]) => text),
    [...texts.slice(0, -1), 'ab'].map((text) => text.trim()),
  );
});

t.test('columns go on after Z and ZZ', async (t) => {
  const names = Array.from({ length: 730 }, (_, at) => `column ${at}`);
  t.strictSame(await read(workbook(names, [names])), [names, names]);
});

t.test('every row of the API is in it', async (t) => {
  const day = '2026-03-10';
  const queries = ['walking "boots"', 'a,b', '=cmd()', 'two\nlines'];
  const world = await makeWorld(t, {
    query_daily: facts('query date country', ...queries.map((query, at) => [query, day, 'gbr', at, 10 + at, 40])),
  });
  const { body } = await (await dashboardOf(world))(`Proj1/queries.csv?from=${day}&to=${day}`);
  const rows = parseCsv(body as string);
  t.equal(rows.length, 5);
  t.equal(rows[0]!.length, rows[1]!.length);
  t.strictSame(
    rows
      .slice(1)
      .map(([query]) => query!.replace(/^'/, ''))
      .sort(),
    queries.toSorted(),
  );
  const [heading, ...cells] = await read(workbook(rows[0]!, rows.slice(1)));
  t.strictSame(heading, rows[0]);
  t.equal(cells.length, 4);
});

t.test('any table of texts is read back from CSV', async (t) => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é') });
  const table = fc
    .integer({ min: 1, max: 4 })
    .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 5 }));
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  fc.assert(
    fc.property(table, (rows) => {
      const text = rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
      t.strictSame(parseCsv(text), rows);
    }),
    { numRuns: 50 },
  );
});
