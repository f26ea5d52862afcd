import { countTowardsEnd, countTowardsOpening, type Lifecycle, newState, open } from '../../server/alerts/alert.ts';
import { KEYWORD_CHECKS } from '../../server/alerts/keyword-checks.ts';
import { type KeywordSums, keywordDrop, keywordIsBack } from '../../server/alerts/keyword-drop.ts';
import { TRAFFIC_LIFECYCLE, trafficDrop, trafficIsBack } from '../../server/alerts/traffic.ts';
import { DAYS, dayOfDrop, droppedSite, FIRST_DAYS, keywordOf, siteOf } from './synthetic.ts';

/** A drop is found if an alert opens within this many days. */
const FOUND_WITHIN = 14;
/** Days before a drop that are judged too: an alert may already be open. */
const BEFORE_DROP = 40;

/** A rule and its synthetic subjects. */
interface Drops<Subject, Judged extends { readonly opens: boolean }> {
  readonly lifecycle: Lifecycle;
  /** Clicks or impressions a day of the subjects. */
  readonly sizes: readonly number[];
  readonly quiet: (size: number, name: string) => Subject;
  /** Subjects with a drop. */
  readonly dropped: readonly { readonly name: string; readonly of: (size: number, name: string) => Subject }[];
  readonly judge: (subject: Subject, day: number) => Judged;
  readonly isBack: (now: Judged, atOpening: Judged) => boolean;
}

const TRAFFIC: Drops<ArrayLike<number>, ReturnType<typeof trafficDrop>> = {
  lifecycle: TRAFFIC_LIFECYCLE,
  sizes: [7, 20, 200, 2000],
  quiet: siteOf,
  dropped: [0.3, 0.5, 0.8].map((drop) => ({
    name: `−${drop * 100} %`,
    of: (size: number, name: string) => droppedSite(size, name, drop),
  })),
  judge: (clicks, day) => trafficDrop(Array.prototype.slice.call(clicks, day - FIRST_DAYS, day + 1)),
  isBack: (now, { usual }) => trafficIsBack(now, usual),
};

const KEYWORDS: Drops<KeywordSums, ReturnType<typeof keywordDrop>> = {
  lifecycle: KEYWORD_CHECKS.find(({ type }) => type === 'keyword_drop')!,
  sizes: [4, 15, 150],
  quiet: (size, name) => keywordOf(size, name),
  dropped: [1.5, 2, 3].map((factor) => ({
    name: `× ${factor}`,
    of: (size: number, name: string) => keywordOf(size, name, factor),
  })),
  judge: keywordDrop,
  isBack: keywordIsBack,
};

/** Tables of false alerts a year and of the share of drops that are found, by size. @param subjects of each size */
export function* dropRows(subjects: number): Generator<string> {
  yield '\nSites of 7 / 20 / 200 / 2,000 clicks a day';
  yield* rowsOf(TRAFFIC, subjects);
  yield '\nKeywords of 4 / 15 / 150 impressions a day';
  yield* rowsOf(KEYWORDS, subjects);
}

function* rowsOf<Subject, Judged extends { readonly opens: boolean }>(
  drops: Drops<Subject, Judged>,
  subjects: number,
): Generator<string> {
  const { sizes, quiet, dropped } = drops;
  const names = Array.from({ length: subjects }, (_, number) => String(number));
  const opened = sizes.map((size) =>
    names.map((name) => openings(drops, quiet(size, name), { from: FIRST_DAYS, to: DAYS - 1 })),
  );
  const found = dropped.map(({ of }) =>
    sizes.map((size) => {
      const inTime = names.filter((name) => {
        const day = dayOfDrop(name);
        const days = { from: Math.max(FIRST_DAYS, day - BEFORE_DROP), to: day + FOUND_WITHIN - 1 };
        return openings(drops, of(size, name), days).some((opening) => opening >= day);
      });
      return `${Math.round((100 * inTime.length) / subjects)} %`;
    }),
  );
  const alarms = opened.map((bySubject) => (bySubject.flat().length / subjects).toFixed(2));
  yield `| false alerts a year | worst week | ${dropped.map(({ name }) => `${name} found`).join(' | ')} |`;
  yield `| --- | --- |${' --- |'.repeat(dropped.length)}`;
  yield `| ${[alarms.join(' / '), Math.max(...opened.flat().map(worstWeek)), ...found.map((shares) => shares.join(' / '))].join(' | ')} |`;
}

/** The days on which alerts about a subject open. */
function openings<Subject, Judged extends { readonly opens: boolean }>(
  { lifecycle, judge, isBack }: Drops<Subject, Judged>,
  subject: Subject,
  { from, to }: { readonly from: number; readonly to: number },
): number[] {
  const opened: number[] = [];
  let state = newState<Judged>();
  for (let day = from; day <= to; day++) {
    const judged = judge(subject, day);
    if (state.open !== null) {
      const ended = countTowardsEnd(lifecycle, state.open, day, isBack(judged, state.open.baseline));
      if (ended !== undefined) state = newState();
    } else if (countTowardsOpening(lifecycle, state, judged.opens)) {
      open(state, day, judged);
      opened.push(day);
    }
  }
  return opened;
}

/** The most days of a list, as numbers, within seven days. */
export function worstWeek(days: readonly number[]): number {
  return days.reduce((most, day) => Math.max(most, days.filter((other) => other >= day && other < day + 7).length), 0);
}
