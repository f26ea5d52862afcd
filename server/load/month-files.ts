import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Catalog } from '../catalog/catalog.ts';
import { type FactTable, manifestOf } from '../catalog/manifest.ts';
import { type Day, eachDay, eachMonth, earlier, later, type Month } from '../domain/dates.ts';
import { newUuid } from '../domain/ids.ts';
import type { Range } from '../domain/range.ts';
import type { Session } from '../facts/engine.ts';
import { sqlTemplate } from '../sql.ts';
import { columnList } from './stage.ts';
import { type FactTableShape, identifiers } from './tables.ts';

/** What a load carries for one project, table and month. */
export interface StagedMonth {
  readonly project: string;
  readonly month: Month;
  readonly rows: number;
  readonly firstDay: Day;
  readonly lastDay: Day;
  readonly files: readonly string[];
}

/** A change of the manifest: the new file of a project, table and month, or none when no row is left. */
export interface MonthChange {
  readonly project: string;
  readonly table: FactTable;
  readonly month: Month;
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

/** The days that a source of facts has read, by table. */
export type KnownDays = Partial<Record<FactTable, readonly Day[]>>;

/** For each project the days that a load replaces: from the first to the last that it carries, or those known. */
export function replacedDays(
  months: readonly StagedMonth[],
  known: readonly Day[] | undefined,
): Map<string, ReadonlySet<Day>> {
  if (known !== undefined) return new Map(months.map(({ project }) => [project, new Set(known)]));
  const spans = new Map<string, Range>();
  for (const { project, firstDay, lastDay } of months) {
    const span = spans.get(project) ?? { from: firstDay, to: lastDay };
    spans.set(project, { from: earlier(span.from, firstDay), to: later(span.to, lastDay) });
  }
  return new Map([...spans].map(([project, { from, to }]) => [project, new Set(eachDay(from, to))]));
}

/**
 * Writes the new file of each month that a load touches, beside the current ones, and makes sure that it is on the
 * disk. Nothing is current before the manifest says so.
 */
export async function* writeMonthFiles(
  session: Session,
  catalog: Catalog,
  {
    dataFolder,
    shape,
    months,
    days,
  }: {
    dataFolder: string;
    shape: FactTableShape;
    months: readonly StagedMonth[];
    days: ReadonlyMap<string, ReadonlySet<Day>>;
  },
): AsyncGenerator<MonthChange> {
  const template = sqlTemplate('load/month_file', {
    columns: columnList({ ...shape, columns: shape.columns.filter(({ name }) => name !== 'project_id') }),
    order: identifiers(shape.key.filter((name) => name !== 'project_id')),
    day: shape.day,
  });
  const summary = sqlTemplate('load/month_summary', { day: shape.day });
  const folders = new Set<string>();
  const staged = new Map(months.map((month) => [`${month.project} ${month.month}`, month.files]));
  for (const [project, replaced] of days) {
    const range = { from: [...replaced].reduce(earlier), to: [...replaced].reduce(later) };
    const before = new Map(manifestOf(catalog, project, shape.name, range).map((row) => [row.month, row]));
    for (const month of eachMonth(range.from, range.to)) {
      const current = before.get(month);
      const old = current === undefined || isReplaced(current, replaced) ? [] : [join(dataFolder, current.file)];
      const files = [...(staged.get(`${project} ${month}`) ?? []), ...old];
      if (files.length === 0) {
        if (current !== undefined) yield { project, table: shape.name, month, written: null };
        continue;
      }
      const file = `facts/${shape.name}/${project}/${month}-${newUuid()}.parquet`;
      const target = join(dataFolder, file);
      mkdirSync(dirname(target), { recursive: true });
      const replacedInMonth = [...replaced].filter((day) => day.startsWith(month));
      await session.run(template, { files, old, project, days: replacedInMonth, target });
      const [found] = await session.rows<Pick<WrittenFile, 'rows' | 'firstDay' | 'lastDay'>>(summary, { file: target });
      if (found === undefined || found.rows === 0) {
        await rm(target);
        if (current !== undefined) yield { project, table: shape.name, month, written: null };
        continue;
      }
      await flush(target);
      folders.add(dirname(target));
      const { size: bytes } = await stat(target);
      yield { project, table: shape.name, month, written: { file, ...found, bytes, sha256: await digest(target) } };
    }
  }
  for (const folder of folders) await flush(folder);
  if (folders.size > 0) {
    await flush(join(dataFolder, 'facts', shape.name));
    await flush(join(dataFolder, 'facts'));
  }
}

/** Whether all rows of a month's current file are replaced, so that it need not be read. */
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
