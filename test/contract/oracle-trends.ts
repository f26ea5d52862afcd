// The tests of findings about weeks, by the numbers of docs/decisions/findings.md: decay, and rows that came or went.
import { bentAt, middle, studentBelow, total } from './oracle-statistics.ts';
import {
  clicksIn,
  type Found,
  type Gain,
  inRange,
  type Site,
  type Span,
  SURE,
  shownIn,
  sinceWeek,
  type Test,
  WEEKS,
  weekly,
} from './oracle-tests.ts';

const weeks = Array.from({ length: WEEKS }, (_, week) => week);
/** Places of weeks around the middle one, and the sum of their squares. */
const places = weeks.map((week) => week - (WEEKS - 1) / 2);
const SQUARES = total(places.map((one) => one * one));

function lineThrough(series: readonly number[]): { slope: number; at: (week: number) => number } {
  const slope = total(series.map((one, week) => one * places[week]!)) / SQUARES;
  const level = total(series) / WEEKS;
  return { slope, at: (week) => level + slope * places[week]! };
}

/** Five rounds in which what is far from the line is moved towards it. */
function robustLine(series: readonly number[]): { slope: number; residuals: number[] } {
  let fitted = [...series];
  for (let round = 0; round < 5; round++) {
    const line = lineThrough(fitted);
    const cut = (2.5 * middle(series.map((one, week) => Math.abs(one - line.at(week))))) / 0.6745;
    fitted = series.map((one, week) => line.at(week) + Math.min(cut, Math.max(-cut, one - line.at(week))));
  }
  const line = lineThrough(fitted);
  return { slope: line.slope, residuals: fitted.map((one, week) => one - line.at(week)) };
}

const known = new Map<number, { squares: number; products: number; slope: number }>();

/** What residuals of a line are expected to be for noise of variance 1 with a memory, in hundredths. */
function expectedOf(memory: number) {
  const found = known.get(memory);
  if (found !== undefined) return found;
  const R = weeks.map((i) => weeks.map((j) => (memory / 100) ** Math.abs(i - j)));
  const M = weeks.map((i) => weeks.map((j) => Number(i === j) - 1 / WEEKS - (places[i]! * places[j]!) / SQUARES));
  const times = (A: number[][], B: number[][]) =>
    A.map((row) => weeks.map((j) => total(row.map((one, k) => one * B[k]![j]!))));
  const covariance = times(times(M, R), M);
  const expected = {
    squares: total(weeks.map((i) => covariance[i]![i]!)),
    products: total(weeks.slice(1).map((i) => covariance[i]![i - 1]!)),
    slope: total(weeks.map((i) => total(weeks.map((j) => places[i]! * places[j]! * R[i]![j]!)))) / SQUARES ** 2,
  };
  known.set(memory, expected);
  return expected;
}

export function decayTests({ rows, length }: Span): Found | null {
  const pages = rows.filter((row) => total(weekly(row)) >= 260);
  if (pages.length < 5) return null;
  const all = weeks.map((week) => total(rows.map((row) => weekly(row)[week]!)));
  const fits = pages.map((row) => {
    const counts = weekly(row);
    const odds = counts.map((count, week) => Math.log((count + 0.5) / (all[week]! - count + 0.5)));
    return { row, odds, chance: WEEKS / total(counts), ...robustLine(odds) };
  });
  // The noise of all pages beyond chance.
  const weight = fits.map(({ chance }) => (chance + 0.01) ** -2);
  const still = expectedOf(0);
  const beyond = (of: (residuals: readonly number[]) => number, usual: number): number =>
    total(fits.map((fit, at) => weight[at]! * (of(fit.residuals) - fit.chance * usual))) / total(weight);
  const squares = beyond((residuals) => total(residuals.map((one) => one * one)), still.squares);
  const products = beyond(
    (residuals) => total(residuals.slice(1).map((one, at) => one * residuals[at]!)),
    still.products,
  );
  let memory = 0;
  const ratioOf = (of: number): number => expectedOf(of).products / expectedOf(of).squares;
  while (squares > 0 && memory < 95 && ratioOf(memory + 1) < products / squares) memory++;
  const variance = squares > 0 ? squares / expectedOf(memory).squares : 0;
  const freedom = (24 * (1 - memory / 100)) / (1 + memory / 100);
  const usual = pages.length >= 10 ? middle(fits.map(({ slope }) => slope)) : 0;
  const tests = fits.map(({ row, odds, chance, slope, residuals }) => {
    const own = total(residuals.map((one) => one * one));
    const expected = 24 * chance + variance * expectedOf(memory).squares;
    const factor = (16 + (freedom * own) / expected) / (16 + freedom);
    const error = Math.sqrt((chance / SQUARES + variance * expectedOf(memory).slope) * factor);
    return { row, odds, slope: slope - usual, error, z: (slope - usual) / error };
  });
  const scale = Math.max(1, huber(tests.map(({ z }) => z)));
  const elapsed = WEEKS - 0.5 - Math.min(WEEKS, length / 7) / 2;
  return {
    tested: tests.length,
    tests: tests.map(({ row, odds, slope, error, z }): Test => {
      const p = studentBelow(z / scale, 16 + freedom);
      const clicks = clicksIn(row, 0, length);
      const back = (change: number): number => clicks * (Math.exp(-change * elapsed) - 1);
      const wide = SURE * error * scale;
      const gain: Gain = { clicks: back(slope), low: back(slope + wide), high: back(slope - wide) };
      return {
        type: 'decaying_page',
        row,
        evidence: { clicks, weeklyChange: Math.exp(slope) - 1, change: Math.exp(slope * (WEEKS - 1)) - 1 },
        gain,
        p,
        since: p < 0.05 ? sinceWeek(bentAt(odds), WEEKS) : null,
      };
    }),
  };
}

/** Huber's proposal 2, cut at 1.5. */
function huber(z: readonly number[]): number {
  let scale = Math.max(1e-9, middle(z.map(Math.abs)) / 0.6745);
  for (let round = 0; round < 30; round++)
    scale *= Math.sqrt(total(z.map((one) => Math.min(1.5, Math.abs(one) / scale) ** 2)) / z.length / 0.7785);
  return scale;
}

/** Rows that are shown at one time and not at another, although that is improbable by their weeks. */
export function presenceTests({ rows, length }: Span, type: 'new' | 'lost'): Found {
  const own = Math.ceil(length / 7);
  const rangeWeek = (row: Site, week: number): number => shownIn(row, 7 * week, Math.min(7 * week + 7, length));
  const weeksOf = (row: Site): number[] =>
    type === 'new'
      ? Array.from({ length: own }, (_, week) => rangeWeek(row, week))
      : Array.from({ length: 8 }, (_, week) => shownIn(row, length + 7 * week, length + 7 * week + 7));
  const before = (row: Site): number => shownIn(row, length, length + 56);
  const now = (row: Site): number => shownIn(row, 0, length);
  const [other, W, from, fromWeeks] =
    type === 'new' ? ([before, 8, now, length / 7] as const) : ([now, length / 7, before, 8] as const);
  const all = (of: (row: Site) => number): number => total(rows.map(of));
  const change = all(from) > 0 ? all(other) / W / (all(from) / fromWeeks) : 1;
  const likely = rows
    .map((row) => ({ row, counts: weeksOf(row), level: total(weeksOf(row)) / weeksOf(row).length }))
    .filter(({ level }) => Math.exp(-level * W) <= 0.001)
    .map(({ row, counts, level }) => {
      const variance = counts.length < 2 ? level : total(counts.map((one) => (one - level) ** 2)) / (counts.length - 1);
      return { row, level, spread: Math.max(0, (variance - level) / level ** 2) };
    });
  const spreads = likely.map(({ spread }) => spread).sort((a, b) => a - b);
  const tests = likely.flatMap(({ row, level, spread }): Test[] => {
    const m = level * W * Math.min(1, change);
    const alpha = Math.max(spread, spreads[Math.floor(spreads.length / 2)]!);
    const none = alpha < 1e-9 ? Math.exp(-m) : (1 + alpha * m) ** (-1 / alpha);
    if (none > 0.001) return [];
    const ages = row.days.map(({ age }) => age);
    const last = Math.min(...ages.filter((age) => age >= length));
    const { clicks, impressions } = inRange(row, length);
    return [
      {
        type,
        row,
        evidence:
          type === 'new'
            ? { clicks, impressions, expectedImpressions: m }
            : { impressionsBefore: before(row), expectedImpressions: m },
        gain: null,
        p: other(row) === 0 ? none : 1,
        since: type === 'new' ? Math.max(...ages.filter((age) => age < length)) : last - 1,
      },
    ];
  });
  return { tested: tests.length, tests };
}
