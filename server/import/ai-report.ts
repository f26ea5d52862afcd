import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectsOfProperty } from '../catalog/projects.ts';
import { requireWorkspace } from '../catalog/workspaces.ts';
import type { Day } from '../domain/dates.ts';
import { lastFactDay } from '../domain/fact-days.ts';
import type { Range } from '../domain/range.ts';
import { ImportRefused, refuseFutureRange, requireDomain } from '../load/import-rows.ts';
import { type LoadSummary, loadSnapshot } from '../load/load.ts';
import type { Stores } from '../load/stores.ts';
import { AI_TABLES, type AiEngine, type FactTable } from '../model/tables.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { type AiColumns, type AiFile, type AiMap, readAiTable } from './ai-table.ts';
import { openExport } from './open-export.ts';
import { refuseOtherPages } from './property.ts';

export interface AiReportOptions {
  /** CSV and zip files, or folders of them. */
  readonly paths: readonly string[];
  readonly workspace: string;
  /** Of a project that exists. */
  readonly property: string;
  /** The headers of columns, where they are not those that are known. */
  readonly columns?: AiMap;
  /** Headers of columns that do not change what rows count. */
  readonly ignoredColumns?: readonly string[];
  /** The range of lists of pages whose export does not have its days. */
  readonly range?: Range;
  /** Allows exports and pages of other properties. */
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly report?: (step: string) => void;
}

/** The result for a file. */
interface ImportedFile {
  readonly file: string;
  readonly engine: AiEngine | null;
  readonly rows: number;
  readonly from: Day | null;
  readonly to: Day | null;
  /** Null if it is not stored. */
  readonly storedAs: FactTable | null;
  readonly remark: string | null;
}

export interface AiReportSummary extends LoadSummary {
  readonly files: readonly ImportedFile[];
}

/** A table of an export, with the days that it is about. */
interface Target {
  readonly source: AiFile & { readonly columns: AiColumns };
  readonly table: FactTable;
  readonly period: Range;
}

/**
 * Imports the reports about AI answers that the engines only export: Google's, which counts impressions, and Bing's, which
 * counts citations. Days are stored by day, lists of pages for exactly their range. Throws `ImportRefused`.
 */
export async function importAiReport(stores: Stores, options: AiReportOptions): Promise<AiReportSummary> {
  const { settings, catalog, now = Date.now } = stores;
  const { workspace, property, dryRun = false, report = () => {} } = options;
  const last = lastFactDay(now());
  refuseFutureRange(options.range, last);
  requireDomain(property);
  await requireWorkspace(catalog, workspace);
  const [project] = await findProjectsOfProperty(catalog, workspace, property);
  if (project === undefined) {
    throw new ImportRefused(
      `Workspace '${workspace}' has no project of '${property}'; name the property of one that exists (ordinate projects list).`,
    );
  }
  await using opened = await openExport(settings, options);
  const { files, folder: temporary, session } = opened;
  report('reading the export');
  const tables: AiFile[] = [];
  for (const [index, file] of files.entries()) {
    tables.push(await readAiTable(session, file, join(temporary, `${index}.parquet`), { ...options, last }));
  }
  const targets = tables.flatMap((table) => targetOf(table, tables, options.range));
  if (!options.force) {
    const ofPages = targets.filter(({ source }) => source.columns.page !== null).map(({ source }) => source);
    await refuseOtherPages(session, ofPages, property);
  }
  refuseRepeated(targets);
  const imported = tables.map((table) => describe(table, targets));
  if (targets.length === 0) {
    const reasons = imported.map(({ file, remark }) => `\n  ${file}: ${remark}`);
    throw new ImportRefused(`Nothing in these files can be stored.${reasons.join('')}`);
  }
  const summary = await loadSnapshot(stores, {
    source: 'AI report',
    dryRun,
    report,
    makeSnapshot: async (folder) => {
      const days: Partial<Record<FactTable, readonly Day[]>> = {};
      for (const [index, { source, table, period }] of targets.entries()) {
        const { measure } = AI_TABLES[source.columns.engine];
        const isDaily = table === AI_TABLES[source.columns.engine].days;
        mkdirSync(join(folder, table), { recursive: true });
        const written = join(folder, table, `${index}.parquet`);
        await session.run(sqlTemplate(isDaily ? 'import/ai_days' : 'import/ai_pages', { measure }), {
          file: source.staged,
          project: project.id,
          target: written,
          ...(isDaily ? {} : { first: period.from, last: period.to }),
        });
        if (!isDaily) continue;
        const found = await session.rowsOfFile<{ day: Day }>('import/all_days', { file: written });
        days[table] = [...(days[table] ?? []), ...found.map(({ day }) => day)];
      }
      return { project: project.id, days };
    },
  });
  return { ...summary, files: imported };
}

/** How a table is stored: days by day, pages of their days or for the range of their export. */
function targetOf(table: AiFile, all: readonly AiFile[], named: Range | undefined): Target[] {
  const { columns, firstDay, lastDay } = table;
  if (columns === null || table.rows === 0) return [];
  const { days, pages } = AI_TABLES[columns.engine];
  const source = { ...table, columns };
  if (columns.page === null) return [{ source, table: days, period: { from: firstDay!, to: lastDay! } }];
  // Rows with a day are about it.
  const own = firstDay === null || lastDay === null ? undefined : { from: firstDay, to: lastDay };
  const period = own ?? periodOf(table, all) ?? named;
  return period === undefined ? [] : [{ source, table: pages, period }];
}

/** The days of the chart in the same export of Google; Bing exports each table by itself, for whatever range was set. */
function periodOf({ file, columns }: AiFile, all: readonly AiFile[]): Range | undefined {
  if (columns?.engine !== 'google') return undefined;
  const charts = all.filter(
    (other) => other.columns?.engine === 'google' && other.columns.page === null && other.file.group === file.group,
  );
  const [chart] = charts;
  if (charts.length !== 1 || chart?.firstDay == null || chart.lastDay === null) return undefined;
  return { from: chart.firstDay, to: chart.lastDay };
}

/** Days or pages that two files have would count twice. */
function refuseRepeated(targets: readonly Target[]): void {
  for (const [index, target] of targets.entries()) {
    const isPage = target.source.columns.page !== null;
    const other = targets.slice(0, index).find(({ source, table, period }) => {
      const isSame = period.from === target.period.from && period.to === target.period.to;
      const isOverlapping = period.from <= target.period.to && target.period.from <= period.to;
      return table === target.table && source !== target.source && (isPage ? isSame : isOverlapping);
    });
    if (other === undefined) continue;
    throw new ImportRefused(
      `'${other.source.file.name}' and '${target.source.file.name}' are of the same days (${target.period.from} to ${target.period.to}); import one of them.`,
    );
  }
}

function describe(table: AiFile, targets: readonly Target[]): ImportedFile {
  const target = targets.find(({ source }) => source.file === table.file);
  const { file, columns, rows, remark } = table;
  const why =
    columns === null
      ? remark
      : rows === 0
        ? 'no rows'
        : 'the days of its pages are not in the export; name them with --from and --to';
  return {
    file: file.name,
    engine: columns?.engine ?? null,
    rows,
    from: target?.period.from ?? table.firstDay,
    to: target?.period.to ?? table.lastDay,
    storedAs: target?.table ?? null,
    remark: target === undefined ? why : remark,
  };
}
