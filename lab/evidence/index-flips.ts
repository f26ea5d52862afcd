import type { IndexAlertType } from '../../server/alerts/alert.ts';
import { AlertCalendar } from '../../server/alerts/calendar.ts';
import { alertsOfIndex } from '../../server/alerts/index-replay.ts';
import type { PageState } from '../../server/catalog/inspections.ts';
import { addDays, countDays, type Day } from '../../server/domain/dates.ts';
import { INDEX_FIELDS, INDEXED, type IndexState } from '../../server/domain/index-state.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import { Random } from '../../test/random.ts';

const DAYS = 119;
const TO = '2026-04-30';
const RANGE = { from: addDays(TO, 1 - DAYS), to: TO };
const CALENDAR = new AlertCalendar(RANGE, [], []);
/** The share of inspections with a wrong state, and how many days it stays the same. */
const WRONG = [0.001, 0.005, 0.02];
const SPELLS = [1, 3];
/** A page is inspected once a week, and on the day after a change. */
const EVERY = 7;
const CHANGES_ON = 60;

const STATE = Object.fromEntries(INDEX_FIELDS.map((field) => [field, null])) as IndexState;
/** The usual state of a page, and another one, by the alert that is about them. */
const STATES: Readonly<Record<IndexAlertType, readonly [usual: IndexState, other: IndexState]>> = {
  page_dropped_from_index: [
    { ...STATE, verdict: INDEXED },
    { ...STATE, verdict: 'NEUTRAL' },
  ],
  canonical_changed: [
    { ...STATE, verdict: INDEXED, googleCanonical: 'https://shop.example/usual' },
    { ...STATE, verdict: INDEXED, googleCanonical: 'https://shop.example/other' },
  ],
};

/**
 * Rows of a table: false alerts a year of 1,000 pages whose inspections are wrong now and then, by one inspection and by
 * two in a row; and how soon a page that changes for good is found.
 */
export function* indexFlipRows(pages: number, type: IndexAlertType): Generator<string> {
  yield `\n${type}`;
  yield '| wrong inspections | for days | one inspection | two in a row | changes found | after |';
  yield '| --- | --- | --- | --- | --- | --- |';
  for (const wrong of WRONG) {
    for (const spell of SPELLS) {
      const worlds = Array.from({ length: pages }, (_, page) => inspect({ type, wrong, spell, page, changes: false }));
      const aYear = (alerts: number): string => ((1000 * alerts * 365) / (pages * DAYS)).toFixed(1);
      const one = worlds.reduce(
        (sum, states) => sum + states.slice(1).filter(({ state }) => state !== STATES[type][0]).length,
        0,
      );
      const two = worlds.reduce((sum, states) => sum + alertDays(states).length, 0);
      const delays = Array.from({ length: pages }, (_, page) => {
        return alertDays(inspect({ type, wrong, spell, page, changes: true })).find(
          (day) => day >= addDays(RANGE.from, CHANGES_ON),
        );
      }).flatMap((day) => (day === undefined ? [] : [countDays(RANGE.from, day) - 1 - CHANGES_ON]));
      const median = delays.toSorted((a, b) => a - b)[Math.floor(delays.length / 2)];
      const found = `${((100 * delays.length) / pages).toFixed(0)} % | ${median} days, at most ${Math.max(...delays)}`;
      yield `| ${100 * wrong} % | ${spell} | ${aYear(one)} | ${aYear(two)} | ${found} |`;
    }
  }
}

/** The states of a page that stays as it is until it changes, as inspections find them. */
function inspect({
  type,
  wrong,
  spell,
  page,
  changes,
}: {
  type: IndexAlertType;
  wrong: number;
  spell: number;
  page: number;
  changes: boolean;
}) {
  const draws = new Random(`index ${wrong} ${spell} ${page}`);
  const states: PageState[] = [];
  const offset = Math.floor(draws.uniform(0, EVERY));
  let wrongUntil = -1;
  let next = offset;
  for (let day = 0; day < DAYS; day++) {
    // A wrong verdict begins so often that this share of all days has one.
    if (day > wrongUntil && draws.uniform(0, 1) < wrong / spell) wrongUntil = day + spell - 1;
    if (day !== next) continue;
    const state = STATES[type][day > wrongUntil && !(changes && day >= CHANGES_ON) ? 0 : 1];
    const at = toMicroseconds(Date.parse(`${addDays(RANGE.from, day)}T20:00:00Z`));
    const before = states.at(-1);
    const isSame = before?.state === state;
    if (!isSame) {
      states.push({
        url: `https://shop.example/${page}`,
        since: at,
        state,
        secondAt: null,
        clicks: 10,
        isWatched: false,
      });
    } else if (before.secondAt === null) states[states.length - 1] = { ...before, secondAt: at };
    next = day + (before === undefined || isSame ? EVERY : 1);
  }
  return states;
}

function alertDays(states: readonly PageState[]): Day[] {
  return alertsOfIndex(states, RANGE, CALENDAR).map(({ date }) => date);
}
