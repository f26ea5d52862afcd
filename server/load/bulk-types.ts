import { join } from 'node:path';
import type { Day } from '../domain/dates.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { OTHER_TYPES, type OtherType, SURFACES } from '../model/surfaces.ts';
import { countryTable, type FactTable, siteTable } from '../model/tables.ts';
import { sqlTemplate, sqlText } from '../runtime/sql.ts';
import type { ExportFiles } from './bulk-export-files.ts';

interface TypesSource extends Pick<ExportFiles, 'site' | 'url'> {
  /** The `site_url` to keep, or null for all. */
  readonly siteUrl: string | null;
  readonly project: string;
  readonly folder: string;
}

interface WrittenTypes {
  /** Rows of types that are not known, by type. */
  readonly unknown: Readonly<Record<string, number>>;
  readonly days: Readonly<Partial<Record<FactTable, readonly Day[]>>>;
  /** Types whose rows are counted by page, because the table by property has none. */
  readonly byPage: readonly OtherType[];
}

type TypeRows = { readonly searchType: string; readonly rows: number };

const COUNTRY = "coalesce(nullif(lower(country), ''), 'zzz') as country";
const DEVICE = "coalesce(nullif(lower(device), ''), 'unknown') as device";

/** Writes the days and countries of each search type besides web, each counted for itself. */
export async function writeSearchTypes(session: Session, source: TypesSource): Promise<WrittenTypes> {
  const { site, url, siteUrl, project, folder } = source;
  const bySite = await typesIn(session, site, siteUrl);
  const byUrl = await typesIn(session, url, siteUrl);
  const days: Partial<Record<FactTable, readonly Day[]>> = {};
  const byPage: OtherType[] = [];
  for (const type of OTHER_TYPES) {
    const name = type.toLowerCase();
    const isBySite = bySite.some(({ searchType }) => nameOf(searchType) === name);
    if (!isBySite && !byUrl.some(({ searchType }) => nameOf(searchType) === name)) continue;
    if (!isBySite && site.length > 0) byPage.push(type);
    const sum = isBySite ? 'sum(sum_top_position)' : 'sum(sum_position)';
    const position = SURFACES[type].hasQueries ? sum : '0';
    const keys = { site: SURFACES[type].hasDevices ? DEVICE : "'unknown' as device", country: COUNTRY };
    for (const [of, key] of Object.entries(keys) as ['site' | 'country', string][]) {
      const table = of === 'site' ? siteTable(type) : countryTable(type)!;
      const target = join(folder, `${table}.parquet`);
      await session.run(sqlTemplate('load/bulk-export/of_type', { key, position }), {
        files: isBySite ? site : url,
        site: siteUrl,
        type: name,
        project,
        target,
      });
      const found = await session.rows<{ day: Day }>(sqlText('load/bulk-export/days'), { file: target });
      days[table] = found.map(({ day }) => day);
    }
  }
  const unknown = new Map<string, number>();
  for (const { searchType, rows } of [...bySite, ...byUrl]) {
    if (OTHER_TYPES.some((type) => type.toLowerCase() === nameOf(searchType))) continue;
    unknown.set(searchType, (unknown.get(searchType) ?? 0) + rows);
  }
  return { unknown: Object.fromEntries(unknown), days, byPage };
}

async function typesIn(session: Session, files: readonly string[], site: string | null): Promise<TypeRows[]> {
  return files.length === 0 ? [] : session.rows(sqlText('load/bulk-export/other_search_types'), { files, site });
}

/** `GOOGLE_NEWS` and `googleNews` are the same type. */
function nameOf(searchType: string): string {
  return searchType.toLowerCase().replaceAll('_', '');
}
