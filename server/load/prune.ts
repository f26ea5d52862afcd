import type { Catalog } from '../catalog/catalog.ts';
import { manifestOf } from '../catalog/fact-files.ts';
import { forgetCrawlDaysBefore } from '../catalog/inspections.ts';
import { forgetKeywordGapsBefore } from '../catalog/keywords.ts';
import { openJoinedStore } from '../catalog/store.ts';
import { dropListsBefore } from '../catalog/stored-lists.ts';
import { forgetSyncDaysBefore } from '../catalog/sync-days.ts';
import { addDays, type Day, eachDay, monthOf } from '../domain/dates.ts';
import { EVERY_DAY } from '../domain/range.ts';
import type { FactTable, StoredTable } from '../model/tables.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { keptBulkExportDays } from './bulk-export-days.ts';
import { changeFacts, type LockOptions } from './change-facts.ts';
import { FACTS } from './fact-tables.ts';
import type { FactFiles, PartChange } from './new-files.ts';
import { planParts, writePartFiles } from './part-files.ts';
import { publishFiles } from './publish.ts';
import type { EngineStores } from './stores.ts';
import type { FactTableSchema } from './tables.ts';

/** Facts of a project that are older than a day. */
export interface OldFacts {
  readonly table: FactTable;
  readonly firstDay: Day;
  readonly rows: number;
}

/** The facts of a project before a day, the first of a month. Lists of whole ranges count if all of the range is before it. */
export async function findOldFacts(
  { catalog, engine, settings }: EngineStores,
  project: string,
  before: Day,
): Promise<OldFacts[]> {
  await using store = await openJoinedStore(settings, catalog);
  const found: OldFacts[] = [];
  for (const schema of FACTS) {
    const files = (await manifestOf(catalog, project, schema.name, EVERY_DAY)).filter((file) =>
      isOld(schema, file, before),
    );
    if (files.length === 0) continue;
    let rows = 0;
    for (const file of files) {
      if (schema.split !== 'none' || file.lastDay < before) {
        rows += file.rows;
        continue;
      }
      using session = await (await engine()).session();
      using opened = await store.open([file]);
      const text = sqlTemplate('load/rows_before', { day: schema.day });
      rows += (await session.rows<{ rows: number }>(text, { file: opened.paths[0]!, before }))[0]!.rows;
    }
    const firstDay = files.map((file) => file.firstDay).reduce((a, b) => (a < b ? a : b));
    found.push({ table: schema.name, firstDay, rows });
  }
  return found;
}

/** Whether a file has days before the day; a list of a range must end before it. */
function isOld({ split }: FactTableSchema, file: { firstDay: Day; lastDay: Day }, before: Day): boolean {
  return (split === 'period' ? file.lastDay : file.firstDay) < before;
}

/**
 * Drops all facts of a project before a day, the first of a month, in one publication: readers see all of them or none.
 * The replaced files are removed like those of a load. Waits for loads. Returns false if there was nothing to drop.
 */
export async function pruneProject(
  stores: EngineStores,
  project: string,
  before: Day,
  waiting: LockOptions = {},
): Promise<boolean> {
  const { catalog } = stores;
  return changeFacts(stores, { ...waiting, projects: [project] }, async ({ lock, files, journal }) => {
    const changes = await writeWithout(stores, files, project, before);
    const bulkExportDays = await keptBulkExportDays(catalog, project, before);
    await publishFiles({ catalog, journal, lock, files }, { changes, bulkExportDays }, async ({ tx, changed }) => {
      // Reports contain which days and keywords were fetched, even without facts.
      if (await forgetSyncDaysBefore(tx, project, before)) changed.projects.add(project);
      await forgetKeywordGapsBefore(tx, project, before);
      await dropListsBefore(tx, project, before);
      await forgetCrawlDaysBefore(tx, project, before);
    });
    return changes.length > 0;
  });
}

/** Writes the files of a project without the days before a day, like a load that replaces these days by nothing. */
async function writeWithout(
  { catalog, engine }: EngineStores,
  files: FactFiles,
  project: string,
  before: Day,
): Promise<PartChange[]> {
  const changes: PartChange[] = [];
  for (const schema of FACTS) {
    const old = (await manifestOf(catalog, project, schema.name, EVERY_DAY)).filter((file) =>
      isOld(schema, file, before),
    );
    if (old.length === 0) continue;
    if (schema.split === 'period') {
      changes.push(...old.map(({ part }) => ({ project, table: schema.name, part, written: null })));
      continue;
    }
    const first = old.map(({ firstDay }) => firstDay).reduce((a, b) => (a < b ? a : b));
    const days = new Map([[project, new Set(eachDay(first, addDays(before, -1)))]]);
    const planned = await planParts(catalog, { schema, parts: [], days });
    const written = await writePartFiles(await engine(), catalog, { files, schema, planned });
    changes.push(...written, ...(await leftTotals(catalog, project, schema, { before, written })));
  }
  await files.store.syncFolders();
  return changes;
}

/** Cumulative totals of dropped months that are not rewritten: a project may lack running totals. */
async function leftTotals(
  catalog: Catalog,
  project: string,
  { cumulative }: FactTableSchema,
  { before, written }: { readonly before: Day; readonly written: readonly PartChange[] },
): Promise<PartChange[]> {
  if (cumulative === undefined) return [];
  const table: StoredTable = cumulative;
  const done = new Set(written.filter((change) => change.table === table).map(({ part }) => part));
  const stored = await manifestOf(catalog, project, table, EVERY_DAY);
  return stored
    .filter(({ part }) => part < monthOf(before) && !done.has(part))
    .map(({ part }) => ({ project, table, part, written: null }));
}
