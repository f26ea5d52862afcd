import { ENTITY_NAMES, ENTITY_RULES, type EntityName, FIELDS } from '../catalog/entities.ts';
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
  readonly name: EntityName;
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

/** What loads know of entities, beside their fields. */
const LOADED: Partial<Record<EntityName, Partial<Pick<EntityTable, 'links' | 'reach'>>>> = {
  workspaces: { reach: 'false' },
  projects: { links: ['workspace_id'], reach: 'workspace_id in (from named_workspaces)' },
  keywords: { links: ['query', 'archived'] },
  groups: { links: ['kind', 'parent_id'] },
  alerts: { links: ['project_id', 'keyword_id'] },
  alert_rules: { links: ['project_id'] },
  notes: {
    links: ['workspace_id', 'project_id', 'group_id', 'keyword_id'],
    reach: `(${OF_NAMED_PROJECT} or project_id is null and workspace_id in (from named_workspaces))`,
  },
};

/** The entity tables; each refers only to earlier ones. */
export const ENTITIES: readonly EntityTable[] = ENTITY_NAMES.map((name) => {
  const { key } = ENTITY_RULES[name];
  const columns = FIELDS[name].map(({ column, type, isOptional: optional, fallback }) => ({
    ...{ name: column, type: COLUMN_TYPES[type], optional },
    ...(fallback !== undefined && { fallback }),
  }));
  const { links = [], reach = OF_NAMED_PROJECT } = LOADED[name] ?? {};
  return { name, key, columns, links: [...key, ...links], reach };
});

export const TABLE_NAMES: readonly string[] = [...ENTITY_NAMES, ...FACT_TABLES];

/** `a, b, c` for a SQL template. */
export function identifiers(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

/** `a := "a", b := "b"`: arguments of `struct_pack`. Instants are stored as numbers, and shown as times. */
export function packed(names: readonly string[]): string {
  return names.map((name) => `"${name}" := ${name === 'hour' ? 'make_timestamp("hour")' : `"${name}"`}`).join(', ');
}
