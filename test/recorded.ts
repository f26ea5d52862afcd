import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

/** Whether this run writes what it finds to the files of `test/fixtures` that it would compare. */
export const isUpdated = process.env['UPDATE_RECORDED'] === '1';

/** The path of a file or folder of `test/fixtures`. */
export const fixture = (name: string): string => join(import.meta.dirname, 'fixtures', name);

export const readRecorded = (name: string): string => readFileSync(fixture(name), 'utf8');

/** A text in which `{x*300}` stands for that many letters. */
export const withLetters = (text: string): string =>
  text.replaceAll(/\{(.)\*(\d+)\}/gu, (_, letter: string, count) => letter.repeat(Number(count)));

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a text such as `6h`. */
export function duration(text: string): number {
  const [, count, unit] = /^([\d.]+)([smhd])$/.exec(text) ?? [];
  if (unit === undefined) throw new Error(`'${text}' is not a duration such as 90s, 5m, 6h or 2d`);
  return Number(count) * UNITS[unit as 's'];
}

/**
 * Asserts that a text is what a file of `test/fixtures` records.
 *
 * @param separator what parts the text into what is compared: lines, or the blocks that begin after it
 */
export function sameAsRecorded(t: Test, name: string, text: string, separator: string | RegExp = '\n'): void {
  if (isUpdated) writeFileSync(fixture(name), text);
  t.strictSame(text.split(separator), readRecorded(name).split(separator));
}
