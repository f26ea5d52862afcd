import { type OtherEngine, type SearchEngine, SURFACES, type Surface } from './surfaces.ts';

/** What rows of an answer can be told apart by. `column`: where facts store it; `of`: the dimension whose values a group gathers. */
const DIMENSION_RULES = {
  date: { column: 'date', interval: 'day' },
  week: { column: 'date', interval: 'week' },
  month: { column: 'date', interval: 'month' },
  query: { column: 'query', isText: true },
  page: { column: 'url', isText: true },
  country: { column: 'country' },
  device: { column: 'device', words: ['desktop', 'mobile', 'tablet'] },
  appearance: { column: 'appearance' },
  brand: { column: 'segment', words: ['brand', 'non_brand'] },
  group: { column: 'keyword_id', of: 'keyword' },
  pageGroup: { column: 'url', of: 'page' },
  keyword: { column: 'keyword_id', isText: true },
} as const satisfies Readonly<Record<string, DimensionRules>>;
export type Dimension = keyof typeof DIMENSION_RULES;
export const DIMENSIONS: Readonly<Record<Dimension, DimensionRules>> = DIMENSION_RULES;
export const DIMENSION_NAMES = Object.keys(DIMENSIONS) as Dimension[];
/** Dimensions of time; every table of days has them. */
export type Time = {
  [Name in Dimension]: (typeof DIMENSION_RULES)[Name] extends { interval: string } ? Name : never;
}[Dimension];

interface DimensionRules {
  readonly column: ColumnName;
  /** Of a dimension of time: what its rows are about. */
  readonly interval?: 'day' | 'week' | 'month';
  /** All its values, if they are few. */
  readonly words?: readonly string[];
  readonly of?: string;
  /** Values can be compared by more than equality. */
  readonly isText?: boolean;
}

interface ColumnRules {
  /** How the loader reads its values (`server/load/column-types.ts`). */
  readonly type: string;
  readonly stored: 'date' | 'varchar' | 'bigint';
  readonly help: string;
  readonly example: string | number;
}

const DAY = 'The day, as the provider counts days.';

/** The columns of facts that say what a row is about. */
export const COLUMNS = {
  date: { type: 'factDay', stored: 'date', help: DAY, example: '2026-03-02' },
  hour: { type: 'instant', stored: 'bigint', help: 'The start of the hour.', example: '2026-03-02T20:00:00Z' },
  month: { type: 'factMonth', stored: 'date', help: 'The first day of the month.', example: '2024-10-01' },
  week_end: {
    type: 'factDay',
    stored: 'date',
    help: 'The last of the seven days that are counted.',
    example: '2026-02-26',
  },
  first_day: { type: 'factDay', stored: 'date', help: 'The first day of the range.', example: '2025-08-01' },
  last_day: {
    type: 'factDay',
    stored: 'date',
    help: 'Its last day; a range has at most 486 days.',
    example: '2025-08-28',
  },
  keyword_id: { type: 'shortId', stored: 'varchar', help: 'The keyword.', example: 'Kw001' },
  query: { type: 'words', stored: 'varchar', help: 'The query.', example: 'red shoes' },
  url: { type: 'url', stored: 'varchar', help: 'The page.', example: 'https://shop.example/shoes' },
  device: { type: 'device', stored: 'varchar', help: 'The device.', example: 'mobile' },
  country: {
    type: 'country',
    stored: 'varchar',
    help: "The searchers' country; zzz if unknown.",
    example: 'usa',
  },
  appearance: { type: 'appearance', stored: 'varchar', help: 'The search appearance.', example: 'PRODUCT_SNIPPETS' },
  segment: {
    type: 'segment',
    stored: 'varchar',
    help: 'Whether the queries have a brand term; `unknown`, with the whole site, for days whose queries are not known.',
    example: 'brand',
  },
} as const satisfies Readonly<Record<string, ColumnRules>>;
export type ColumnName = keyof typeof COLUMNS;

interface MeasureRules {
  /** Its name in sums. */
  readonly as: string;
  /** How the loader reads its values; `amount`: with two decimals, which sums have as whole hundredths. */
  readonly type: 'measure' | 'positionSum' | 'amount';
  /** What it is a part of: a row cannot have more. */
  readonly partOf?: string;
  readonly help: string;
  readonly example: number;
}

/** What facts count, in numbers that can be added up. */
export const MEASURES = {
  clicks: { as: 'clicks', type: 'measure', partOf: 'impressions', help: 'Clicks.', example: 12 },
  impressions: { as: 'impressions', type: 'measure', help: 'Impressions; not fewer than the clicks.', example: 340 },
  sum_position: {
    as: 'sumPosition',
    type: 'positionSum',
    help: 'Sum of the positions of all impressions, counted from zero: average position = sum_position / impressions + 1. From an average p: round((p - 1) * impressions).',
    example: 2100,
  },
  ai_impressions: { as: 'aiImpressions', type: 'measure', help: 'Impressions in AI answers.', example: 40 },
  citations: { as: 'citations', type: 'measure', help: 'Citations.', example: 40 },
} as const satisfies Readonly<Record<string, MeasureRules>>;
export type MeasureName = keyof typeof MEASURES;

export function measureOf(name: MeasureName): MeasureRules {
  return MEASURES[name];
}

/** How many units of its sums are one: sums are whole numbers, which are exact. */
export function unitsOf(name: MeasureName): number {
  return measureOf(name).type === 'amount' ? 100 : 1;
}

/** The measures of a table that are parts of others of it, with these. */
export function partsOf(measures: readonly MeasureName[]): (readonly [part: MeasureName, whole: MeasureName])[] {
  return measures.flatMap((part) => {
    const whole = measures.find((name) => name === measureOf(part).partOf);
    return whole === undefined ? [] : [[part, whole] as const];
  });
}

/** Sums of a table by other keys, which the loader makes and reads instead. */
export const ROLLUPS = ['keyword_all', 'keyword_running', 'keyword_cumulative'] as const;
type Rollup = (typeof ROLLUPS)[number];

/** Why rows of a table do not add up to the property. */
type LeftOut = 'anonymised' | 'not_tracked' | 'not_reported' | 'counted_by_page' | 'overlapping';

/** A stored table: all that loading, planning, comparing, refusing and describing need to know of it. */
export interface Table {
  /** What counted it. */
  readonly surface: Surface;
  /** The columns of a row besides the project and its measures, in the order of the key. */
  readonly key: readonly ColumnName[];
  /** Ways in which the columns of this table differ. */
  readonly columns?: Readonly<Partial<Record<ColumnName, Partial<ColumnRules>>>>;
  /** How impressions are counted: a search once for the property, or once for each page that it showed. */
  readonly counts: 'property' | 'page';
  readonly measures: readonly MeasureName[];
  /** Whether sums of positions are known; `some`: of single rows they are null. */
  readonly positions: 'all' | 'some' | 'none';
  /** How rows of a project are split into files. Small tables are one file, so that long ranges open only one. */
  readonly split: 'none' | 'month' | 'period';
  /** Whether it has the totals of its surface by day. */
  readonly isSite?: true;
  /** Whether few days have rows: those of the site tell which are stored. */
  readonly isSparse?: true;
  /** Why its rows do not add up to the property. */
  readonly leavesOut?: readonly LeftOut[];
  /**
   * Of tables that questions are answered from: its place among them, coarsest first, and what its rows are about in words. A
   * question is answered from the first table that has all its dimensions.
   */
  readonly question?: { readonly place: number; readonly what: string };
  /** The table with totals of the months before it, which stand for their days. */
  readonly months?: string;
  readonly rollups?: { readonly all: Rollup; readonly running: Rollup; readonly cumulative: Rollup };
  /** A paragraph for the reference. */
  readonly about: string;
  readonly example?: Readonly<Record<string, string | number>>;
}

const SEARCH = ['clicks', 'impressions', 'sum_position'] as const;
const DAILY = { surface: 'web', counts: 'property', measures: SEARCH, positions: 'all', split: 'none' } as const;
const UNKNOWN_DEVICE = { type: 'siteDevice', help: 'The device; `unknown` for days whose devices are not known.' };
const ONE_KEYWORD = { clicks: 2, impressions: 30, sum_position: 95 };
const PERIOD =
  'Answers exactly that range, if the project has no other source. A load replaces only the periods that it has.';
const LIST = { ...DAILY, split: 'period' } as const;

/** The days of a search type besides web. */
function ofType(surface: Surface, column: 'device' | 'country'): Table {
  const { hasQueries, hasDevices } = SURFACES[surface];
  const isSite = column === 'device';
  const positions = hasQueries ? '' : 'It has no positions: sum_position is 0. ';
  const what = isSite ? 'The whole property' : 'The property';
  return {
    ...DAILY,
    surface,
    positions: hasQueries ? 'all' : 'none',
    key: ['date', column],
    ...(isSite && { isSite }),
    ...(isSite && {
      columns: {
        device: hasDevices
          ? UNKNOWN_DEVICE
          : { ...UNKNOWN_DEVICE, help: UNKNOWN_DEVICE.help.replace('.', ', which are all.'), example: 'unknown' },
      },
    }),
    ...(!hasQueries && { example: { sum_position: 0 } }),
    about: `${what} in search type ${surface}, by day and ${column}; optional. ${positions}Search types are never added up.`,
  };
}

const AI = {
  google: {
    surface: 'web',
    measure: 'ai_impressions',
    about: "Impressions in Google's AI answers, which are not clicks or impressions of the site;",
  },
  bing: {
    surface: 'bing',
    measure: 'citations',
    about:
      "Citations in AI answers of Bing and Microsoft's assistants, which are not clicks or impressions of the site;",
  },
} as const satisfies Readonly<Partial<Record<SearchEngine, object>>>;
/** The engines with a report about AI answers. */
export type AiEngine = keyof typeof AI;
export const AI_ENGINES = Object.keys(AI) as AiEngine[];
export type AiMeasure = (typeof AI)[AiEngine]['measure'];

/** A report about AI answers: neither engine's is a part of clicks or impressions, and the two cannot be compared. */
function ofAi(engine: AiEngine, by: 'day' | 'page'): Table {
  const { surface, measure, about } = AI[engine];
  const common = { ...DAILY, surface, measures: [measure], positions: 'none' } as const;
  if (by === 'day') return { ...common, key: ['date'], about: `${about} by day; optional.` };
  return {
    ...common,
    key: ['first_day', 'last_day', 'url'],
    counts: 'page',
    split: 'period',
    about: `${about} by page, of a range of days; optional. A load replaces only the periods that it has.`,
    example: { [measure]: 25 },
  };
}

/** What another engine counts: days of its site, or weeks of pages or queries. */
function ofEngine(surface: OtherEngine, by: 'device' | 'url' | 'query'): Table {
  const { label, hasDailyPositions } = SURFACES[surface];
  if (by === 'device') {
    const positions = hasDailyPositions ? '' : 'It has no positions: sum_position is 0. ';
    return {
      ...DAILY,
      surface,
      key: ['date', 'device'],
      columns: { device: { type: 'siteDevice', help: `\`unknown\`: ${label} tells no devices.`, example: 'unknown' } },
      positions: hasDailyPositions ? 'all' : 'none',
      isSite: true,
      about: `The whole site in ${label}, by day; optional. ${positions}Engines are never added up.`,
      example: { clicks: 3, impressions: 80, ...(!hasDailyPositions && { sum_position: 0 }) },
    };
  }
  const [what, why] = by === 'url' ? ['Pages', ` ${label} counts no days of pages.`] : ['Queries', ''];
  return {
    ...DAILY,
    surface,
    key: [by, 'week_end'],
    counts: by === 'url' ? 'page' : 'property',
    positions: 'some',
    split: 'month',
    about: `${what} in ${label}, by week; optional.${why}`,
  };
}

/** The stored tables, in the order of documents and of what loads and retention tell. */
const TABLE_RULES = {
  site_daily: {
    ...DAILY,
    key: ['date', 'device'],
    columns: { device: UNKNOWN_DEVICE },
    isSite: true,
    question: { place: 1, what: 'device' },
    about: 'The whole property by day and device. Headline totals come from here.',
  },
  site_hourly: {
    ...DAILY,
    key: ['date', 'hour'],
    columns: { date: { help: `${DAY.slice(0, -1)}, in Pacific time.` } },
    split: 'month',
    about:
      'The whole property by hour; optional. The provider counts hours and days separately, so hours are never added to days.',
  },
  keyword_daily: {
    ...DAILY,
    key: ['keyword_id', 'date', 'device'],
    leavesOut: ['not_tracked'],
    question: { place: 5, what: 'keyword' },
    split: 'month',
    rollups: { all: 'keyword_all', running: 'keyword_running', cumulative: 'keyword_cumulative' },
    about: 'Tracked keywords by day and device.',
    example: ONE_KEYWORD,
  },
  keyword_page_daily: {
    ...DAILY,
    key: ['keyword_id', 'date', 'url'],
    leavesOut: ['not_tracked', 'counted_by_page'],
    question: { place: 8, what: 'page by keyword' },
    counts: 'page',
    split: 'month',
    about:
      'Which pages were shown for tracked keywords, by day; optional. Rows by page count a search once per page, so they are not summed, and no report of the API uses them.',
    example: ONE_KEYWORD,
  },
  country_daily: {
    ...DAILY,
    key: ['date', 'country'],
    leavesOut: ['not_reported'],
    question: { place: 4, what: 'country' },
    months: 'country_monthly',
    about: 'The property by day and country. Not read for months in `country_monthly`.',
  },
  country_monthly: {
    ...DAILY,
    key: ['month', 'country'],
    columns: { country: { type: 'countryOrOther', help: "The searchers' country, or `other` for the rest." } },
    about: 'The property by month and country, for older months: at most 20 countries and `other` per month.',
  },
  appearance_daily: {
    ...DAILY,
    key: ['date', 'appearance'],
    leavesOut: ['overlapping'],
    question: { place: 3, what: 'appearance' },
    isSparse: true,
    about: 'The property by day and search appearance; appearances overlap.',
  },
  brand_daily: {
    ...DAILY,
    key: ['date', 'segment'],
    leavesOut: ['anonymised'],
    question: { place: 2, what: 'brand' },
    about: 'Queries with and without a brand term by day; anonymised queries are in neither.',
  },
  page_daily: {
    ...DAILY,
    key: ['url', 'date', 'country'],
    leavesOut: ['counted_by_page'],
    question: { place: 7, what: 'page' },
    counts: 'page',
    split: 'month',
    about: "Pages by day and country: the project's stored archive for page lists.",
  },
  query_daily: {
    ...DAILY,
    key: ['query', 'date', 'country'],
    leavesOut: ['anonymised'],
    question: { place: 6, what: 'query' },
    split: 'month',
    about: "Queries by day and country: the project's stored archive for query lists.",
  },
  page_period: {
    ...LIST,
    key: ['first_day', 'last_day', 'url'],
    counts: 'page',
    about: `Pages of a range of days whose single days are unknown, as in an export from the user interface. ${PERIOD}`,
  },
  query_period: {
    ...LIST,
    key: ['first_day', 'last_day', 'query'],
    about: `Queries of a range of days whose single days are unknown. ${PERIOD}`,
  },
  site_daily_image: ofType('image', 'device'),
  country_daily_image: ofType('image', 'country'),
  site_daily_video: ofType('video', 'device'),
  country_daily_video: ofType('video', 'country'),
  site_daily_news: ofType('news', 'device'),
  country_daily_news: ofType('news', 'country'),
  site_daily_discover: ofType('discover', 'device'),
  country_daily_discover: ofType('discover', 'country'),
  site_daily_google_news: ofType('googleNews', 'device'),
  country_daily_google_news: ofType('googleNews', 'country'),
  site_daily_bing: ofEngine('bing', 'device'),
  page_weekly_bing: ofEngine('bing', 'url'),
  query_weekly_bing: ofEngine('bing', 'query'),
  ai_daily: ofAi('google', 'day'),
  ai_page_period: ofAi('google', 'page'),
  citation_daily: ofAi('bing', 'day'),
  citation_page_period: ofAi('bing', 'page'),
} as const satisfies Readonly<Record<string, Table>>;

export type FactTable = keyof typeof TABLE_RULES;
export const TABLES: Readonly<Record<FactTable, Table>> = TABLE_RULES;
export const FACT_TABLES = Object.keys(TABLES) as FactTable[];

/** The table with totals of months that stand for the first days of a table; undefined if none do. */
export function monthsOf(table: FactTable): FactTable | undefined {
  return TABLES[table].months as FactTable | undefined;
}

/** The tables with a column. */
export function tablesWith(column: ColumnName): FactTable[] {
  return FACT_TABLES.filter((name) => TABLES[name].key.includes(column));
}

/** A value for each fact table. */
export function byTable<Value>(of: (table: FactTable) => Value): Readonly<Record<FactTable, Value>> {
  return Object.fromEntries(FACT_TABLES.map((table) => [table, of(table)])) as Record<FactTable, Value>;
}

/** A fact table, or a rollup that is stored beside one. */
export type StoredTable = FactTable | Rollup;

/** The columns of a stored table that sums are made of; a rollup has those of its table. */
export function rulesOf(table: StoredTable): {
  readonly measures: readonly MeasureName[];
  readonly dayColumn: DayColumn;
} {
  const of = FACT_TABLES.find((name) => name === table) ?? 'keyword_daily';
  return { measures: TABLES[of].measures, dayColumn: dayColumnOf(of) };
}

/** The length of what a row of facts is about. */
export type Grain = 'hour' | 'day' | 'week' | 'month' | 'range';

/** The columns of time of each grain; `date` is that of days. */
const GRAIN_OF: Readonly<Partial<Record<ColumnName, Grain>>> = {
  hour: 'hour',
  week_end: 'week',
  month: 'month',
  last_day: 'range',
};

/** The length of what a row of a table is about. */
export function grainOf(table: FactTable): Grain {
  return TABLES[table].key.map((column) => GRAIN_OF[column]).find((grain) => grain !== undefined) ?? 'day';
}

type DayColumn = 'date' | 'month' | 'last_day' | 'week_end';

/** The column with the day of a row: of weeks, months and ranges the one that files are split by. */
export function dayColumnOf(table: FactTable): DayColumn {
  const columns = ['month', 'last_day', 'week_end'] as const;
  return columns.find((column) => TABLES[table].key.some((one) => one === column)) ?? 'date';
}

export function isTime(dimension: Dimension): dimension is Time {
  return DIMENSIONS[dimension].interval !== undefined;
}

/** The length of what rows of a dimension of time are about. */
export function intervalOf(time: Time): 'day' | 'week' | 'month' {
  return DIMENSIONS[time].interval!;
}

/** The stored dimension that decides one: a keyword decides its groups. */
function storedOf(dimension: Dimension): Dimension {
  return (DIMENSIONS[dimension].of as Dimension | undefined) ?? dimension;
}

/** Whether a table has the column of a dimension. */
export function hasDimension(table: FactTable, dimension: Dimension): boolean {
  if (isTime(dimension)) return grainOf(table) !== 'range';
  return TABLES[table].key.includes(DIMENSIONS[storedOf(dimension)].column);
}

/** The tables of clicks of a surface and grain. */
function tablesOf(surface: Surface, grain: Grain): FactTable[] {
  return FACT_TABLES.filter(
    (name) => TABLES[name].surface === surface && TABLES[name].measures.includes('clicks') && grainOf(name) === grain,
  );
}

/** The tables that questions are answered from, coarsest first. */
export const QUESTION_TABLES = FACT_TABLES.filter((name) => TABLES[name].question).sort(
  (a, b) => TABLES[a].question!.place - TABLES[b].question!.place,
);

/** A metric that is a sum of its own: `scale` units of its sums are one. */
export interface Count {
  readonly name: string;
  readonly scale: number;
}

/** What a table of questions counts in place of searches; null for searches, whose metrics are those of all answers. */
export function countsIn(table: FactTable): readonly Count[] | null {
  const { measures } = TABLES[table];
  if (measures.includes('clicks')) return null;
  return measures.map((name) => ({ name: measureOf(name).as, scale: unitsOf(name) }));
}

/** All that questions are answered with besides the metrics of searches. */
export const COUNTS: readonly Count[] = [
  ...new Map(QUESTION_TABLES.flatMap((name) => (countsIn(name) ?? []).map((count) => [count.name, count]))).values(),
];

/** Whether a table of questions has a metric. */
export function hasMetric(table: FactTable, metric: string): boolean {
  const isIt = ({ name }: Count): boolean => name === metric;
  const counts = countsIn(table);
  return counts === null ? !COUNTS.some(isIt) : counts.some(isIt);
}

/** The tables that answer a question about some dimensions, those of its filters among them, coarsest first. */
export function questionTables(dimensions: readonly Dimension[]): FactTable[] {
  return QUESTION_TABLES.filter((name) => dimensions.every((dimension) => hasDimension(name, dimension)));
}

/** The first table of a surface and grain that has all dimensions; undefined if none has. */
export function tableFor(
  surface: Surface,
  dimensions: readonly Dimension[],
  grain: Grain = 'day',
): FactTable | undefined {
  return tablesOf(surface, grain).find((name) => dimensions.every((dimension) => hasDimension(name, dimension)));
}

/** The table with the totals of a surface by day. */
export function siteTable(surface: Surface): FactTable {
  return tablesOf(surface, 'day').find((name) => TABLES[name].isSite === true)!;
}

/** The table with the days of countries of a surface; undefined where none are told. */
export function countryTable(surface: Surface): FactTable | undefined {
  return tableFor(surface, ['country']);
}

/** The table with the totals of the rows of a table. */
export function siteTableOf(table: FactTable): FactTable {
  return siteTable(TABLES[table].surface);
}

/** Lists of ranges, which have no days of their own. */
export const PERIOD_TABLES = FACT_TABLES.filter((name) => TABLES[name].split === 'period');
/** The table with the weeks of pages or queries of a surface; undefined where days of them are counted. */
export function weekTable(surface: Surface, kind: 'pages' | 'queries'): FactTable | undefined {
  return tableFor(surface, [kind === 'pages' ? 'page' : 'query'], 'week');
}

/** Tables whose rows are about the seven days until the one that they are stored by. */
export const WEEKLY_TABLES = FACT_TABLES.filter((name) => grainOf(name) === 'week');

/** The tables of an engine's report about AI answers, by day and of pages in a range, and the column of what it counts. */
function aiTables(engine: AiEngine): {
  readonly days: FactTable;
  readonly pages: FactTable;
  readonly measure: AiMeasure;
} {
  const { measure } = AI[engine];
  const [days, pages] = FACT_TABLES.filter((name) => TABLES[name].measures.some((one) => one === measure));
  return { days: days!, pages: pages!, measure };
}
export const AI_TABLES = Object.fromEntries(AI_ENGINES.map((engine) => [engine, aiTables(engine)])) as Readonly<
  Record<AiEngine, ReturnType<typeof aiTables>>
>;

/** The rules of a column of a table. */
export function columnOf(table: FactTable, column: ColumnName): ColumnRules {
  return { ...COLUMNS[column], ...TABLES[table].columns?.[column] };
}
