import * as parameter from '../presets/parameters.ts';
import type { Sent } from './arguments.ts';

export const seriesParameters = {
  interval: parameter.interval,
  limit: parameter.wholeNumber({ minimum: 1, maximum: 486 }, 100, 'Most rows in the answer: the last ones.'),
};

/** The last rows of a series. */
interface Series<Row> {
  readonly interval: string;
  readonly total: number;
  readonly returned: number;
  readonly daily: readonly Row[];
}

/**
 * Requests days, or weeks if no interval was sent and there are more days than the response may have.
 * @param daysOf the rows of an answer, like `daily` of the API
 */
export async function seriesOf<Answer, Row>(
  sent: Sent,
  asks: (sent: Sent) => Promise<Answer>,
  daysOf: (answer: Answer) => readonly Row[],
): Promise<{ readonly answer: Answer; readonly series: Series<Row> }> {
  const { limit: sentLimit, ...asked } = sent;
  const { interval, limit } = parameter.readParameters(seriesParameters, {
    interval: sent['interval'],
    limit: sentLimit,
  });
  const answer = await asks(asked);
  const rows = daysOf(answer);
  if (rows.length > limit && sent['interval'] === undefined)
    return seriesOf({ ...sent, interval: 'week' }, asks, daysOf);
  const daily = rows.slice(-limit);
  return { answer, series: { interval, total: rows.length, returned: daily.length, daily } };
}
