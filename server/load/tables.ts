import { FACT_TABLES, type FactTable, type MeasureName, type ROLLUPS } from '../model/tables.ts';
import { COLUMN_TYPES, type ColumnType, type ColumnTypeName } from './column-types.ts';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** May be null or left out. */
  readonly optional: boolean;
  /** SQL of the default for null. */
  readonly fallback?: string;
}

interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly key: readonly string[];
}

/** A table of the catalog. */
export interface EntityTable extends Table {
  readonly name: EntityTableName;
  /** Columns that checks of references and other rules read. */
  readonly links: readonly string[];
  /** Which rows of the catalog a replacing load may remove, as SQL over `links`. */
  readonly reach: string;
}

/** Sums over the rows of a part: a file of `sql/load/rollups/`. */
type Rollup = (typeof ROLLUPS)[number];

/** A table of metrics, stored as Parquet. */
export interface FactTableSchema extends Table {
  readonly name: FactTable;
  /** The columns that are counted. */
  readonly measures: readonly MeasureName[];
  /** The date column. */
  readonly day: 'date' | 'month' | 'last_day' | 'week_end';
  /** How the rows of a project are split into files. Small tables use one file, so that long ranges open only one. */
  readonly split: 'month' | 'none' | 'period';
  /** SQL expressions that the rows of a file are sorted by. */
  readonly order: readonly string[];
  /** Rollups stored with each file. */
  readonly rollups: readonly Rollup[];
  /** Running totals by month, in one file per project. */
  readonly running?: Rollup;
  /** Cumulative totals by day, in one file per month, computed from the first of `rollups` and `running`. */
  readonly cumulative?: Rollup;
}

const ENTITY_TABLES = [
  'workspaces',
  'projects',
  'keywords',
  'groups',
  'group_members',
  'page_groups',
  'alerts',
  'alert_rules',
  'notes',
] as const;
type EntityTableName = (typeof ENTITY_TABLES)[number];

/** `name: type`; the suffix `?` marks an optional column, and `?=sql` gives its default. */
export function columns(schema: Readonly<Record<string, ColumnTypeName | `${ColumnTypeName}?${string}`>>): Column[] {
  return Object.entries(schema).map(([name, spec]) => {
    const [type = '', fallback] = spec.split('?');
    return {
      name,
      type: COLUMN_TYPES[type as ColumnTypeName],
      optional: fallback !== undefined,
      ...(fallback ? { fallback: fallback.slice(1) } : {}),
    };
  });
}

const OF_NAMED_PROJECT = 'project_id in (from named_projects)';

function entities(
  name: EntityTableName,
  key: readonly string[],
  schema: Parameters<typeof columns>[0],
  more: { links?: readonly string[]; reach?: string } = {},
): EntityTable {
  return {
    name,
    key,
    columns: columns(schema),
    links: [...key, ...(more.links ?? [])],
    reach: more.reach ?? OF_NAMED_PROJECT,
  };
}

/** The entity tables; each refers only to earlier ones. */
export const ENTITIES: readonly EntityTable[] = [
  entities(
    'workspaces',
    ['id'],
    { id: 'words', name: 'words', plan: 'words', keyword_history_days: 'historyDays' },
    { reach: 'false' },
  ),
  entities(
    'projects',
    ['id'],
    {
      id: 'shortId',
      workspace_id: 'words',
      domain: 'words',
      property: 'words',
      country: 'country?',
      language: 'language?',
      brand_terms: "textList?='[]'",
      brand_words: 'textList?',
      sync_status: 'syncStatus?',
      last_synced_at: 'pastInstant?',
      synced_through: 'factDay?',
      provisional_after: 'factDay?',
      history_backfilling: 'flag?=false',
      setup_finished: 'flag?=true',
      created_at: 'instant',
    },
    { links: ['workspace_id'], reach: 'workspace_id in (from named_workspaces)' },
  ),
  entities(
    'keywords',
    ['project_id', 'id'],
    {
      project_id: 'shortId',
      id: 'shortId',
      query: 'words',
      source: "source?='import'",
      tracked_since: 'instant',
      intent: 'intent?',
      archived: 'flag?=false',
      target_url: 'url?',
      tags: 'textList?',
    },
    { links: ['query', 'archived'] },
  ),
  entities(
    'groups',
    ['project_id', 'id'],
    {
      project_id: 'shortId',
      id: 'shortId',
      name: 'words',
      kind: 'groupKind',
      parent_id: 'shortId?',
      position: 'order',
      pinned: 'flag?=false',
      rule: 'json?',
    },
    { links: ['kind', 'parent_id'] },
  ),
  entities('group_members', ['project_id', 'group_id', 'keyword_id'], {
    project_id: 'shortId',
    group_id: 'shortId',
    keyword_id: 'shortId',
  }),
  entities('page_groups', ['project_id', 'id'], {
    project_id: 'shortId',
    id: 'shortId',
    name: 'words',
    position: 'order',
    rule: 'json',
    pinned_urls: "textList?='[]'",
  }),
  entities(
    'alerts',
    ['id'],
    {
      id: 'uuid',
      project_id: 'shortId',
      type: 'words',
      kind: 'text',
      severity: 'severity',
      title: 'text',
      body: 'text',
      date: 'day?',
      keyword_id: 'shortId?',
      url: 'text?',
      created_at: 'instant',
      resolved_at: 'instant?',
    },
    { links: ['project_id', 'keyword_id'] },
  ),
  entities(
    'alert_rules',
    ['id'],
    {
      id: 'uuid',
      project_id: 'shortId',
      name: 'words',
      rule: 'json',
      severity: "severity?='warning'",
      enabled: 'flag?=true',
    },
    { links: ['project_id'] },
  ),
  entities(
    'notes',
    ['id'],
    {
      id: 'uuid',
      workspace_id: 'words',
      project_id: 'shortId?',
      scope: 'noteScope',
      date: 'day',
      end_date: 'day?',
      category: 'noteCategory',
      text: 'text',
      client_visible: 'flag?=false',
      author: 'text',
      group_id: 'shortId?',
      keyword_id: 'shortId?',
      page: 'text?',
      created_at: 'instant',
      updated_at: 'instant',
    },
    {
      links: ['workspace_id', 'project_id', 'group_id', 'keyword_id'],
      reach: `(${OF_NAMED_PROJECT} or project_id is null and workspace_id in (from named_workspaces))`,
    },
  ),
];

export const TABLE_NAMES: readonly string[] = [...ENTITY_TABLES, ...FACT_TABLES];

/** `a, b, c` for a SQL template. */
export function identifiers(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

/** `a := "a", b := "b"`: arguments of `struct_pack`. Instants are stored as numbers, and shown as times. */
export function packed(names: readonly string[]): string {
  return names.map((name) => `"${name}" := ${name === 'hour' ? 'make_timestamp("hour")' : `"${name}"`}`).join(', ');
}
