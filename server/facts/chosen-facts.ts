import type { StoredFile } from '../storage/file-store.ts';
import type { EngineName } from './engine-choice.ts';
import type { Facts, FactsPart, FactsQuery, TakeColumns } from './facts.ts';
import { UnreadableByTrino } from './trino/failures.ts';

type Choose = (files: readonly StoredFile[]) => EngineName;

/** Passes each question to the engine that is chosen for its files. */
export class ChosenFacts implements Facts {
  readonly #duckdb: Facts;
  readonly #trino: Facts;
  readonly #choose: Choose;

  constructor(duckdb: Facts, trino: Facts, choose: Choose) {
    this.#duckdb = duckdb;
    this.#trino = trino;
    this.#choose = choose;
  }

  siteDays(...of: Parameters<Facts['siteDays']>): ReturnType<Facts['siteDays']> {
    return this.#ask(of[0], (facts) => facts.siteDays(...of));
  }

  siteDaysOfEach(...of: Parameters<Facts['siteDaysOfEach']>): ReturnType<Facts['siteDaysOfEach']> {
    return this.#ask(filesOfParts(of[0]), (facts) => facts.siteDaysOfEach(...of));
  }

  queryTotalsOfEach(...of: Parameters<Facts['queryTotalsOfEach']>): ReturnType<Facts['queryTotalsOfEach']> {
    return this.#ask(filesOfParts(of[0]), (facts) => facts.queryTotalsOfEach(...of));
  }

  countryDays(...of: Parameters<Facts['countryDays']>): ReturnType<Facts['countryDays']> {
    return this.#ask(of[0], (facts) => facts.countryDays(...of));
  }

  countryMonths(...of: Parameters<Facts['countryMonths']>): ReturnType<Facts['countryMonths']> {
    return this.#ask(of[0], (facts) => facts.countryMonths(...of));
  }

  totalsBy(...of: Parameters<Facts['totalsBy']>): ReturnType<Facts['totalsBy']> {
    return this.#ask(of[1], (facts) => facts.totalsBy(...of));
  }

  keywordTotals(...of: Parameters<Facts['keywordTotals']>): ReturnType<Facts['keywordTotals']> {
    const { cumulative, running, days } = of[0].plan;
    const files = [...cumulative.map(({ file }) => file), ...(running ? [running.file] : []), ...days];
    return this.#ask({ files }, (facts) => facts.keywordTotals(...of));
  }

  keywordDays(...of: Parameters<Facts['keywordDays']>): ReturnType<Facts['keywordDays']> {
    return this.#ask(of[0], (facts) => facts.keywordDays(...of));
  }

  keywordImpressions(query: FactsQuery, keywords: readonly string[], take: TakeColumns): Promise<void> {
    return this.#take(query, take, (facts, own) => facts.keywordImpressions(query, keywords, own));
  }

  keywordCumulativeDays(query: FactsQuery, take: TakeColumns): Promise<void> {
    return this.#take(query, take, (facts, own) => facts.keywordCumulativeDays(query, own));
  }

  keywordSums(...of: Parameters<Facts['keywordSums']>): ReturnType<Facts['keywordSums']> {
    return this.#ask(of[0], (facts) => facts.keywordSums(...of));
  }

  storedDays(...of: Parameters<Facts['storedDays']>): ReturnType<Facts['storedDays']> {
    return this.#ask(of[0], (facts) => facts.storedDays(...of));
  }

  keywordPages(query: FactsQuery, keywords: readonly string[] | 'all', take: TakeColumns): Promise<void> {
    return this.#take(query, take, (facts, own) => facts.keywordPages(query, keywords, own));
  }

  keywordPageNames(...of: Parameters<Facts['keywordPageNames']>): ReturnType<Facts['keywordPageNames']> {
    return this.#ask(of[0], (facts) => facts.keywordPageNames(...of));
  }

  keywordPageTotals(...of: Parameters<Facts['keywordPageTotals']>): ReturnType<Facts['keywordPageTotals']> {
    return this.#ask(of[0], (facts) => facts.keywordPageTotals(...of));
  }

  /** It reads no files, and both engines have the same numbers. */
  pageNumbers(...of: Parameters<Facts['pageNumbers']>): ReturnType<Facts['pageNumbers']> {
    return this.#duckdb.pageNumbers(...of);
  }

  pageUrls(...of: Parameters<Facts['pageUrls']>): ReturnType<Facts['pageUrls']> {
    return this.#ask(of[0], (facts) => facts.pageUrls(...of));
  }

  pageSums(...of: Parameters<Facts['pageSums']>): ReturnType<Facts['pageSums']> {
    return this.#ask(of[0], (facts) => facts.pageSums(...of));
  }

  /** Files that an older version wrote, and that Trino cannot decode, are read by DuckDB. */
  async #ask<T>({ files }: Pick<FactsQuery, 'files'>, ask: (facts: Facts) => Promise<T>): Promise<T> {
    if (this.#choose(files) === 'duckdb') return ask(this.#duckdb);
    try {
      return await ask(this.#trino);
    } catch (error) {
      if (!(error instanceof UnreadableByTrino)) throw error;
      return ask(this.#duckdb);
    }
  }

  /** As `#ask`, unless rows were taken before. */
  #take(
    query: Pick<FactsQuery, 'files'>,
    take: TakeColumns,
    ask: (facts: Facts, take: TakeColumns) => Promise<void>,
  ): Promise<void> {
    let hasTaken = false;
    return this.#ask(query, (facts) => {
      if (hasTaken) throw new Error('Trino could not decode a file after it had read others');
      return ask(facts, (...rows) => {
        hasTaken = true;
        take(...rows);
      });
    });
  }
}

function filesOfParts(parts: readonly FactsPart[]): Pick<FactsQuery, 'files'> {
  return { files: parts.flatMap(({ files }) => files) };
}
