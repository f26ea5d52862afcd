import type { Day } from '../../../server/domain/dates.ts';
import type { Device, Result, Search, SearchSource, Stage } from './searches.ts';

/** The mean demand of a query. */
export interface QueryPlan {
  /** Lower case; null for anonymised searches. */
  readonly text: string | null;
  readonly page: string;
  /** Another page of the property that some searches show below the first. */
  readonly secondPage?: string;
  /** Searches per day, over all countries and devices. */
  readonly volume: number;
  readonly position: number;
  /** Countries with their shares, which sum to 1. */
  readonly countries: readonly (readonly [country: string, share: number])[];
  readonly appearances?: readonly string[] | undefined;
}

export interface MadeSearchesOptions {
  readonly seed: number;
  readonly queries: readonly QueryPlan[];
  /** The first day with searches. */
  readonly since?: Day;
  /** Days without any search. */
  readonly silent?: readonly Day[];
}

const DEVICES: readonly (readonly [device: Device, share: number])[] = [
  ['MOBILE', 0.56],
  ['DESKTOP', 0.39],
  ['TABLET', 0.05],
];
const DAY = 86_400_000;
/** Demand by weekday, from Sunday on. */
const WEEK = [0.86, 1.06, 1.08, 1.07, 1.04, 0.98, 0.91];

/** Values shared by all queries of a day. */
interface Moment {
  /** Number of the day. */
  readonly at: number;
  readonly chance: number;
  /** Factor of the volume. */
  readonly demand: number;
}

/**
 * A property of any size without stored data: the searches of a day are computed from the seed, the query and the day,
 * with the same result each time. Days that are not final differ in each stage: they have fewer searches, and rows that
 * disappear later.
 */
export class MadeSearches implements SearchSource {
  readonly #options: MadeSearchesOptions;
  readonly #silent: ReadonlySet<Day>;
  /** Numbers of the plans of a query. */
  readonly #plans = new Map<string, number>();
  readonly #queries: readonly string[];
  readonly #revisions = new Map<Day, number>();

  constructor(options: MadeSearchesOptions) {
    this.#options = options;
    this.#silent = new Set(options.silent);
    for (const [number, { text }] of options.queries.entries()) {
      if (text === null) continue;
      if (this.#plans.has(text)) throw new Error(`The query '${text}' is planned twice.`);
      this.#plans.set(text, number);
    }
    this.#queries = [...this.#plans.keys()];
  }

  queries(): readonly string[] {
    return this.#queries;
  }

  searches(day: Day, stage: Stage, queries?: readonly string[]): Search[] {
    const { queries: plans, since } = this.#options;
    const found: Search[] = [];
    if (this.#silent.has(day) || (since !== undefined && day < since)) return found;
    const at = Date.parse(day) / DAY;
    const step = (stage === 'final' ? 1000 : stage) + this.revision(day) * 7919;
    const moment: Moment = {
      at,
      chance: mix(mix(this.#options.seed, at), step),
      demand: WEEK[(at + 4) % 7]! * (stage === 'final' ? 1 : Math.min(0.97, 0.3 + 0.08 * stage)),
    };
    if (queries === undefined) {
      for (let number = 0; number < plans.length; number++) this.#add(found, number, moment);
      return found;
    }
    for (const query of new Set(queries)) {
      const number = this.#plans.get(query);
      if (number !== undefined) this.#add(found, number, moment);
    }
    return found;
  }

  revision(day: Day): number {
    return this.#revisions.get(day) ?? 0;
  }

  /** Changes a day, even a final one. */
  change(day: Day): void {
    this.#revisions.set(day, this.revision(day) + 1);
  }

  #add(found: Search[], number: number, moment: Moment): void {
    const { text, volume, position, countries, page, secondPage, appearances } = this.#options.queries[number]!;
    const { at } = moment;
    const demand = volume * moment.demand * (1 + 0.3 * Math.sin((at + number * 37) / 58));
    // Two results for every third search, so that there are more rows by page than by property.
    const isTwice = secondPage !== undefined && (number + at) % 3 === 0;
    let state = mix(moment.chance, number) | 1;
    const random = (): number => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return (state >>> 0) / 4294967296;
    };
    for (const [country, share] of countries) {
      for (const [device, part] of DEVICES) {
        const count = Math.floor(demand * share * part * (0.7 + 0.6 * random()) + random());
        if (count < 1) continue;
        const rank = Math.max(1, Math.round(position * (0.8 + 0.4 * random())));
        const clicks = Math.min(count, Math.floor((count * 0.32) / rank + random()));
        const first: Result = { page, position: rank, clicks, appearances };
        const results = isTwice ? [first, { page: secondPage, position: rank + 2, clicks: 0 }] : [first];
        found.push({ query: text, country, device, count, results });
      }
    }
  }
}

/** Mixes two numbers into a pseudo-random 32-bit number. */
function mix(a: number, b: number): number {
  let mixed = Math.imul(a ^ Math.imul(b, 0x9e3779b1), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
