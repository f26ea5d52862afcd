import { hash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { appendFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Day } from '../domain/dates.ts';
import type { SyncTable } from './tables.ts';

/** A fact row that was fetched: the columns of its table between project and measures. */
export interface FetchedRow {
  readonly day: Day;
  /** Key columns other than the project and the day, in one order. */
  readonly key: Readonly<Record<string, string>>;
  readonly clicks: number;
  readonly impressions: number;
  readonly sumPosition: number;
}

/** What was fetched of a table and day. */
export interface FetchedDay {
  rows: number;
  clicks: number;
  impressions: number;
  digest: string;
  cutOff: boolean;
}

const DIGEST_BITS = 64;

/**
 * The rows of a window while it is fetched: a file for each table and day in a folder of its own, so that a day which has
 * not changed can be left out. Nothing of them stays in memory but sums.
 */
export class DayFiles {
  readonly folder: string;
  readonly #project: string;
  readonly #days = new Map<SyncTable, Map<Day, FetchedDay>>();

  constructor(folder: string, project: string) {
    this.folder = folder;
    this.#project = project;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** The days of a table that were asked for, with or without rows. */
  of(table: SyncTable): ReadonlyMap<Day, FetchedDay> {
    return this.#days.get(table) ?? new Map();
  }

  get tables(): SyncTable[] {
    return [...this.#days.keys()];
  }

  /** Says that a day has been asked for, whether or not it has rows. */
  expect(table: SyncTable, day: Day): FetchedDay {
    const days = this.#days.get(table) ?? new Map<Day, FetchedDay>();
    this.#days.set(table, days);
    const known = days.get(day) ?? { rows: 0, clicks: 0, impressions: 0, digest: NO_ROWS, cutOff: false };
    days.set(day, known);
    return known;
  }

  /** Rows of zeros are not stored. */
  async add(table: SyncTable, rows: Iterable<FetchedRow>): Promise<void> {
    const texts = new Map<Day, string[]>();
    const digests = new Map<Day, bigint>();
    for (const { day, key, clicks, impressions, sumPosition } of rows) {
      if (clicks === 0 && impressions === 0) continue;
      const measures = { clicks, impressions, sum_position: sumPosition };
      const line = JSON.stringify({ project_id: this.#project, date: day, ...key, ...measures });
      const found = this.expect(table, day);
      found.rows++;
      found.clicks += clicks;
      found.impressions += impressions;
      digests.set(day, (digests.get(day) ?? 0n) + digestOf(line));
      const lines = texts.get(day);
      if (lines === undefined) texts.set(day, [line]);
      else lines.push(line);
    }
    for (const [day, digest] of digests) {
      const found = this.expect(table, day);
      found.digest = toText(BigInt(`0x${found.digest}`) + digest);
    }
    for (const [day, lines] of texts) {
      mkdirSync(join(this.folder, table), { recursive: true, mode: 0o700 });
      await appendFile(this.#path(table, day), `${lines.join('\n')}\n`, { mode: 0o600 });
    }
  }

  /** Forgets a table that could not be fetched whole. */
  async drop(table: SyncTable): Promise<void> {
    this.#days.delete(table);
    await rm(join(this.folder, table), { recursive: true, force: true });
  }

  /** The files of days that have rows. */
  files(table: SyncTable, days: Iterable<Day>): string[] {
    const known = this.of(table);
    return [...days].filter((day) => (known.get(day)?.rows ?? 0) > 0).map((day) => this.#path(table, day));
  }

  /** Moves the files of days into a snapshot folder, where the table is there also without any row. */
  async moveTo(folder: string, table: SyncTable, days: Iterable<Day>): Promise<void> {
    const target = join(folder, table);
    mkdirSync(target, { recursive: true, mode: 0o700 });
    await writeFile(join(target, 'none.ndjson'), '', { mode: 0o600 });
    for (const file of this.files(table, days)) await rename(file, join(target, file.slice(file.lastIndexOf('/') + 1)));
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  #path(table: SyncTable, day: Day): string {
    return join(this.folder, table, `${day}.ndjson`);
  }
}

/** The digest of no rows. */
export const NO_ROWS = '0000000000000000';

function digestOf(line: string): bigint {
  return hash('md5', line, 'buffer').readBigUInt64BE();
}

/** The digest of rows together: it does not depend on their order, and more rows can be added to it. */
export function sumOfDigests(a: string, b: string): string {
  return toText(BigInt(`0x${a}`) + BigInt(`0x${b}`));
}

function toText(digest: bigint): string {
  return BigInt.asUintN(DIGEST_BITS, digest)
    .toString(16)
    .padStart(DIGEST_BITS / 4, '0');
}
