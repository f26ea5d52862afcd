import type { Catalog } from '../catalog/catalog.ts';
import type { ManifestRow, StoredTable } from '../catalog/manifest.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { FactFiles, PartChange, Place } from '../load/new-files.ts';
import { writeCumulative, writePartRollups, writeRunning } from '../load/rollups.ts';
import { FACTS } from '../load/tables.ts';
import { sqlText } from '../runtime/sql.ts';
import type { StoredFile } from '../storage/file-store.ts';

interface Tools {
  readonly engine: Engine;
  readonly catalog: Catalog;
  readonly files: FactFiles;
  readonly repair: boolean;
}

/** A rollup that differs from the sums of its days. */
interface WrongRollup {
  readonly table: StoredTable;
  readonly part: string;
  /** The current file of it, if it has one. */
  readonly file: string | null;
  readonly message: string;
  /** The changes that repair it; empty without `repair`. */
  readonly changes: readonly PartChange[];
}

const KEYWORDS = FACTS.find(({ running }) => running !== undefined)!;
const RUNNING = KEYWORDS.running!;
const CUMULATIVE = KEYWORDS.cumulative!;

/**
 * Compares the rollups of a project with its days, and with `repair` makes those that differ again.
 * @param manifest of the project
 * @param damaged names of files that cannot be read; rollups of damaged days are not compared
 */
export async function checkRollups(
  tools: Tools,
  manifest: readonly ManifestRow[],
  damaged: ReadonlySet<string>,
): Promise<WrongRollup[]> {
  const rowsOf = (table: StoredTable): ManifestRow[] => manifest.filter((row) => row.table === table);
  const days = rowsOf(KEYWORDS.name);
  const wrong: WrongRollup[] = [];
  for (const table of [...KEYWORDS.rollups, CUMULATIVE]) {
    for (const row of rowsOf(table)) {
      if (!days.some(({ part }) => part === row.part)) wrong.push(superfluous(row, tools.repair));
    }
  }
  for (const table of KEYWORDS.rollups) {
    const stored = new Map(rowsOf(table).map((row) => [row.part, row]));
    for (const day of days) {
      if (damaged.has(day.file)) continue;
      wrong.push(...(await checkPart(tools, { table, days: day, stored: stored.get(day.part) }, damaged)));
    }
  }
  const [running] = rowsOf(RUNNING);
  if (days.length === 0) return running === undefined ? wrong : [...wrong, superfluous(running, tools.repair)];
  if (days.some(({ file }) => damaged.has(file))) return wrong;
  const { made, result } = await checkRunning(tools, { days, stored: running }, damaged);
  wrong.push(...result);
  const stored = new Map(rowsOf(CUMULATIVE).map((row) => [row.part, row]));
  // A project that an older version loaded last is served without them until its next load.
  if (stored.size === 0 && !tools.repair) return wrong;
  for (const day of days) {
    const part = { table: CUMULATIVE, days: day, stored: stored.get(day.part) };
    wrong.push(...(await checkCumulative(tools, part, made, damaged)));
  }
  return wrong;
}

function superfluous({ project, table, part, file }: ManifestRow, repair: boolean): WrongRollup {
  const message = `${table} of project ${project}, ${part}, has no days. ${remedy(repair)}`;
  return { table, part, file, message, changes: repair ? [{ project, table, part, written: null }] : [] };
}

interface Part {
  readonly table: StoredTable;
  readonly days: ManifestRow;
  readonly stored: ManifestRow | undefined;
}

async function checkPart(
  { engine, files, repair }: Tools,
  { table, days, stored }: Part,
  damaged: ReadonlySet<string>,
): Promise<WrongRollup[]> {
  const { project, part } = days;
  using session = await engine.session();
  const isReadable = stored !== undefined && !damaged.has(stored.file);
  if (isReadable) {
    using opened = await files.store.open([days, stored]);
    const parameters = { days: opened.paths[0]!, stored: opened.paths[1]! };
    const [found] = await session.rows<{ differences: number }>(sqlText(`ops/${table}_differences`), parameters);
    if (found?.differences === 0) return [];
  }
  const place: Place = { files, schema: KEYWORDS, project, part };
  const changes = repair ? await writePartRollups(session, place, days, [table]) : [];
  if (repair) await files.store.syncFolders();
  return [
    {
      table,
      part,
      file: stored?.file ?? null,
      message: describe(days, { table, part }, stored, isReadable, repair),
      changes,
    },
  ];
}

async function checkRunning(
  { engine, catalog, files, repair }: Tools,
  { days, stored }: { days: readonly ManifestRow[]; stored: ManifestRow | undefined },
  damaged: ReadonlySet<string>,
): Promise<{ made: StoredFile | null; result: WrongRollup[] }> {
  const [first] = days as [ManifestRow];
  const part = 'all';
  const place: Place = { files, schema: KEYWORDS, project: first.project, part };
  // The correct file; it is swept if nothing refers to it.
  const changes = await writeRunning(engine, catalog, place, { table: RUNNING, changes: [], fromDays: true });
  const made = changes[0]?.written ?? null;
  const isReadable = stored !== undefined && !damaged.has(stored.file);
  if (isReadable && made !== null) {
    using session = await engine.session();
    const months = days.map((day) => `${day.part}-01`);
    using opened = await files.store.open([made, stored]);
    const parameters = { made: opened.paths[0]!, stored: opened.paths[1]!, months };
    const [found] = await session.rows<{ differences: number }>(sqlText(`ops/${RUNNING}_differences`), parameters);
    if (found?.differences === 0) return { made, result: [] };
  }
  if (repair) await files.store.syncFolders();
  const message = describe(first, { table: RUNNING, part }, stored, isReadable, repair);
  const wrong = { table: RUNNING, part, file: stored?.file ?? null, message, changes: repair ? changes : [] };
  return { made, result: [wrong] };
}

/** @param running the correct running totals by month */
async function checkCumulative(
  { engine, files, repair }: Tools,
  { table, days, stored }: Part,
  running: StoredFile | null,
  damaged: ReadonlySet<string>,
): Promise<WrongRollup[]> {
  const { project, part } = days;
  const place: Place = { files, schema: KEYWORDS, project, part };
  const change = await writeCumulative(engine, place, { table, days, running });
  const isReadable = stored !== undefined && !damaged.has(stored.file);
  if (isReadable && change.written !== null) {
    using session = await engine.session();
    using opened = await files.store.open([change.written, stored]);
    const parameters = { made: opened.paths[0]!, stored: opened.paths[1]! };
    const [found] = await session.rows<{ differences: number }>(sqlText(`ops/${table}_differences`), parameters);
    if (found?.differences === 0) return [];
  }
  if (repair) await files.store.syncFolders();
  const message = describe(days, { table, part }, stored, isReadable, repair);
  return [{ table, part, file: stored?.file ?? null, message, changes: repair ? [change] : [] }];
}

function describe(
  { project }: ManifestRow,
  { table, part }: { table: StoredTable; part: string },
  stored: ManifestRow | undefined,
  isReadable: boolean,
  repair: boolean,
): string {
  const what = stored === undefined ? 'is missing' : isReadable ? 'differs from its days' : 'is damaged';
  return `${table} of project ${project}, ${part}, ${what}. ${remedy(repair)}`;
}

function remedy(repair: boolean): string {
  return repair ? 'It was made again from the days.' : "'ordinate verify --repair' makes it again from the days.";
}
