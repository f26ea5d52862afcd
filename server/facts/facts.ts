import type { Day, Month } from '../domain/dates.ts';
import type { Measures } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import type { ConcurrencyLimit } from '../runtime/limits.ts';
import type { CheckedFiles } from '../storage/checked-files.ts';
import type { StoredFile } from '../storage/fact-store.ts';
import { DayGrid } from './day-grid.ts';
import type { Engine, Parameters } from './engine.ts';
import { KeywordTotals } from './keyword-totals.ts';
import type { TakeNumbers } from './results.ts';

export type NamedMeasures = Measures & { readonly name: string };
export type DayMeasures = Measures & { readonly date: Day };
export type CountryMonth = Measures & { readonly month: Month; readonly country: string };

export type Device = 'all' | 'desktop' | 'mobile' | 'tablet';

/** Totals that a breakdown asks by name. */
export type Breakdown = 'country' | 'device' | 'appearance' | 'brand';

/** A question's files, as the manifest names them, and its range. */
export interface Asked {
  readonly files: readonly StoredFile[];
  readonly range: Range;
  readonly signal: AbortSignal;
}

/** Where totals of keywords are added up from, and their range. */
export interface AskedTotals extends Omit<Asked, 'files'> {
  /** Files of days, of months that the range covers in part. */
  readonly days: readonly StoredFile[];
  /** What was stored until the end of one month (its first day), less what was stored until the end of another. */
  readonly running: { readonly file: StoredFile; readonly through: Day; readonly before: Day | null } | undefined;
}

/**
 * The questions that answers are made of, each a SQL file of `sql/facts/`. Without files the answer is no rows. Throws
 * `DamagedFile` for a file that is not what was written.
 */
export class Facts {
  readonly #engine: Engine;
  readonly #files: CheckedFiles;
  readonly #heavy: ConcurrencyLimit;

  /** @param heavy bounds the queries with many rows that run at once */
  constructor(engine: Engine, files: CheckedFiles, heavy: ConcurrencyLimit) {
    this.#engine = engine;
    this.#files = files;
    this.#heavy = heavy;
  }

  /** The days of the property that have rows, in order. */
  siteDays(asked: Asked, device: Device): Promise<DayMeasures[]> {
    return this.#ask('site_daily', asked, { device });
  }

  /** The days of a country that have rows, in order. */
  countryDays(asked: Asked, country: string): Promise<DayMeasures[]> {
    return this.#ask('country_days', asked, { country });
  }

  /** Whole months of one country, or of all (null), that the range touches. */
  countryMonths(asked: Asked, country: string | null): Promise<CountryMonth[]> {
    return this.#ask('country_months', asked, { country });
  }

  /** Totals by name, in no order. */
  totalsBy(breakdown: Breakdown, asked: Asked): Promise<NamedMeasures[]> {
    return this.#ask(`${breakdown}_totals`, asked, {});
  }

  /**
   * Totals of all keywords of `positions` (see `KeywordTotals`). Naming some in the question would not make it faster,
   * unless they were a handful.
   */
  async keywordTotals(
    { days, running, range, signal }: AskedTotals,
    device: Device,
    positions: ReadonlyMap<number, number>,
  ): Promise<KeywordTotals> {
    const totals = new KeywordTotals(positions);
    const add = async (name: string, files: readonly StoredFile[], parameters: Parameters): Promise<void> => {
      const opened = { ...parameters, files: await this.#files.open(files) };
      await this.#engine.numbers(`facts/${name}`, opened, (columns, rows) => totals.add(columns, rows), signal);
    };
    const parts: Promise<void>[] = [];
    if (running !== undefined) {
      const { file, ...months } = running;
      parts.push(add('keyword_running', [file], { ...months, device }));
    }
    if (days.length > 0) {
      parts.push(add('keyword_totals', days, { device, from: range.from, to: range.to }));
    }
    await Promise.all(parts);
    return totals;
  }

  /**
   * The stored days of keywords, which the grid counts in the order given.
   * @param priority who goes first where several wait for their turn
   */
  async keywordDays(
    { files, range, signal }: Asked,
    device: Device,
    keywords: readonly string[],
    priority: number,
  ): Promise<DayGrid> {
    const grid = new DayGrid(range, keywords.length);
    if (files.length === 0) return grid;
    const { from, to } = range;
    const parameters = { device, keywords, from, to, days: grid.days.length, files: await this.#files.open(files) };
    const fill: TakeNumbers = (columns, rows) => grid.fill(columns, rows);
    await this.#heavy.run(signal, () => this.#engine.numbers('facts/keyword_days', parameters, fill, signal), priority);
    return grid;
  }

  #ask<Row>(name: string, asked: Asked, parameters: Parameters): Promise<Row[]> {
    return this.#query(name, asked, { ...parameters, from: asked.range.from, to: asked.range.to });
  }

  async #query<Row>(name: string, { files, signal }: Asked, parameters: Parameters): Promise<Row[]> {
    if (files.length === 0) return [];
    return this.#engine.query<Row>(`facts/${name}`, { ...parameters, files: await this.#files.open(files) }, signal);
  }
}
