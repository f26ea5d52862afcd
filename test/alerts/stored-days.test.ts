// A day counts as stored, empty, missing or final by the same rules in every alert.
import t from 'tap';
import { lastStoredFinalDay } from '../../server/alerts/project-state.ts';
import { storedDays } from '../../server/alerts/read-facts.ts';
import { addDays, eachDay } from '../../server/domain/dates.ts';

const RANGE = { from: '2026-06-01', to: '2026-06-30' };
const ALL = eachDay(RANGE.from, RANGE.to);

/** The days of June that are stored. */
function stored(own: readonly string[], { site = ALL, synced = new Map<string, boolean>() } = {}): string {
  const days = storedDays(RANGE, site, own, synced);
  return ALL.map((_, day) => (days.areWhole(day, day) ? 'x' : '-')).join('');
}

t.test('days that an import knows as a whole are unknown in short gaps too', (t) => {
  const own = ALL.filter((_, day) => day < 10 || day > 12);
  const days = storedDays(RANGE, ALL, own, undefined, new Set([ALL[11]!]));
  t.equal(days.areWhole(10, 10), true);
  t.equal(days.areWhole(11, 11), false);
  t.end();
});

t.test('days without rows are empty in short gaps only', (t) => {
  const without = (from: number, to: number): string[] => ALL.filter((_, day) => day < from || day > to);
  t.equal(stored(without(10, 15)), 'x'.repeat(30), 'six days');
  t.equal(stored(without(10, 16)), `${'x'.repeat(10)}${'-'.repeat(7)}${'x'.repeat(13)}`, 'seven');
  t.equal(stored(without(28, 29)), `${'x'.repeat(28)}--`, 'nothing follows');
  t.equal(stored(without(0, 1)), `--${'x'.repeat(28)}`, 'nothing is before');
  t.equal(stored([]), '-'.repeat(30));
  t.equal(
    stored(without(10, 12), { site: without(11, 11) }),
    `${'x'.repeat(11)}-${'x'.repeat(18)}`,
    'as the site has it',
  );
  t.equal(stored(without(10, 12), { site: [] }), 'x'.repeat(30), 'without totals of the site');
  const synced = new Map([
    [ALL[0]!, false],
    [ALL[29]!, true],
  ]);
  t.equal(stored(without(28, 29), { synced }), `-${'x'.repeat(27)}-x`, 'the sync knows better');
  t.end();
});

t.test('the last final day is that of the provider, or three Pacific days ago', (t) => {
  const now = Date.parse('2026-09-01T12:00:00Z');
  const [syncedThrough, provisionalAfter] = ['2026-08-30', '2026-08-20'];
  t.equal(lastStoredFinalDay({ syncedThrough, provisionalAfter }, now), provisionalAfter);
  t.equal(lastStoredFinalDay({ syncedThrough: '2026-08-10', provisionalAfter }, now), '2026-08-10');
  t.equal(lastStoredFinalDay({ syncedThrough, provisionalAfter: null }, now), addDays('2026-09-01', -3));
  t.equal(
    lastStoredFinalDay({ syncedThrough, provisionalAfter: null }, Date.parse('2026-09-01T06:00:00Z')),
    '2026-08-28',
  );
  t.equal(lastStoredFinalDay({ syncedThrough: null, provisionalAfter }, now), undefined);
  t.end();
});
