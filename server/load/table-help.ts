/** Documentation of a snapshot table. */
interface TableHelp {
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
const COUNTRY = "The searchers' country; zzz if unknown.";

/** A paragraph per table and a sentence per column, for the reference and `ordinate describe`. */
export const TABLE_HELP: Readonly<Record<string, TableHelp>> = {
  workspaces: {
    about: 'Owners of projects, members and API keys.',
    columns: {
      id: 'Its id, chosen freely.',
      name: 'Display name.',
      plan: '`free` has no API access; any other name is a paid plan.',
      keyword_history_days: 'Days of keyword data that the plan can read.',
    },
    example: { id: 'shop', name: 'The shop', plan: 'team', keyword_history_days: 486 },
  },
  projects: {
    about:
      'A property of the search engine, with its settings and synchronisation state. Ids are unique over all workspaces.',
    columns: {
      id: 'Its id.',
      workspace_id: 'The workspace that owns it.',
      domain: 'Display domain.',
      property: "The property's name: `sc-domain:example.com` or `https://example.com/`.",
      country: 'Its lists are filtered by this country.',
      language: 'Its language.',
      brand_terms: 'A query that contains one of these texts is a brand query.',
      brand_words:
        'A query that has one of these texts as whole words, in any case and with or without accents, is one too.',
      sync_status: 'State of its synchronisation. Default: `ok` if synced_through is set, else `pending`.',
      last_synced_at: 'When its data was last updated.',
      synced_through: 'The last day with data. Without it no facts are served.',
      provisional_after: 'Days after this one may still change.',
      history_backfilling: 'Whether older days are still being loaded.',
      setup_finished: 'Unfinished projects are not served.',
      created_at: 'When it was created; projects are listed in this order.',
    },
    example: {
      id: 'Shop1',
      workspace_id: 'shop',
      domain: 'shop.example',
      property: 'sc-domain:shop.example',
      brand_terms: ['shop'],
      synced_through: '2026-03-02',
      created_at: '2026-01-01T00:00:00Z',
    },
  },
  keywords: {
    about: 'Tracked queries of a project.',
    columns: {
      project_id: PROJECT_ID,
      id: 'Its id, unique in its project.',
      query: "The query; unique among the project's keywords that are not archived.",
      source: 'How it was added.',
      tracked_since: 'When tracking started.',
      intent: 'Search intent; estimated from the query by default.',
      archived: 'Archived keywords are not served.',
      target_url: 'The page that should rank for it; an alert opens when another page does.',
      tags: 'Words that it can be found by.',
    },
    example: { project_id: 'Shop1', id: 'Kw001', query: 'red shoes', tracked_since: '2026-01-01T00:00:00Z' },
  },
  groups: {
    about: 'Groups of keywords: folders, groups with members, and groups by rule.',
    columns: {
      project_id: PROJECT_ID,
      id: 'Its id, unique in its project.',
      name: 'Its name.',
      kind: 'A folder of groups, a group with members, or a group by rule.',
      parent_id: 'The folder that contains it.',
      position: 'Its place among the groups of the same parent.',
      pinned: 'Whether it is pinned.',
      rule: 'Which keywords belong to it; for groups of kind `rule` and only for them.',
    },
    example: { project_id: 'Shop1', id: 'Gr001', name: 'Shoes', kind: 'manual', position: 1 },
  },
  group_members: {
    about: 'Which keywords belong to a group of kind `manual`.',
    columns: { project_id: PROJECT_ID, group_id: 'The group.', keyword_id: 'The keyword.' },
    example: { project_id: 'Shop1', group_id: 'Gr001', keyword_id: 'Kw001' },
  },
  page_groups: {
    about: 'Groups of pages, by rule.',
    columns: {
      project_id: PROJECT_ID,
      id: 'Its id, unique in its project.',
      name: 'Its name.',
      position: 'Its place.',
      rule: 'Which pages belong to it.',
      pinned_urls: 'URL paths of pages that belong to it regardless of the rule, such as `/blog/best`.',
    },
    example: {
      project_id: 'Shop1',
      id: 'Pg001',
      name: 'Blog',
      position: 1,
      rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/blog' }] },
    },
  },
  alerts: {
    about: 'Events that need attention.',
    columns: {
      id: 'Its id, unique over all projects.',
      project_id: PROJECT_ID,
      type: 'Machine-readable type.',
      kind: 'Display name of the type.',
      severity: 'Its severity.',
      title: 'Its title.',
      body: 'What happened.',
      date: 'The day that it is about.',
      keyword_id: 'The keyword that it is about.',
      url: 'A link to details.',
      created_at: 'When it was raised.',
      resolved_at: 'When it was resolved.',
    },
    example: {
      id: '0a1b2c3d-0000-4000-8000-000000000001',
      project_id: 'Shop1',
      type: 'keyword_drop',
      kind: 'Keyword drop',
      severity: 'warning',
      title: 'red shoes fell by 3',
      body: 'From 4.0 to 7.0.',
      date: '2026-03-02',
      keyword_id: 'Kw001',
      created_at: '2026-03-03T04:05:06Z',
    },
  },
  alert_rules: {
    about:
      'Custom rules, evaluated on each final day: an alert opens when the condition holds, and resolves when it does not. Ids are unique over all projects.',
    columns: {
      id: 'Its id.',
      project_id: PROJECT_ID,
      name: 'Its name, shown in alerts.',
      rule: 'JSON: `{scope: site|group|keyword|page_group, id?, metric: clicks|impressions|ctr|position, window: "7d", against: value|previous|year, op: lt|gt|falls_by|rises_by, value, unit: percent|absolute, min_impressions?, for?, resolve_at?}`. `lt` and `gt` go with `against: value`, `falls_by` and `rises_by` with the window before (`previous`) or 364 days earlier (`year`).',
      severity: 'Severity of its alerts.',
      enabled: 'Whether it is evaluated.',
    },
    example: {
      id: '7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10',
      project_id: 'Shop1',
      name: 'Clicks fall',
      rule: {
        scope: 'site',
        metric: 'clicks',
        window: '7d',
        against: 'previous',
        op: 'falls_by',
        value: 30,
        unit: 'percent',
      },
    },
  },
  notes: {
    about: 'Notes about a day or a range of days.',
    columns: {
      id: 'Its id, unique over all workspaces.',
      workspace_id: 'The workspace.',
      project_id: 'The project; omitted only for notes with workspace scope.',
      scope: 'What it is about.',
      date: 'Its first day.',
      end_date: 'Its last day, not before the first.',
      category: 'What happened.',
      text: 'The note.',
      client_visible: 'Whether clients may see it.',
      author: 'Who wrote it.',
      group_id: 'The group that it is about.',
      keyword_id: 'The keyword that it is about.',
      page: 'The page that it is about.',
      created_at: 'When it was written.',
      updated_at: 'When it was last changed.',
    },
    example: {
      id: '0a1b2c3d-0000-4000-8000-000000000002',
      workspace_id: 'shop',
      project_id: 'Shop1',
      scope: 'project',
      date: '2026-03-01',
      category: 'launch',
      text: 'New shop front',
      author: 'Marketing',
      created_at: '2026-03-01T10:00:00Z',
      updated_at: '2026-03-01T10:00:00Z',
    },
  },
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
};
