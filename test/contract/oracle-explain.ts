// Explains a change of clicks from the rows of a snapshot and the contract alone.
import type { Row } from '../world.ts';
import { notes } from './oracle-entities.ts';
import {
  addUp,
  bad,
  byText,
  countryIn,
  type Days,
  descending,
  metrics,
  number,
  oneIn,
  type Query,
  Refusal,
  rangeIn,
  type Sum,
  text,
  wholeIn,
  zero,
} from './oracle-terms.ts';
import type { OracleWorld, Project } from './oracle-world.ts';

/** The days on which the provider's counting of impressions and positions changed: first and last day, and how. */
export const EVENTS = (
  [
    ['2025-05-13', '2026-04-27', 'span'],
    ['2025-06-16', '2025-06-17', 'change'],
    ['2025-09-10', '2025-09-14', 'change'],
    ['2026-04-03', '2026-04-27', 'change'],
  ] as const
).map(([from, to, kind]) => ({ from: number(from), to: number(to), isSpan: kind === 'span' }));
const LISTS: Readonly<Record<string, readonly [table: string, column: string, name: string]>> = {
  page: ['page_daily', 'url', 'page'],
  query: ['query_daily', 'query', 'query'],
};
const SEGMENTS: readonly (readonly [stored: string, name: string])[] = [
  ['brand', 'brand'],
  ['non_brand', 'nonBrand'],
];
const BINS = 60;
const PRIOR = 50;

type Part = 'impressions' | 'position' | 'ctr';
const PARTS: readonly Part[] = ['impressions', 'position', 'ctr'];
/** Clicks by what changed them; exact numbers. */
type Exact = Record<Part, number>;

/** A row of either range. */
interface Pair {
  /** The properties that name it, and its key in the order of rows. */
  readonly names: Row;
  readonly key: readonly string[];
  readonly now: Sum;
  readonly base: Sum;
}

export function explain(world: OracleWorld, project: Project, query: Query): object {
  const by = oneIn(query, 'by', ['page', 'query', 'keyword', 'device', 'country', 'brand']) ?? 'page';
  const country = countryIn(query);
  const limit = wholeIn(query, 'limit', 20, 1, 1000);
  const { now, base } = rangesIn(world, project, query);
  if (country !== null && LISTS[by] === undefined) throw bad('country');

  const change = [now, base].map((days) => Number(property(world, project, country, days).clicks));
  const difference = change[0]! - change[1]!;
  const pairs = rowsOf(world, project, by, country, { now, base });
  const [inBoth, gained, lost] = [pairs.filter(isInBoth), pairs.filter(isNew), pairs.filter(isGone)];
  const exact = LISTS[by] !== undefined || by === 'keyword' ? threeFactors(pairs) : twoFactors;
  const hasPosition = exact !== twoFactors;
  const isUnsafe = EVENTS.some((event) => changesBetween(event, now, base));

  /** The parts of some rows as integers. */
  const partsOf = (rows: readonly Pair[]) => {
    const sum: Exact = { impressions: 0, position: 0, ctr: 0 };
    for (const row of rows.filter(isInBoth)) for (const part of PARTS) sum[part] += exact(row)[part];
    const clicks = total(rows.filter(isInBoth).map(differenceOf));
    return {
      ...integers(sum, clicks),
      gained: total(rows.filter(isNew).map(differenceOf)),
      lost: total(rows.filter(isGone).map(differenceOf)),
      clicks,
    };
  };
  const shown = (parts: ReturnType<typeof partsOf>) =>
    isUnsafe
      ? { ...parts, impressions: null, position: null, ctr: null }
      : { ...parts, position: hasPosition ? parts.position : null, clicks: null };

  const sorted = [...inBoth, ...gained, ...lost].sort(
    (a, b) => descending(Math.abs(differenceOf(a)), Math.abs(differenceOf(b))) || byKey(a, b),
  );
  const listed = sorted.slice(0, limit);
  const totals = partsOf(sorted);
  const restParts = listed.map((row) => partsOf([row])).reduce(minus, totals);
  const left = sorted.slice(limit);
  const sumOf = (rows: readonly Pair[], of: 'now' | 'base'): number => total(rows.map((row) => Number(row[of].clicks)));
  return {
    range: {
      from: text(now.from),
      to: text(now.to),
      country,
      comparison: { from: text(base.from), to: text(base.to) },
    },
    change: { clicks: { now: change[0]!, base: change[1]!, difference } },
    usual:
      query.get('compare') === undefined || query.get('compare') === 'previous'
        ? usual(world, project, country, { now, base, clicks: change[1]! })
        : null,
    by,
    parts: { ...shown(totals), notAttributed: difference - total(sorted.map(differenceOf)) },
    rows: listed.map((row) => ({ ...row.names, ...measuresOf(row), parts: shown(partsOf([row])) })),
    rest: {
      rows: left.length,
      clicks: clicksOf(sumOf(left, 'now'), sumOf(left, 'base')),
      parts: shown(restParts),
    },
    notes: touching(world, project, [now, base]),
  };
}

/** The range and the one before it, as of page and query lists. */
function rangesIn(world: OracleWorld, project: Project, query: Query): { now: Days; base: Days } {
  const now = rangeIn(query, Math.min(world.lastDay(project), world.today() - 1));
  if (now.to >= world.today()) throw bad('to');
  const compare = query.get('compare') ?? 'previous';
  const days = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)$/.exec(compare);
  if (days !== null) {
    if (number(days[2]!) >= world.today()) throw bad('compare');
    return { now, base: { from: number(days[1]!), to: number(days[2]!) } };
  }
  const isYear = oneIn(query, 'compare', ['previous', 'year']) === 'year';
  if (text(now.from).endsWith('-01') && text(now.to + 1).endsWith('-01')) {
    const [first, next] = [now.from, now.to + 1].map((day) => text(day).split('-').map(Number));
    const months = 12 * (next![0]! - first![0]!) + next![1]! - first![1]!;
    const month = first![1]! - 1 - (isYear ? 12 : months);
    const dayOf = (at: number, day: number): number =>
      number(new Date(Date.UTC(first![0]!, at, day)).toISOString().slice(0, 10));
    return { now, base: { from: dayOf(month, 1), to: dayOf(month + months, 0) } };
  }
  const back = isYear ? 364 : now.to - now.from + 1;
  return { now, base: { from: now.from - back, to: now.to - back } };
}

const differenceOf = ({ now, base }: Pair): number => Number(now.clicks - base.clicks);
const isInBoth = ({ now, base }: Pair): boolean => now.impressions > 0n && base.impressions > 0n;
const isNew = ({ now, base }: Pair): boolean => now.impressions > 0n && base.impressions === 0n;
const isGone = ({ now, base }: Pair): boolean => now.impressions === 0n && base.impressions > 0n;
const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
const clicksOf = (now: number, base: number) => ({ now, base, difference: now - base });

function byKey(a: Pair, b: Pair): number {
  return a.key.map((word, at) => byText(word, b.key[at])).find((order) => order !== 0) ?? 0;
}

function measuresOf({ now, base }: Pair) {
  return {
    clicks: clicksOf(Number(now.clicks), Number(base.clicks)),
    impressions: clicksOf(Number(now.impressions), Number(base.impressions)),
    position: { now: metrics(now).position, base: metrics(base).position },
  };
}

/** The property's own sum over days that are stored and synced. */
function property(world: OracleWorld, project: Project, country: string | null, days: Days): Sum {
  const sum = zero();
  if (project['synced_through'] === null) return sum;
  const to = Math.min(days.to, world.lastDay(project));
  if (country === null) return addUp(world.rows(project, 'site_daily', { from: days.from, to }));
  for (let day = days.from; day <= to; day++) world.addCountryDay(sum, project, country, day);
  return sum;
}

function rowsOf(
  world: OracleWorld,
  project: Project,
  by: string,
  country: string | null,
  ranges: { readonly now: Days; readonly base: Days },
): Pair[] {
  const isSynced = project['synced_through'] !== null;
  const pairOf = (names: Row, key: readonly string[], sumOf: (days: Days) => Sum): Pair => ({
    names,
    key,
    now: shownOnly(sumOf(ranges.now)),
    base: shownOnly(sumOf(ranges.base)),
  });
  const sumsBy = (table: string, column: string, value: unknown, more?: (row: Row) => boolean) => (days: Days) =>
    addUp(world.rows(project, table, days).filter((row) => row[column] === value && (more?.(row) ?? true)));
  const namesIn = (table: string, column: string): string[] => [
    ...new Set(world.rows(project, table).map((row) => String(row[column]))),
  ];
  const list = LISTS[by];
  if (list !== undefined) {
    const [table, column, name] = list;
    if (world.rows(project, table).length === 0) throw new Refusal(503, 'unavailable');
    const isOf = (row: Row): boolean => country === null || row['country'] === country;
    return namesIn(table, column).map((value) =>
      pairOf({ [name]: value }, [value], sumsBy(table, column, value, isOf)),
    );
  }
  if (!isSynced) return [];
  if (by === 'keyword') {
    const first = world.historyFrom(project);
    return world.tracked(project).map(({ id, query }) => {
      const sum = sumsBy('keyword_daily', 'keyword_id', id);
      return pairOf({ keyword: { id, query } }, [String(query), String(id)], ({ from, to }) =>
        sum({ from: Math.max(from, first), to }),
      );
    });
  }
  if (by === 'device') {
    return namesIn('site_daily', 'device').map((device) =>
      pairOf({ device }, [device], sumsBy('site_daily', 'device', device)),
    );
  }
  if (by === 'brand') {
    return SEGMENTS.map(([stored, segment]) =>
      pairOf({ segment }, [segment], sumsBy('brand_daily', 'segment', stored)),
    );
  }
  return [...new Set([...namesIn('country_daily', 'country'), ...namesIn('country_monthly', 'country')])].map((name) =>
    pairOf({ country: name }, [name], (days) => {
      const sum = zero();
      for (let day = days.from; day <= days.to; day++) world.addCountryDay(sum, project, name, day);
      return sum;
    }),
  );
}

/** A row without impressions is not in a range. */
function shownOnly(sum: Sum): Sum {
  return sum.impressions === 0n ? zero() : sum;
}

/** Shapley values of clicks = impressions * (clicks / impressions). */
function twoFactors({ now, base }: Pair): Exact {
  const [n0, n1] = [Number(base.impressions), Number(now.impressions)];
  const [r0, r1] = [Number(base.clicks) / n0, Number(now.clicks) / n1];
  return { impressions: ((n1 - n0) * (r0 + r1)) / 2, position: 0, ctr: ((r1 - r0) * (n0 + n1)) / 2 };
}

/** Shapley values of clicks = impressions * curve(position) * (clicks as a multiple of what the curve expects). */
function threeFactors(pairs: readonly Pair[]): (pair: Pair) => Exact {
  const sums = pairs.flatMap(({ now, base }) => [now, base]).filter(({ impressions }) => impressions > 0n);
  const curve = curveOf(sums);
  if (curve === null) return () => ({ impressions: 0, position: 0, ctr: 0 });
  const factors = (sum: Sum): readonly number[] => {
    const n = Number(sum.impressions);
    const f = curve(positionOf(sum));
    return [n, f, Number(sum.clicks) / (n * f)];
  };
  return (pair) => {
    const [before, after] = [factors(pair.base), factors(pair.now)];
    // The mean over all orders in which the factors can change, one after the other.
    const shares = [0, 0, 0];
    for (const order of ORDERS) {
      const current = [...before];
      for (const factor of order) {
        const was = current[0]! * current[1]! * current[2]!;
        current[factor] = after[factor]!;
        shares[factor]! += (current[0]! * current[1]! * current[2]! - was) / ORDERS.length;
      }
    }
    return { impressions: shares[0]!, position: shares[1]!, ctr: shares[2]! };
  };
}

const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
] as const;

const positionOf = ({ impressions, top, bottom }: Sum): number => Number(top) / Number(bottom * impressions) + 1;

/** The expected ctr at a position: rates of 60 positions with a prior, never rising, linear between them. */
function curveOf(sums: readonly Sum[]): ((position: number) => number) | null {
  const clicks = new Array<number>(BINS + 1).fill(0);
  const impressions = new Array<number>(BINS + 1).fill(0);
  for (const sum of sums) {
    // The position rounded half up: floor(top / (bottom * impressions) + 3 / 2).
    const doubled = 2n * sum.bottom * sum.impressions;
    const bin = Math.min(BINS, Number((2n * sum.top + 3n * sum.bottom * sum.impressions) / doubled));
    clicks[bin]! += Number(sum.clicks);
    impressions[bin]! += Number(sum.impressions);
  }
  const mean = total(clicks) / total(impressions);
  if (!(mean > 0)) return null;
  const rate = (bin: number): number => (clicks[bin]! + PRIOR * mean) / (impressions[bin]! + PRIOR);
  // By its definition: the smallest, over all first bins up to this one, of the largest weighted means to a last bin.
  const fitted = (bin: number): number => {
    let least = Infinity;
    for (let first = 1; first <= bin; first++) {
      let most = -Infinity;
      let [above, below] = [0, 0];
      for (let last = first; last <= BINS; last++) {
        const weight = impressions[last]! + PRIOR;
        above += weight * rate(last);
        below += weight;
        if (last >= bin) most = Math.max(most, above / below);
      }
      least = Math.min(least, most);
    }
    return least;
  };
  const values = [Number.NaN, ...Array.from({ length: BINS }, (_, at) => fitted(at + 1))];
  return (position) => {
    if (position >= BINS) return values[BINS]!;
    const bin = Math.floor(position);
    return values[bin]! + (position - bin) * (values[bin + 1]! - values[bin]!);
  };
}

/** Integers that sum to `sum`: rounded down, and the rest to the largest fractions. */
function integers(exact: Exact, sum: number): Exact {
  const result = { ...exact };
  for (const part of PARTS) {
    const near = Math.round(exact[part]);
    result[part] = Math.abs(exact[part] - near) < 1e-6 ? near : Math.floor(exact[part]);
  }
  let rest = sum - total(PARTS.map((part) => result[part]));
  const fractions = PARTS.map((part) => ({ part, fraction: exact[part] - result[part] }));
  for (; rest > 0; rest--) {
    const most = Math.max(...fractions.map(({ fraction }) => fraction));
    const first = fractions.find(({ fraction }) => fraction > most - 1e-6)!;
    result[first.part]++;
    first.fraction = -Infinity;
  }
  return result;
}

function minus<Parts extends Record<string, number>>(all: Parts, part: Parts): Parts {
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value - part[name]!])) as Parts;
}

/** Whether counting differs between two ranges, or changes within one of them. */
export function changesBetween({ from, to, isSpan }: (typeof EVENTS)[number], now: Days, base: Days): boolean {
  const phase = (day: number): number => (day < from ? 0 : day > to ? 2 : 1);
  const phases = new Set([now.from, now.to, base.from, base.to].map(phase));
  return phases.size > 1 || (!isSpan && phases.has(1));
}

/** What the property usually changes by between windows of this length, in the year before. */
function usual(
  world: OracleWorld,
  project: Project,
  country: string | null,
  { now, base, clicks }: { readonly now: Days; readonly base: Days; readonly clicks: number },
): object | null {
  const final = project['provisional_after'] as string | null;
  if (project['synced_through'] === null || final === null) return null;
  const length = now.to - now.from + 1;
  const last = Math.min(base.from - 1, number(final));
  const ratios: number[] = [];
  // Of a country, days that are spread from months are not stored days.
  const table = country === null ? 'site_daily' : 'country_daily';
  const firstDaily = country === null ? -Infinity : world.monthlyThrough(project) + 1;
  const days = new Set(world.rows(project, table).map(({ date }) => number(String(date))));
  const isStored = (day: number): boolean => day >= firstDaily && days.has(day);
  const stored = new Set<number>();
  for (let day = last - 363; day <= last; day++) if (isStored(day)) stored.add(day);
  for (let first = last - 363; first + 2 * length - 1 <= last; first++) {
    const days = Array.from({ length: 2 * length }, (_, at) => first + at);
    if (!days.every((day) => stored.has(day))) continue;
    const sum = (from: number): number =>
      Number(property(world, project, country, { from, to: from + length - 1 }).clicks);
    ratios.push(Math.log((sum(first + length) + 1) / (sum(first) + 1)));
  }
  if (ratios.length < 60) return null;
  const sorted = [...ratios].sort((a, b) => a - b);
  const quantile = (share: number): number => {
    const at = share * (sorted.length - 1);
    const low = Math.floor(at);
    const next = sorted[Math.min(low + 1, sorted.length - 1)]!;
    return sorted[low]! + (at - low) * (next - sorted[low]!);
  };
  const scaled = (share: number): number => {
    const start = (clicks * length) / (base.to - base.from + 1);
    const exact = start * Math.exp(quantile(share)) - clicks;
    // Halves away from zero, whatever the last digit of the quantile.
    const [below, above] = [Math.floor(Math.abs(exact)), Math.ceil(Math.abs(exact))];
    const isNearer = above - Math.abs(exact) <= Math.abs(exact) - below + 1e-9;
    return Math.sign(exact) * (isNearer ? above : below) + 0;
  };
  return { low: scaled(0.05), high: scaled(0.95), windows: ratios.length };
}

/** Ids of the notes that touch either range, in the order of notes. */
function touching(world: OracleWorld, project: Project, ranges: readonly Days[]): unknown[] {
  const all = notes(world, project, { get: () => undefined, all: () => [] }) as {
    notes: { id: string; date: string; endDate: string | null }[];
  };
  return all.notes
    .filter(({ date, endDate }) => ranges.some(({ from, to }) => number(date) <= to && number(endDate ?? date) >= from))
    .map(({ id }) => id);
}
