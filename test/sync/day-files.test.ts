// Rows that arrive concurrently for one day are all stored.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DayFiles, type FetchedRow } from '../../server/sync/day-files.ts';
import { temporaryFolder } from '../world.ts';

const DAY = '2026-03-01';

t.test('batches of one day that arrive together are stored row by row', async (t) => {
  const files = new DayFiles(join(temporaryFolder(t), 'window'), 'Proj1');
  // More than a file takes in one write.
  const batch = (name: string): FetchedRow[] =>
    Array.from({ length: 6000 }, (_, index) => ({
      day: DAY,
      key: { device: 'desktop', keyword_id: `${name} ${index}` },
      clicks: 1,
      impressions: 2,
      sumPosition: 3,
    }));
  const names = ['a', 'b', 'c', 'd'];
  await Promise.all(names.map((name) => files.add('keyword_daily', batch(name))));
  const [file] = files.paths('keyword_daily', [DAY]);
  const lines = readFileSync(file!, 'utf8').trimEnd().split('\n');
  const ids = lines.map((line) => (JSON.parse(line) as { keyword_id: string }).keyword_id);
  const expected = names.flatMap((name) => batch(name).map(({ key }) => String(key['keyword_id'])));
  t.equal(files.days('keyword_daily').get(DAY)?.rows, ids.length);
  t.strictSame(ids.toSorted(), expected.toSorted());
});

t.test('the digest of a day is that of all its rows, in any order and batches', async (t) => {
  const digestOf = async (...batches: readonly (readonly number[])[]): Promise<string | undefined> => {
    const files = new DayFiles(join(temporaryFolder(t), 'window'), 'Proj1');
    for (const clicks of batches) {
      const rows = clicks.map((count) => ({ day: DAY, key: {}, clicks: count, impressions: 9, sumPosition: 0 }));
      await files.add('site_daily', rows);
    }
    return files.days('site_daily').get(DAY)?.digest;
  };
  const digest = await digestOf([1, 2], [3]);
  t.equal(await digestOf([3], [2, 1]), digest);
  t.equal(await digestOf([2, 3, 1]), digest);
  t.not(await digestOf([1, 4], [3]), digest, 'a number of the first batch');
  t.not(await digestOf([1, 2], [4]), digest, 'a number of the last batch');
});
