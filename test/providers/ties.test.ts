// Rows with equal clicks are read once each across the pages of a provider that returns ties in any order.
import fc from 'fast-check';
import t from 'tap';
import { readThroughTies } from '../../server/providers/search-console/ties.ts';

interface Row {
  readonly keys: readonly string[];
  readonly clicks: number;
}

/** A list with so many rows of each number of clicks, best first. */
function listOf(ties: readonly number[]): Row[] {
  return ties.flatMap((count, tie) =>
    Array.from({ length: count }, (_, at) => ({ keys: [`${tie}`, `${at}`], clicks: 2 * (ties.length - tie) })),
  );
}

/** In another order each time where clicks are equal. */
function shuffled(list: readonly Row[]): Row[] {
  const dice = list.map((row) => ({ row, tie: Math.random() }));
  return dice.sort((a, b) => b.row.clicks - a.row.clicks || a.tie - b.tie).map(({ row }) => row);
}

/** Reads a list from a provider that orders ties anew with each answer. */
async function read(list: readonly Row[], max: number, limit: number, order = shuffled) {
  const taken: Row[] = [];
  const asked: [start: number, limit: number][] = [];
  const { rows, truncated } = await readThroughTies<Row>({
    ...{ max, limit },
    page: async (start, count) => {
      asked.push([start, count]);
      return order(list).slice(start, start + count);
    },
    take: async (found) => void taken.push(...found),
  });
  return { rows, truncated, taken, asked };
}

t.test('each row once, the best ones, and whether there are more', async () => {
  const ties = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(ties, fc.integer({ min: 1, max: 4 }), async (counts, answers) => {
      const [limit, max] = [20, 20 * answers];
      const list = listOf(counts);
      const { rows, truncated, taken } = await read(list, max, limit);
      const wanted = Math.min(list.length, max);
      const best = taken.map(({ clicks }) => clicks).sort((a, b) => b - a);
      return (
        rows === wanted &&
        truncated === list.length > max &&
        new Set(taken.map(({ keys }) => keys.join(' '))).size === taken.length &&
        best.slice(0, wanted).join() ===
          list
            .slice(0, wanted)
            .map(({ clicks }) => clicks)
            .join()
      );
    }),
    { numRuns: 300 },
  );
});

t.test('no more is asked than that takes', async (t) => {
  const single = listOf(Array.from({ length: 60 }, () => 1));
  const asked = async (list: readonly Row[], max = 50) => (await read(list, max, 25)).asked.map((one) => one.join(' '));
  for (const list of [[], listOf([10]), listOf([1, 1, 1])]) t.strictSame(await asked(list), ['0 25']);
  // On at the first row of the tie that was cut, and behind the last row that is wanted.
  t.strictSame(await asked(single), ['0 25', '24 25', '48 25']);
  t.strictSame(await asked(single.slice(0, 25), 25), ['0 25', '25 1']);
  // A long tie is read again from its first row, and never from the start.
  const long = await asked(listOf([...Array.from({ length: 20 }, () => 1), 30]));
  t.ok(long.slice(1, -1).every((one) => /^2[05] /.test(one)));
  t.equal(long.at(-1), '50 1');
  // A provider that repeats itself is left at some time.
  const same = await read(listOf([25]), 50, 25, () => [...listOf([25]), ...listOf([25])]);
  t.strictSame([same.rows, same.truncated, same.asked.length < 20], [25, false, true]);
});

t.test('rows in another order than that of clicks come once each, without a second look', async (t) => {
  const days = Array.from({ length: 70 }, (_, day) => ({ keys: [`day ${day}`], clicks: (day * 7 + 3) % 5 }));
  for (const max of [100, 60]) {
    const { rows, truncated, taken, asked } = await read(days, max, 20, (list) => [...list]);
    const count = Math.min(max, 70);
    t.strictSame([rows, truncated, taken], [count, max < 70, days.slice(0, count)]);
    t.strictSame(
      asked.map(([start]) => start),
      [0, 20, 40, 60],
    );
  }
});
