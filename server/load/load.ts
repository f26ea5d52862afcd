import { join, resolve } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { editToken } from '../catalog/fact-files.ts';
import { beginKeywords, fillKeywordGaps, listKeywords, widenKeywordGaps } from '../catalog/keywords.ts';
import { findProjectsOfProperty, listKeywordIds } from '../catalog/projects.ts';
import { lastFactDay } from '../domain/fact-days.ts';
import { LoadRejected, type Problem } from '../domain/problems.ts';
import { rangesOf } from '../domain/range.ts';
import { Engine, type Session } from '../facts/duckdb/engine.ts';
import { patternOf } from '../runtime/patterns.ts';
import { allEnded } from '../runtime/promises.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import { changeFacts, type FactChange, type LockOptions, takeProjects } from './change-facts.ts';
import { checkEdited, checkLoad, EditedMeanwhile, type StagedTables } from './check-load.ts';
import { macrosOf } from './column-types.ts';
import { countLoad } from './count-load.ts';
import { FACTS } from './fact-tables.ts';
import { describeFailure } from './failures.ts';
import { type CoveredDays, replacedDays, type StagedDays } from './part-files.ts';
import { type Publishing, publishWritten, recordOwners, writeDays } from './publish.ts';
import { publishEntities, readFirstRows, recordLoad } from './publish-entities.ts';
import type { Removals } from './removals.ts';
import { RepeatedKeys } from './rollups.ts';
import { findSnapshotFiles, type TableFiles } from './snapshot-files.ts';
import { stageEntities, stageFacts } from './stage.ts';
import { areSmall, isSmall, readStagedParts, type StagedPart } from './staged-parts.ts';
import { nameOwners } from './state.ts';
import { loadFolders, type Stores } from './stores.ts';
import { summarise, type TableSummary } from './summary.ts';
import { ENTITIES, type FactTableSchema } from './tables.ts';

interface CommonOptions extends Pick<LockOptions, 'lockTimeout'> {
  /** Validate only. */
  readonly dryRun?: boolean;
  /** The snapshot's entity rows replace all rows of each workspace or project that it names. */
  readonly replace?: boolean;
  /** Projects that a replacing load may delete. */
  readonly confirmDelete?: readonly string[];
  /** Loads rows with more clicks than impressions with a warning; providers occasionally return them. */
  readonly acceptImplausible?: boolean;
  readonly report?: (step: string) => void;
  /** The source in the audit trail; without it, the load is not recorded there. */
  readonly source?: string;
  /** Returns an engine that can read the snapshot and `loadFolders`. Others use it too, so the load does not close it. */
  readonly engine?: () => Promise<Engine>;
}

/** A snapshot folder, or a function that writes one while no other load runs. */
export type LoadOptions = CommonOptions &
  (
    | { readonly folder: string }
    | {
        /**
         * Writes the snapshot into a folder that is removed afterwards. Returns the days that its facts cover, if they are
         * not all days from the first to the last row.
         */
        readonly makeSnapshot: (folder: string) => Promise<CoveredDays | undefined>;
      }
  );

export interface LoadSummary {
  /** False after a dry run. */
  readonly loaded: boolean;
  readonly tables: Readonly<Record<string, TableSummary>>;
  /** Projects whose reports may have changed. */
  readonly projects: readonly string[];
  /** Deleted rows; after a dry run, those that would be deleted. */
  readonly removed: Removals;
  readonly warnings: readonly string[];
  readonly seconds: number;
}

/** How often a load checks again while edits go on, before it does so in its transaction, which edits wait for. */
const LOOKS = 3;

/** Attempts of an import, which begins again if somebody adds what it would add while it runs. */
const ATTEMPTS = 3;

/**
 * Loads a snapshot: validates all of it, writes new fact files beside the current ones, and publishes everything in one
 * transaction. Throws `LoadRejected` with all problems found. A failure or crash leaves the served data unchanged.
 */
export function loadSnapshot(stores: Stores, options: LoadOptions): Promise<LoadSummary> {
  const load = (): Promise<LoadSummary> => loadAlone(stores, options);
  if (options.dryRun === true) return load();
  return countLoad(stores.settings, 'folder' in options ? 'snapshot' : 'import', load);
}

async function loadAlone(stores: Stores, options: LoadOptions): Promise<LoadSummary> {
  const { dataFolder } = stores.settings;
  const { lockTimeout, report = () => {} } = options;
  const waiting = {
    onWait: () => report('waiting for another load to end'),
    ...(lockTimeout === undefined ? {} : { lockTimeout }),
  };
  try {
    const projects = await knownProjects(options);
    const warnings: string[] = [];
    const onWarning = (warning: string): void => void warnings.push(warning);
    const warned = { ...stores, onWarning };
    const locked = { ...waiting, ...(projects && { projects }) };
    for (let attempt = 1; ; attempt++) {
      try {
        const summary = await changeFacts(warned, locked, (change) =>
          loadLocked(stores, { ...change, waiting }, options),
        );
        return { ...summary, warnings: [...summary.warnings, ...warnings] };
      } catch (error) {
        // An import adds to what is tracked; it reads again what that is.
        if ('folder' in options || !(error instanceof EditedMeanwhile) || attempt === ATTEMPTS) throw error;
      }
    }
  } catch (error) {
    if (error instanceof DamagedFile) throw new Error(`Nothing was loaded. ${error.message}`, { cause: error });
    throw describeFailure(error, dataFolder);
  }
}

/**
 * The projects to lock before the snapshot is read, which may be none; undefined for all projects. Loads of workspaces and
 * projects check their rows against all others, and replacing loads may delete any.
 */
async function knownProjects(options: LoadOptions): Promise<readonly string[] | undefined> {
  if (!('folder' in options) || options.replace === true) return undefined;
  const { tables } = await findSnapshotFiles(options.folder);
  return tables.some(({ table }) => table === 'workspaces' || table === 'projects') ? undefined : [];
}

async function loadLocked(
  { settings, catalog, now = Date.now }: Stores,
  { lock, files, journal, staging, waiting }: FactChange & { readonly waiting: LockOptions },
  options: LoadOptions,
): Promise<LoadSummary> {
  const started = performance.now();
  const { dryRun = false, replace = false, confirmDelete = [], acceptImplausible = false, report = () => {} } = options;
  const folder = 'folder' in options ? options.folder : join(staging, 'snapshot');
  const coveredDays = 'folder' in options ? undefined : await options.makeSnapshot(folder);
  const found = await findSnapshotFiles(folder);
  if (found.tables.length === 0) throw new LoadRejected(found.problems);

  await using opened = new AsyncDisposableStack();
  const openEngine = async (): Promise<Engine> => {
    const { memoryLimit, threads } = settings;
    const folders = [resolve(folder), patternOf(resolve(folder)), ...loadFolders(settings)];
    const engine = await Engine.open({ memoryLimit, threads, temporaryFolder: join(staging, 'memory'), folders });
    return opened.adopt(engine, (it) => it.close());
  };
  const engine = await (options.engine ?? openEngine)();
  const paths = found.tables.flatMap((table) => table.files.map(({ path }) => path));
  await engine.useThreads(areSmall(paths) ? 1 : engine.threads);
  using session = await engine.session();
  const schemas = [...ENTITIES, ...FACTS].filter(({ name }) => found.tables.some(({ table }) => table === name));
  await engine.define(macrosOf(schemas.flatMap(({ columns }) => columns.map(({ type }) => type))));
  const lastDay = sqlTemplate('load/last_fact_day', { day: lastFactDay(now()) });
  const read = await stageAll(engine, session, found.tables, { staging, report, lastDay });
  const { parts } = read;

  report('checking keys and references');
  const tables = ENTITIES.filter(({ name }) => found.tables.some(({ table }) => table === name));
  const carried = { tables, replaced: replace ? tables : [] };
  const factProjects = [...parts.values()].flatMap((all) => all.map(({ project }) => project));
  const named = await nameOwners(session, carried);
  const touched = named.projects.union(new Set(factProjects));
  await takeProjects(lock, [...touched], waiting);
  const summary = summarise(read.rows, parts);
  const loadedRows = Object.fromEntries(Object.entries(summary).map(([table, { rows }]) => [table, rows]));
  const stop = new AbortController();
  const toCheck = { found, read, carried, touched, workspaces: named.workspaces, store: files.store };
  const how = { dryRun, confirmDelete, acceptImplausible, namesRows: 'folder' in options };
  const owners = { projects: touched, workspaces: named.workspaces };
  const check = async () => {
    const checked = await checkLoad(session, catalog, toCheck, how);
    return { ...checked, firstRows: dryRun ? new Map() : await readFirstRows(session, carried) };
  };
  const checking = check().catch((error: unknown) => {
    stop.abort(error);
    throw error;
  });
  // The checks of a few rows leave a processor to write beside them. Many rows keep all busy, and take memory.
  let recheckedRemovals: Removals | undefined;
  const isRefused = found.problems.length + read.problems.length > 0;
  if (dryRun || isRefused || ![...parts.values()].every(isSmall)) await checking;
  if (!dryRun) {
    const stores = { catalog, files, journal, lock };
    const staged = [...parts].map(([schema, all]) => {
      return { schema, parts: all, days: replacedDays(all, schema.name, coveredDays) };
    });
    const isBulkExport = coveredDays?.isBulkExport ?? false;
    const writing = writeDays(engine, stores, staged, { isBulkExport, report, stop }).catch(async (error: unknown) => {
      if (error instanceof RepeatedKeys) await (await checking).refuseRepeated();
      throw error;
    });
    const [checked, written] = await allEnded([checking, writing]);
    let { edits } = checked;
    const recheck = async (state: Catalog): Promise<boolean> => {
      const now = edits === undefined ? undefined : await editToken(state, owners);
      if (now === edits) return false;
      report('checking again after edits');
      recheckedRemovals = await checkEdited(session, state, toCheck, how);
      edits = now;
      return true;
    };
    for (let look = 0; edits !== undefined && look < LOOKS && (await catalog.snapshot(recheck)); look++);
    report('publishing');
    await publishWritten(stores, written, async (publishing) => {
      const { tx, record, changed } = publishing;
      // From here until the commit nothing is edited.
      await requireNew(tx, coveredDays);
      await recheck(tx);
      const { firstRows } = checked;
      if (tables.length > 0) await journal.requireCopy();
      await publishEntities(session, publishing, carried, { firstRows, kept: coveredDays?.kept ?? [] });
      await publishKeywordDays(publishing, staged, coveredDays);
      const loaded = await recordOwners(tx, record, changed.facts.union(changed.projects).union(named.projects));
      if (options.source !== undefined)
        await recordLoad(
          tx,
          { source: options.source, rows: loadedRows, removed: recheckedRemovals ?? checked.removed },
          loaded,
        );
    });
  }
  const { removed, warnings } = await checking;
  return {
    loaded: !dryRun,
    tables: summary,
    projects: [...touched].sort(),
    removed: recheckedRemovals ?? removed,
    warnings,
    seconds: Math.round(performance.now() - started) / 1000,
  };
}

/**
 * Records on which days keywords are unknown: those that an import begins to track, until a load has their days, and, on the
 * days that it stores, those that it has no rows for: keywords that were added while it ran, and archived ones. A snapshot says
 * all about its days: keywords without rows had no clicks.
 */
async function publishKeywordDays(
  { tx, record }: Publishing,
  staged: readonly StagedDays[],
  covered: CoveredDays | undefined,
): Promise<void> {
  const { tracked, begun = [] } = covered?.keywords ?? {};
  const changed = covered === undefined ? [] : await beginKeywords(tx, covered.project, begun);
  const days = staged.find(({ schema }) => schema.name === 'keyword_daily')?.days ?? [];
  for (const [project, known] of days)
    changed.push(...(await fillKeywordGaps(tx, project, rangesOf([...known].sort()), tracked ?? 'all')));
  if (covered !== undefined && tracked !== undefined) {
    const { project } = covered;
    const replaced = new Map(days).get(project) ?? new Set();
    // Where nothing is replaced, archived keywords keep their rows.
    const all =
      replaced.size > 0 ? await listKeywordIds(tx, project) : (await listKeywords(tx, project)).map(({ id }) => id);
    const later = all.filter((id) => !tracked.has(id));
    // Also where no keyword was tracked, so that there were no rows of any.
    const stored = new Set([...(covered.days.keyword_daily ?? []), ...replaced]);
    changed.push(...(await widenKeywordGaps(tx, project, rangesOf([...stored].sort()), later)));
  }
  for (const unknown of changed) await record.add({ unknown });
}

/** Throws `EditedMeanwhile` if somebody has made a project of the property for which an import makes one. */
async function requireNew(tx: Catalog, covered: CoveredDays | undefined): Promise<void> {
  if (covered?.made === undefined) return;
  const { workspace, property } = covered.made;
  const [other] = await findProjectsOfProperty(tx, workspace, property);
  if (other === undefined) return;
  const message = `A project of '${property}' was made while this import ran: ${other.id}.`;
  throw new EditedMeanwhile([{ table: 'projects', column: 'property', message, rows: [] }]);
}

/** Stages all tables: casts values, and writes facts to Parquet files below `staging`, listed by part. */
async function stageAll(
  engine: Engine,
  session: Session,
  tables: readonly TableFiles[],
  options: StagingOptions,
): Promise<StagedTables> {
  const stageFactsApart = async () => {
    using apart = await engine.session();
    await apart.run(options.lastDay);
    return await stageAllFacts(apart, tables, options);
  };
  await session.run(options.lastDay);
  const [entities, facts] = await allEnded([stageAllEntities(session, tables, options), stageFactsApart()]);
  return {
    rows: entities.rows,
    parts: facts.parts,
    problems: [...entities.problems, ...facts.problems],
    warnings: [...entities.warnings, ...facts.warnings],
  };
}

interface StagingOptions {
  readonly staging: string;
  readonly report: (step: string) => void;
  /** The statement that sets the last day that facts can be about. */
  readonly lastDay: string;
}

async function stageAllEntities(session: Session, tables: readonly TableFiles[], { report }: StagingOptions) {
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const rows = new Map<string, number>();
  for (const schema of ENTITIES) {
    const files = tables.find(({ table }) => table === schema.name);
    if (files === undefined) continue;
    report(`reading ${schema.name}`);
    const staged = await stageEntities(session, schema, files);
    rows.set(schema.name, staged.rows);
    problems.push(...staged.problems);
    warnings.push(...staged.warnings);
  }
  return { rows, problems, warnings };
}

async function stageAllFacts(session: Session, tables: readonly TableFiles[], { staging, report }: StagingOptions) {
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const parts = new Map<FactTableSchema, readonly StagedPart[]>();
  for (const schema of FACTS) {
    const files = tables.find(({ table }) => table === schema.name);
    if (files === undefined) continue;
    report(`reading ${schema.name}`);
    const target = join(staging, schema.name);
    const staged = await stageFacts(session, schema, files, target);
    problems.push(...staged.problems);
    warnings.push(...staged.warnings);
    const carried = await readStagedParts(session, schema, target);
    parts.set(schema, carried.parts);
    problems.push(...carried.problems);
  }
  return { parts, problems, warnings };
}
