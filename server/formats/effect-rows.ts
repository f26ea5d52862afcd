import type { EffectsResult } from '../reports/effects.ts';
import { batchOf, type RowsAnswer } from './rows.ts';

/** One row per day: clicks, and those expected without the change. */
export function effectRows({ project, windows, daily }: EffectsResult): RowsAnswer {
  return {
    head: {
      name: `${project.domain}-effects`,
      total: daily.length,
      range: { from: windows.before.from, to: windows.after.to },
    },
    columns: [
      { name: 'date', type: 'day' },
      { name: 'actual', type: 'count' },
      { name: 'expected', type: 'share' },
    ],
    batches: [batchOf(daily, [({ date }) => date, ({ actual }) => actual, ({ expected }) => expected])],
  };
}
