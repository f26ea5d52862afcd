import type { TrackedKeyword } from '../catalog/tracked.ts';
import type { Comparer } from '../domain/comparison.ts';
import { isoInstant } from '../domain/instants.ts';
import type { Measures } from '../domain/metrics.ts';
import type { DayGrid } from '../facts/day-grid.ts';
import type { KeywordDays } from '../facts/facts.ts';
import { openRows, RowBytes } from '../formats/json.ts';
import type { Cell, Column, RowsAnswer } from '../formats/rows.ts';
import { DAYS, dimension, MEASURED, type SetColumn, table } from '../formats/table.ts';
import type { RowSet } from '../query/rows.ts';
import { reportExternalBytes } from '../runtime/external-memory.ts';
import { Piece } from '../runtime/text-bytes.ts';
import type { KeywordSeries, KeywordsResult } from './keywords.ts';

type Tracked = KeywordsResult['tracked'];

/** What a keyword is besides its metrics, in the order of responses. */
const KEYWORD: readonly (readonly [
  name: string,
  type: Column['type'],
  read: (keyword: TrackedKeyword, membership: Tracked['membership']) => Cell,
])[] = [
  ['id', 'text', ({ id }) => id],
  ['query', 'text', ({ query }) => query],
  ['source', 'text', ({ source }) => source],
  ['trackedSince', 'instant', ({ trackedSince }) => isoInstant(trackedSince)],
  ['intent', 'text', ({ intent }) => intent],
  ['groupIds', 'ids', ({ id }, { groupsOf }) => groupsOf.get(id) ?? []],
];

/** Keywords with their totals. */
class KeywordSet implements RowSet {
  readonly known = 'all';
  readonly length: number;
  readonly keywords: readonly TrackedKeyword[];
  readonly #totals: KeywordsResult['totals'];
  readonly #comparison: KeywordsResult['comparison'];

  constructor({ keywords, totals, comparison }: KeywordsResult) {
    this.length = keywords.length;
    this.keywords = keywords;
    this.#totals = totals;
    this.#comparison = comparison;
  }

  name(row: number): string {
    return this.keywords[row]!.query;
  }

  now(row: number): Measures {
    return this.#totals.of(this.keywords[row]!);
  }

  comparer(row: number): Comparer | undefined {
    return this.#comparison?.comparerOf(this.keywords[row]!);
  }

  base(row: number): Measures {
    return this.#comparison!.totals.of(this.keywords[row]!);
  }
}

/** The stored days, or longer intervals, of some keywords. */
class DaySet implements RowSet {
  readonly known = 'all';
  readonly length: number;
  readonly keywords: readonly TrackedKeyword[];
  /** The first row of each keyword, and the number of rows. */
  readonly starts: Uint32Array;
  readonly #grid: DayGrid;
  readonly #baseGrid: DayGrid | undefined;
  /** The cell of each row in both grids. */
  readonly #cells: Uint32Array;
  readonly #counts: KeywordSeries['dayCounts'];
  readonly #comparers: readonly (Comparer | null)[] | undefined;
  readonly #now = { clicks: 0, impressions: 0, sumPosition: 0 };
  readonly #base = { clicks: 0, impressions: 0, sumPosition: 0 };

  /** @param comparers of the days; null for those that the other range does not have */
  constructor(
    { keywords, days, base }: KeywordDays<TrackedKeyword>,
    counts: KeywordSeries['dayCounts'],
    comparers: readonly (Comparer | null)[] | undefined,
  ) {
    const cells = new Uint32Array(days.stored.length);
    const starts = new Uint32Array(keywords.length + 1);
    let length = 0;
    for (let cell = 0, keyword = 0; keyword < keywords.length; keyword++) {
      for (let day = 0; day < days.days.length; day++, cell++) if (days.stored[cell] === 1) cells[length++] = cell;
      starts[keyword + 1] = length;
    }
    this.length = length;
    this.keywords = keywords;
    this.starts = starts;
    this.#grid = days;
    this.#baseGrid = base;
    this.#cells = cells;
    this.#counts = counts;
    this.#comparers = comparers;
  }

  keyword(row: number): TrackedKeyword {
    return this.keywords[Math.floor(this.#cells[row]! / this.#grid.days.length)]!;
  }

  /** The index of the day, or interval. */
  day(row: number): number {
    return this.#cells[row]! % this.#grid.days.length;
  }

  name(row: number, at: number): string {
    return at === 0 ? this.keyword(row).query : this.#grid.days[this.day(row)]!;
  }

  days(row: number): number {
    return this.#counts![this.day(row)]!;
  }

  now(row: number): Measures {
    return measuresOf(this.#grid, this.#cells[row]!, this.#now);
  }

  comparer(row: number): Comparer | null | undefined {
    return this.#comparers?.[this.day(row)];
  }

  base(row: number): Measures {
    return measuresOf(this.#baseGrid!, this.#cells[row]!, this.#base);
  }
}

/** `DayGrid.measures` without an object for each cell. */
function measuresOf(
  { clicks, impressions, sumPosition }: DayGrid,
  cell: number,
  into: { -readonly [Name in keyof Measures]: number },
): Measures {
  into.clicks = clicks[cell]!;
  into.impressions = impressions[cell]!;
  into.sumPosition = sumPosition[cell]!;
  return into;
}

async function* daySets({ comparison }: KeywordsResult, series: KeywordSeries): AsyncGenerator<DaySet> {
  const { buckets, dayCounts, batches } = series;
  const comparers = comparison && buckets.map((bucket) => comparison.ranges.part(bucket));
  for await (const batch of batches) yield new DaySet(batch, dayCounts, comparers);
}

/** Bytes per chunk. */
const CHUNK = 64 * 1024;
/** Most keywords are shorter, in bytes. */
const BYTES = { plain: 256, compared: 1024 };
/** Closes the metrics of a keyword. */
const CLOSE = new Piece('}');

/** Keywords with their totals. */
export function keywordsJson(result: KeywordsResult): Buffer {
  const { head, keywords, comparison, tracked } = result;
  const bytes = new RowBytes((comparison ? BYTES.compared : BYTES.plain) * (keywords.length + 1));
  const set = new KeywordSet(result);
  const startOf = startsOf(tracked);
  bytes.text(openRows(head, 'keywords'));
  for (let row = 0; row < set.length; row++) {
    if (row > 0) bytes.char(',');
    bytes.row(startOf(keywords[row]!), set, row, CLOSE);
    bytes.char('}');
  }
  bytes.text(']}');
  const json = bytes.all();
  reportExternalBytes(json.length);
  return json;
}

/** Keywords with their totals and days, in chunks. */
export async function* dailyKeywordsJson(result: KeywordsResult): AsyncGenerator<Buffer, void> {
  const { head, daily, tracked, keywords } = result;
  const { buckets, dayCounts } = daily!;
  const bytes = new RowBytes();
  const totals = new KeywordSet(result);
  const startOf = startsOf(tracked);
  const dayStarts = buckets.map(({ from }, at) => {
    const count = dayCounts === undefined ? '' : `"days":${dayCounts[at]},`;
    return new Piece(`{"date":"${from}",${count}`);
  });
  bytes.text(openRows(head, 'keywords'));
  let row = 0;
  for await (const days of daySets(result, daily!)) {
    for (let keyword = 0; keyword < days.keywords.length; keyword++, row++) {
      if (row > 0) bytes.char(',');
      bytes.row(startOf(keywords[row]!), totals, row, CLOSE);
      bytes.text(',"daily":[');
      const [first, end] = [days.starts[keyword]!, days.starts[keyword + 1]!];
      for (let day = first; day < end; day++) {
        if (day > first) bytes.char(',');
        bytes.row(dayStarts[days.day(day)]!, days, day);
        bytes.char('}');
      }
      bytes.text(']}');
      if (bytes.length >= CHUNK) yield bytes.take();
    }
  }
  bytes.text(']}');
  yield bytes.take();
}

/** The JSON of each keyword before its metrics, for as long as the tracked keywords are cached. */
const starts = new WeakMap<Tracked['keywords'], (string | undefined)[]>();

function startsOf({ keywords, membership }: Tracked): (keyword: TrackedKeyword) => string {
  const known = starts.get(keywords) ?? [];
  starts.set(keywords, known);
  const make = (keyword: TrackedKeyword): string => {
    const start = Object.fromEntries(KEYWORD.map(([name, , read]) => [name, read(keyword, membership)]));
    return `${JSON.stringify(start).slice(0, -1)},"metrics":{`;
  };
  return (keyword) => (known[keyword.index] ??= make(keyword));
}

/** Keywords as flat rows: one per keyword and stored day if the result has days, else one per keyword. */
export function keywordsTable(result: KeywordsResult): RowsAnswer {
  const { daily, head, comparison, tracked } = result;
  const { project, range, quality, paging } = head;
  const about = { name: `${project.domain}-keywords`, total: paging.total, range, ...(quality && { quality }) };
  const isCompared = comparison !== undefined;
  const { membership } = tracked;
  if (daily === undefined) {
    const columns = KEYWORD.map(
      ([name, type, read]): SetColumn<KeywordSet> => ({
        column: { name, type },
        cell: (set) => (row) => read(set.keywords[row]!, membership),
      }),
    );
    return table({ head: about, columns: [...columns, ...MEASURED], sets: [new KeywordSet(result)], isCompared });
  }
  const columns: readonly SetColumn<DaySet>[] = [
    { column: { name: 'id', type: 'text' }, cell: (set) => (row) => set.keyword(row).id },
    dimension('query'),
    dimension('date', 'day', 1),
    ...(daily.dayCounts ? [DAYS] : []),
  ];
  return table({ head: about, columns: [...columns, ...MEASURED], sets: daySets(result, daily), isCompared });
}
