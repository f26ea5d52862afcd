// A percentage on screen is made of the counts beside it, rounded once.
import t from 'tap';
import { describeChange } from '../../server/dashboard/client/lib/changes.ts';

const row = (now: number, base: number) => {
  const metrics = (clicks: number) => ({ clicks, impressions: 10_000, ctr: null, position: null });
  const difference = now - base;
  const change = { difference, ratio: Math.round((difference / base) * 10_000) / 10_000 };
  const none = { difference: null, ratio: null };
  return {
    ...metrics(now),
    comparison: metrics(base),
    change: { clicks: change, impressions: none, ctr: none, position: none },
    unsafe: {},
  };
};

t.test('the ratio of the API is rounded, what is shown is not rounded again', async (t) => {
  for (const [now, base, shown] of [
    [537, 440, '22.0%'],
    [76, 1584, '95.2%'],
    [1660, 1584, '4.8%'],
    [9000, 440, '20.5×'],
  ] as const) {
    t.equal(describeChange('clicks', row(now, base))?.text, shown, `${now} from ${base}`);
  }
});
