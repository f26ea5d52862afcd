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
    Array.from({ length: count }, (_, index) => ({ keys: [`${tie} ${index}`], clicks: 2 * (ties.length - tie) })),
  );
}

/** Reads a list from a provider that orders ties anew with each answer. */
async function read(list: readonly Row[], max: number, limit: number) {
  const taken: Row[] = [];
  const asked: [start: number, limit: number][] = [];
  const { rows, truncated } = await readThroughTies<Row>({
    max,
    limit,
    page: async (start, count) => {
      asked.push([start, count]);
      const shuffled = list.map((row) => ({ row, tie: Math.random() }));
      shuffled.sort((a, b) => b.row.clicks - a.row.clicks || a.tie - b.tie);
      return shuffled.slice(start, start + count).map(({ row }) => row);
    },
    take: async (found) => void taken.push(...found),
  });
  return { rows, truncated, taken, asked };
}

t.test('each row once, the best ones, and whether there are more', async () => {
  const ties = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(ties, fc.integer({ min: 1, max: 4 }), async (counts, answers) => {
      const limit = 20;
      const max = answers * limit;
      const list = listOf(counts);
      const { rows, truncated, taken } = await read(list, max, limit);
      const wanted = Math.min(list.length, max);
      const best = taken.map(({ clicks }) => clicks).sort((a, b) => b - a);
      return (
        rows === wanted &&
        truncated === list.length > max &&
        new Set(taken.map(({ keys }) => keys[0])).size === taken.length &&
        JSON.stringify(best.slice(0, wanted)) === JSON.stringify(list.slice(0, wanted).map(({ clicks }) => clicks))
      );
    }),
    { numRuns: 300 },
  );
});

t.test('what needs no second look gets none', async (t) => {
  t.strictSame((await read([], 50, 25)).asked, [[0, 25]]);
  t.strictSame((await read(listOf([10]), 50, 25)).asked, [[0, 25]]);
  t.strictSame((await read(listOf([1, 1, 1]), 50, 25)).asked, [[0, 25]]);
  const single = listOf(Array.from({ length: 60 }, () => 1));
  t.strictSame(
    (await read(single, 50, 25)).asked,
    [
      [0, 25],
      [24, 25],
      [48, 25],
    ],
    'on at the first row of the tie that was cut',
  );
  t.strictSame((await read(single.slice(0, 25), 25, 25)).asked, [
    [0, 25],
    [25, 1],
  ]);
});

t.test('a long tie is read again from its first row, and never from the start', async (t) => {
  const { rows, asked } = await read(listOf([...Array.from({ length: 20 }, () => 1), 30]), 50, 25);
  t.equal(rows, 50);
  t.ok(asked.slice(1, -1).every(([start]) => start === 20 || start === 25));
  t.strictSame(asked.at(-1), [50, 1], 'whether there are more is asked behind the last row that is wanted');
});

t.test('a provider that repeats itself is left at some time', async (t) => {
  let answers = 0;
  const { rows, truncated } = await readThroughTies<Row>({
    max: 50,
    limit: 25,
    page: async () => {
      answers++;
      return listOf([25]);
    },
    take: async () => {},
  });
  t.strictSame([rows, truncated], [25, false]);
  t.ok(answers < 20);
});

t.test('rows of several keys are told apart by all of them', async (t) => {
  const rows = ['a', 'b'].flatMap((date) => ['c', 'd'].map((query) => ({ keys: [date, query], clicks: 1 })));
  const { rows: count, taken } = await read(rows, 50, 3);
  t.equal(count, 4);
  t.strictSame(new Set(taken.map(({ keys }) => keys.join(' '))), new Set(['a c', 'a d', 'b c', 'b d']));
});

t.test('rows in another order than that of clicks come once each, without a second look', async (t) => {
  const days = Array.from({ length: 70 }, (_, day) => ({ keys: [`day ${day}`], clicks: (day * 7 + 3) % 5 }));
  for (const [max, count, starts] of [
    [100, 70, [0, 20, 40, 60]],
    [60, 60, [0, 20, 40, 60]],
  ] as const) {
    const taken: Row[] = [];
    const asked: number[] = [];
    const { rows, truncated } = await readThroughTies<Row>({
      max,
      limit: 20,
      page: async (start, limit) => {
        asked.push(start);
        return days.slice(start, start + limit);
      },
      take: async (found) => void taken.push(...found),
    });
    t.strictSame([rows, truncated], [count, max < 70]);
    t.strictSame(taken, days.slice(0, count));
    t.strictSame(asked, starts);
  }
});
