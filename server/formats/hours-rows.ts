import type { HoursResult } from '../reports/hours.ts';
import { batchOf, METRICS, metricReaders, type RowsAnswer, sumPositionColumn } from './rows.ts';

/** One row per hour of the property. */
export function hoursRows({ answer: { project, range, hours }, rows }: HoursResult): RowsAnswer {
  const all = rows.map(({ hour, measures }, index) => ({ hour, measures, metrics: hours[index]! }));
  return {
    head: { name: `${project.domain}-hours`, total: all.length, range },
    columns: [{ name: 'hour', type: 'text' }, ...METRICS, sumPositionColumn()],
    batches: [
      batchOf(all, [
        ({ hour }) => hour,
        ...metricReaders(({ metrics }: (typeof all)[number]) => metrics),
        ({ measures }) => measures.sumPosition,
      ]),
    ],
  };
}
