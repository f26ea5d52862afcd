// A keyword total counts each stored day of its range once and no other day, whatever is stored.
import fc from 'fast-check';
import t from 'tap';
import { addDays, type Day, eachDay, monthOf } from '../../server/domain/dates.ts';
import { type KeywordFiles, planKeywordTotals } from '../../server/facts/keyword-plan.ts';

const DAYS = eachDay('2025-11-20', '2026-03-10');
const days = fc.uniqueArray(fc.constantFrom(...DAYS), { minLength: 1 }).map((all) => all.sort());
const range = fc.tuple(fc.nat(DAYS.length - 1), fc.nat(DAYS.length - 1)).map(([a, b]) => ({
  from: addDays(DAYS[Math.min(a, b)]!, -5),
  to: addDays(DAYS[Math.max(a, b)]!, 5),
}));

function manifestOf(stored: readonly Day[], hasCumulative: boolean): KeywordFiles {
  const months = [...Map.groupBy(stored, monthOf)].map(([part, of]) => ({
    part,
    firstDay: of[0]!,
    lastDay: of.at(-1)!,
    bytes: 1,
    sha256: '',
  }));
  const files = (table: string) => months.map((month) => ({ ...month, file: `${table} ${month.part}` }));
  return {
    days: files('days'),
    cumulative: hasCumulative ? files('cumulative') : [],
    running: { file: 'running', bytes: 1, sha256: '' },
  };
}

/** How often the plan counts each stored day; days that it does not count are left out. */
function counts(files: KeywordFiles, stored: readonly Day[], { from, to }: { from: Day; to: Day }) {
  const { cumulative, running, days: partial } = planKeywordTotals(files, { from, to });
  const counted = new Map<Day, number>();
  const add = (sign: number, matches: (day: Day) => boolean): void => {
    for (const day of stored.filter(matches)) counted.set(day, (counted.get(day) ?? 0) + sign);
  };
  for (const { file, day, sign } of cumulative) {
    const month = file.file.slice('cumulative '.length);
    add(sign, (stored) => stored <= `${month}-${String(day).padStart(2, '0')}`);
  }
  if (running !== undefined) {
    add(1, (day) => monthOf(day) <= monthOf(running.through));
    if (running.before !== null) add(-1, (day) => monthOf(day) <= monthOf(running.before!));
  }
  for (const { file } of partial) add(1, (day) => `days ${monthOf(day)}` === file && day >= from && day <= to);
  return { counted: Object.fromEntries([...counted].filter(([, times]) => times !== 0)), cumulative, running, partial };
}

for (const hasCumulative of [true, false]) {
  const name = hasCumulative ? 'cumulative totals' : 'running totals and days';
  t.test(`by ${name} each stored day of a range counts once`, (t) => {
    fc.assert(
      fc.property(days, range, (stored, { from, to }) => {
        const { counted, cumulative, partial } = counts(manifestOf(stored, hasCumulative), stored, { from, to });
        const expected = stored.filter((day) => day >= from && day <= to).map((day) => [day, 1]);
        t.strictSame(counted, Object.fromEntries(expected), `${from} to ${to}`);
        if (hasCumulative) t.ok(partial.length === 0 && cumulative.length <= 2, 'two rows a keyword at most');
      }),
      { numRuns: 200 },
    );
    t.end();
  });
}

t.test('nothing is read for days before the first and after the last one', (t) => {
  const files = manifestOf(['2026-01-10', '2026-02-20'], true);
  const names = (from: Day, to: Day): string[] =>
    planKeywordTotals(files, { from, to }).cumulative.map(({ file, day, sign }) => `${file.file} ${sign * day}`);
  t.strictSame(names('2025-12-01', '2026-03-31'), ['cumulative 2026-02 31']);
  t.strictSame(names('2026-01-11', '2026-02-19'), []);
  t.strictSame(names('2026-01-09', '2026-02-20'), ['cumulative 2026-02 31']);
  t.strictSame(names('2026-02-01', '2026-02-25'), ['cumulative 2026-02 31', 'cumulative 2026-01 -31']);
  t.strictSame(names('2025-01-01', '2026-01-09'), []);
  t.strictSame(names('2026-03-01', '2026-03-31'), []);
  t.end();
});

t.test('days replace cumulative totals if a month of the project has none', (t) => {
  const files = manifestOf(['2026-01-10', '2026-02-20'], true);
  const plan = planKeywordTotals(
    { ...files, cumulative: files.cumulative.slice(0, 1) },
    { from: '2026-02-20', to: '2026-02-20' },
  );
  t.strictSame(plan.cumulative, []);
  t.ok(plan.running);
  t.end();
});
