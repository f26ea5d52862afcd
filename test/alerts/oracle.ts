/**
 * The built-in alert rules, written down a second time: plainly, day by day, from their definition in
 * docs/decisions. A day is an index; all days are stored, and none is near an event of the provider.
 */

export interface KeywordDay {
  readonly impressions: number;
  readonly sumPosition: number;
  /** Impressions by page. */
  readonly pages: Readonly<Record<string, number>>;
}

/** When an alert opened, and when it resolved or null. */
export type Opened = readonly [type: string, opened: number, resolved: number | null];

interface Rule<Usual> {
  readonly type: string;
  readonly opensAfter: number;
  readonly resolvesAfter: number;
  readonly expiresAfter: number;
  /** What is usual, if the condition holds. */
  readonly holds: (day: number) => Usual | undefined;
  readonly isBack: (day: number, usual: Usual) => boolean;
}

function replay<Usual>(rule: Rule<Usual>, first: number, last: number): Opened[] {
  const alerts: [string, number, number | null][] = [];
  let open: { since: number; usual: Usual } | undefined;
  let running = 0;
  for (let day = first; day <= last; day++) {
    if (open === undefined) {
      const usual = rule.holds(day);
      running = usual === undefined ? 0 : running + 1;
      if (running < rule.opensAfter) continue;
      open = { since: day, usual: usual! };
      alerts.push([rule.type, day, null]);
    } else {
      running = rule.isBack(day, open.usual) ? running + 1 : 0;
      if (running < rule.resolvesAfter && day - open.since < rule.expiresAfter) continue;
      alerts.at(-1)![2] = day;
      open = undefined;
    }
    running = 0;
  }
  return alerts;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Week 0 ends on the day. */
const week = <T>(days: readonly T[], day: number, number: number): readonly T[] =>
  days.slice(day + 1 - 7 * (number + 1), day + 1 - 7 * number);

function trafficOn(clicks: readonly number[], day: number) {
  const total = (number: number): number => sum(week(clicks, day, number));
  const usual = median([1, 2, 3, 4].map(total));
  const eight = [1, 2, 3, 4, 5, 6, 7, 8];
  const shares = [0, 1, 2, 3, 4, 5, 6].map((weekday) =>
    median(eight.map((number) => (total(number) === 0 ? 0 : week(clicks, day, number)[weekday]! / total(number)))),
  );
  const deviations = eight.flatMap((number) => {
    const level = median([number - 1, number, number + 1].filter((near) => near >= 1 && near <= 8).map(total));
    return week(clicks, day, number).map((value, weekday) => {
      const mean = Math.max(0.5, sum(shares) === 0 ? 0 : (level * shares[weekday]!) / sum(shares));
      return (value - mean) ** 2 / mean;
    });
  });
  const smallest = [...deviations].sort((a, b) => a - b).slice(0, 53);
  const phi = Math.max(1, (1.35 * sum(smallest)) / 53);
  const z = (total(0) - usual) / Math.sqrt(phi * Math.max(usual, 1) * (1 + Math.PI / 8) + (0.06 * usual) ** 2);
  return { clicks: total(0), usual, z };
}

/** Alerts about the site, each with whether it is critical. */
export function trafficAlerts(clicks: readonly number[], first: number): (readonly [...Opened, boolean])[] {
  const last = clicks.length - 1;
  const alerts = replay<number>(
    {
      ...{ type: 'traffic_drop', opensAfter: 2, resolvesAfter: 3, expiresAfter: 28 },
      holds: (day) => {
        const { clicks: found, usual, z } = trafficOn(clicks, day);
        return usual >= 35 && found <= 0.8 * usual && z <= -2.5 ? usual : undefined;
      },
      isBack: (day, usual) => trafficOn(clicks, day).clicks >= 0.9 * usual,
    },
    first,
    last,
  );
  return alerts.map(([type, opened, resolved]) => {
    const { usual } = trafficOn(clicks, opened);
    const days = Array.from({ length: (resolved ?? last) - opened + 1 }, (_, at) => trafficOn(clicks, opened + at));
    return [type, opened, resolved, days.some(({ clicks: found, z }) => found <= 0.5 * usual && z <= -3.5)];
  });
}

const impressionsOf = (days: readonly KeywordDay[]): number => sum(days.map(({ impressions }) => impressions));
const positionOf = (days: readonly KeywordDay[]): number =>
  sum(days.map(({ sumPosition }) => sumPosition)) / impressionsOf(days) + 1;

function dropOn(days: readonly KeywordDay[], day: number): { usual: number; position: number } | undefined {
  const of = (number: number): readonly KeywordDay[] => week(days, day, number);
  const known = [1, 2, 3, 4, 5, 6, 7, 8].filter((number) => impressionsOf(of(number)) >= 10);
  const recent = known.filter((number) => number <= 4);
  if (recent.length === 0) return undefined;
  const usual = median(recent.map((number) => positionOf(of(number))));
  const logarithms = known.map((number) => Math.log(positionOf(of(number))));
  const scatter = 1.4826 * median(logarithms.map((value) => Math.abs(value - median(logarithms))));
  const sigma = Math.sqrt(scatter ** 2 + 0.05 ** 2 + 0.25 / impressionsOf(of(0)));
  const position = positionOf(of(0));
  const opens =
    impressionsOf(of(0)) >= 20 &&
    median([1, 2, 3, 4].map((number) => impressionsOf(of(number)))) >= 20 &&
    known.length >= 4 &&
    usual <= 30 &&
    position - usual >= Math.max(1.5, 0.35 * usual) &&
    (Math.log(position) - Math.log(usual)) / sigma >= 4;
  return opens ? { usual, position } : undefined;
}

function isLostOn(days: readonly KeywordDay[], day: number): boolean {
  const isShown = ({ impressions }: KeywordDay): boolean => impressions > 0;
  const last = days.slice(0, day + 1).findLastIndex(isShown);
  const silent = day - last;
  const before = days.slice(last - 55, last + 1);
  const recent = before.slice(-28);
  const gaps = before
    .map((each) => (isShown(each) ? '1' : '0'))
    .join('')
    .split('1');
  return (
    silent >= Math.max(7, 2 * Math.max(...gaps.map((gap) => gap.length)) + 3) &&
    silent <= 60 &&
    before.filter(isShown).length >= 28 &&
    recent.filter(isShown).length >= 14 &&
    impressionsOf(recent) >= 28 &&
    positionOf(recent) <= 30
  );
}

/** The page with 60 % of the impressions of some days that have so many. */
function mainPage(days: readonly KeywordDay[], least: number): string | undefined {
  const shown = sum(days.flatMap(({ pages }) => Object.values(pages)));
  const pages = [...new Set(days.flatMap((day) => Object.keys(day.pages)))];
  return pages.find((url) => shown >= least && 10 * sum(days.map((day) => day.pages[url] ?? 0)) >= 6 * shown);
}

/** Alerts about a keyword and the page that should rank for it. */
export function keywordAlerts(days: readonly KeywordDay[], target: string | null, first: number): Opened[] {
  const last = days.length - 1;
  const thisWeek = (day: number): string | undefined => mainPage(week(days, day, 0), 10);
  const drop: Rule<number> = {
    ...{ type: 'keyword_drop', opensAfter: 3, resolvesAfter: 3, expiresAfter: 28 },
    holds: (day) => dropOn(days, day)?.usual,
    isBack: (day, usual) => positionOf(week(days, day, 0)) <= usual + Math.max(1.5, 0.35 * usual) / 2,
  };
  const lost: Rule<true> = {
    ...{ type: 'keyword_lost', opensAfter: 1, resolvesAfter: 1, expiresAfter: 56 },
    holds: (day) => isLostOn(days, day) || undefined,
    isBack: (day) => week(days, day, 0).filter(({ impressions }) => impressions > 0).length >= 3,
  };
  const changed: Rule<string> = {
    ...{ type: 'url_changed', opensAfter: 3, resolvesAfter: 1, expiresAfter: 28 },
    holds: (day) => {
      const [now, before] = [thisWeek(day), mainPage(days.slice(day - 34, day - 6), 40)];
      return now !== undefined && now !== before ? before : undefined;
    },
    isBack: (day, before) => thisWeek(day) === before,
  };
  const unexpected: Rule<true> = {
    ...{ type: 'url_mismatch', opensAfter: 7, resolvesAfter: 1, expiresAfter: Number.POSITIVE_INFINITY },
    holds: (day) => (target !== null && ![undefined, target].includes(thisWeek(day))) || undefined,
    isBack: (day) => thisWeek(day) === target,
  };
  return [drop, lost, changed, unexpected].flatMap((rule) => replay(rule as Rule<unknown>, first, last));
}
