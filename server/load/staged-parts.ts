import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Part } from '../catalog/fact-files.ts';
import { type Day, monthOf } from '../domain/dates.ts';
import { count, type Problem } from '../domain/problems.ts';
import { compareTexts } from '../domain/texts.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { partsOf, unitsOf } from '../model/tables.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { type FactTableSchema, identifiers } from './tables.ts';

/** The sum of up to this many parts is always exact in JSON; a range has up to 17 months. */
export const PARTS_WITHOUT_CHECK = 20;
/** The largest allowed sum of a part. */
export const MAX_PER_PART = Math.floor(Number.MAX_SAFE_INTEGER / PARTS_WITHOUT_CHECK);

/** Part numbers while staging: `202603` is a month. Numeric partitions are faster to write. */
export const WRONG_PART = 0;
const WHOLE_PART = 1;

/** SQL of the number of the part that a row belongs to. */
export function partOf({ day, split }: FactTableSchema): string {
  if (split === 'none') return String(WHOLE_PART);
  if (split === 'period') return `(${digits('first_day')} * 100000000 + ${digits('last_day')})`;
  return `(year("${day}") * 100 + month("${day}"))`;
}

/** The part of all these days; undefined for several. */
export function onlyPart({ split }: FactTableSchema, days: readonly Day[]): number | undefined {
  if (split === 'none') return WHOLE_PART;
  const [month, ...others] = split === 'period' ? [] : new Set(days.map(monthOf));
  return month === undefined || others.length > 0 ? undefined : Number(month.replace('-', ''));
}

/** The sums of the measures, in their units, and the condition of rows with more of a part than of its whole. */
export function sumsOf({ measures }: FactTableSchema): { sums: string; implausible: string } {
  return {
    sums: measures
      .map((name) => (unitsOf(name) === 1 ? `sum("${name}")` : `(sum("${name}") * ${unitsOf(name)})::hugeint`))
      .join(', '),
    implausible:
      partsOf(measures)
        .map(([part, whole]) => `"${part}" > "${whole}"`)
        .join(' or ') || 'false',
  };
}

/** `20260302` for a day. */
function digits(day: string): string {
  return `(year("${day}")::bigint * 10000 + month("${day}") * 100 + day("${day}"))`;
}

/** The columns of the first and the last day of a row. */
export function daysOf({ day }: FactTableSchema): { first: string; last: string } {
  return { first: day === 'last_day' ? '"first_day"' : `"${day}"`, last: `"${day}"` };
}

/** 202603 to `2026-03`, 2026030220260331 to `2026-03-02_2026-03-31`. */
function partName(part: number): Part {
  if (part === WHOLE_PART) return 'all';
  return String(part)
    .replace(/^(\d{8})(\d{8})$/, '$1_$2')
    .replaceAll(/(\d{4})(\d{2})(\d{2})?/g, (_, year, month, day) => [year, month, day].filter(Boolean).join('-'));
}

/** Approximate number of staged facts per duplicate check. */
const BATCH_ROWS = 1_000_000;

/** Bytes of few rows. */
const SMALL_BYTES = 2_000_000;

/** The files of a part with more projects are sorted by project first. */
const FEW_PROJECTS = 4;

/** The staged rows of one project, table and part. */
export interface StagedPart {
  readonly project: string;
  readonly part: Part;
  readonly rows: number;
  readonly firstDay: Day;
  readonly lastDay: Day;
  /** Rows with more of a part than of its whole, such as clicks of impressions. */
  readonly implausible: number;
  /** About how many rows repeat a key, 0 for certain; null if only `checkKeys` counts them. */
  readonly repeated: number | null;
  readonly files: readonly string[];
}

/** Whether files together have few rows. */
export function areSmall(files: readonly string[]): boolean {
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0) <= SMALL_BYTES;
}

/** Whether the staged rows of a table are few. */
export function isSmall(parts: readonly StagedPart[]): boolean {
  return parts.every(({ repeated }) => repeated !== null);
}

/** Staged parts by fact table. */
export type StagedParts = ReadonlyMap<FactTableSchema, readonly StagedPart[]>;

interface PartRow extends Omit<StagedPart, 'files' | 'part'> {
  readonly part: number;
  /** Digits: it may be too large for a number. */
  readonly largest: string;
}

/** Lists the parts that `stageFacts` wrote below `folder`, and reports sums too large to be exact in JSON. */
export async function readStagedParts(
  session: Session,
  schema: FactTableSchema,
  folder: string,
): Promise<{ parts: StagedPart[]; problems: Problem[] }> {
  const filesOf = stagedFiles(folder);
  filesOf.delete(WRONG_PART);
  const files = [...filesOf.values()].flat();
  if (files.length === 0) return { parts: [], problems: [] };
  // A separate statement takes a third longer, but of many rows it counts a batch at a time.
  const repeated = !areSmall(files) ? 'null' : `count(*) - count(distinct hash(${identifiers(schema.key)}))`;
  const of = { ...daysOf(schema), ...sumsOf(schema), part: partOf(schema), repeated };
  const template = sqlTemplate('load/staged_parts', of);
  const found = await session.rows<PartRow>(template, { files });
  const rows = found.sort((a, b) => compareTexts(a.project, b.project) || a.part - b.part);
  const rowsOf = Map.groupBy(rows, ({ part }) => part);
  const parts: StagedPart[] = [];
  for (const [part, projects] of rowsOf) {
    const staged = filesOf.get(part);
    if (staged === undefined) throw new Error(`Rows of ${partName(part)} are staged with those of other months.`);
    const readable = projects.length > FEW_PROJECTS ? [await sortByProject(session, staged, folder, part)] : staged;
    for (const { part: _, largest: __, ...staged } of projects) {
      parts.push({ ...staged, part: partName(part), files: readable });
    }
  }
  const tooLarge = rows.filter(({ largest }) => Number(largest) > MAX_PER_PART);
  if (tooLarge.length === 0) return { parts, problems: [] };
  const message = `the sums of ${count(tooLarge.length, 'project and part', 'projects and parts')} are too large to be exact in JSON (over ${MAX_PER_PART}). The first:`;
  const first = tooLarge.slice(0, 3).map(({ project, part }) => ({ project_id: project, month: partName(part) }));
  return { parts, problems: [{ table: schema.name, column: null, message, rows: first }] };
}

/** Creates the folder of a part below `folder`; returns the path of a file in it. */
export function stagedFile(folder: string, part: number): string {
  const ofPart = join(folder, `part=${part}`);
  mkdirSync(ofPart, { recursive: true });
  return join(ofPart, 'rows.parquet');
}

/** Staged files by part, including wrong rows. Uses no glob pattern, because the folder's name may contain wildcards. */
export function stagedFiles(folder: string): Map<number, string[]> {
  const parts = new Map<number, string[]>();
  for (const entry of existsSync(folder) ? readdirSync(folder) : []) {
    const part = /^part=(\d+)$/.exec(entry)?.[1];
    if (part === undefined) continue;
    parts.set(
      Number(part),
      readdirSync(join(folder, entry))
        .sort()
        .map((name) => join(folder, entry, name)),
    );
  }
  return parts;
}

async function sortByProject(session: Session, files: string[], folder: string, part: number): Promise<string> {
  const target = join(folder, `${part}-by-project.parquet`);
  await session.runFile('load/sorted_part', { files, target });
  for (const file of files) await rm(file);
  return target;
}

/** The files of staged parts in batches of about a million rows. Keys never span parts or batches. */
export function batches(parts: readonly StagedPart[]): string[][] {
  const all: string[][] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const ofPart of Map.groupBy(parts, ({ part }) => part).values()) {
    const number = ofPart.reduce((sum, part) => sum + part.rows, 0);
    if (rows + number > BATCH_ROWS) {
      all.push([]);
      rows = 0;
    }
    all.at(-1)!.push(...ofPart[0]!.files);
    rows += number;
  }
  return all;
}
