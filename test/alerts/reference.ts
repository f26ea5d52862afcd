/**
 * The formulas of the checks, written down a second time: plainly, day by day, from their definition. Tests compare the
 * checks with them over random days.
 */

interface ReferenceDay {
  readonly impressions: number;
  /** One-based; of no meaning without impressions. */
  readonly position: number;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Week 0 ends on the last day. */
function week<T>(days: readonly T[], number: number): readonly T[] {
  const end = days.length - 7 * number;
  return days.slice(end - 7, end);
}

/** @param days clicks of 63 days */
export function referenceTraffic(days: readonly number[]) {
  const total = (number: number): number => sum(week(days, number));
  const [clicks, usual] = [total(0), median([1, 2, 3, 4].map(total))];
  const eight = [1, 2, 3, 4, 5, 6, 7, 8];
  const rawShares = [0, 1, 2, 3, 4, 5, 6].map((weekday) =>
    median(eight.map((number) => (total(number) === 0 ? 0 : week(days, number)[weekday]! / total(number)))),
  );
  const deviations = eight.flatMap((number) => {
    const level = median([number - 1, number, number + 1].filter((near) => near >= 1 && near <= 8).map(total));
    return week(days, number).map((value, weekday) => {
      const share = sum(rawShares) === 0 ? 0 : rawShares[weekday]! / sum(rawShares);
      const mean = Math.max(0.5, level * share);
      return (value - mean) ** 2 / mean;
    });
  });
  const smallest = [...deviations].sort((a, b) => a - b).slice(0, 53);
  const phi = Math.max(1, (1.35 * sum(smallest)) / 53);
  const z = (clicks - usual) / Math.sqrt(phi * Math.max(usual, 1) * (1 + Math.PI / 8) + (0.06 * usual) ** 2);
  const opens = usual >= 35 && clicks <= 0.8 * usual && z <= -2.5;
  return { clicks, usual, z, opens, isCritical: opens && clicks <= 0.5 * usual && z <= -3.5 };
}

/** @param days of a keyword, 63 of them */
export function referenceDrop(days: readonly ReferenceDay[]): boolean {
  const impressions = (number: number): number => sum(week(days, number).map((day) => day.impressions));
  const position = (number: number): number =>
    sum(week(days, number).map((day) => day.impressions * (day.impressions === 0 ? 0 : day.position))) /
    impressions(number);
  const isKnown = (number: number): boolean => impressions(number) >= 10;
  const known = [1, 2, 3, 4, 5, 6, 7, 8].filter(isKnown);
  const recent = [1, 2, 3, 4].filter(isKnown);
  if (recent.length === 0) return false;
  const usual = median(recent.map(position));
  const logarithms = known.map((number) => Math.log(position(number)));
  const middle = median(logarithms);
  const scatter = 1.4826 * median(logarithms.map((value) => Math.abs(value - middle)));
  const sigma = Math.sqrt(scatter ** 2 + 0.05 ** 2 + 0.25 / impressions(0));
  return (
    impressions(0) >= 20 &&
    median([1, 2, 3, 4].map(impressions)) >= 20 &&
    known.length >= 4 &&
    usual <= 30 &&
    position(0) - usual >= Math.max(1.5, 0.35 * usual) &&
    (Math.log(position(0)) - Math.log(usual)) / sigma >= 4
  );
}

/** @param days of a keyword, all of them up to the evaluated one */
export function referenceLost(days: readonly ReferenceDay[]): boolean {
  const last = days.findLastIndex((day) => day.impressions > 0);
  const silent = days.length - 1 - last;
  const before = days.slice(0, last + 1).slice(-56);
  if (last < 0 || before.length < 56) return false;
  const gaps = before
    .map((day) => (day.impressions > 0 ? '1' : '0'))
    .join('')
    .split('1');
  const longest = Math.max(...gaps.map((gap) => gap.length));
  const recent = before.slice(-28);
  const impressions = sum(recent.map((day) => day.impressions));
  const position = sum(recent.map((day) => (day.impressions === 0 ? 0 : day.impressions * day.position))) / impressions;
  return (
    silent >= Math.max(7, 2 * longest + 3) &&
    silent <= 60 &&
    before.filter((day) => day.impressions > 0).length >= 28 &&
    recent.filter((day) => day.impressions > 0).length >= 14 &&
    impressions >= 28 &&
    position <= 30
  );
}

type PageDay = Readonly<Record<string, number>>;

function mainPageOf(days: readonly PageDay[]): { page: string | undefined; impressions: number } {
  const impressions = sum(days.flatMap((day) => Object.values(day)));
  const pages = [...new Set(days.flatMap((day) => Object.keys(day)))];
  const page = pages.find((url) => impressions > 0 && 10 * sum(days.map((day) => day[url] ?? 0)) >= 6 * impressions);
  return { page, impressions };
}

/** @param days 35 of them */
export function referenceUrlChanged(days: readonly PageDay[]): boolean {
  const [last, before] = [mainPageOf(days.slice(28)), mainPageOf(days.slice(0, 28))];
  if (last.page === undefined || before.page === undefined) return false;
  return last.impressions >= 10 && before.impressions >= 40 && last.page !== before.page;
}

/** @param days 7 of them */
export function referenceUrlMismatch(days: readonly PageDay[], target: string): boolean {
  const { page, impressions } = mainPageOf(days);
  return page !== undefined && impressions >= 10 && page !== target;
}
