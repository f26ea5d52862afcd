import { TYPE_TABLES, type TypeTable } from '../../domain/search-types.ts';
import { sqlTemplate } from '../../runtime/sql.ts';
import { literal } from './literal.ts';

const MEASURES = ['clicks bigint', 'impressions bigint', 'sum_position bigint'];
const PERIOD = ['first_day date', 'last_day date'];
const DAYS = Array.from({ length: 31 }, (_, index) => index + 1);
const CUMULATIVE = ['clicks', 'impressions', 'sum_position'];

const SITE: readonly string[] = ['date date', 'device varchar', ...MEASURES];
const COUNTRY: readonly string[] = ['date date', 'country varchar', ...MEASURES];
const OF_TYPES = Object.fromEntries(
  Object.values(TYPE_TABLES).flatMap(({ site, country }): [TypeTable, readonly string[]][] => [
    [site, SITE],
    [country, COUNTRY],
  ]),
) as Readonly<Record<TypeTable, readonly string[]>>;

/** The columns of each table's files, and their types in Trino. */
export const TRINO_TABLES = {
  site_daily: SITE,
  site_hourly: ['date date', 'hour bigint', ...MEASURES],
  keyword_daily: ['keyword_id varchar', 'date date', 'device varchar', ...MEASURES],
  keyword_page_daily: ['keyword_id varchar', 'date date', 'url varchar', ...MEASURES],
  country_daily: COUNTRY,
  country_monthly: ['month date', 'country varchar', ...MEASURES],
  appearance_daily: ['date date', 'appearance varchar', ...MEASURES],
  brand_daily: ['date date', 'segment varchar', ...MEASURES],
  page_daily: ['url varchar', 'date date', 'country varchar', ...MEASURES],
  query_daily: ['query varchar', 'date date', 'country varchar', ...MEASURES],
  page_period: [...PERIOD, 'url varchar', ...MEASURES],
  query_period: [...PERIOD, 'query varchar', ...MEASURES],
  ...OF_TYPES,
  site_daily_bing: SITE,
  page_weekly_bing: ['url varchar', 'week_end date', ...MEASURES],
  query_weekly_bing: ['query varchar', 'week_end date', ...MEASURES],
  ai_daily: ['date date', 'ai_impressions bigint'],
  ai_page_period: [...PERIOD, 'url varchar', 'ai_impressions bigint'],
  citation_daily: ['date date', 'citations bigint'],
  citation_page_period: [...PERIOD, 'url varchar', 'citations bigint'],
  keyword_all: ['device varchar', 'keyword_id varchar', 'date date', ...MEASURES],
  keyword_running: ['device varchar', 'keyword_id varchar', 'number bigint', 'date date', ...MEASURES],
  keyword_cumulative: ['number double', ...CUMULATIVE.flatMap((name) => DAYS.map((day) => `${name}_${day} double`))],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type TrinoTable = keyof typeof TRINO_TABLES;

/** The names of the columns of a table's files. */
export function columnsOf(table: TrinoTable): string[] {
  return TRINO_TABLES[table].map((column) => column.replace(/ .*/, ''));
}

/** The table of a stored file, from its name. */
export function tableOfFile(file: string): TrinoTable {
  const [, table = ''] = file.split('/');
  if (!Object.hasOwn(TRINO_TABLES, table)) throw new Error(`'${file}' is not a file of a fact table`);
  return table as TrinoTable;
}

/**
 * The statements that define the schema and its tables in Trino.
 * @param storage `s3://BUCKET/PREFIX`, without a slash at its end
 */
export function tableDefinitions(storage: string, { catalog, schema }: { catalog: string; schema: string }): string[] {
  const name = (table?: string): string => [catalog, schema, ...(table ? [table] : [])].map(quoted).join('.');
  const location = (folder: string): string => literal(`${storage}/${folder}`);
  return [
    definition('schema', { schema: name(), location: location('trino') }),
    ...Object.entries(TRINO_TABLES).map(([table, columns]) =>
      definition('table', {
        table: name(table),
        columns: columns.map((column) => column.replace(/^\w+/, quoted)).join(',\n  '),
        location: location(`facts/${table}`),
        template: location(`facts/${table}/\${project_id}`),
      }),
    ),
  ];
}

/** A statement without its comment. */
function definition(name: string, fills: Readonly<Record<string, string>>): string {
  return sqlTemplate(`trino/ddl/${name}`, fills).replaceAll(/^--.*\n/gm, '');
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
