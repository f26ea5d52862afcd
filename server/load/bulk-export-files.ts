import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Parameters, Session } from '../facts/engine.ts';

/** The import cannot be done as asked; the message says why. */
export class ImportRefused extends Error {}

/** Runs a question of `sql/load/bulk-export/`. */
export type Ask = <Row>(name: string, parameters: Parameters) => Promise<Row[]>;

interface ExportFiles {
  /** searchdata_site_impression: counted by property. */
  readonly site: readonly string[];
  /** searchdata_url_impression: counted by page. */
  readonly url: readonly string[];
  /** Whether a file of the latter has flags of appearances. */
  readonly hasAppearances: boolean;
}

/** Every Parquet file of the paths, absolute. */
export async function parquetFiles(paths: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) throw new ImportRefused(`There is no file or folder '${path}'.`);
    if (!found.isDirectory()) {
      files.push(resolve(path));
      continue;
    }
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    const below = entries
      .filter((entry) => !entry.isDirectory() && entry.name.endsWith('.parquet'))
      .map((entry) => resolve(entry.parentPath, entry.name));
    if (below.length === 0) throw new ImportRefused(`The folder '${path}' holds no Parquet file.`);
    files.push(...below.sort());
  }
  return [...new Set(files)];
}

/** Tells the two tables of the export apart by their columns. */
export async function tellApart(session: Session, files: readonly string[]): Promise<ExportFiles> {
  const site: string[] = [];
  const url: string[] = [];
  let hasAppearances = false;
  for (const file of files) {
    const described = await session
      .rows<{ column_name: string }>('describe select * from read_parquet($file)', { file })
      .catch((cause: unknown) => {
        throw new ImportRefused(`'${file}' cannot be read as Parquet.`, { cause });
      });
    const has = (name: string): boolean => described.some((column) => column.column_name === name);
    if (has('sum_top_position') && has('data_date')) site.push(file);
    else if (has('sum_position') && has('url') && has('data_date')) {
      url.push(file);
      hasAppearances ||= described.some(({ column_name: name }) => isAppearance(name));
    } else {
      throw new ImportRefused(
        `'${file}' is neither searchdata_url_impression (it has url and sum_position) nor searchdata_site_impression (it has sum_top_position).`,
      );
    }
  }
  return { site, url, hasAppearances };
}

/** As `sql/load/bulk-export/appearance_daily.sql` has it. */
function isAppearance(column: string): boolean {
  return column.startsWith('is_') && column !== 'is_page_experience' && !column.startsWith('is_anonymized_');
}

/** Which site_url to keep: with several in the files only the property's own; with one, all of it. */
export async function siteToKeep(
  ask: Ask,
  files: readonly string[],
  property: string,
): Promise<{ site: string | null; warnings: string[] }> {
  const found = (await ask<{ siteUrl: string }>('site_urls', { files })).map(({ siteUrl }) => siteUrl);
  if (found.includes(property)) return { site: property, warnings: [] };
  if (found.length > 1) {
    throw new ImportRefused(
      `The export holds rows of ${found.join(', ')}, none of which is '${property}'. Name one of them as --property.`,
    );
  }
  const warnings = found.map((other) => `The rows of the export name the property '${other}', not '${property}'.`);
  return { site: null, warnings };
}
