// Every problem of a load names the file and the line, or the row of a Parquet file, of the rows that it shows.
import { join } from 'node:path';
import t from 'tap';
import type { Problem } from '../../server/domain/problems.ts';
import { writeParquetRows } from '../parquet.ts';
import { keyword, makeLazyWorld, type Row, temporaryFolder } from '../world.ts';
import { problemsOf } from './refused.ts';
import { csv, EVERYTHING, FACT, loadFolder, ndjson, writeFiles } from './snapshots.ts';

const note = { ...EVERYTHING['notes']![1]!, text: 'of one line' };
const NOTE = '0a1b2c3d-0000-4000-8000-000000000101';
const site = (more: Row = {}): Row => ({ ...FACT, device: 'desktop', ...more });
/** Rows of tables, and by column the place of the row that is wrong: from 1, without a header. */
const WRONG: readonly (readonly [table: string, rows: readonly Row[], places: Readonly<Record<string, number>>])[] = [
  [
    'site_daily',
    [
      site(),
      site({ device: 'mobile' }),
      site({ device: 'tablet', clicks: 9, impressions: 2 }),
      site({ device: 'mobile' }),
    ],
    { clicks: 3, 'project_id, date, device': 2 },
  ],
  [
    'keyword_daily',
    [
      { ...FACT, keyword_id: 'Kw001', device: 'mobile' },
      { ...FACT, keyword_id: 'Nope1', device: 'mobile' },
    ],
    { keyword_id: 2 },
  ],
  ['keywords', [keyword('Kw011', 'one'), keyword('Kw012', 'two'), keyword('Kw012', 'three')], { 'project_id, id': 2 }],
  [
    'page_groups',
    [
      { project_id: 'Proj1', id: 'Pg010', name: 'P', position: 1, rule: { match: 'all', conditions: [] } },
      { project_id: 'Proj1', id: 'Pg011', name: 'P', position: 1, rule: { match: 'some', conditions: [] } },
    ],
    { rule: 2 },
  ],
  ['group_members', [{ project_id: 'Proj1', group_id: 'Gr002', keyword_id: 'Nope1' }], { keyword_id: 1 }],
  ['notes', [note, { ...note, id: NOTE, date: '2026-02-02', end_date: '2026-02-01' }], { end_date: 2 }],
  [
    'country_daily',
    [
      { ...FACT, country: 'usa' },
      { ...FACT, country: 'USA' },
    ],
    { country: 2 },
  ],
];

const TYPES = { date: 'date', device: 'varchar', clicks: 'bigint', impressions: 'bigint', sum_position: 'bigint' };

const placesOf = (problems: readonly Problem[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    problems.map(({ table, column, rows }) => {
      const { file, line, row } = rows[0] as Row;
      return [`${table}.${column}`, [file, line ?? row]];
    }),
  );

const expectedOf = (format: string, header: number): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    WRONG.flatMap(([table, , places]) =>
      Object.entries(places).map(([column, place]) => [`${table}.${column}`, [`${table}.${format}`, place + header]]),
    ),
  );

for (const [format, write, header] of [
  ['csv', csv, 1],
  ['ndjson', ndjson, 0],
] as const) {
  t.test(`lines of ${format}`, async (t) => {
    const world = await makeLazyWorld(t, EVERYTHING);
    const files = Object.fromEntries(WRONG.map(([table, rows]) => [`${table}.${format}`, write([...rows])]));
    const problems = await problemsOf(loadFolder(world, writeFiles(t, files)));
    t.strictSame(placesOf(problems), expectedOf(format, header));
  });
}

t.test('rows of Parquet, also below a folder that gives a column', async (t) => {
  const world = await makeLazyWorld(t, EVERYTHING);
  const folder = temporaryFolder(t);
  const below = join(folder, 'site_daily', 'project_id=Proj1');

  const rows = WRONG[0]![1].map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'project_id')),
  );
  await writeParquetRows(join(below, 'a.parquet'), rows, TYPES);
  const problems = await problemsOf(loadFolder(world, folder));
  const file = 'site_daily/project_id=Proj1/a.parquet';
  t.strictSame(placesOf(problems), {
    'site_daily.project_id, date, device': [file, 2],
    'site_daily.clicks': [file, 3],
  });
});

t.test('both places of a repeated key are named, in one Parquet file and in two', async (t) => {
  const world = await makeLazyWorld(t, EVERYTHING);
  for (const [files, again] of [
    [{ 'a.parquet': ['desktop', 'mobile', 'desktop'] }, { file: 'site_daily/a.parquet', row: 3 }],
    [
      { 'a.parquet': ['desktop', 'mobile'], 'b.parquet': ['tablet', 'desktop'] },
      { file: 'site_daily/b.parquet', row: 2 },
    ],
  ] as const) {
    const folder = join(temporaryFolder(t), 'snapshot');
    const below = join(folder, 'site_daily');
    for (const [name, devices] of Object.entries<readonly string[]>(files)) {
      await writeParquetRows(
        join(below, name),
        devices.map((device) => site({ device })),
        TYPES,
      );
    }
    const [problem] = await problemsOf(loadFolder(world, folder));
    t.match(problem!.rows, [{ device: 'desktop', rows: 2, file: 'site_daily/a.parquet', row: 1, again }]);
  }
});
