// CSV keeps every text exactly, and no cell becomes a formula in a spreadsheet.
import fc from 'fast-check';
import t from 'tap';
import { csv } from '../../server/formats/csv.ts';
import type { Rows } from '../../server/formats/rows.ts';
import { parseCsv } from './read.ts';

async function write(rows: Rows): Promise<string[]> {
  const parts: string[] = [];
  for await (const part of csv.write(rows, { bom: false })) parts.push(part.toString());
  return parts;
}

t.test('all texts survive, and none is a formula', async (t) => {
  const text = fc.string({ unit: fc.oneof(fc.constantFrom('"', ',', '\r', '\n', '=', '+', '-', '@', '\t', 'a', 'é')) });
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 20 }), async (texts) => {
      const batch = { length: texts.length, cells: [(row: number) => texts[row]!, (row: number) => row] };
      const columns = [
        { name: 'query', type: 'text' },
        { name: 'clicks', type: 'count' },
      ] as const;
      const lines = parseCsv((await write({ columns, batches: [batch] })).join(''));
      t.strictSame(lines, [
        ['query', 'clicks'],
        ...texts.map((value, row) => [/^[=+\-@\t\r]/.test(value) ? `'${value}` : value, String(row)]),
      ]);
    }),
  );
});

t.test('batches are made on demand, and written in chunks', async (t) => {
  let made = 0;
  const batches = (function* () {
    for (; made < 40; made++) yield { length: 1000, cells: [() => 'some words of a query', () => null] };
  })();
  const columns = [
    { name: 'query', type: 'text' },
    { name: 'position', type: 'ratio' },
  ] as const;
  const parts = csv.write({ columns, batches }, { bom: false });
  const first = await parts.next();
  t.ok(made <= 4, 'a part needs no more than its own batches');
  let text = String(first.value);
  for await (const part of parts) text += part.toString();
  t.equal(text.length, 'query,position\r\n'.length + 40_000 * 'some words of a query,\r\n'.length);
});
