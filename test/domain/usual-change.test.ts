// A usual change is what adjacent windows of the past year did, and nothing is said where too few are stored.
import fc from 'fast-check';
import t from 'tap';
import { usualChange, usualDays } from '../../server/domain/usual-change.ts';

t.test('the days that are looked at', async () => {
  t.strictSame(usualDays({ from: '2026-02-01', to: '2026-02-28' }, '2026-03-07'), {
    from: '2025-02-02',
    to: '2026-01-31',
  });
  t.equal(usualDays({ from: '2026-02-01', to: '2026-02-28' }, '2026-01-20').to, '2026-01-20', 'final days only');
  t.equal(usualDays({ from: '2026-02-01', to: '2026-02-28' }, null).to, '2026-01-31');
});

const clicks = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 120, maxLength: 364 });

t.test('the quantiles of all pairs of windows', async () => {
  fc.assert(
    fc.property(clicks, fc.integer({ min: 1, max: 28 }), fc.nat(5000), fc.nat(119), (days, length, base, gap) => {
      const stored = days.map((day, index) => (index === gap ? null : day));
      const changes: number[] = [];
      for (let start = 0; start <= days.length - 2 * length; start++) {
        if (gap >= start && gap < start + 2 * length) continue;
        const sum = (from: number) => days.slice(from, from + length).reduce((a, b) => a + b, 0);
        changes.push(Math.log((sum(start + length) + 1) / (sum(start) + 1)));
      }
      const usual = usualChange(stored, length, { clicks: base, days: length });
      if (changes.length < 60) return usual === null;
      const sorted = changes.toSorted((a, b) => a - b);
      const at = (share: number): number => {
        const place = share * (sorted.length - 1);
        const [below, above] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
        return base * Math.expm1(below + (place % 1) * (above - below));
      };
      return (
        usual?.windows === changes.length &&
        Math.abs(usual.low - at(0.05)) <= 0.5 + 1e-6 &&
        Math.abs(usual.high - at(0.95)) <= 0.5 + 1e-6
      );
    }),
  );
});

t.test('steady clicks usually do not change, and 59 pairs are too few', async () => {
  const days = Array<number>(61).fill(7);
  t.strictSame(usualChange(days, 1, { clicks: 100, days: 1 }), { low: 0, high: 0, windows: 60 });
  t.equal(usualChange(days.slice(1), 1, { clicks: 100, days: 1 }), null);
});

t.test('a base of another length is brought to the length of the window', async () => {
  const days = Array<number>(364).fill(7);
  // 31 days of 7 clicks after 28 days of 7 clicks.
  t.strictSame(usualChange(days, 31, { clicks: 196, days: 28 }), { low: 21, high: 21, windows: 303 });
});
