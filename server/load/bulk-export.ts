import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listKeywords } from '../catalog/keywords.ts';
import { findProjectsOfProperty, newProjectId } from '../catalog/projects.ts';
import { requireWorkspace } from '../catalog/workspaces.ts';
import { type BrandTerm, textsOf, wordPattern } from '../domain/brand-terms.ts';
import { type Day, later } from '../domain/dates.ts';
import { lastFactDay } from '../domain/fact-days.ts';
import { isoInstant } from '../domain/instants.ts';
import { count } from '../domain/problems.ts';
import { Engine, type Parameters, type Session } from '../facts/duckdb/engine.ts';
import type { FactTable } from '../model/tables.ts';
import { patternOf } from '../runtime/patterns.ts';
import { sqlText } from '../runtime/sql.ts';
import type { Settings } from '../settings/settings.ts';
import { classifyExportFiles, parquetFiles, refuseFutureRows, type Select, siteToKeep } from './bulk-export-files.ts';
import { writeSearchTypes } from './bulk-types.ts';
import { entityRows, type KeywordRow, untrackedQueries } from './entities.ts';
import { columnsToKeep, ImportRefused, projectRow, requireDomain, writeRows } from './import-rows.ts';
import { type LoadSummary, loadSnapshot } from './load.ts';
import { loadFolders, type Stores } from './stores.ts';

export interface ImportOptions {
  /** Parquet files of the export, or folders of them. */
  readonly paths: readonly string[];
  readonly workspace: string;
  /** `sc-domain:example.com` or `https://example.com/`. */
  readonly property: string;
  /** Replaces the project's brand terms. */
  readonly brandTerms?: readonly BrandTerm[];
  /** Number of queries with the most clicks to track as keywords. */
  readonly trackTop?: number;
  /** Imports rows of a property with a different name. */
  readonly force?: boolean;
  /** Validate only. */
  readonly dryRun?: boolean;
  readonly report?: (step: string) => void;
}

export interface ImportSummary extends LoadSummary {
  readonly project: { id: string; domain: string; property: string; created: boolean };
  readonly keywordsAdded: number;
  /** Aggregation of the site totals; `page` counts a result page with two pages of the site twice. */
  readonly siteTotals: 'property' | 'page';
  /** Rows that were skipped, by search type: those of types that are not known. */
  readonly otherSearchTypes: Readonly<Record<string, number>>;
}

/**
 * Imports the search engine's bulk export: creates or updates the project of the property, derives its facts (all of web
 * searches, days and countries of other search types) and publishes them through the loader, for the days in the export.
 * Throws `ImportRefused`.
 */
export async function importBulkExport(stores: Stores, options: ImportOptions): Promise<ImportSummary> {
  const { catalog, settings } = stores;
  const { workspace, property, report = () => {} } = options;
  const domain = requireDomain(property);
  await requireWorkspace(catalog, workspace);
  const files = await parquetFiles(options.paths);
  let outcome: Awaited<ReturnType<typeof writeSnapshot>> | undefined;
  await using opened = new AsyncDisposableStack();
  let opening: Promise<Engine> | undefined;
  opened.defer(async () => (await opening?.catch(() => undefined))?.close());
  // One engine for reading the export and for the load: opening one takes 17 ms.
  const engine = (): Promise<Engine> => (opening ??= openEngine(settings, files));
  const summary = await loadSnapshot(stores, {
    source: 'bulk export',
    report,
    dryRun: options.dryRun ?? false,
    // The provider occasionally returns rows with more clicks than impressions.
    acceptImplausible: true,
    makeSnapshot: async (folder) => {
      using session = await (await engine()).session();
      outcome = await writeSnapshot(session, stores, options, { files, folder, domain });
      const { project, knownDays: days, tracked, begun } = outcome;
      return {
        project,
        days,
        isBulkExport: true,
        keywords: { tracked, begun },
        made: outcome.created ? { workspace: options.workspace, property } : undefined,
        kept: columnsToKeep(options.brandTerms),
      };
    },
    engine,
  });
  const { project, created, keywordsAdded, siteTotals, otherSearchTypes, warnings } = outcome!;
  return {
    project: { id: project, domain, property, created },
    keywordsAdded,
    siteTotals,
    otherSearchTypes,
    ...summary,
    warnings: [...warnings, ...summary.warnings],
  };
}

function openEngine(settings: Settings, files: readonly string[]): Promise<Engine> {
  const { dataFolder, memoryLimit, threads } = settings;
  const exported = new Set(files.flatMap((file) => [dirname(file), patternOf(dirname(file))]));
  const folders = [...exported, ...loadFolders(settings)];
  return Engine.open({ memoryLimit, threads, temporaryFolder: join(dataFolder, 'staging', 'memory'), folders });
}

async function writeSnapshot(
  session: Session,
  { catalog, now: clock = Date.now }: Stores,
  options: ImportOptions,
  { files, folder, domain }: { files: readonly string[]; folder: string; domain: string },
) {
  const { workspace, property, report = () => {} } = options;
  const run = (name: string, parameters: Parameters) => session.runFile(`load/bulk-export/${name}`, parameters);
  const select = <Row>(name: string, parameters: Parameters) =>
    session.rows<Row>(sqlText(`load/bulk-export/${name}`), parameters);
  const target = (table: string) => join(folder, `${table}.parquet`);

  mkdirSync(folder, { recursive: true });
  const { site: siteFiles, url: urlFiles, hasAppearances, unknown } = await classifyExportFiles(session, files);
  await refuseFutureRows(select, [...siteFiles, ...urlFiles], lastFactDay(clock()));
  const { site, warnings } = await siteToKeep(select, [...siteFiles, ...urlFiles], property, options.force ?? false);
  if (unknown.length > 0) {
    warnings.push(`${count(unknown.length, 'column')} not of the bulk export ignored: ${unknown.join(', ')}.`);
  }
  report('reading the export');
  const rows = `${folder}-rows.parquet`;
  if (siteFiles.length > 0) await run('property_rows_of_site', { files: siteFiles, site, target: rows });
  else await run('property_rows_of_url', { files: urlFiles, site, target: rows });
  const days = await daysOf(select, rows);
  const lastDay = days.at(-1);
  if (lastDay === undefined) {
    throw new ImportRefused('The export has no rows of web searches, so there is nothing to import.');
  }

  const [known] = await findProjectsOfProperty(catalog, workspace, property);
  const project = known?.id ?? (await newProjectId(catalog));
  const brandTerms = options.brandTerms ?? known?.brandTerms ?? [];
  const now = isoInstant(clock() * 1000);
  const made = { id: project, workspace, property, domain, brandTerms, known, now };
  // The export contains only final days.
  const syncedThrough = known?.syncedThrough ? later(known.syncedThrough, lastDay) : lastDay;
  const provisionalAfter = known?.provisionalAfter ? later(known.provisionalAfter, lastDay) : lastDay;
  writeRows(folder, 'projects', [projectRow({ ...made, syncedThrough, provisionalAfter })]);
  const max = options.trackTop ?? 0;
  const top = max === 0 ? [] : await select<{ query: string }>('top_queries', { rows, max });
  const added = untrackedQueries(
    await entityRows<KeywordRow>(catalog, 'keywords', project),
    top.map(({ query }) => query),
  );
  writeRows(
    folder,
    'keywords',
    added.map((keyword) => ({ ...keyword, project_id: project, source: 'suggested', tracked_since: now })),
  );

  report('deriving facts');
  for (const table of ['site_daily', 'country_daily', 'query_daily']) {
    await run(table, { rows, project, target: target(table) });
  }
  await run('brand_daily', {
    rows,
    project,
    terms: textsOf(brandTerms),
    words: wordPattern(brandTerms),
    target: target('brand_daily'),
  });
  const knownDays: Partial<Record<FactTable, readonly Day[]>> = {
    site_daily: days,
    country_daily: days,
    query_daily: days,
    brand_daily: days,
    keyword_daily: days,
  };
  const tracked = [...(await listKeywords(catalog, project)), ...added].map(({ id, query }) => ({ id, query }));
  if (tracked.length > 0) {
    writeRows(`${folder}-`, 'tracked', tracked);
    await run('keyword_daily', {
      rows,
      keywords: join(`${folder}-`, 'tracked.ndjson'),
      project,
      target: target('keyword_daily'),
    });
  }
  if (urlFiles.length > 0) {
    await run('page_daily', { files: urlFiles, site, project, target: target('page_daily') });
    const pageDays = await daysOf(select, target('page_daily'));
    knownDays.page_daily = pageDays;
    if (hasAppearances) {
      await run('appearance_daily', { files: urlFiles, site, project, target: target('appearance_daily') });
      knownDays.appearance_daily = pageDays;
    }
    const lacking = new Set(days).symmetricDifference(new Set(pageDays)).size;
    if (lacking > 0) {
      warnings.push(
        `${count(lacking, 'day')} in only one of the site and url tables; the facts of the other lack them.`,
      );
    }
  }
  const types = await writeSearchTypes(session, { site: siteFiles, url: urlFiles, siteUrl: site, project, folder });
  for (const type of types.byPage) {
    warnings.push(
      `${type}: searchdata_site_impression has no rows of it, so its totals are counted by page, which gives more impressions.`,
    );
  }
  return {
    project,
    created: known === undefined,
    keywordsAdded: added.length,
    begun: added.map(({ id }) => id),
    tracked: new Set(tracked.map(({ id }) => id)),
    siteTotals: siteFiles.length > 0 ? ('property' as const) : ('page' as const),
    otherSearchTypes: types.unknown,
    knownDays: { ...knownDays, ...types.days },
    warnings,
  };
}

/** The days with rows in a Parquet file, in order. A missing day is unknown, not empty. */
async function daysOf(select: Select, file: string): Promise<Day[]> {
  return (await select<{ day: Day }>('days', { file })).map(({ day }) => day);
}
