import type { Day } from '../../../server/domain/dates.ts';
import type { Search, SearchSource, Stage } from './searches.ts';

/** Searches of a day, listed explicitly. */
export interface KnownSearch extends Search {
  readonly date: Day;
  /** When they exist: always, only until the day is final, or only from then on. */
  readonly seen?: 'always' | 'provisional' | 'final';
}

/** A small property with listed searches; searches can be added and days changed at any time. */
export class KnownSearches implements SearchSource {
  readonly #days = new Map<Day, KnownSearch[]>();
  readonly #revisions = new Map<Day, number>();

  constructor(searches: Iterable<KnownSearch> = []) {
    this.add(searches);
  }

  add(searches: Iterable<KnownSearch>): void {
    for (const search of searches) {
      const day = this.#days.get(search.date);
      if (day === undefined) this.#days.set(search.date, [search]);
      else day.push(search);
      this.#revise(search.date);
    }
  }

  /** Replaces a day, even a final one. */
  replace(day: Day, searches: readonly Omit<KnownSearch, 'date'>[]): void {
    this.#days.set(
      day,
      searches.map((search) => ({ ...search, date: day })),
    );
    this.#revise(day);
  }

  queries(): readonly string[] {
    const queries = [...this.#days.values()].flatMap((day) => day.flatMap(({ query }) => query ?? []));
    return [...new Set(queries)];
  }

  *searches(day: Day, stage: Stage, queries?: readonly string[]): Iterable<Search> {
    const wanted = queries && new Set(queries);
    for (const search of this.#days.get(day) ?? []) {
      const { seen = 'always', query } = search;
      if (seen !== 'always' && (seen === 'final') !== (stage === 'final')) continue;
      if (wanted === undefined || (query !== null && wanted.has(query))) yield search;
    }
  }

  revision(day: Day): number {
    return this.#revisions.get(day) ?? 0;
  }

  #revise(day: Day): void {
    this.#revisions.set(day, this.revision(day) + 1);
  }
}
