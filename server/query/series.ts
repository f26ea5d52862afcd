import { addDays, type Day, eachMonth, earlier, lastDayOf, later, type Month, monthOf } from '../domain/dates.ts';
import type { Measures } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import { Total } from '../domain/spread.ts';
import type { DayMeasures } from '../facts/facts.ts';

/** The total of a month. */
export type MonthMeasures = Measures & { readonly month: Month };

/** Measures by day, which can be summed over any of the days that were read. */
export class Series {
  readonly #rows: readonly DayMeasures[];
  /** Made when a day is looked for: totals of a thousand projects need none. */
  #byDay: ReadonlyMap<Day, DayMeasures> | undefined;
  readonly #months: ReadonlyMap<Month, Measures>;
  readonly #monthlyThrough: Day | null;

  /** @param days in order; @param monthlyThrough up to this day `months` count, after it `days` */
  constructor(days: readonly DayMeasures[], months: readonly MonthMeasures[] = [], monthlyThrough: Day | null = null) {
    this.#rows = days;
    this.#months = new Map(months.map(({ month, ...measures }) => [month, measures]));
    this.#monthlyThrough = monthlyThrough;
  }

  /** Days that have a row. */
  get days(): ReadonlySet<Day> {
    return new Set(this.#days.keys());
  }

  /** Months that have a total. */
  get months(): readonly Month[] {
    return [...this.#months.keys()];
  }

  /** Whether a day has a row. */
  has(day: Day): boolean {
    return this.#days.has(day);
  }

  /** Whether there is a total of a day's month. */
  hasMonthOf(day: Day): boolean {
    return this.#months.has(monthOf(day));
  }

  /** The total over a range. @param total what to add it to */
  over({ from, to }: Range, total = new Total()): Total {
    const monthly = this.#monthlyThrough;
    const daily = monthly === null ? from : later(from, addDays(monthly, 1));
    if (monthly !== null && from <= monthly) {
      const end = earlier(to, monthly);
      // Most calls are about one day, for which there is no need to count months.
      const names = monthOf(from) === monthOf(end) ? [monthOf(from)] : eachMonth(from, end);
      for (const name of names) {
        const month = this.#months.get(name);
        if (month !== undefined) addMonth(total, name, month, { from, to });
      }
    }
    if (daily === to) {
      const row = this.#days.get(to);
      if (row !== undefined) total.addDay(row);
      return total;
    }
    for (const row of this.#rows) if (row.date >= daily && row.date <= to) total.addDay(row);
    return total;
  }

  get #days(): ReadonlyMap<Day, DayMeasures> {
    this.#byDay ??= new Map(this.#rows.map((row) => [row.date, row]));
    return this.#byDay;
  }
}

/** Adds the part of a month's total that is in a range. The range must overlap the month. */
function addMonth(total: Total, month: Month, measures: Measures, range: Range): void {
  const first = later(range.from, `${month}-01`);
  const last = earlier(range.to, lastDayOf(month));
  total.addPartOfMonth(month, measures, Number(first.slice(8)), Number(last.slice(8)));
}
