import { join } from 'node:path';
import type { Day, Month } from '../domain/dates.ts';
import { shortIdNumber } from '../domain/ids.ts';
import { type Measures, NOTHING } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import type { Gate } from '../gate.ts';
import { sqlText } from '../sql.ts';
import { DayGrid } from './day-grid.ts';
import type { Engine, Parameters } from './engine.ts';

export type NamedMeasures = Measures & { readonly name: string };
export type DayMeasures = Measures & { readonly date: Day };
export type CountryMonth = Measures & { readonly month: Month; readonly country: string };

/** The totals of a keyword; zeros where it has none. */
export type TotalsOf = (id: string) => Measures;

export type Device = 'all' | 'desktop' | 'mobile' | 'tablet';

/** Totals that a breakdown asks by name. */
export type Breakdown = 'country' | 'device' | 'appearance' | 'brand';

/** A question's files (relative to the data folder, as the manifest names them) and its range. */
export interface Asked {
  readonly files: readonly string[];
  readonly range: Range;
  readonly signal: AbortSignal;
}

/** Where totals of keywords are added up from, and their range. */
export interface AskedTotals extends Omit<Asked, 'files'> {
  /** Files of days, of months that the range covers in part. */
  readonly days: readonly string[];
  /** Files of month sums. */
  readonly sums: readonly string[];
  /** First days of the first and last month whose sums count. */
  readonly covered: Range;
}

/** The questions that answers are made of, each a SQL file of `sql/facts/`. Without files the answer is no rows. */
export class Facts {
  readonly #engine: Engine;
  readonly #dataFolder: string;
  readonly #heavy: Gate;

  /** @param heavy bounds the queries with many rows that run at once */
  constructor(engine: Engine, dataFolder: string, heavy: Gate) {
    this.#engine = engine;
    this.#dataFolder = dataFolder;
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

  /** Totals of keywords by id; of all keywords where none are named. */
  async keywordTotals(asked: AskedTotals, device: Device, keywords?: readonly string[]): Promise<TotalsOf> {
    const { days, sums, covered, range, signal } = asked;
    const totals = new Map<number, Measures>();
    const totalsOf = (id: string): Measures => totals.get(shortIdNumber(id)) ?? NOTHING;
    if (days.length + sums.length === 0) return totalsOf;
    const parameters = {
      device,
      from: range.from,
      to: range.to,
      // A question needs files to look at: those that it has no use for stand in.
      days: this.#paths(days.length > 0 ? days : sums),
      hasDays: days.length > 0,
      sums: this.#paths(sums.length > 0 ? sums : days),
      hasSums: sums.length > 0,
      sumsFrom: covered.from,
      sumsTo: covered.to,
    };
    using session = await this.#engine.session(signal);
    const take = ([keyword, clicks, impressions, sumPosition]: readonly Float64Array[], rows: number): void => {
      for (let row = 0; row < rows; row++) {
        totals.set(keyword![row]!, {
          clicks: clicks![row]!,
          impressions: impressions![row]!,
          sumPosition: sumPosition![row]!,
        });
      }
    };
    if (keywords === undefined) await session.numbers(sqlText('facts/keyword_totals'), parameters, take);
    else await session.numbers(sqlText('facts/keyword_totals_of'), { ...parameters, keywords }, take);
    return totalsOf;
  }

  /** The stored days of keywords, which the grid counts in the order given. */
  async keywordDays({ files, range, signal }: Asked, device: Device, keywords: readonly string[]): Promise<DayGrid> {
    const grid = new DayGrid(range, keywords.length);
    if (files.length === 0) return grid;
    const parameters = { device, keywords, from: range.from, to: range.to, files: this.#paths(files) };
    await this.#heavy.run(signal, async () => {
      using session = await this.#engine.session(signal);
      await session.numbers(sqlText('facts/keyword_days'), parameters, (columns, rows) => grid.fill(columns, rows));
    });
    return grid;
  }

  #paths(files: readonly string[]): string[] {
    return files.map((file) => join(this.#dataFolder, file));
  }

  #ask<Row>(name: string, asked: Asked, parameters: Parameters): Promise<Row[]> {
    return this.#query(name, asked, { ...parameters, from: asked.range.from, to: asked.range.to });
  }

  #query<Row>(name: string, { files, signal }: Asked, parameters: Parameters): Promise<Row[]> {
    if (files.length === 0) return Promise.resolve([]);
    return this.#engine.query<Row>(`facts/${name}`, { ...parameters, files: this.#paths(files) }, signal);
  }
}
