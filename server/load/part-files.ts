import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pLimit from 'p-limit';
import type { Catalog } from '../catalog/catalog.ts';
import {
  type FactFile,
  type FactTable,
  filesOf,
  manifestOf,
  type Part,
  type StoredTable,
} from '../catalog/manifest.ts';
import { cacheKey } from '../domain/cache-key.ts';
import { type Day, eachDay, eachMonth, earlier, later } from '../domain/dates.ts';
import { newUuid } from '../domain/ids.ts';
import type { Range } from '../domain/range.ts';
import type { Engine, Parameters, Session } from '../facts/engine.ts';
import { sqlTemplate, sqlText } from '../sql.ts';
import { LoadRejected } from './problems.ts';
import { columnList } from './stage.ts';
import { type FactTableShape, MOST_A_PART, PARTS_WITHOUT_CHECK } from './tables.ts';

/** What a load carries for one project, table and part. */
export interface StagedPart {
  readonly project: string;
  readonly part: Part;
  readonly rows: number;
  readonly firstDay: Day;
  readonly lastDay: Day;
  readonly files: readonly string[];
}

/** A change of the manifest: the new file of a project, table and part, or none when no row is left. */
export interface PartChange {
  readonly project: string;
  readonly table: StoredTable;
  readonly part: Part;
  readonly written: WrittenFile | null;
}

interface WrittenFile {
  readonly file: string;
  readonly rows: number;
  readonly firstDay: Day;
  readonly lastDay: Day;
  readonly bytes: number;
  readonly sha256: string;
}

/** The days of a project that a source of facts has read, by table, whether or not they have rows. */
export interface KnownDays {
  readonly project: string;
  readonly days: Readonly<Partial<Record<FactTable, readonly Day[]>>>;
}

/** For each project the days that a load replaces: from the first to the last that it carries, or those known. */
export function replacedDays(
  parts: readonly StagedPart[],
  table: FactTable,
  known: KnownDays | undefined,
): Map<string, ReadonlySet<Day>> {
  const days = known?.days[table];
  if (known !== undefined && days !== undefined && days.length > 0) return new Map([[known.project, new Set(days)]]);
  const spans = new Map<string, Range>();
  for (const { project, firstDay, lastDay } of parts) {
    const span = spans.get(project) ?? { from: firstDay, to: lastDay };
    spans.set(project, { from: earlier(span.from, firstDay), to: later(span.to, lastDay) });
  }
  return new Map([...spans].map(([project, { from, to }]) => [project, new Set(eachDay(from, to))]));
}

interface Work {
  readonly dataFolder: string;
  readonly shape: FactTableShape;
  readonly parts: readonly StagedPart[];
  /** The days that are replaced, by project. */
  readonly days: ReadonlyMap<string, ReadonlySet<Day>>;
}

const ALWAYS: Range = { from: '0001-01-01', to: '9999-12-31' };

/** Parts that are written at once: sorting and writing one does not keep two processors busy. */
const AT_ONCE = 2;

/**
 * Writes the new file of each part that a load touches, and its rollups, beside the current ones, and makes sure that
 * they are on the disk. Nothing is current before the manifest says so.
 */
export async function writePartFiles(engine: Engine, catalog: Catalog, work: Work): Promise<PartChange[]> {
  const { shape, parts, days } = work;
  const limit = pLimit(AT_ONCE);
  const folders = new Set<string>();
  const staged = new Map(parts.map((part) => [cacheKey(part.project, part.part), part.files]));
  const writing: Promise<PartChange[]>[] = [];
  for (const [project, replaced] of days) {
    const range = { from: [...replaced].reduce(earlier), to: [...replaced].reduce(later) };
    const before = new Map(manifestOf(catalog, project, shape.name, range).map((row) => [row.part, row]));
    for (const part of shape.split === 'none' ? ['all'] : eachMonth(range.from, range.to)) {
      const current = before.get(part);
      const files = staged.get(cacheKey(project, part)) ?? [];
      const place = { dataFolder: work.dataFolder, shape, project, part, folders };
      if (files.length === 0 && current === undefined) continue;
      writing.push(limit(() => writePart(engine, place, { files, current, replaced })));
    }
  }
  const changes = await allOf(writing);
  const { running } = shape;
  if (running !== undefined) {
    const byProject = Map.groupBy(changes, ({ project }) => project);
    const adding = [...byProject].map(([project, ofProject]) => {
      const place = { dataFolder: work.dataFolder, shape, project, part: 'all', folders };
      return limit(() => writeRunning(engine, catalog, place, { table: running, changes: ofProject }));
    });
    changes.push(...(await allOf(adding)));
  }
  for (const folder of folders) await flush(folder);
  return changes;
}

/** What all of them give. All end before anything is cleaned up, also when one of them fails. */
async function allOf(writing: readonly Promise<PartChange[]>[]): Promise<PartChange[]> {
  const ended = await Promise.allSettled(writing);
  return ended.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

interface PartInput {
  /** Staged files. */
  readonly files: readonly string[];
  readonly current: FactFile | undefined;
  /** The days of the project that are replaced. */
  readonly replaced: ReadonlySet<Day>;
}

/** Writes one part and its rollups. */
async function writePart(engine: Engine, place: Place, { files, current, replaced }: PartInput): Promise<PartChange[]> {
  const { dataFolder, shape, project, part } = place;
  using session = await engine.session();
  const old = current === undefined || isReplaced(current, replaced) ? [] : [join(dataFolder, current.file)];
  const inputs = {
    files: [...files, ...old],
    old,
    project,
    days: part === 'all' ? [...replaced] : [...replaced].filter((day) => day.startsWith(part)),
  };
  const written =
    inputs.files.length === 0
      ? null
      : await write(session, place, shape.name, { text: partTemplate(shape, files.length > 0), parameters: inputs });
  if (written !== null && old.length > 0) {
    await checkSums(session, shape, 'load/part_sums', { ...written, file: join(dataFolder, written.file) });
  }
  const changes: PartChange[] = [{ project, table: shape.name, part, written }];
  for (const table of shape.rollups) {
    const statement = { text: sqlText(`load/rollups/${table}`), parameters: {} };
    changes.push({
      project,
      table,
      part,
      written: written && (await write(session, place, table, statement, written)),
    });
  }
  return changes;
}

/** Writes the running totals of a project anew, from its changed months and the running totals before. */
async function writeRunning(
  engine: Engine,
  catalog: Catalog,
  place: Place,
  { table, changes }: { table: StoredTable; changes: readonly PartChange[] },
): Promise<PartChange[]> {
  const { dataFolder, shape, project, part } = place;
  using session = await engine.session();
  const months = new Map(
    changes.filter((change) => change.table === shape.name).map((change) => [change.part, change.written?.file]),
  );
  const old = filesOf(catalog, project, table, ALWAYS);
  const stored = manifestOf(catalog, project, shape.name, ALWAYS);
  if (old.length === 0) {
    for (const { part: month, file } of stored) {
      if (!months.has(month)) months.set(month, file);
    }
  }
  const daily = [...months.values()].filter((file) => file !== undefined);
  if (daily.length + old.length === 0) return [];
  const paths = (files: readonly string[]): string[] => files.map((file) => join(dataFolder, file));
  const parameters = {
    // A statement needs files to look at: those that it has no use for stand in.
    daily: paths(daily.length > 0 ? daily : old),
    hasDaily: daily.length > 0,
    old: paths(old.length > 0 ? old : daily),
    hasOld: old.length > 0,
    months: [...months.keys()].map((month) => `${month}-01`),
  };
  const written = await write(session, place, table, { text: sqlText(`load/rollups/${table}`), parameters });
  // Each part has been looked at: only very many of them can come to too much together.
  if (written !== null && stored.length + months.size > PARTS_WITHOUT_CHECK) {
    await checkSums(session, shape, 'load/running_largest', { ...written, file: join(dataFolder, written.file) });
  }
  return [{ project, table, part, written }];
}

/** The statement that writes a part. Files before it have no project: their folder tells. */
function partTemplate(shape: FactTableShape, hasNew: boolean): string {
  return sqlTemplate('load/part_file', {
    columns: columnList({ ...shape, columns: shape.columns.filter(({ name }) => name !== 'project_id') }),
    order: shape.order.join(', '),
    day: shape.day,
    mine: hasNew ? 'project_id = $project' : '$project is null',
  });
}

interface Place {
  readonly dataFolder: string;
  readonly shape: FactTableShape;
  readonly project: string;
  readonly part: Part;
  /** Folders whose new names must reach the disk. */
  readonly folders: Set<string>;
}

interface Statement {
  readonly text: string;
  readonly parameters: Parameters;
}

/**
 * Runs a statement that writes one file; null when it has no rows, and then there is no file.
 * @param of the file that a rollup is made from; it has the same days
 */
async function write(
  session: Session,
  { dataFolder, shape, project, part, folders }: Place,
  table: StoredTable,
  { text, parameters }: Statement,
  of?: WrittenFile,
): Promise<WrittenFile | null> {
  const file = `facts/${table}/${project}/${part}-${newUuid()}.parquet`;
  const target = join(dataFolder, file);
  mkdirSync(dirname(target), { recursive: true });
  const source = of ? { file: join(dataFolder, of.file) } : {};
  const rows = await session.run(text, { ...parameters, ...source, target });
  if (rows === 0) {
    await rm(target, { force: true });
    return null;
  }
  const { firstDay, lastDay } = of ?? (await daysOf(session, shape, target));
  await flush(target);
  folders.add(dataFolder);
  for (let folder = dirname(target); folder !== dataFolder; folder = dirname(folder)) folders.add(folder);
  const { size: bytes } = await stat(target);
  return { file, rows, firstDay, lastDay, bytes, sha256: await digest(target) };
}

type Merged = { file: string; firstDay: Day; lastDay: Day };

async function daysOf(
  session: Session,
  { day }: FactTableShape,
  file: string,
): Promise<{ firstDay: Day; lastDay: Day }> {
  const text = sqlTemplate('load/part_days', { day });
  const [found] = await session.rows<{ firstDay: Day; lastDay: Day }>(text, { file });
  return found!;
}

/** What a load carries has been looked at already; together with older rows it may still be too much. */
async function checkSums(
  session: Session,
  { name }: FactTableShape,
  question: 'load/part_sums' | 'load/running_largest',
  { file, firstDay, lastDay }: Merged,
): Promise<void> {
  const [found] = await session.rows<{ largest: string }>(sqlText(question), { file });
  const most = question === 'load/part_sums' ? MOST_A_PART : Number.MAX_SAFE_INTEGER;
  if (found === undefined || BigInt(found.largest) <= BigInt(most)) return;
  const message = `with what is loaded already, the sums from ${firstDay} to ${lastDay} are too large to be exact in JSON (${found.largest}).`;
  throw new LoadRejected([{ table: name, column: null, message, rows: [] }]);
}

/** Whether all rows of a part's current file are replaced, so that it need not be read. */
function isReplaced(current: { firstDay: Day; lastDay: Day }, replaced: ReadonlySet<Day>): boolean {
  return eachDay(current.firstDay, current.lastDay).every((day) => replaced.has(day));
}

/** Makes sure that a file, or the names in a folder, are on the disk and survive a power cut. */
async function flush(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
