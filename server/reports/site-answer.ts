import type { Project } from '../catalog/projects.ts';
import { ComparedRanges, type DayReasons } from '../domain/compared-ranges.ts';
import type { Day } from '../domain/dates.ts';
import { type Bucket, bucketsOf, daysUntil, type Interval } from '../domain/intervals.ts';
import type { ExactMeasures } from '../domain/metrics.ts';
import { oneDevice } from '../domain/project-ranges.ts';
import { type Range, within } from '../domain/range.ts';
import { Total } from '../domain/spread.ts';
import type { Device } from '../facts/facts.ts';
import type { Series } from '../facts/series.ts';
import { SURFACES } from '../model/surfaces.ts';
import { type KnownMetrics, metricsOf, type PartSums, type Sums } from '../query/rows.ts';
import type { KnownDays } from './known-days.ts';
import { type OfSurface, surfaceRange } from './search-type.ts';

/** The data of a property. */
export interface SiteFacts extends Range, OfSurface {
  readonly project: Project;
  readonly device: Device;
  readonly country: string | null;
  readonly comparison: Range | null;
  /** From the first stored day to the last synced one; null if there is none. */
  readonly days: Range | null;
  readonly series: Series;
  /** Null without a comparison. */
  readonly known: KnownDays | null;
  /** Up to this day the country has monthly totals only. */
  readonly monthlyThrough: Day | null;
}

/** Sums over some days, and over the days to compare with. */
export interface SiteSums extends Sums {
  readonly known: KnownMetrics;
}

export interface SiteRow extends PartSums {
  readonly known: KnownMetrics;
  readonly date: Day;
  /** See `daysUntil`; undefined for single days. */
  readonly days?: number;
}

/** Sums the data of a property over the range and its parts. */
export class SiteAnswer {
  readonly total: SiteSums;
  readonly #facts: SiteFacts;
  readonly #compared: ComparedRanges | null;

  constructor(facts: SiteFacts) {
    const { from, to, comparison, known, device } = facts;
    this.#facts = facts;
    this.#compared =
      comparison && new ComparedRanges({ from, to }, comparison, reasonsOf(known!, facts), oneDevice(device));
    const [now, base] = [this.#over([{ from, to }]), this.#over(comparison === null ? [] : [comparison])];
    this.total = { now, base, comparer: this.#compared?.total, known: this.#known };
  }

  /** The range of the response. */
  get range() {
    const { from, to, type, device, country, comparison, monthlyThrough, project } = this.#facts;
    return {
      from,
      to,
      ...surfaceRange(type),
      ...(type && { lastDay: project.syncedThrough }),
      device,
      country,
      provisionalAfter: project.provisionalAfter,
      ...(country === null ? {} : { countryMonthlyThrough: monthlyThrough }),
      ...(comparison === null ? {} : { comparison }),
    };
  }

  /** The days, or longer intervals, that are stored or known to be empty. */
  series(interval: Interval): SiteRow[] {
    const { from, to, days } = this.#facts;
    const hasDays = (bucket: Range): boolean => days !== null && within(bucket, days.from, days.to) !== null;
    return bucketsOf({ from, to }, interval)
      .filter(hasDays)
      .map((bucket: Bucket) => ({
        date: bucket.from,
        ...(interval === 'day' ? {} : { days: daysUntil(bucket, days!.to) }),
        ...this.#sums(bucket),
      }));
  }

  #sums(bucket: Bucket): Omit<SiteRow, 'date'> {
    const now = this.#over([bucket]);
    if (this.#compared === null) return { now, known: this.#known };
    const comparer = this.#compared.part(bucket);
    return { now, base: comparer && this.#over(this.#compared.counterpart(bucket)), comparer, known: this.#known };
  }

  get #known(): KnownMetrics {
    return SURFACES[this.#facts.type ?? 'web'].hasDailyPositions ? 'all' : 'no_position';
  }

  #over(parts: readonly Range[]): ExactMeasures {
    const { days, series } = this.#facts;
    const total = new Total();
    for (const part of parts) {
      const stored = days && within(part, days.from, days.to);
      if (stored !== null) series.over(stored, total);
    }
    return total.measures;
  }
}

/** A row of a response. */
export function siteRow({ date, days, ...sums }: SiteRow) {
  return { date, ...(days === undefined ? {} : { days }), ...metricsOf(sums, sums.known) };
}

/** The sums of a response. */
export function siteMetrics(sums: SiteSums) {
  return metricsOf(sums, sums.known);
}

/** If a country has no total of a month, it is among the other countries. */
function reasonsOf(known: KnownDays, { series, monthlyThrough }: SiteFacts): DayReasons {
  return {
    reasonsOn: (day) => {
      const reasons = known.reasonsOn(day);
      const isOther = monthlyThrough !== null && day <= monthlyThrough && !series.hasMonthOf(day);
      return isOther ? [...reasons, 'monthly_spread'] : reasons;
    },
    monthlyThrough,
    events: known.events,
  };
}
