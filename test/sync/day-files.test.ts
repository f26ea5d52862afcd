// Rows that arrive concurrently for one day are all stored, and their digest knows no order.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DayFiles, type FetchedRow } from '../../server/sync/day-files.ts';
import { temporaryFolder } from '../world.ts';

const DAY = '2026-03-01';

/** Stores batches of keywords that arrive together; the lines of their file, and its digest. */
async function stored(...batches: readonly (readonly string[])[]) {
  const files = new DayFiles(join(temporaryFolder(t), 'window'), 'Proj1');
  const measures = { day: DAY, clicks: 1, impressions: 2, sumPosition: 3 };
  const rowsOf = (ids: readonly string[]) => ids.map((id): FetchedRow => ({ ...measures, key: { keyword_id: id } }));
  await Promise.all(batches.map((ids) => files.add('keyword_daily', rowsOf(ids))));
  const [file] = files.paths('keyword_daily', [DAY]);
  const lines = readFileSync(file!, 'utf8').trimEnd().split('\n');
  const { rows, digest } = files.days('keyword_daily').get(DAY)!;
  return { rows, digest, ids: lines.map((line) => (JSON.parse(line) as { keyword_id: string }).keyword_id) };
}

t.test('batches of one day that arrive together are stored row by row', async (t) => {
  // More than a file takes in one write.
  const batches = ['a', 'b', 'c', 'd'].map((name) => Array.from({ length: 6000 }, (_, at) => `${name} ${at}`));
  const { rows, ids, digest } = await stored(...batches);
  t.strictSame([rows, ids.toSorted()], [24_000, batches.flat().toSorted()]);
  t.equal((await stored(batches.flat().toReversed())).digest, digest);
  t.not((await stored(batches.flat().with(23_999, 'other'))).digest, digest);
});
