import type { FactTable } from '../catalog/manifest.ts';
import { AI_TABLES, BING_TABLES } from '../domain/engines.ts';
import { OTHER_TYPES, TYPE_TABLES } from '../domain/search-types.ts';
import { columns, type FactTableSchema } from './tables.ts';

/**
 * Sort key: device, keyword, day of the month, packed into one number, which takes a fifth less processor time than three
 * columns. Ids are five ASCII characters, 40 bits.
 */
const KEYWORD_ORDER = [
  "(case device when 'desktop' then 0::bigint when 'mobile' then 1::bigint else 2::bigint end << 60)",
  `(('0x' || hex(keyword_id))::bigint << 10)`,
  'day("date")',
].join(' + ');

const MEASURES: Parameters<typeof columns>[0] = {
  clicks: 'measure',
  impressions: 'measure',
  sum_position: 'positionSum',
};
/** Bing does not tell the position of each row. */
const WEEK_MEASURES = { ...MEASURES, sum_position: 'positionSum?' } as const;

function facts(
  name: FactTable,
  schema: Parameters<typeof columns>[0],
  more: Partial<Pick<FactTableSchema, 'day' | 'split' | 'order' | 'rollups' | 'running' | 'cumulative'>> = {},
  measures = MEASURES,
): FactTableSchema {
  const keys: Parameters<typeof columns>[0] = { project_id: 'shortId', ...schema };
  return {
    name,
    key: Object.keys(keys),
    columns: columns({ ...keys, ...measures }),
    measures: Object.keys(measures),
    day: 'date',
    split: 'none',
    order: Object.keys(schema).map((column) => `"${column}"`),
    rollups: [],
    ...more,
  };
}

/** Lists of a whole range, whose single days are unknown. */
const PERIOD = { first_day: 'factDay', last_day: 'factDay' } as const;
const PAGES_OF_PERIOD = { day: 'last_day', split: 'period', order: ['"url"'] } as const;

/** The fact tables. Rows of a file are sorted by the columns that reports filter by. */
export const FACTS: readonly FactTableSchema[] = [
  facts('site_daily', { date: 'factDay', device: 'siteDevice' }),
  facts('site_hourly', { date: 'factDay', hour: 'instant' }, { split: 'month' }),
  facts(
    'keyword_daily',
    { keyword_id: 'shortId', date: 'factDay', device: 'device' },
    {
      split: 'month',
      order: [KEYWORD_ORDER],
      rollups: ['keyword_all'],
      running: 'keyword_running',
      cumulative: 'keyword_cumulative',
    },
  ),
  facts('keyword_page_daily', { keyword_id: 'shortId', date: 'factDay', url: 'url' }, { split: 'month' }),
  facts('country_daily', { date: 'factDay', country: 'country' }),
  facts('country_monthly', { month: 'factMonth', country: 'countryOrOther' }, { day: 'month' }),
  facts('appearance_daily', { date: 'factDay', appearance: 'appearance' }),
  facts('brand_daily', { date: 'factDay', segment: 'segment' }),
  facts('page_daily', { url: 'url', date: 'factDay', country: 'country' }, { split: 'month' }),
  facts('query_daily', { query: 'words', date: 'factDay', country: 'country' }, { split: 'month' }),
  facts('page_period', { ...PERIOD, url: 'url' }, PAGES_OF_PERIOD),
  facts('query_period', { ...PERIOD, query: 'words' }, { day: 'last_day', split: 'period', order: ['"query"'] }),
  ...OTHER_TYPES.flatMap((type) => [
    facts(TYPE_TABLES[type].site, { date: 'factDay', device: 'siteDevice' }),
    facts(TYPE_TABLES[type].country, { date: 'factDay', country: 'country' }),
  ]),
  facts(BING_TABLES.site, { date: 'factDay', device: 'siteDevice' }),
  facts(BING_TABLES.pages, { url: 'url', week_end: 'factDay' }, { day: 'week_end', split: 'month' }, WEEK_MEASURES),
  facts(
    BING_TABLES.queries,
    { query: 'words', week_end: 'factDay' },
    { day: 'week_end', split: 'month' },
    WEEK_MEASURES,
  ),
  ...Object.values(AI_TABLES).flatMap(({ days, pages, measure }) => [
    facts(days, { date: 'factDay' }, {}, { [measure]: 'measure' }),
    facts(pages, { ...PERIOD, url: 'url' }, PAGES_OF_PERIOD, { [measure]: 'measure' }),
  ]),
];
