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
