// A load replaces exactly the days and entities that it contains, and keeps everything else.
import fc from 'fast-check';
import t from 'tap';
import { type FactTable, filesOf, readCoverage } from '../../server/catalog/manifest.ts';
import { addDays, eachDay, lastDayOf, monthOf } from '../../server/domain/dates.ts';
import { verify } from '../../server/maintenance/verify.ts';
import { openFileStore } from '../../server/storage/open-file-store.ts';
import { duckdb, quoted } from '../parquet.ts';
import { keyword, makeWorld, PROJECT, type Row, type World } from '../world.ts';

/** The stored rows of a project and table, read from the files of the manifest. */
async function storedRows({ catalog, settings }: World, project: string, table: FactTable): Promise<Row[]> {
  const files = await filesOf(catalog, project, table, { from: '2000-01-01', to: '2099-12-31' });
  if (files.length === 0) return [];
  await using store = await openFileStore(settings);
  using opened = await store.open(files);
  const list = opened.paths.map(quoted).join(', ');
  const rows = await duckdb(`select * from read_parquet([${list}], hive_partitioning = false)`);
  return rows.map((row) => ({ ...row, ...measures(row) }));
}

function measures(row: Row): Row {
  const [clicks, impressions, sum_position] = [row['clicks'], row['impressions'], row['sum_position']].map(Number);
  return { clicks, impressions, sum_position };
}

const inOrder = (rows: readonly Row[]): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();

const NO_MEASURES = { clicks: 0, impressions: 0, sum_position: 0 };

t.test('random loads leave what a plain model says: a span of days is replaced whole', async (t) => {
  const FIRST = '2025-11-20';
  const MODELLED = ['site_daily', 'keyword_daily', 'country_monthly'] as const;
  const count = fc.nat({ max: 50 });
  const row = fc.record({
    project: fc.constantFrom('A', 'B'),
    day: fc.nat({ max: 20 }),
    kind: fc.nat({ max: 1 }),
    clicks: count,
    impressions: count,
    sum_position: count,
  });
  /** Few rows in a window of days that starts anywhere; days are spread by `stride`, so that months stay empty. */
  const load = fc.record({
    start: fc.nat({ max: 60 }),
    stride: fc.integer({ min: 1, max: 3 }),
    tables: fc.array(fc.constantFrom(...MODELLED), { minLength: 1, maxLength: 3 }),
    rows: fc.array(row, { minLength: 1, maxLength: 6 }),
  });

  const world = await makeWorld(t);
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(load, { minLength: 2, maxLength: 4 }), async (loads) => {
      run += 1;
      const id = (project: string): string => `${project}${String(run).padStart(4, '0')}`;
      const model = new Map<string, Map<string, Row>>();
      for (const [turn, { start, stride, tables, rows }] of loads.entries()) {
        const snapshot: Record<string, Row[]> = {};
        for (const table of new Set(tables)) {
          const carried = new Map<string, Row>();
          for (const { project, day: offset, kind, ...more } of rows) {
            const day = addDays(FIRST, start + offset * stride);
            const date = table === 'country_monthly' ? `${monthOf(day)}-01` : day;
            const keys = {
              site_daily: { date, device: ['desktop', 'mobile'][kind] },
              keyword_daily: { keyword_id: ['Kw001', 'Kw002'][kind], date, device: 'desktop' },
              country_monthly: { month: date, country: ['usa', 'other'][kind] },
            }[table];
            carried.set(`${project} ${JSON.stringify(keys)}`, { project_id: id(project), ...keys, ...more });
          }
          snapshot[table] = [...carried.values()];

          for (const project of ['A', 'B'].map(id)) {
            const mine = snapshot[table].filter((carriedRow) => carriedRow['project_id'] === project);
            if (mine.length === 0) continue;
            const dayOf = (one: Row): string => (one['date'] ?? one['month']) as string;
            const days = mine.map(dayOf).sort();
            const stored = model.get(`${project} ${table}`) ?? new Map<string, Row>();
            for (const [key, old] of stored) {
              if (dayOf(old) >= days[0]! && dayOf(old) <= days.at(-1)!) stored.delete(key);
            }
            for (const { project_id: _, ...one } of mine) stored.set(JSON.stringify({ ...one, ...NO_MEASURES }), one);
            model.set(`${project} ${table}`, stored);
          }
        }
        if (turn === 0) {
          snapshot['projects'] = ['A', 'B'].map((project) => ({ ...PROJECT, id: id(project) }));
          snapshot['keywords'] = ['A', 'B'].flatMap((project) => [
            keyword('Kw001', 'one', { project_id: id(project) }),
            keyword('Kw002', 'two', { project_id: id(project) }),
          ]);
        }
        await world.load(snapshot);
        const { problems } = await verify(world);
        if (problems.length > 0) throw new Error(JSON.stringify(problems));

        for (const project of ['A', 'B'].map(id)) {
          const coverage = await readCoverage(world.catalog, project);
          for (const table of MODELLED) {
            const rowsOfModel = [...(model.get(`${project} ${table}`)?.values() ?? [])];
            const stored = await storedRows(world, project, table);
            if (JSON.stringify(inOrder(stored)) !== JSON.stringify(inOrder(rowsOfModel))) {
              throw new Error(`${project} ${table}: ${inOrder(stored).join()} is not ${inOrder(rowsOfModel).join()}`);
            }
            const days = rowsOfModel.map((one) => (one['date'] ?? one['month']) as string).sort();
            const last = days.at(-1);
            const expected =
              last === undefined
                ? undefined
                : {
                    firstDay: days[0],
                    lastDay: table === 'country_monthly' ? lastDayOf(monthOf(last)) : last,
                    rows: rowsOfModel.length,
                  };
            const covered = coverage[table];
            if (
              covered?.firstDay !== expected?.firstDay ||
              covered?.lastDay !== expected?.lastDay ||
              covered?.rows !== expected?.rows
            ) {
              throw new Error(`${project} ${table} covers ${JSON.stringify(covered)}, not ${JSON.stringify(expected)}`);
            }
          }
        }
      }
      for (const project of ['A', 'B'].map(id)) {
        const { body } = await world.get(`/projects/${project}/site?from=2025-11-01&to=2026-03-10`);
        const rowsOfModel = [...(model.get(`${project} site_daily`)?.values() ?? [])];
        const clicksOf = new Map<string, number>();
        for (const one of rowsOfModel) {
          const date = one['date'] as string;
          clicksOf.set(date, (clicksOf.get(date) ?? 0) + Number(one['clicks']));
        }
        const [first] = [...clicksOf.keys()].sort();
        const expected = first === undefined ? [] : eachDay(first, '2026-03-10').map((day) => clicksOf.get(day) ?? 0);
        const answered = (body.daily as { clicks: number }[]).map(({ clicks }) => clicks);
        if (answered.join() !== expected.join()) {
          throw new Error(`${project} answers ${answered.join()}, not ${expected.join()}`);
        }
      }
    }),
    { numRuns: 5 },
  );
  t.pass(`${run} histories of loads`);
});
