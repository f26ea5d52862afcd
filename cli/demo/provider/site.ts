import { LRUCache } from 'lru-cache';
import { addDays, type Day, eachDay, earlier, later, pacificDayOf } from '../../../server/domain/dates.ts';
import { hoursOf, hourText } from '../../../server/domain/hours.ts';
import type { OtherType } from '../../../server/model/surfaces.ts';
import { firstIncompleteDay, newestDay, oldestDay, stageOf, TIMETABLE, type Timetable } from './days.ts';
import { compileFilters, type Filters } from './filters.ts';
import { firstIncompleteHour, newestHour, spreadOverHours } from './hours.ts';
import { type AnalyticsRequest, isAbout, isByPage } from './request.ts';
import { type Counted, Groups, type RowOptions } from './rows.ts';
import {
  addTo,
  countByPage,
  countByProperty,
  type Measures,
  type Result,
  type Search,
  type SearchSource,
  type Stage,
} from './searches.ts';

/** How a property answers; tests change it. */
export interface SiteOptions extends RowOptions {
  /** Whether answers report the first incomplete day, and by which of its two names. */
  metadata: 'firstIncompleteDate' | 'first_incomplete_date' | 'none';
  readonly timetable: Timetable;
  /** The search types besides web that the property has, with the share of the measures of web. */
  readonly types: Partial<Record<OtherType, number>>;
  /** Days by which types are final later than web. */
  readonly lateTypes: Partial<Record<OtherType, number>>;
}

/** A submitted sitemap as the API writes it: counts as texts, and what is unknown left out. */
export interface SubmittedSitemap {
  readonly path: string;
  readonly type?: string;
  readonly isSitemapsIndex?: boolean;
  readonly isPending?: boolean;
  readonly lastSubmitted?: string;
  readonly lastDownloaded?: string;
  readonly warnings?: string;
  readonly errors?: string;
  readonly contents?: readonly { readonly type: string; readonly submitted: string; readonly indexed: string }[];
}

/** The state of a page in the index, as the API writes it; what is unknown is left out. */
export type IndexedPage = Readonly<Record<string, string | readonly string[]>>;

/** A page that is in the index. */
function indexedPage(url: string): IndexedPage {
  return {
    verdict: 'PASS',
    coverageState: 'Submitted and indexed',
    robotsTxtState: 'ALLOWED',
    indexingState: 'INDEXING_ALLOWED',
    lastCrawlTime: '2026-03-14T08:00:00Z',
    pageFetchState: 'SUCCESSFUL',
    googleCanonical: url,
    userCanonical: url,
    crawledAs: 'MOBILE',
  };
}

/** The body of an answer. Rows are already JSON, because there can be many. */
export interface SiteAnswer {
  readonly rows: readonly string[];
  readonly metadata: object | undefined;
  readonly responseAggregationType: 'byPage' | 'byProperty';
}

/** Sums by property of the searches of a day, country and device. */
interface Cell {
  readonly search: Search;
  readonly measures: Measures;
}

const HOUR_METADATA = {
  firstIncompleteDate: 'firstIncompleteHour',
  first_incomplete_date: 'first_incomplete_hour',
} as const;

/** Adds what was counted to an answer. */
type Add = (counted: Counted, measures: Measures) => void;

/** A property and its answers. */
export class Site {
  readonly source: SearchSource;
  readonly options: SiteOptions;
  sitemaps: readonly SubmittedSitemap[] = [];
  /** The state of each page in the index. */
  indexStateOf: (url: string) => IndexedPage = indexedPage;
  /** Sums of days by country and device, from which most totals are computed. */
  readonly #cubes = new LRUCache<string, readonly Cell[]>({ max: 1000 });

  constructor(source: SearchSource, options: Partial<SiteOptions> = {}) {
    this.source = source;
    this.options = {
      rowsPerDay: 50_000,
      metadata: 'firstIncompleteDate',
      order: 'clicks',
      timetable: { ...TIMETABLE },
      types: {},
      lateTypes: {},
      ...options,
    };
  }

  /** @param now milliseconds */
  answer(request: AnalyticsRequest, now: number): SiteAnswer {
    const share = request.type === 'web' ? 1 : (this.options.types[request.type] ?? 0);
    const days = share === 0 ? [] : this.days(request, now);
    const groups = new Groups(request, this.options);
    const tellsDays = request.dimensions.includes('date');
    const tellsHours = request.dimensions.includes('hour');
    const filters = compileFilters(request.filters);
    for (const day of days) {
      if (tellsHours) this.#countHours(request, filters, day, now, groups);
      else {
        this.#count(request, filters, day, stageOf(day, now, this.#timetableOf(request)), (counted, measures) => {
          const part = share === 1 ? measures : shareOf(measures, share);
          if (part.impressions > 0) groups.add(day, counted, part);
        });
      }
      if (tellsDays) groups.endDay();
    }
    return {
      rows: groups.page(days.length),
      metadata: tellsDays || tellsHours ? this.#metadata(request, now) : undefined,
      responseAggregationType: isByPage(request) ? 'byPage' : 'byProperty',
    };
  }

  /** The days of a request that can be read. */
  days(
    { from, to, dataState, type }: Pick<AnalyticsRequest, 'from' | 'to' | 'dataState' | 'type'>,
    now: number,
  ): Day[] {
    const timetable = this.#timetableOf({ type });
    const newest = newestDay(now, timetable);
    if (dataState === 'hourly_all') {
      const today = pacificDayOf(now);
      return [...eachDay(later(from, addDays(today, 1 - timetable.hourlyDays)), earlier(to, today))];
    }
    return eachDay(later(from, oldestDay(now, timetable)), earlier(to, newest)).filter(
      (day) => dataState === 'all' || stageOf(day, now, timetable) === 'final',
    );
  }

  /** Complete hours are those of the final day; others change with its stages. Most days have hours of one kind only. */
  #countHours(request: AnalyticsRequest, filters: Filters, day: Day, now: number, groups: Groups): void {
    const { timetable } = this.options;
    const first = firstIncompleteHour(now, timetable);
    const newest = newestHour(now, timetable);
    const count = (stage: Stage, includes: (hour: number) => boolean): void =>
      this.#count(request, filters, day, stage, (counted, measures) => {
        for (const [hour, part] of spreadOverHours(day, counted.search, measures)) {
          if (includes(hour)) groups.add(day, { ...counted, hour: hourText(hour) }, part);
        }
      });
    if (hoursOf(day)[0]! < first) count('final', (hour) => hour < first);
    if (hoursOf(day).at(-1)! >= first) count(stageOf(day, now, timetable), (hour) => hour >= first && hour <= newest);
  }

  #count(request: AnalyticsRequest, filters: Filters, day: Day, stage: Stage, add: Add): void {
    const needsQuery = isAbout(request, 'query');
    const byPage = isByPage(request);
    if (!byPage && !needsQuery && !request.dimensions.includes('hour')) {
      for (const { search, measures } of this.#cube(day, stage)) {
        if (passesSearch(search, filters)) add({ search }, measures);
      }
      return;
    }
    for (const search of this.source.searches(day, stage, filters.queries)) {
      if (!passesSearch(search, filters)) continue;
      if (needsQuery && (search.query === null || !filters.pass('query', search.query))) continue;
      if (!byPage) {
        add({ search }, countByProperty(search));
        continue;
      }
      for (const result of search.results) {
        if (!passesResult(result, filters)) continue;
        const measures = countByPage(search, result);
        if (!request.dimensions.includes('searchAppearance')) add({ search, result }, measures);
        else for (const appearance of result.appearances ?? []) add({ search, result, appearance }, measures);
      }
    }
  }

  #cube(day: Day, stage: Stage): readonly Cell[] {
    const key = `${day} ${stage} ${this.source.revision(day)}`;
    const known = this.#cubes.get(key);
    if (known !== undefined) return known;
    const countries = new Map<string, Map<string, Cell>>();
    for (const search of this.source.searches(day, stage)) {
      const devices = countries.get(search.country) ?? new Map<string, Cell>();
      if (devices.size === 0) countries.set(search.country, devices);
      const cell = devices.get(search.device);
      const measures = countByProperty(search);
      if (cell === undefined) devices.set(search.device, { search, measures });
      else addTo(cell.measures, measures);
    }
    const cube = [...countries.values()].flatMap((devices) => [...devices.values()]);
    this.#cubes.set(key, cube);
    return cube;
  }

  #timetableOf({ type }: Pick<AnalyticsRequest, 'type'>): Timetable {
    const { timetable, lateTypes } = this.options;
    const late = type === 'web' ? 0 : (lateTypes[type] ?? 0);
    return { ...timetable, finalAfterDays: timetable.finalAfterDays + late };
  }

  #metadata({ dataState, to, type }: AnalyticsRequest, now: number): object | undefined {
    const { metadata } = this.options;
    const timetable = this.#timetableOf({ type });
    if (dataState === 'hourly_all') {
      const hour = firstIncompleteHour(now, timetable);
      return metadata === 'none' || to < pacificDayOf(hour) ? undefined : { [HOUR_METADATA[metadata]]: hourText(hour) };
    }
    const first = firstIncompleteDay(now, timetable);
    if (dataState !== 'all' || metadata === 'none' || to < first) return undefined;
    return { [metadata]: first };
  }
}

/** A part of measures, in whole numbers. */
function shareOf({ clicks, impressions, positions }: Measures, share: number): Measures {
  const shown = Math.floor(impressions * share);
  const isShown = shown > 0;
  return {
    clicks: Math.min(shown, Math.floor(clicks * share)),
    impressions: shown,
    positions: isShown ? (positions / impressions) * shown : 0,
  };
}

function passesSearch({ country, device }: Search, filters: Filters): boolean {
  return filters.pass('country', country) && filters.pass('device', device);
}

function passesResult({ page, appearances = [] }: Result, filters: Filters): boolean {
  return filters.pass('page', page) && filters.passAny('searchAppearance', appearances);
}
