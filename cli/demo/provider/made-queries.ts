import { seededRandom } from '../random.ts';
import type { QueryPlan } from './made-searches.ts';

const GOODS =
  'boots shoes jackets tents stoves bags mats poles socks gloves lamps chairs filters ropes maps knives tarps flasks';
const KINDS =
  'waterproof light warm small large folding winter summer trail camping hiking climbing running cheap used best red';
const ENDINGS = ['', ' for men', ' for women', ' for children', ' sale', ' review', ' near me', ' size guide', ' uk'];
const COUNTRIES = ['gbr', 'usa', 'deu', 'fra', 'irl', 'zzz', 'can', 'aus'];
const APPEARANCES = ['PRODUCT_SNIPPETS', 'REVIEW_SNIPPET', 'RECIPE_FEATURE'];

export interface MadeQueriesOptions {
  readonly seed: number;
  /** Number of queries that are not anonymised. */
  readonly count: number;
  /** Base URL of the pages, with a slash. */
  readonly origin: string;
  /** Part of some queries, including the first ones. */
  readonly brand: string;
  /** Searches per day for the most common query; others have fewer and fewer. */
  readonly volume?: number;
}

/** Plans of a shop's queries, the most common first, and of anonymised searches, one for every tenth page. */
export function makeQueries({ seed, count, origin, brand, volume = 400 }: MadeQueriesOptions): QueryPlan[] {
  const random = seededRandom(`queries ${seed}`);
  const [goods, kinds] = [GOODS.split(' '), KINDS.split(' ')];
  const pages = Math.max(3, Math.round(count / 4));
  const pageAt = (number: number): string => `${origin}${goods[number % goods.length]}/${number}`;
  const told = Array.from({ length: count }, (_, number): QueryPlan => {
    const [first, second] = [kinds[number % kinds.length], goods[Math.floor(number / kinds.length) % goods.length]];
    const round = Math.floor(number / (kinds.length * goods.length));
    const ending = ENDINGS[round % ENDINGS.length]!;
    const more = round < ENDINGS.length ? '' : ` ${Math.floor(round / ENDINGS.length) + 1}`;
    const text = `${number % 9 === 0 ? `${brand} ` : ''}${first} ${second}${ending}${more}`;
    const page = Math.floor(random(0, pages));
    const abroad = COUNTRIES[1 + Math.floor(random(0, COUNTRIES.length - 1))]!;
    return {
      text,
      page: pageAt(page),
      ...(number % 4 === 0 ? { secondPage: pageAt((page + 1) % pages) } : {}),
      volume: volume / (1 + number) ** 0.6,
      position: random(1, 30),
      countries: [
        [COUNTRIES[0]!, 0.8],
        [abroad, 0.2],
      ],
      ...(number % 5 === 0 ? { appearances: [APPEARANCES[number % APPEARANCES.length]!] } : {}),
    };
  });
  const untold = told
    .filter((_, number) => number % 10 === 0)
    .map((plan): QueryPlan => ({ ...plan, text: null, volume: plan.volume * 4 }));
  return [...told, ...untold];
}
