import { AI_TABLES, type AiTable, BING_TABLES, ENGINES } from '../domain/engines.ts';
import {
  hasDevices,
  hasQueries,
  OTHER_TYPES,
  type OtherType,
  TYPE_TABLES,
  type TypeTable,
} from '../domain/search-types.ts';

/** Documentation of a snapshot table. */
export interface TableHelp {
  readonly about: string;
  readonly columns: Readonly<Record<string, string>>;
  /** A row. The examples of all tables together are a loadable snapshot. */
  readonly example: Readonly<Record<string, unknown>>;
}

const PROJECT_ID = 'The project.';
const MEASURES = {
  clicks: 'Clicks.',
  impressions: 'Impressions; not fewer than the clicks.',
  sum_position:
    'Sum of the positions of all impressions, counted from zero: average position = sum_position / impressions + 1. From an average p: round((p - 1) * impressions).',
};
const WEEK_END = 'The last of the seven days that are counted.';
const WEEK_MEASURES = { ...MEASURES, sum_position: `${MEASURES.sum_position} Null if the position is unknown.` };
const EXAMPLE_MEASURES = { clicks: 12, impressions: 340, sum_position: 2100 };
const SEGMENT =
  'Whether the queries have a brand term; `unknown`, with the whole site, for days whose queries are not known.';
const DAY = 'The day, as the provider counts days.';
const PERIOD =
  'Answers exactly that range, if the project has no other source. A load replaces only the periods that it has.';
const PERIOD_DAYS = {
  first_day: 'The first day of the range.',
  last_day: 'Its last day; a range has at most 486 days.',
};
const EXAMPLE_PERIOD = { project_id: 'Shop1', first_day: '2025-08-01', last_day: '2025-08-28' };
const AI_ABOUT = {
  google: "Impressions in Google's AI answers, which are not clicks or impressions of the site;",
  bing: "Citations in AI answers of Bing and Microsoft's assistants, which are not clicks or impressions of the site;",
};
const AI_MEASURES = { ai_impressions: 'Impressions in AI answers.', citations: 'Citations.' };
const AI_HELP = Object.fromEntries(
  ENGINES.flatMap((engine): [table: AiTable, help: TableHelp][] => {
    const { days, pages, measure } = AI_TABLES[engine];
    const measures = { [measure]: AI_MEASURES[measure] };
    return [
      [
        days,
        {
          about: `${AI_ABOUT[engine]} by day; optional.`,
          columns: { project_id: PROJECT_ID, date: DAY, ...measures },
          example: { project_id: 'Shop1', date: '2026-03-02', [measure]: 40 },
        },
      ],
      [
        pages,
        {
          about: `${AI_ABOUT[engine]} by page, of a range of days; optional. A load replaces only the periods that it has.`,
          columns: { project_id: PROJECT_ID, ...PERIOD_DAYS, url: 'The page.', ...measures },
          example: { ...EXAMPLE_PERIOD, url: 'https://shop.example/shoes', [measure]: 25 },
        },
      ],
    ];
  }),
) as Record<AiTable, TableHelp>;
const COUNTRY = "The searchers' country; zzz if unknown.";

function typeHelp(type: OtherType): [table: TypeTable, help: TableHelp][] {
  const { site, country } = TYPE_TABLES[type];
  const optional = `optional. ${hasQueries(type) ? '' : 'It has no positions: sum_position is 0. '}Search types are never added up.`;
  const day = { project_id: PROJECT_ID, date: DAY };
  const example = { project_id: 'Shop1', date: '2026-03-02' };
  const device = `The device; \`unknown\` for days whose devices are not known${hasDevices(type) ? '' : ', which are all'}.`;
  const shown = hasQueries(type) ? EXAMPLE_MEASURES : { ...EXAMPLE_MEASURES, sum_position: 0 };
  const ofSite = {
    about: `The whole property in search type ${type}, by day and device; ${optional}`,
    columns: { ...day, device, ...MEASURES },
    example: { ...example, device: hasDevices(type) ? 'mobile' : 'unknown', ...shown },
  };
  const ofCountry = {
    about: `The property in search type ${type}, by day and country; ${optional}`,
    columns: { ...day, country: COUNTRY, ...MEASURES },
    example: { ...example, country: 'usa', ...shown },
  };
  return [
    [site, ofSite],
    [country, ofCountry],
  ];
}

const TYPE_HELP = Object.fromEntries(OTHER_TYPES.flatMap(typeHelp)) as Readonly<Record<TypeTable, TableHelp>>;

/** As in `table-help.ts`, for the tables of facts. */
export const FACT_HELP = {
  site_daily: {
    about: 'The whole property by day and device. Headline totals come from here.',
    columns: {
      project_id: PROJECT_ID,
      date: DAY,
      device: 'The device; `unknown` for days whose devices are not known.',
      ...MEASURES,
    },
    example: { project_id: 'Shop1', date: '2026-03-02', device: 'mobile', ...EXAMPLE_MEASURES },
  },
  site_hourly: {
    about:
      'The whole property by hour; optional. The provider counts hours and days separately, so hours are never added to days.',
    columns: {
      project_id: PROJECT_ID,
      date: `${DAY.replace(/\.$/, '')}, in Pacific time.`,
      hour: 'The start of the hour.',
      ...MEASURES,
    },
    example: { project_id: 'Shop1', date: '2026-03-02', hour: '2026-03-02T20:00:00Z', ...EXAMPLE_MEASURES },
  },
  keyword_daily: {
    about: 'Tracked keywords by day and device.',
    columns: { project_id: PROJECT_ID, keyword_id: 'The keyword.', date: DAY, device: 'The device.', ...MEASURES },
    example: {
      project_id: 'Shop1',
      keyword_id: 'Kw001',
      date: '2026-03-02',
      device: 'mobile',
      clicks: 2,
      impressions: 30,
      sum_position: 95,
    },
  },
  keyword_page_daily: {
    about:
      'Which pages were shown for tracked keywords, by day; optional. Rows by page count a search once per page, so they are not summed, and no report of the API uses them.',
    columns: { project_id: PROJECT_ID, keyword_id: 'The keyword.', date: DAY, url: 'The page.', ...MEASURES },
    example: {
      project_id: 'Shop1',
      keyword_id: 'Kw001',
      date: '2026-03-02',
      url: 'https://shop.example/shoes',
      clicks: 2,
      impressions: 30,
      sum_position: 95,
    },
  },
  country_daily: {
    about: 'The property by day and country. Not read for months in `country_monthly`.',
    columns: { project_id: PROJECT_ID, date: DAY, country: COUNTRY, ...MEASURES },
    example: { project_id: 'Shop1', date: '2026-03-02', country: 'usa', ...EXAMPLE_MEASURES },
  },
  country_monthly: {
    about: 'The property by month and country, for older months: at most 20 countries and `other` per month.',
    columns: {
      project_id: PROJECT_ID,
      month: 'The first day of the month.',
      country: "The searchers' country, or `other` for the rest.",
      ...MEASURES,
    },
    example: { project_id: 'Shop1', month: '2024-10-01', country: 'usa', ...EXAMPLE_MEASURES },
  },
  appearance_daily: {
    about: 'The property by day and search appearance; appearances overlap.',
    columns: { project_id: PROJECT_ID, date: DAY, appearance: 'The search appearance.', ...MEASURES },
    example: { project_id: 'Shop1', date: '2026-03-02', appearance: 'PRODUCT_SNIPPETS', ...EXAMPLE_MEASURES },
  },
  brand_daily: {
    about: 'Queries with and without a brand term by day; anonymised queries are in neither.',
    columns: { project_id: PROJECT_ID, date: DAY, segment: SEGMENT, ...MEASURES },
    example: { project_id: 'Shop1', date: '2026-03-02', segment: 'brand', ...EXAMPLE_MEASURES },
  },
  page_daily: {
    about: "Pages by day and country: the project's stored archive for page lists.",
    columns: { project_id: PROJECT_ID, url: 'The page.', date: DAY, country: COUNTRY, ...MEASURES },
    example: {
      project_id: 'Shop1',
      url: 'https://shop.example/shoes',
      date: '2026-03-02',
      country: 'usa',
      ...EXAMPLE_MEASURES,
    },
  },
  query_daily: {
    about: "Queries by day and country: the project's stored archive for query lists.",
    columns: { project_id: PROJECT_ID, query: 'The query.', date: DAY, country: COUNTRY, ...MEASURES },
    example: { project_id: 'Shop1', query: 'red shoes', date: '2026-03-02', country: 'usa', ...EXAMPLE_MEASURES },
  },
  page_period: {
    about: `Pages of a range of days whose single days are unknown, as in an export from the user interface. ${PERIOD}`,
    columns: { project_id: PROJECT_ID, ...PERIOD_DAYS, url: 'The page.', ...MEASURES },
    example: { ...EXAMPLE_PERIOD, url: 'https://shop.example/shoes', ...EXAMPLE_MEASURES },
  },
  query_period: {
    about: `Queries of a range of days whose single days are unknown. ${PERIOD}`,
    columns: { project_id: PROJECT_ID, ...PERIOD_DAYS, query: 'The query.', ...MEASURES },
    example: { ...EXAMPLE_PERIOD, query: 'red shoes', ...EXAMPLE_MEASURES },
  },
  ...TYPE_HELP,
  [BING_TABLES.site]: {
    about:
      'The whole site in Bing, by day; optional. It has no positions: sum_position is 0. Engines are never added up.',
    columns: { project_id: PROJECT_ID, date: DAY, device: '`unknown`: Bing tells no devices.', ...MEASURES },
    example: {
      project_id: 'Shop1',
      date: '2026-03-02',
      device: 'unknown',
      clicks: 3,
      impressions: 80,
      sum_position: 0,
    },
  },
  [BING_TABLES.pages]: {
    about: 'Pages in Bing, by week; optional. Bing counts no days of pages.',
    columns: { project_id: PROJECT_ID, url: 'The page.', week_end: WEEK_END, ...WEEK_MEASURES },
    example: { project_id: 'Shop1', url: 'https://shop.example/shoes', week_end: '2026-02-26', ...EXAMPLE_MEASURES },
  },
  [BING_TABLES.queries]: {
    about: 'Queries in Bing, by week; optional.',
    columns: { project_id: PROJECT_ID, query: 'The query.', week_end: WEEK_END, ...WEEK_MEASURES },
    example: { project_id: 'Shop1', query: 'red shoes', week_end: '2026-02-26', ...EXAMPLE_MEASURES },
  },
  ...AI_HELP,
} satisfies Readonly<Record<string, TableHelp>>;
