// A large load with a repeated key is refused with the key, together with all other problems, and changes nothing.
import t, { type Test } from 'tap';
import { addDays } from '../../server/domain/dates.ts';
import { keyword, makeLazyWorld, PROJECT, WORKSPACE } from '../world.ts';
import { answersOf, loadFolder, problemsOf, writeFiles } from './snapshots.ts';

const IDS = Array.from({ length: 110 }, (_, index) => `Kw${String(index).padStart(3, '0')}`);
const WORLD = {
  workspaces: [WORKSPACE],
  projects: [PROJECT],
  keywords: IDS.map((id) => keyword(id, `query ${id}`)),
};

/** More facts than are counted for repeated keys while they are staged. Of few values they would take few bytes. */
const ROWS = IDS.flatMap((id, at) =>
  Array.from({ length: 300 }, (_, day) => day).flatMap((day) =>
    ['desktop', 'mobile', 'tablet'].map(
      (device) => `Proj1,${id},${addDays('2025-04-01', day)},${device},${at + day},${at + day + 500},${at * day}`,
    ),
  ),
);
const HEADER = 'project_id,keyword_id,date,device,clicks,impressions,sum_position';
const REPEATED = 'Proj1,Kw042,2025-06-30,mobile,0,7,9';
const UNKNOWN = 'Proj1,Nope1,2025-06-30,mobile,0,7,9';

const folderOf = (test: Test, rows: readonly string[]): string =>
  writeFiles(test, { 'keyword_daily.csv': [HEADER, ...rows, ''].join('\n') });
const snapshot = (test: Test, ...more: readonly string[]): string => folderOf(test, [...ROWS, ...more]);

t.test('a repeated key among many rows is named', async (t) => {
  const world = await makeLazyWorld(t, WORLD);
  const before = await answersOf(world);
  const file = 'keyword_daily.csv';
  // The header is a line, too.
  const line = ROWS.findIndex((row) => row.startsWith('Proj1,Kw042,2025-06-30,mobile,')) + 2;
  const key = { project_id: 'Proj1', keyword_id: 'Kw042', date: '2025-06-30', device: 'mobile', rows: 2, file };
  const repeated = {
    table: 'keyword_daily',
    column: 'project_id, keyword_id, date, device',
    message: '1 key that several rows have. The first:',
    // The last row, after the header.
    rows: [{ ...key, line, again: { file, line: ROWS.length + 2 } }],
  };
  const unknown = {
    table: 'keyword_daily',
    column: 'keyword_id',
    message: '1 row of a keyword that does not exist. The first:',
    rows: [{ project_id: 'Proj1', keyword_id: 'Nope1', file, line: ROWS.length + 3 }],
  };
  t.strictSame(await problemsOf(loadFolder(world, snapshot(t, REPEATED))), [repeated], 'alone');
  t.strictSame(await problemsOf(loadFolder(world, snapshot(t, REPEATED, UNKNOWN))), [repeated, unknown], 'with others');
  t.strictSame(await problemsOf(loadFolder(world, snapshot(t, REPEATED), { dryRun: true })), [repeated], 'a dry run');
  const few = await problemsOf(loadFolder(world, folderOf(t, [REPEATED, REPEATED])));
  t.strictSame(few, [{ ...repeated, rows: [{ ...key, line: 2, again: { file, line: 3 } }] }], 'among few rows');
  t.strictSame(await answersOf(world), before, 'what was being served is untouched');
  await loadFolder(world, snapshot(t));
  await loadFolder(world, snapshot(t));
  t.pass('the same rows load without it, again and again');
});
