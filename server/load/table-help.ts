import { columnOf, FACT_TABLES, type FactTable, MEASURES, type MeasureName, TABLES } from '../model/tables.ts';

/** Documentation of a snapshot table. */
interface TableHelp {
  readonly about: string;
  readonly columns: Readonly<Record<string, string>>;
  /** A row. The examples of all tables together are a loadable snapshot. */
  readonly example: Readonly<Record<string, unknown>>;
}

const PROJECT_ID = 'The project.';

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
  ...Object.fromEntries(FACT_TABLES.map((table) => [table, helpOf(table)])),
};

function helpOf(table: FactTable): TableHelp {
  const { about, key, measures, example } = TABLES[table];
  const of = key.map((name) => [name, columnOf(table, name)] as const);
  return {
    about,
    columns: {
      project_id: PROJECT_ID,
      ...Object.fromEntries(of.map(([name, { help }]) => [name, help])),
      ...Object.fromEntries(measures.map((name) => [name, helpOfMeasure(table, name)])),
    },
    example: {
      project_id: 'Shop1',
      ...Object.fromEntries(of.map(([name, column]) => [name, column.example])),
      ...Object.fromEntries(measures.map((name) => [name, MEASURES[name].example])),
      ...example,
    },
  };
}

function helpOfMeasure(table: FactTable, name: MeasureName): string {
  const { help } = MEASURES[name];
  return name === 'sum_position' && TABLES[table].positions === 'some'
    ? `${help} Null if the position is unknown.`
    : help;
}
