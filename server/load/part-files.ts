import pLimit, { type LimitFunction } from 'p-limit';
import type { Catalog } from '../catalog/catalog.ts';
import { type FactFile, manifestOf, type Part } from '../catalog/fact-files.ts';
import { type Day, eachDay, eachMonth, earlier, later } from '../domain/dates.ts';
import { EVERY_DAY, type Range } from '../domain/range.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { FactTable, StoredTable } from '../model/tables.ts';
import { allEnded } from '../runtime/promises.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { type FactFiles, type PartChange, type Target, writeFile } from './new-files.ts';
import {
  cumulativeBatches,
  type MonthOfDays,
  remakeLost,
  writeCumulative,
  writePartRollups,
  writeRunning,
} from './rollups.ts';
import type { StagedPart } from './staged-parts.ts';
import { type FactTableSchema, identifiers } from './tables.ts';

/** The days of a project that a snapshot covers, by table, including days without rows. */
export interface CoveredDays {
  readonly project: string;
  readonly days: Readonly<Partial<Record<FactTable, readonly Day[]>>>;
  /** Whether they come from a bulk export of the search engine. */
  readonly isBulkExport?: boolean;
  /** The ids of the keywords that it knows of, and of those among them that it begins to track. */
  readonly keywords?: { readonly tracked: ReadonlySet<string>; readonly begun: readonly string[] };
  /** Where it makes the project: of which property. */
  readonly made?: { readonly workspace: string; readonly property: string } | undefined;
  /** Columns of a project that exists which it leaves as they are: they may be edited after it has read them. */
  readonly kept?: readonly string[];
}

/** The days that a load replaces, by project: the covered days, or all from the first to the last with rows. */
export function replacedDays(
  parts: readonly StagedPart[],
  table: FactTable,
  covered: CoveredDays | undefined,
): Map<string, ReadonlySet<Day>> {
  const days = covered?.days[table] ?? [];
  if (covered !== undefined && days.length > 0) return new Map([[covered.project, new Set(days)]]);
  const spans = new Map<string, Range>();
  for (const { project, firstDay, lastDay } of parts) {
    const span = spans.get(project) ?? { from: firstDay, to: lastDay };
    spans.set(project, { from: earlier(span.from, firstDay), to: later(span.to, lastDay) });
  }
  return new Map([...spans].map(([project, { from, to }]) => [project, new Set(eachDay(from, to))]));
}

type Writing = () => Promise<PartChange[]>;

/** Staged rows of a table, and the days that they replace, by project. */
export interface StagedDays {
  readonly schema: FactTableSchema;
  readonly parts: readonly StagedPart[];
  readonly days: ReadonlyMap<string, ReadonlySet<Day>>;
  /** Those of them with rows that were stored before. */
  readonly kept?: ReadonlyMap<string, ReadonlySet<Day>>;
}

/** A part that a load changes. */
interface PlannedPart {
  readonly project: string;
  readonly part: Part;
  readonly staged: StagedPart | undefined;
  readonly current: FactFile | undefined;
  /** Replaced days of the project. */
  readonly replaced: ReadonlySet<Day>;
}

interface PartsInput {
  readonly files: FactFiles;
  readonly schema: FactTableSchema;
  readonly planned: readonly PlannedPart[];
  /** Removes the cumulative totals of changed projects and does not write new ones. */
  readonly deferCumulative?: boolean;
  /** How many files are written at a time, of several tables; see `filesAtOnce`. */
  readonly limit?: LimitFunction;
  /** Stops before the next file. */
  readonly signal?: AbortSignal;
}

/** Files written concurrently: sorting and writing one does not use two processors fully. */
const AT_ONCE = 2;
export const filesAtOnce = (): LimitFunction => pLimit(AT_ONCE);

/** Rows that one thread reads. */
const FEW_ROWS = 61_440;

/** How many threads write parts: one less if none is so large that it is written alone in the end. */
export function threadsToWrite({ threads }: Engine, planned: readonly PlannedPart[]): number {
  const rows = planned.map(({ staged, current }) => (staged?.rows ?? 0) + (current?.rows ?? 0));
  const all = rows.reduce((sum, one) => sum + one, 0);
  if (all <= FEW_ROWS) return 1;
  return rows.some((one) => one * AT_ONCE > all) ? threads : threads - 1;
}

/** The parts of a table that a load changes: all parts of its days, but only periods that it contains. */
export async function planParts(catalog: Catalog, { schema, parts, days }: StagedDays): Promise<PlannedPart[]> {
  const planned: PlannedPart[] = [];
  for (const [project, replaced] of days) {
    const range = { from: [...replaced].reduce(earlier), to: [...replaced].reduce(later) };
    const currentOf = new Map((await manifestOf(catalog, project, schema.name, range)).map((row) => [row.part, row]));
    const stagedOf = new Map(parts.filter((one) => one.project === project).map((one) => [one.part, one]));
    for (const part of partsToWrite(schema, range, [...stagedOf.keys()])) {
      const [staged, current] = [stagedOf.get(part), currentOf.get(part)];
      if (staged !== undefined || current !== undefined) planned.push({ project, part, staged, current, replaced });
    }
  }
  return planned;
}

/**
 * Writes the new file of each changed part, and its rollups, beside the current files. Their names become durable with
 * `syncFolders` of the store; they become current when the manifest is published.
 */
export async function writePartFiles(engine: Engine, catalog: Catalog, input: PartsInput): Promise<PartChange[]> {
  const { files, schema, planned, deferCumulative = false, limit = filesAtOnce(), signal } = input;
  const allOf = async (work: readonly Writing[]): Promise<PartChange[]> => {
    const writing = work.map((write) =>
      limit(() => {
        signal?.throwIfAborted();
        return write();
      }),
    );
    return (await allEnded(writing)).flat();
  };
  const changes = await allOf(planned.map((part) => () => writePart(engine, { files, schema, ...part }, part)));
  const { running, cumulative } = schema;
  const rollups = changes.map(({ project, part, written }, index): Writing => {
    const checked = planned[index]!.staged?.repeated === null;
    return async () => {
      using session = await engine.session();
      return await writePartRollups(session, { files, schema, project, part }, written, { checked });
    };
  });
  const adding = [...Map.groupBy(running === undefined ? [] : changes, ({ project }) => project)].map(
    ([project, ofProject]): Writing => {
      const target = { files, schema, project, part: 'all' };
      return () => writeRunning(engine, catalog, target, { table: running!, changes: ofProject });
    },
  );
  const [summed, totals] = await allEnded([allOf(rollups), allOf(adding)]);
  changes.push(...summed, ...totals);
  if (cumulative === undefined) return changes;
  const byProject = Map.groupBy(changes, ({ project }) => project);
  const outdated: Writing[] = [];
  for (const { project, written } of totals) {
    if (deferCumulative) {
      const stored = await manifestOf(catalog, project, cumulative, EVERY_DAY);
      changes.push(...stored.map(({ part }) => ({ project, table: cumulative, part, written: null })));
      continue;
    }
    const of = { schema, table: cumulative, project, changes: byProject.get(project)! };
    const lost = await limit(async () =>
      remakeLost(engine, catalog, { files, schema, project }, await outdatedMonths(catalog, of)),
    );
    changes.push(...lost.changes);
    for (const months of cumulativeBatches(lost.months, written)) {
      const input = { table: cumulative, months, running: written };
      outdated.push(() => writeCumulative(engine, { files, schema, project }, input));
    }
  }
  changes.push(...(await allOf(outdated)));
  return changes;
}

function partsToWrite({ split }: FactTableSchema, { from, to }: Range, staged: readonly Part[]): readonly Part[] {
  if (split === 'none') return ['all'];
  return split === 'period' ? staged : eachMonth(from, to);
}

interface CumulativeOf {
  readonly schema: FactTableSchema;
  /** The table of cumulative totals. */
  readonly table: StoredTable;
  readonly project: string;
  /** The changes of the project's parts and rollups. */
  readonly changes: readonly PartChange[];
}

/**
 * The months of a project whose cumulative totals must be rewritten: all from the first changed month, and months that an
 * older version loaded without them.
 */
async function outdatedMonths(
  catalog: Catalog,
  { schema, table, project, changes }: CumulativeOf,
): Promise<MonthOfDays[]> {
  const [source] = schema.rollups;
  const changed = changes.filter((change) => change.table === source);
  const days = new Map<Part, MonthOfDays['days']>([
    ...(await manifestOf(catalog, project, source!, EVERY_DAY)).map((file) => [file.part, file] as const),
    ...changed.map(({ part, written }) => [part, written] as const),
  ]);
  const first = changed.map(({ part }) => part).reduce(earlier);
  const stored = new Set((await manifestOf(catalog, project, table, EVERY_DAY)).map(({ part }) => part));
  return [...days]
    .filter(([part, file]) => part >= first || (file !== null && !stored.has(part)))
    .map(([part, file]) => ({ part, days: file }));
}

/** Writes one part. */
async function writePart(
  engine: Engine,
  target: Target,
  { staged, current, replaced }: PlannedPart,
): Promise<PartChange[]> {
  const { files, schema, project, part } = target;
  using session = await engine.session();
  using opened = await files.store.open(current === undefined || isReplaced(current, replaced) ? [] : [current]);
  const old = opened.paths;
  const all = [...(staged?.files ?? []), ...old];
  const days = part === 'all' ? [...replaced] : [...replaced].filter((day) => day.startsWith(part));
  const statement =
    old.length === 0
      ? { text: sqlTemplate('load/new_part_file', columnsOf(schema)), parameters: { files: all, project } }
      : { text: partTemplate(schema, staged !== undefined), parameters: { files: all, old, project, days } };
  // Without old rows, the days are those of the staged part.
  const written =
    all.length === 0
      ? null
      : await writeFile(
          session,
          target,
          schema.name,
          statement,
          old.length === 0 ? { days: staged! } : { isMixed: true },
        );
  return [{ project, table: schema.name, part, written }];
}

/** Stored files have no project column; it is part of their path. */
function columnsOf({ columns, order }: FactTableSchema): { columns: string; order: string } {
  const names = columns.map(({ name }) => name).filter((name) => name !== 'project_id');
  return { columns: identifiers(names), order: order.join(', ') };
}

/** The statement that writes a part with rows of its old file. */
function partTemplate(schema: FactTableSchema, hasNew: boolean): string {
  const mine = hasNew ? 'project_id = $project' : '$project is null';
  return sqlTemplate('load/part_file', { ...columnsOf(schema), day: schema.day, mine });
}

/** Whether all rows of a part's current file are replaced, so that reading it is unnecessary. */
function isReplaced(current: { firstDay: Day; lastDay: Day }, replaced: ReadonlySet<Day>): boolean {
  return eachDay(current.firstDay, current.lastDay).every((day) => replaced.has(day));
}
