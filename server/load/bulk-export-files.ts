import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Day } from '../domain/dates.ts';
import type { Parameters, Session } from '../facts/duckdb/engine.ts';
import { patternOf } from '../runtime/patterns.ts';
import { ImportRefused } from './import-rows.ts';
import { filesBelow, unusableFile } from './snapshot-files.ts';

/** Runs a query of `sql/load/bulk-export/`. */
export type Select = <Row>(name: string, parameters: Parameters) => Promise<Row[]>;

export interface ExportFiles {
  /** searchdata_site_impression: aggregated by property. */
  readonly site: readonly string[];
  /** searchdata_url_impression: aggregated by page. */
  readonly url: readonly string[];
  /** Whether a file of `url` has columns for search appearances. */
  readonly hasAppearances: boolean;
  /** Columns that are not of the export, of any file. */
  readonly unknown: readonly string[];
}

/** The columns of the export; flags (`is_…`) may be added to it. */
const COLUMNS: readonly string[] = [
  ...['data_date', 'site_url', 'url', 'query', 'country', 'search_type', 'device'],
  ...['impressions', 'clicks', 'sum_position', 'sum_top_position'],
];

/** Absolute paths of all Parquet files that the paths name or contain. Throws `ImportRefused`. */
export async function parquetFiles(paths: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) throw new ImportRefused(`There is no file or folder '${path}'.`);
    if (!found.isDirectory()) {
      files.push(resolve(path));
      continue;
    }
    const below = (await filesBelow(resolve(path))).filter((file) => file.endsWith('.parquet'));
    if (below.length === 0) throw new ImportRefused(`The folder '${path}' contains no Parquet file.`);
    files.push(...below);
  }
  for (const file of files) {
    const reason = unusableFile(file);
    if (reason !== undefined) throw new ImportRefused(`'${file}' ${reason}`);
  }
  return [...new Set(files)];
}

/** Assigns files to the two tables of the export by their columns. Returns DuckDB patterns that match only those files. */
export async function classifyExportFiles(session: Session, files: readonly string[]): Promise<ExportFiles> {
  const site: string[] = [];
  const url: string[] = [];
  let hasAppearances = false;
  const unknown = new Set<string>();
  for (const file of files) {
    const described = await session
      .rows<{ column_name: string }>('describe select * from read_parquet($file)', { file: patternOf(file) })
      .catch((cause: unknown) => {
        throw new ImportRefused(`'${file}' cannot be read as Parquet.`, { cause });
      });
    const has = (name: string): boolean => described.some((column) => column.column_name === name);
    for (const { column_name: name } of described) {
      if (!COLUMNS.includes(name) && !name.startsWith('is_')) unknown.add(name);
    }
    if (has('sum_top_position') && has('data_date')) site.push(patternOf(file));
    else if (has('sum_position') && has('url') && has('data_date')) {
      url.push(patternOf(file));
      hasAppearances ||= described.some(({ column_name: name }) => isAppearance(name));
    } else {
      throw new ImportRefused(
        `'${file}' is neither searchdata_url_impression (it has url and sum_position) nor searchdata_site_impression (it has sum_top_position).`,
      );
    }
  }
  return { site, url, hasAppearances, unknown: [...unknown].sort() };
}

/** The same rule as in `sql/load/bulk-export/appearance_daily.sql`. */
function isAppearance(column: string): boolean {
  return column.startsWith('is_') && column !== 'is_page_experience' && !column.startsWith('is_anonymized_');
}

/** Refuses rows of days that have not happened. @param last the last day that rows may be about */
export async function refuseFutureRows(select: Select, files: readonly string[], last: Day): Promise<void> {
  const [found] = await select<{ file: string; day: Day; row: number }>('future_days', { files, last });
  if (found === undefined) return;
  throw new ImportRefused(
    `'${found.file}', row ${found.row}: the day ${found.day} has not happened yet; days may be at most ${last} (tomorrow, UTC).`,
  );
}

/** The site_url whose rows are imported: the property's own, or null (all rows) for a single other one with `force`. */
export async function siteToKeep(
  select: Select,
  files: readonly string[],
  property: string,
  force: boolean,
): Promise<{ site: string | null; warnings: string[] }> {
  const found = (await select<{ siteUrl: string }>('site_urls', { files })).map(({ siteUrl }) => siteUrl);
  if (found.includes(property)) return { site: property, warnings: [] };
  if (found.length > 1) {
    throw new ImportRefused(
      `The export has rows of ${found.join(', ')}, none of which is '${property}'. Name one of them as --property.`,
    );
  }
  const named = found[0] === undefined ? 'no property' : `the property '${found[0]}'`;
  if (!force) {
    const instead = found[0] === undefined ? '' : `name it with --property ${found[0]}, or `;
    throw new ImportRefused(
      `The rows of the export name ${named}, not '${property}': ${instead}add --force to import them as rows of '${property}'.`,
    );
  }
  return { site: null, warnings: [`The rows of the export name ${named}, not '${property}'.`] };
}
