import { addDays, type Day } from '../../server/domain/dates.ts';
import { facts, keyword, type Tables } from '../world.ts';

export const LAST = '2026-03-07';
const DAYS = 280;

/** Repeatable noise around 1. */
function noise(seed: number): number {
  const mixed = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d);
  return 0.9 + 0.2 * (((mixed ^ (mixed >>> 12)) >>> 0) / 4294967296);
}

/** A query or page with so many impressions a day at a position, by days before the last final one. */
interface Shown {
  readonly name: string;
  readonly impressions: (age: number) => number;
  readonly position?: (age: number) => number;
  /** What its CTR is multiplied by. */
  readonly ctr?: (age: number) => number;
}

const usual = (name: string, at: number): Shown => ({
  name,
  impressions: () => 60 + 15 * at,
  position: () => 2 + 0.3 * at,
});

const QUERIES: readonly Shown[] = [
  ...Array.from({ length: 30 }, (_, at) => usual(`usual ${at}`, at)),
  { name: 'dull title', impressions: () => 400, position: () => 4, ctr: (age) => (age < 28 ? 0.4 : 1) },
  { name: 'in the news', impressions: (age) => (age < 28 ? 900 : 300), position: () => 5 },
  { name: 'slipped', impressions: () => 400, position: (age) => (age < 28 ? 9 : 4) },
  { name: 'gone', impressions: (age) => (age < 30 ? 0 : 80), position: () => 6 },
  { name: 'arrived', impressions: (age) => (age < 21 ? 90 : 0), position: () => 6 },
];
const PAGES: readonly Shown[] = [
  ...Array.from({ length: 20 }, (_, at) => usual(`https://shop.example/${at}`, at)),
  { name: 'https://shop.example/old', impressions: (age) => 500 * 0.985 ** ((DAYS - age) / 7), position: () => 4 },
];

function rowsOf(column: string, all: readonly Shown[], last: Day) {
  return facts(
    `date ${column} country`,
    ...all.flatMap(({ name, impressions, position = () => 3, ctr = () => 1 }, row) =>
      Array.from({ length: DAYS }, (_, at) => {
        const age = DAYS - 4 - at;
        const shown = Math.round(impressions(age) * noise(1000 * row + at));
        const place = position(age);
        const clicks = Math.round(shown * (0.3 / place) * ctr(age) * noise(7919 * row + 31 * at));
        return [addDays(last, -age), name, 'usa', clicks, shown, Math.round(shown * (place - 1))];
      }).filter(([, , , , shown]) => Number(shown) > 0),
    ),
  );
}

/** A site of which findings of every type are known: steady rows, and some that have changed. `last`: the last final day. */
function siteOf(last: Day): Tables {
  const days = Array.from({ length: 28 }, (_, age) => ({ day: addDays(last, -age), age }));
  return {
    keywords: [keyword('Kw001', 'two pages'), keyword('Kw002', 'one page')],
    query_daily: rowsOf('query', QUERIES, last),
    page_daily: rowsOf('url', PAGES, last),
    keyword_daily: facts(
      'date keyword_id device',
      ...days.flatMap(({ day }) => [
        [day, 'Kw001', 'mobile', 2, 50, 80],
        [day, 'Kw002', 'mobile', 1, 50, 40],
      ]),
    ),
    // Two pages of a tracked query that take turns.
    keyword_page_daily: facts(
      'date keyword_id url',
      ...days.flatMap(({ day, age }) => [
        [day, 'Kw001', 'https://shop.example/a#top', 1, age % 2 === 0 ? 40 : 20, 40],
        [day, 'Kw001', 'https://shop.example/b', 1, 30, 40],
        [day, 'Kw002', 'https://shop.example/a', 1, 50, 40],
      ]),
    ),
  };
}

export const SITE = siteOf(LAST);
