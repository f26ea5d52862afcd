// Arrow and Parquet files keep every cell, wherever batches end.
import fc from 'fast-check';
import t from 'tap';
import { ROW_FORMATS } from '../../server/formats/formats.ts';
import { type Batch, type Cell, cellReader, type ReadCell } from '../../server/formats/rows.ts';
import { COLUMNS } from './columns.ts';
import { readArrow, readParquet } from './read.ts';

const { csv, ndjson, arrow, parquet } = ROW_FORMATS;
const at = fc.date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
const CELLS: readonly fc.Arbitrary<Cell>[] = [
  fc.string({ unit: 'binary' }),
  fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '-') }), { maxLength: 3 }),
  at.map((date) => date.toISOString().slice(0, 10)),
  at.map((date) => date.toISOString()),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  fc.boolean(),
];
/** Few distinct rows, each many times: readers find runs, packed numbers and dictionaries. */
const ROWS = fc
  .array(
    fc.record({
      cells: fc.tuple(...CELLS.map((cell) => fc.option(cell))),
      times: fc.oneof(fc.constantFrom(1, 7, 8, 9), fc.nat(40)),
    }),
    { maxLength: 30 },
  )
  .map((runs) => runs.flatMap(({ cells, times }) => Array.from({ length: times }, () => cells)));

function batchOf(rows: readonly (readonly Cell[])[]): Batch {
  return { length: rows.length, cells: COLUMNS.map((_, index) => (row) => rows[row]![index]!) };
}

/** The same rows, with arrays of numbers. */
function withArrays({ length, cells }: Batch): Batch {
  const array = (read: ReadCell): Float64Array =>
    Float64Array.from({ length }, (_, row) => (read(row) as number | null) ?? Number.NaN);
  const isNumber = (index: number): boolean => ['count', 'ratio', 'share'].includes(COLUMNS[index]!.type);
  return { length, cells: cells.map((cell, index) => (isNumber(index) ? array(cellReader(cell)) : cell)) };
}

const FORMATS = { arrow: [arrow, readArrow], parquet: [parquet, readParquet] } as const;

for (const [name, [format, read]] of Object.entries(FORMATS)) {
  const written = async (batches: readonly Batch[]) => {
    const parts = await Array.fromAsync(format.write({ columns: COLUMNS, batches }, { bom: false }));
    return (await read(Buffer.concat(parts))).rows;
  };

  t.test(`${name}: all cells survive, wherever batches end`, async (t) => {
    await fc.assert(
      fc.asyncProperty(ROWS, fc.nat(300), async (rows, cut) => {
        t.strictSame(await written([batchOf(rows.slice(0, cut)), batchOf(rows.slice(cut))]), rows.map(named));
      }),
      { numRuns: 30 },
    );
  });

  t.test(`${name}: all cells of a long batch survive`, async (t) => {
    const rows = fc.sample(ROWS, { seed: 1, numRuns: 100 }).flat();
    const long = Array.from({ length: 20_000 }, (_, row) => rows[row % rows.length]!);
    const read = await written([batchOf(long)]);
    t.equal(read.length, long.length);
    const differs = read.findIndex((row, index) => JSON.stringify(row) !== JSON.stringify(named(long[index]!)));
    t.equal(differs, -1, 'no row differs');
  });
}

function named(cells: readonly Cell[]): Record<string, Cell> {
  return Object.fromEntries(COLUMNS.map(({ name }, index) => [name, cells[index]!]));
}

t.test('numbers in arrays are written as numbers of functions are', async (t) => {
  const whole = (bytes: Buffer): unknown => bytes.toString('latin1');
  // What stands in the place of a null is not defined in Arrow.
  const formats = {
    arrow: [arrow, readArrow],
    parquet: [parquet, whole],
    csv: [csv, whole],
    ndjson: [ndjson, whole],
  } as const;
  for (const [name, [format, read]] of Object.entries(formats)) {
    const written = async (batch: Batch): Promise<unknown> => {
      const parts = format.write({ columns: COLUMNS, batches: [batch] }, { bom: false });
      return read(Buffer.concat(await Array.fromAsync(parts)));
    };
    await fc.assert(
      fc.asyncProperty(ROWS, async (rows) => {
        const batch = batchOf(rows);
        t.strictSame(await written(withArrays(batch)), await written(batch), name);
      }),
      { numRuns: 20 },
    );
  }
});
