import type { Catalog } from '../catalog/catalog.ts';
import { editToken } from '../catalog/fact-files.ts';
import { LoadRejected, type Problem, sentence } from '../domain/problems.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import type { FileStore } from '../storage/file-store.ts';
import { checkEntities, tablesToCheck } from './entity-checks.ts';
import { checkFacts, checkKeys, checksKeysWhenWritten, unknownProjects } from './fact-checks.ts';
import { checkParts, keywordWarnings, positionWarnings } from './plausibility.ts';
import { needlessConfirmations, type Removals, readRemovals, unconfirmedRemovals } from './removals.ts';
import { withPlaces } from './row-places.ts';
import { changedFiles, type SnapshotFiles } from './snapshot-files.ts';
import type { StagedPart, StagedParts } from './staged-parts.ts';
import { buildState, type Carried } from './state.ts';
import { checkStoredWeeks } from './stored-weeks.ts';
import { syncWarnings } from './summary.ts';
import type { FactTableSchema } from './tables.ts';

/** The tables of a snapshot, cast. */
export interface StagedTables {
  /** Rows of entity tables. */
  readonly rows: ReadonlyMap<string, number>;
  readonly parts: StagedParts;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

interface LoadToCheck {
  readonly found: SnapshotFiles;
  readonly read: StagedTables;
  readonly carried: Carried;
  /** The projects that it names. */
  readonly touched: ReadonlySet<string>;
  /** The workspaces that its entities name. */
  readonly workspaces: ReadonlySet<string>;
  readonly store: FileStore;
}

interface CheckOptions {
  readonly dryRun: boolean;
  readonly confirmDelete: readonly string[];
  readonly acceptImplausible: boolean;
  /** Whether its files are somebody's, so that problems name their rows. */
  readonly namesRows: boolean;
}

/** A load that may be published, unless writing it finds repeated keys. */
export interface CheckedLoad {
  readonly removed: Removals;
  readonly warnings: readonly string[];
  /** Of the rows that were checked, as `editToken`; undefined if no entities were. */
  readonly edits: string | undefined;
  /** Throws `LoadRejected` if keys repeat, also those that `checkLoad` leaves to writing. */
  readonly refuseRepeated: () => Promise<void>;
}

/** Problems of a staged fact table. */
interface CheckedTable {
  readonly schema: FactTableSchema;
  readonly all: readonly StagedPart[];
  /** Undefined if writing checks its keys. */
  readonly keys: readonly Problem[] | undefined;
  readonly others: readonly Problem[];
}

/** The load conflicts with an edit that was made after its checks. */
export class EditedMeanwhile extends LoadRejected {}

/** What the checks of entities read. */
interface StateToCheck extends Pick<LoadToCheck, 'read' | 'carried' | 'touched'> {
  /** The fact tables whose checks follow. */
  readonly facts: readonly FactTableSchema[];
}

/** Checks the entities that there are after a load. */
async function checkState(
  session: Session,
  catalog: Catalog,
  { read, carried, touched, facts }: StateToCheck,
  confirmDelete: readonly string[],
) {
  const needed = tablesToCheck(carried.tables, facts);
  const stored = await buildState(session, catalog, carried, { projects: touched, needed });
  const rows = new Map([...read.rows, ...stored]);
  const unknown = await unknownProjects(session, touched);
  const removed = await readRemovals(session, catalog, carried, confirmDelete);
  return { entities: await checkEntities(session, carried.tables, { rows, unknown }), removed, unknown };
}

/**
 * Checks the entities of a load again, after some were edited. Facts need no second look: they refer to projects and
 * keywords, which no edit removes. Reads all that belongs to the projects of the load, whichever was edited: 50 ms for 5,000
 * keywords of one, half a second for 100,000 on one processor. In the transaction of the load, edits wait for it. Throws `EditedMeanwhile`.
 */
export async function checkEdited(
  session: Session,
  catalog: Catalog,
  { found, ...load }: Pick<LoadToCheck, 'found' | 'read' | 'carried' | 'touched'>,
  { confirmDelete, namesRows }: Pick<CheckOptions, 'confirmDelete' | 'namesRows'>,
): Promise<Removals> {
  const { entities, removed } = await checkState(session, catalog, { ...load, facts: [] }, confirmDelete);
  const problems = [...entities, ...unconfirmedRemovals(removed)].map((problem) => ({
    ...problem,
    message: `Something was edited while this load ran: ${problem.message}`,
  }));
  if (problems.length === 0) return removed;
  throw new EditedMeanwhile(namesRows ? await withPlaces(session, load.carried.tables, problems, found) : problems);
}

/** Checks the state after a load. Throws `LoadRejected` with all problems. */
export async function checkLoad(
  session: Session,
  catalog: Catalog,
  { found, read, carried, touched, workspaces, store }: LoadToCheck,
  { dryRun, confirmDelete, acceptImplausible, namesRows }: CheckOptions,
): Promise<CheckedLoad> {
  const { parts } = read;
  const { tables } = carried;
  const state = { read, carried, touched, facts: [...parts.keys()] };
  // Edits go on: their count and the rows of all tables are of one moment.
  const { edits, entities, removed, unknown } = await catalog.snapshot(async (snapshot) => ({
    edits: tables.length === 0 ? undefined : await editToken(snapshot, { projects: touched, workspaces }),
    ...(await checkState(session, snapshot, state, confirmDelete)),
  }));
  const implausible = await checkParts(session, parts);
  const facts: CheckedTable[] = [];
  for (const [schema, all] of parts) {
    const later = !dryRun && checksKeysWhenWritten(schema, all);
    const keys = later ? undefined : await checkKeys(session, schema, all);
    const others = [
      ...(await checkFacts(session, schema, all, unknown)),
      ...(await checkStoredWeeks(catalog, schema, all)),
    ];
    facts.push({ schema, all, keys, others });
  }
  const last = [
    ...changedFiles(found.tables),
    ...(dryRun ? [] : unconfirmedRemovals(removed)),
    ...(acceptImplausible ? [] : implausible),
  ];
  const refuseRepeated = async (): Promise<void> => {
    const problems = [...found.problems, ...read.problems, ...entities];
    for (const { schema, all, keys, others } of facts) {
      problems.push(...(keys ?? (await checkKeys(session, schema, all))), ...others);
    }
    problems.push(...last);
    if (problems.length === 0) return;
    const schemas = [...tables, ...parts.keys()];
    throw new LoadRejected(namesRows ? await withPlaces(session, schemas, problems, found) : problems);
  };
  const known = facts.flatMap(({ keys = [], others }) => [...keys, ...others]);
  // All problems are reported together.
  if ([found.problems, read.problems, entities, known, last].some(({ length }) => length > 0)) await refuseRepeated();
  const warnings = [
    ...found.warnings,
    ...read.warnings,
    ...(await syncWarnings(session, catalog, carried, parts)),
    ...(await positionWarnings(session, parts)),
    ...(await keywordWarnings(session, catalog, carried, store, parts)),
    ...(namesRows ? await withPlaces(session, [...parts.keys()], implausible, found) : implausible).map(sentence),
    ...needlessConfirmations(removed, confirmDelete),
  ];
  return { removed, warnings, edits, refuseRepeated };
}
