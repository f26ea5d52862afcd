import type { Catalog } from '../catalog/catalog.ts';
import { filesOf, manifestOf, type StoredTable } from '../catalog/manifest.ts';
import { EVERY_DAY } from '../domain/range.ts';
import type { Engine, Session } from '../facts/engine.ts';
import { sqlText } from '../runtime/sql.ts';
import type { StoredFile } from '../storage/fact-store.ts';
import { checkSums, type PartChange, type Place, type WrittenFile, writeFile } from './new-files.ts';
import { PARTS_WITHOUT_CHECK } from './tables.ts';

/** Writes the rollups of one part from its file; none where that has no rows. */
export async function writePartRollups(
  session: Session,
  place: Place,
  of: WrittenFile | null,
  tables: readonly StoredTable[] = place.shape.rollups,
): Promise<PartChange[]> {
  const { project, part } = place;
  const changes: PartChange[] = [];
  for (const table of tables) {
    const statement = { text: sqlText(`load/rollups/${table}`), parameters: {} };
    const written = of && (await writeFile(session, place, table, statement, of));
    changes.push({ project, table, part, written });
  }
  return changes;
}

interface RunningInput {
  readonly table: StoredTable;
  /** Of the parts that they are added up from. */
  readonly changes: readonly PartChange[];
  /** Adds up all stored days, and reads nothing of the running totals before. */
  readonly fromDays?: boolean;
}

/** Writes the running totals of a project from its changed months and the running totals before. */
export async function writeRunning(
  engine: Engine,
  catalog: Catalog,
  place: Place,
  { table, changes, fromDays = false }: RunningInput,
): Promise<PartChange[]> {
  const { files, shape, project, part } = place;
  using session = await engine.session();
  const months = new Map<string, StoredFile | undefined>(
    changes
      .filter((change) => change.table === shape.name)
      .map((change) => [change.part, change.written ?? undefined] as const),
  );
  const old = fromDays ? [] : filesOf(catalog, project, table, EVERY_DAY);
  const stored = manifestOf(catalog, project, shape.name, EVERY_DAY);
  if (old.length === 0) {
    for (const file of stored) {
      if (!months.has(file.part)) months.set(file.part, file);
    }
  }
  const daily = [...months.values()].filter((file) => file !== undefined);
  if (daily.length + old.length === 0) return [];
  const parameters = {
    // A statement needs files to look at: those that it has no use for stand in.
    daily: await files.checked.open(daily.length > 0 ? daily : old),
    hasDaily: daily.length > 0,
    old: await files.checked.open(old.length > 0 ? old : daily),
    hasOld: old.length > 0,
    months: [...months.keys()].map((month) => `${month}-01`),
  };
  const written = await writeFile(session, place, table, { text: sqlText(`load/rollups/${table}`), parameters });
  // Each part has been looked at: only very many of them can come to too much together.
  if (written !== null && stored.length + months.size > PARTS_WITHOUT_CHECK) {
    await checkSums(session, place, 'load/running_largest', written);
  }
  return [{ project, table, part, written }];
}
