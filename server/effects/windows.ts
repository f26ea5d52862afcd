import { addDays, type Day } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';

/** The lengths of the windows around a change, in days. */
export interface WindowLengths {
  /** Days before the change, which say what was usual. */
  readonly before: number;
  /** Days from the change on that are left out, until search engines have noticed it. */
  readonly settle: number;
  /** Days after these, which are judged. */
  readonly after: number;
}

export interface Windows {
  readonly before: Range;
  /** Null for none. */
  readonly settle: Range | null;
  readonly after: Range;
}

/** The windows around a change: `before` ends the day before it, `settle` begins on it, and `after` follows. */
export function windowsOf(date: Day, { before, settle, after }: WindowLengths): Windows {
  const days = (first: number, count: number): Range => ({
    from: addDays(date, first),
    to: addDays(date, first + count - 1),
  });
  return {
    before: days(-before, before),
    settle: settle === 0 ? null : days(0, settle),
    after: days(settle, after),
  };
}
