import type { Catalog } from '../catalog/catalog.ts';
import { LoadRejected, type Problem, sentence } from '../domain/problems.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import type { FileStore } from '../storage/file-store.ts';
import { checkEntities, tablesToCheck } from './entity-checks.ts';
import { checkFacts, checkKeys, checksKeysWhenWritten, unknownProjects } from './fact-checks.ts';
import { checkClicks, keywordWarnings, positionWarnings } from './plausibility.ts';
import { needlessConfirmations, type Removals, readRemovals, unconfirmedRemovals } from './removals.ts';
import { changedFiles, type SnapshotFiles } from './snapshot-files.ts';
import type { StagedParts } from './staged-parts.ts';
import { buildState, type Carried } from './state.ts';
import { syncWarnings } from './summary.ts';

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
  readonly store: FileStore;
}

interface CheckOptions {
  readonly dryRun: boolean;
  readonly confirmDelete: readonly string[];
  readonly acceptImplausible: boolean;
}

/** A load that may be published, unless writing it finds repeated keys. */
export interface CheckedLoad {
  readonly removed: Removals;
  readonly warnings: readonly string[];
  /** Throws `LoadRejected` if keys repeat, also those that `checkLoad` leaves to writing. */
  readonly refuseRepeated: () => Promise<void>;
}

/** Checks the state after a load. Throws `LoadRejected` with all problems. */
export async function checkLoad(
  session: Session,
  catalog: Catalog,
  { found, read, carried, touched, store }: LoadToCheck,
  { dryRun, confirmDelete, acceptImplausible }: CheckOptions,
): Promise<CheckedLoad> {
  const { parts } = read;
  const { tables } = carried;
  const needed = tablesToCheck(tables, [...parts.keys()]);
  const stored = await buildState(session, catalog, carried, { projects: touched, needed });
  const rows = new Map([...read.rows, ...stored]);
  const unknown = await unknownProjects(session, touched);
  const removed = await readRemovals(session, catalog, carried, confirmDelete);
  const implausible = await checkClicks(session, parts);
  const findProblems = async (keys: 'all keys' | 'keys that writing does not check'): Promise<Problem[]> => {
    const problems = [
      ...found.problems,
      ...read.problems,
      ...(await checkEntities(session, tables, { rows, unknown })),
    ];
    for (const [schema, all] of parts) {
      const later = keys !== 'all keys' && checksKeysWhenWritten(schema, all);
      problems.push(...(later ? [] : await checkKeys(session, schema, all)));
      problems.push(...(await checkFacts(session, schema, all, unknown)));
    }
    problems.push(...changedFiles(found.tables));
    if (!dryRun) problems.push(...unconfirmedRemovals(removed));
    if (!acceptImplausible) problems.push(...implausible);
    return problems;
  };
  const refuseRepeated = async (): Promise<void> => {
    const problems = await findProblems('all keys');
    if (problems.length > 0) throw new LoadRejected(problems);
  };
  // All problems are reported together.
  if (dryRun || (await findProblems('keys that writing does not check')).length > 0) await refuseRepeated();
  const warnings = [
    ...found.warnings,
    ...read.warnings,
    ...(await syncWarnings(session, catalog, carried, parts)),
    ...(await positionWarnings(session, parts)),
    ...(await keywordWarnings(session, catalog, carried, store, parts)),
    ...implausible.map(sentence),
    ...needlessConfirmations(removed, confirmDelete),
  ];
  return { removed, warnings, refuseRepeated };
}
