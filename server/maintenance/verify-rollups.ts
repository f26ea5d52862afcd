import type { Catalog } from '../catalog/catalog.ts';
import type { ManifestRow } from '../catalog/fact-files.ts';
import { cacheKey } from '../domain/cache-key.ts';
import type { Engine, Parameters } from '../facts/duckdb/engine.ts';
import { FACTS } from '../load/fact-tables.ts';
import type { FactFiles, PartChange, Target } from '../load/new-files.ts';
import { writeCumulative, writePartRollups, writeRunning } from '../load/rollups.ts';
import type { StoredTable } from '../model/tables.ts';
import { sqlText } from '../runtime/sql.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { FoundInOrder } from './found-in-order.ts';

interface Tools {
  readonly engine: Engine;
  readonly catalog: Catalog;
  readonly files: FactFiles;
  readonly repair: boolean;
  readonly report: (step: string) => void;
  /** By names of files that cannot be read; rollups of damaged days are not compared. */
  readonly damaged: ReadonlyMap<string, unknown>;
  /** Adds damage found while reading to `damaged`; false if it is known. */
  readonly noteDamage: (damage: DamagedFile) => boolean;
  /** What need not be compared again, unless `deep`; undefined if nothing is known. */
  readonly known: FoundInOrder | undefined;
  readonly deep: boolean;
}

interface Rollup {
  readonly table: StoredTable;
  readonly project: string;
  readonly part: string;
  /** The files of days that it sums. */
  readonly days: readonly ManifestRow[];
  /** Its current file, if any. */
  readonly stored: ManifestRow | undefined;
  /** Correct running totals, for cumulative ones. */
  readonly running?: StoredFile;
}

/** A rollup that differs from the sums of its days. */
interface WrongRollup extends Pick<Rollup, 'project' | 'table' | 'part'> {
  readonly file: string | null;
  readonly message: string;
  /** The changes that repair it; empty without `repair`. */
  readonly changes: readonly PartChange[];
}

const KEYWORDS = FACTS.find(({ running }) => running !== undefined)!;
const RUNNING = KEYWORDS.running!;
const CUMULATIVE = KEYWORDS.cumulative!;

/** Files that one statement compares, and their bytes: planning one takes longer than comparing small files. */
const FILES_AT_ONCE = 256;
const BYTES_AT_ONCE = 64e6;

/** Whether files of a table are read to compare rollups. */
export function isReadForRollups(table: StoredTable): boolean {
  return [KEYWORDS.name, RUNNING, CUMULATIVE, ...KEYWORDS.rollups].includes(table);
}

/** Compares the rollups of a manifest with its days, and with `repair` rewrites those that differ. */
export async function checkRollups(tools: Tools, manifest: readonly ManifestRow[]): Promise<WrongRollup[]> {
  const { engine, catalog, files, repair, damaged } = tools;
  const byTable = Map.groupBy(manifest, ({ table }) => table);
  const rowsOf = (table: StoredTable): ManifestRow[] => byTable.get(table) ?? [];
  const days = rowsOf(KEYWORDS.name);
  const byProject = Map.groupBy(days, ({ project }) => project);
  const targetOf = ({ project, part }: Rollup): Target => ({ files, schema: KEYWORDS, project, part });
  const wrong: WrongRollup[] = [];
  const add = (rollup: Rollup, changes: readonly PartChange[]): void => {
    wrong.push(describe(rollup, changes, tools));
  };

  const parts = new Set(days.map(keyOf));
  for (const table of [...KEYWORDS.rollups, CUMULATIVE]) {
    for (const row of rowsOf(table)) if (!parts.has(keyOf(row))) wrong.push(superfluous(row, repair));
  }
  for (const row of rowsOf(RUNNING)) if (!byProject.has(row.project)) wrong.push(superfluous(row, repair));

  for (const table of KEYWORDS.rollups) {
    for (const rollup of await differing(tools, table, rollupsOf(table, days, rowsOf(table)))) {
      using session = await engine.session();
      add(
        rollup,
        repair ? await writePartRollups(session, targetOf(rollup), rollup.days[0]!, { tables: [table] }) : [],
      );
    }
  }

  const storedTotals = new Map(rowsOf(RUNNING).map((row) => [row.project, row]));
  const running = new Map<string, StoredFile>(storedTotals);
  const totals = [...byProject].map(
    ([project, days]): Rollup => ({ table: RUNNING, project, part: 'all', days, stored: storedTotals.get(project) }),
  );
  for (const rollup of await differing(tools, RUNNING, totals)) {
    // The correct file; it is swept if nothing refers to it.
    const input = { table: RUNNING, changes: [], fromDays: true };
    const changes = await writeRunning(engine, catalog, targetOf(rollup), input);
    for (const { project, written } of changes) running.set(project, written!);
    add(rollup, repair ? changes : []);
  }

  const hasTotals = new Set(rowsOf(CUMULATIVE).map(({ project }) => project));
  const compared = [...byProject].flatMap(([project, ofProject]) => {
    if (ofProject.some(({ file }) => damaged.has(file))) return [];
    // A project that an older version loaded last is served without them until its next load.
    return hasTotals.has(project) || repair ? ofProject : [];
  });
  const cumulative = rollupsOf(CUMULATIVE, compared, rowsOf(CUMULATIVE)).map((rollup) => ({
    ...rollup,
    running: running.get(rollup.project)!,
  }));
  for (const rollup of await differing(tools, CUMULATIVE, cumulative)) {
    const months = [{ part: rollup.part, days: rollup.days[0]! }];
    const input = { table: CUMULATIVE, months, running: running.get(rollup.project)! };
    add(rollup, repair ? await writeCumulative(engine, targetOf(rollup), input) : []);
  }
  if (wrong.some(({ changes }) => changes.length > 0)) await files.store.syncFolders();
  return wrong;
}

function keyOf({ project, part }: { readonly project: string; readonly part: string }): string {
  return cacheKey(project, part);
}

/** The rollups of each file of days. */
function rollupsOf(table: StoredTable, days: readonly ManifestRow[], rows: readonly ManifestRow[]): Rollup[] {
  const stored = new Map(rows.map((row) => [keyOf(row), row]));
  return days.map((day) => ({
    table,
    project: day.project,
    part: day.part,
    days: [day],
    stored: stored.get(keyOf(day)),
  }));
}

/** Rollups that are missing, damaged, or not sums of their days. */
async function differing(tools: Tools, table: StoredTable, all: readonly Rollup[]): Promise<Rollup[]> {
  const wrong: Rollup[] = [];
  const { known, deep, damaged } = tools;
  const statement = sqlText(`maintenance/${table}_differences`);
  const namesOf = (rollup: Rollup): string[] => [statement, ...filesOf(rollup).map(({ file }) => file)];
  const isKnown = (rollup: Rollup): boolean =>
    !deep && isReadable(rollup, damaged) && known?.has(namesOf(rollup)) === true;
  const rollups = known === undefined ? all : all.filter((rollup) => !isKnown(rollup));
  let done = 0;
  for (const batch of batchesOf(rollups)) {
    tools.report(`comparing ${table}: ${done} of ${rollups.length}`);
    const found = await differingOf(tools, table, batch);
    wrong.push(...found);
    if (known !== undefined) {
      const readable = batch.filter((rollup) => !found.includes(rollup) && isIntact(rollup, damaged));
      for (const rollup of readable) known.note(namesOf(rollup));
    }
    done += batch.length;
  }
  return wrong;
}

function* batchesOf(rollups: readonly Rollup[]): Generator<Rollup[]> {
  let batch: Rollup[] = [];
  let bytes = new Map<string, number>();
  for (const rollup of rollups) {
    const sizes = filesOf(rollup).map((stored) => [stored.file, stored.bytes] as const);
    const together = new Map([...bytes, ...sizes]);
    const sum = [...together.values()].reduce((a, b) => a + b, 0);
    if (batch.length > 0 && (together.size > FILES_AT_ONCE || sum > BYTES_AT_ONCE)) {
      yield batch;
      [batch, bytes] = [[], new Map(sizes)];
    } else bytes = together;
    batch.push(rollup);
  }
  if (batch.length > 0) yield batch;
}

function filesOf({ days, stored, running }: Rollup): StoredFile[] {
  return [...days, stored, running].filter((file) => file !== undefined);
}

async function differingOf(tools: Tools, table: StoredTable, batch: readonly Rollup[]): Promise<Rollup[]> {
  const { damaged, noteDamage } = tools;
  for (;;) {
    try {
      return await compare(
        tools,
        table,
        batch.filter(({ days }) => !days.some(({ file }) => damaged.has(file))),
      );
    } catch (error) {
      // Reading shows damage that an object store has not noticed.
      if (!(error instanceof DamagedFile) || !noteDamage(error)) throw error;
    }
  }
}

async function compare({ engine, files, damaged }: Tools, table: StoredTable, batch: readonly Rollup[]) {
  const readable = batch.filter((rollup) => isReadable(rollup, damaged));
  const wrong = batch.filter((rollup) => !isReadable(rollup, damaged));
  // Rewriting the others reads their days.
  using _days = await files.store.open(wrong.flatMap(({ days }) => days));
  if (readable.length === 0) return wrong;
  const lists: Record<string, (rollup: Rollup) => readonly StoredFile[]> = {
    days: ({ days }) => days,
    stored: ({ stored }) => [stored!],
    ...(table === CUMULATIVE && { running: ({ running }) => [running!] }),
  };
  using held = new DisposableStack();
  const parameters: Record<string, Parameters[string]> = {};
  for (const [name, list] of Object.entries(lists)) {
    const read = readable.flatMap((rollup, ordinal) => list(rollup).map((file) => ({ file, ordinal })));
    const opened = held.use(await files.store.open(read.map(({ file }) => file)));
    parameters[name] = opened.paths;
    parameters[`${name}_of`] = read.map(({ ordinal }) => String(ordinal));
  }
  if (table === CUMULATIVE) parameters['months'] = readable.map(({ part }) => `${part}-01`);
  const found = await engine.query<{ ordinal: number }>(`maintenance/${table}_differences`, parameters);
  return [...wrong, ...found.map(({ ordinal }) => readable[ordinal]!)];
}

function isIntact(rollup: Rollup, damaged: Tools['damaged']): boolean {
  return filesOf(rollup).every(({ file }) => !damaged.has(file));
}

function isReadable({ stored }: Rollup, damaged: Tools['damaged']): boolean {
  return stored !== undefined && !damaged.has(stored.file);
}

function superfluous({ project, table, part, file }: ManifestRow, repair: boolean): WrongRollup {
  const message = `${table} of project ${project}, ${part}, has no days. ${remedy(repair)}`;
  return { project, table, part, file, message, changes: repair ? [{ project, table, part, written: null }] : [] };
}

function describe(rollup: Rollup, changes: readonly PartChange[], { repair, damaged }: Tools): WrongRollup {
  const { project, table, part, stored } = rollup;
  const what =
    stored === undefined ? 'is missing' : isReadable(rollup, damaged) ? 'differs from its days' : 'is damaged';
  const message = `${table} of project ${project}, ${part}, ${what}. ${remedy(repair)}`;
  return { project, table, part, file: stored?.file ?? null, message, changes };
}

function remedy(repair: boolean): string {
  return repair ? 'It was made again from the days.' : "'ordinate verify --repair' makes it again from the days.";
}
