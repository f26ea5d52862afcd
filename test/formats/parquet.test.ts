// Long Parquet answers are streamed in row groups, and a failed one is never a complete file.
import t from 'tap';
import { ROW_FORMATS } from '../../server/formats/formats.ts';
import { type Batch, type Column, cellReader, type ReadCell, type Rows } from '../../server/formats/rows.ts';
import { COLUMNS } from './columns.ts';
import { dictionaries, queryParquet, readParquet, rowGroups } from './read.ts';

async function write(rows: Rows, quality?: string): Promise<Buffer> {
  return Buffer.concat(
    await Array.fromAsync(
      ROW_FORMATS.parquet.write(rows, { bom: false, metadata: quality === undefined ? {} : { quality } }),
    ),
  );
}

/** More rows than a file has in one group; numbers in no order. */
const MANY = 90_000;
const numberOf = (row: number): number => (row * 7919) % 10_007;
const many: Batch = {
  length: MANY,
  cells: [
    (row) => `query ${numberOf(row)}`,
    (row) => (row % 3 === 0 ? null : ['a', 'b'].slice(row % 2)),
    (row) => new Date(86_400_000 * (20_000 + (row % 486))).toISOString().slice(0, 10),
    () => null,
    (row) => numberOf(row) - 5000,
    (row) => numberOf(row) / 8 - 600,
    (row) => numberOf(row) % 2 === 0,
  ],
};

t.test('a long answer has several groups of rows, in order', async (t) => {
  const bytes = await write({ columns: COLUMNS, batches: [many] });
  const { rows } = await readParquet(bytes);
  t.equal(rows.length, MANY);
  const differs = rows.findIndex((row, index) =>
    COLUMNS.some(
      ({ name }, column) => JSON.stringify(row[name]) !== JSON.stringify(cellReader(many.cells[column]!)(index)),
    ),
  );
  t.equal(differs, -1, 'no row differs');
  t.strictSame(await rowGroups(bytes), [16_384, 65_536, MANY - 16_384 - 65_536]);
});

t.test('readers that skip groups by their bounds find the same rows', async (t) => {
  // In order, so that each group has other values.
  const columns: readonly Column[] = [
    { name: 'query', type: 'text' },
    { name: 'date', type: 'day' },
    { name: 'clicks', type: 'count' },
    { name: 'ctr', type: 'ratio' },
  ];
  const cells: readonly ReadCell[] = [
    (row) => `${row < 60_000 ? 'é' : '🥾'} ${String(row).padStart(6, '0')}`,
    (row) => new Date(86_400_000 * (Math.floor(row / 1000) - 50)).toISOString().slice(0, 10),
    (row) => row * 2 ** 32 - 2 ** 48,
    (row) => (row - 45_000) / 4,
  ];
  const bytes = await write({ columns, batches: [{ length: MANY, cells }] });
  for (const row of [0, 16_383, 16_384, 45_000, 81_919, 81_920, MANY - 1]) {
    const is = columns.map(({ name }, index) => `${name} = '${String(cells[index]!(row))}'`);
    t.strictSame(await queryParquet(bytes, `select count(*)::int as found from answer where ${is.join(' and ')}`), [
      { found: 1 },
    ]);
  }
  t.strictSame(await queryParquet(bytes, `select count(*)::int as found from answer where query >= '🥾'`), [
    { found: 30_000 },
  ]);
});

t.test('numbers are the same with few distinct ones, which are written once, as with many', async (t) => {
  const columns: readonly Column[] = [
    { name: 'clicks', type: 'count' },
    { name: 'position', type: 'ratio' },
  ];
  const rows = 16_384;
  for (const [distinct, expected] of [
    [2, ['clicks', 'position']],
    [4096, ['clicks']],
    [4097, []],
  ] as const) {
    const numbers = Float64Array.from({ length: rows }, (_, row) => {
      const number = (row * 7919) % distinct;
      return number === 1 ? 2 ** 53 - 1 : number * 1_048_576 - 2 ** 31;
    });
    // Each distinct number also as a fraction, and zeros of both signs, which differ in their bits only.
    const ratios = numbers.map((number, row) => (number === -(2 ** 31) ? (row % 4 === 0 ? 0 : -0) : number / 8));
    const cells = [numbers, (row: number) => (row % 5 === 0 ? null : ratios[row]!)];
    const bytes = await write({ columns, batches: [{ length: rows, cells }] });
    const found = (await readParquet(bytes)).rows;
    const differs = found.findIndex(
      ({ clicks, position }, row) =>
        clicks !== numbers[row] || !Object.is(position, row % 5 === 0 ? null : ratios[row]!),
    );
    t.equal(differs, -1, 'no row differs');
    t.strictSame(await dictionaries(bytes), expected);
  }
});

t.test('an answer begins before all of its rows are made', async (t) => {
  let made = 0;
  const batches = (function* () {
    for (; made < 20; made++) yield { ...many, length: 10_000 };
  })();
  const parts = ROW_FORMATS.parquet.write({ columns: COLUMNS, batches }, { bom: false });
  t.equal(String((await parts.next()).value), 'PAR1');
  t.ok(made < 4, `${made} batches were made`);
  await parts.return(undefined);
  t.ok(made < 4, 'none is made for a client that left');
});

t.test('an error before the first group is thrown before any bytes; a later one leaves no whole file', async (t) => {
  for (const [before, begun] of [
    [1, false],
    [9, true],
  ] as const) {
    const batches = (function* () {
      for (let made = 0; made < before; made++) yield { ...many, length: 10_000 };
      throw new Error('the disk is gone');
    })();
    const bytes: Buffer[] = [];
    const reading = (async () => {
      for await (const part of ROW_FORMATS.parquet.write({ columns: COLUMNS, batches }, { bom: false }))
        bytes.push(part);
    })();
    await t.rejects(reading, { message: 'the disk is gone' });
    t.equal(bytes.length > 0, begun);
    if (begun) await t.rejects(readParquet(Buffer.concat(bytes)), /Parquet|magic|footer/i);
  }
});

t.test('other work of the process goes on while a large batch is written', async (t) => {
  let turns = 0;
  let isWritten = false;
  const count = (): void => {
    turns++;
    if (!isWritten) setImmediate(count);
  };
  setImmediate(count);
  await write({ columns: COLUMNS, batches: [many] });
  isWritten = true;
  t.ok(turns > 10, `${turns} turns`);
});
