// A finding stays dismissed until it changes materially: in its gain, its beginning or its pages.
import fc from 'fast-check';
import t from 'tap';
import { addDays } from '../../server/domain/dates.ts';
import { dismissalOf, dismissedByKey, type Finding, toDismiss } from '../../server/presets/findings-answer.ts';

const TO = '2026-03-07';
const range = (days: number, to = TO) => ({ from: addDays(to, 1 - days), to, country: null });
const finding = (more: Partial<Finding> = {}): Finding => ({
  ...{ type: 'low_ctr', query: 'boots', evidence: {}, p: 0.001, adjusted: 0.01, since: '2026-02-01', text: '' },
  gain: { clicks: 100, low: 60, high: 140 },
  ...more,
});

/** Whether a finding is still dismissed that was `then`. */
function isDismissed(then: Finding, now: Finding, { thenIn = range(28), nowIn = range(28) } = {}): boolean {
  const stored = { ...toDismiss(then, thenIn), id: '1', author: 'owner@acme.example', at: 0 };
  return dismissalOf(now, nowIn, dismissedByKey([stored], nowIn.country)) !== undefined;
}

t.test('the same finding is dismissed, whatever its p and text', async (t) => {
  t.ok(isDismissed(finding(), finding({ p: 0.02, text: 'other numbers' })));
  t.notOk(isDismissed(finding(), finding({ query: 'shoes' })));
  t.notOk(isDismissed(finding(), finding({ type: 'falling' })));
  const { query: _, ...page } = finding();
  t.notOk(isDismissed(finding(), { ...page, page: 'boots' }), 'a page of the same text');
  t.notOk(isDismissed(finding(), finding(), { nowIn: { ...range(28), country: 'deu' } as never }), 'another country');
});

t.test('it ends when the gain leaves the interval of then', async (t) => {
  for (const [clicks, expected] of [
    [60, true],
    [140, true],
    [58, false],
    [142, false],
    [-100, false],
  ] as const) {
    t.equal(isDismissed(finding(), finding({ gain: { clicks, low: clicks, high: clicks } })), expected, `${clicks}`);
  }
  t.notOk(isDismissed(finding(), finding({ gain: null })));
  t.notOk(isDismissed(finding({ gain: null }), finding()));
  t.ok(isDismissed(finding({ gain: null }), finding({ gain: null })));
});

t.test('a longer range has more of the same gain', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: -900, max: 900 }), (days, low) => {
      const then = finding({ gain: { clicks: low + 50, low, high: low + 100 } });
      const clicks = Math.round(((low + 50) * days) / 28);
      const now = finding({ gain: { clicks, low: clicks, high: clicks } });
      return isDismissed(then, now, { nowIn: range(days) });
    }),
  );
  const week = finding({ gain: { clicks: 100, low: 60, high: 140 } });
  t.notOk(isDismissed(finding(), week, { nowIn: range(7) }), 'as much in a week as in four');
});

t.test('it ends when it has begun anew, and when a query is split over other pages', async (t) => {
  t.ok(isDismissed(finding(), finding({ since: null })));
  t.ok(isDismissed(finding(), finding({ since: TO }), { nowIn: range(28, '2026-04-01') }));
  t.notOk(isDismissed(finding(), finding({ since: '2026-03-08' }), { nowIn: range(28, '2026-04-01') }));
  const over = (...pages: string[]) => finding({ type: 'split', gain: null, evidence: { pages } });
  t.ok(isDismissed(over('/a', '/b'), over('/b', '/a')));
  t.notOk(isDismissed(over('/a', '/b'), over('/a', '/c')));
  t.notOk(isDismissed(over('/a', '/b'), over('/a', '/b', '/c')));
});
