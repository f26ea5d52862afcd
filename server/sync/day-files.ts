import { hash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Day } from '../domain/dates.ts';
import { dayColumnOf } from '../model/tables.ts';
import type { DayTable } from './tables.ts';

/** A fetched fact row. */
export interface FetchedRow {
  readonly day: Day;
  /** Key columns other than project and day, always in the same order. */
  readonly key: Readonly<Record<string, string | number>>;
  readonly clicks: number;
  readonly impressions: number;
  readonly sumPosition: number;
}

/** A row to store, whose position may be unknown. */
type StoredRow = Omit<FetchedRow, 'sumPosition'> & { readonly sumPosition: number | null };

/** The fetched rows of a table and day, summed. */
export interface FetchedDay {
  rows: number;
  clicks: number;
  impressions: number;
  digest: string;
  cutOff: boolean;
}

const DIGEST_BITS = 64;

/**
 * The rows of a window while it is fetched: one file per table and day, so that unchanged days can be skipped. Only sums
 * stay in memory.
 */
export class DayFiles {
  readonly folder: string;
  readonly #project: string;
  readonly #days = new Map<DayTable, Map<Day, FetchedDay>>();
  /** One at a time: a long append is several writes, and another one to the same file must not come between them. */
  readonly #append = pLimit(1);

  constructor(folder: string, project: string) {
    this.folder = folder;
    this.#project = project;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** The requested days of a table, with or without rows. */
  days(table: DayTable): ReadonlyMap<Day, FetchedDay> {
    return this.#days.get(table) ?? new Map();
  }

  get tables(): DayTable[] {
    return [...this.#days.keys()];
  }

  /** Registers a requested day, which has no rows until some are added. */
  register(table: DayTable, day: Day): FetchedDay {
    const days = this.#days.get(table) ?? new Map<Day, FetchedDay>();
    this.#days.set(table, days);
    const known = days.get(day) ?? { rows: 0, clicks: 0, impressions: 0, digest: NO_ROWS, cutOff: false };
    days.set(day, known);
    return known;
  }

  /** Adds rows; rows without clicks and impressions are skipped. */
  async add(table: DayTable, rows: Iterable<StoredRow>): Promise<void> {
    const column = dayColumnOf(table);
    const texts = new Map<Day, string[]>();
    const digests = new Map<Day, bigint>();
    for (const { day, key, clicks, impressions, sumPosition } of rows) {
      if (clicks === 0 && impressions === 0) continue;
      const measures = { clicks, impressions, sum_position: sumPosition };
      const line = JSON.stringify({ project_id: this.#project, [column]: day, ...key, ...measures });
      const found = this.register(table, day);
      found.rows++;
      found.clicks += clicks;
      found.impressions += impressions;
      digests.set(day, (digests.get(day) ?? 0n) + digestOf(line));
      const lines = texts.get(day);
      if (lines === undefined) texts.set(day, [line]);
      else lines.push(line);
    }
    for (const [day, digest] of digests) {
      const found = this.register(table, day);
      found.digest = toText(BigInt(`0x${found.digest}`) + digest);
    }
    for (const [day, lines] of texts) {
      mkdirSync(join(this.folder, table), { recursive: true, mode: 0o700 });
      await this.#append(() => appendFile(this.#path(table, day), `${lines.join('\n')}\n`, { mode: 0o600 }));
    }
  }

  /** Removes a table that could not be fetched completely. */
  async drop(table: DayTable): Promise<void> {
    this.#days.delete(table);
    await rm(join(this.folder, table), { recursive: true, force: true });
  }

  /** The files of the days with rows. */
  paths(table: DayTable, days: Iterable<Day>): string[] {
    const known = this.days(table);
    return [...days].filter((day) => (known.get(day)?.rows ?? 0) > 0).map((day) => this.#path(table, day));
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  #path(table: DayTable, day: Day): string {
    return join(this.folder, table, `${day}.ndjson`);
  }
}

/** The digest of no rows. */
export const NO_ROWS = '0000000000000000';

function digestOf(line: string): bigint {
  return hash('md5', line, 'buffer').readBigUInt64BE();
}

/** Combines digests of rows. The result does not depend on the order of the rows. */
export function sumOfDigests(a: string, b: string): string {
  return toText(BigInt(`0x${a}`) + BigInt(`0x${b}`));
}

function toText(digest: bigint): string {
  return BigInt.asUintN(DIGEST_BITS, digest)
    .toString(16)
    .padStart(DIGEST_BITS / 4, '0');
}
