import { FILE_LINE } from './files.ts';

/** Lines of diagnostics that are kept of an assertion, and how many assertions. */
const LINES = 40;
const KEPT = 20;
/** A line that prints a log may have megabytes. */
const WIDTH = 2000;

/** Collects the assertions that failed from the output of tap, with the tests that they stand in and their diagnostics. */
export class Failures {
  readonly texts: string[] = [];
  /** A line for each. */
  readonly lines: string[] = [];
  /** The names of the tests that are running, by the depth of their indent. */
  readonly #names: string[] = [];
  /** The depth of the last failed assertion, until the test around it ends. */
  #deepest = -1;
  #diagnostics: { readonly indent: number; lines: number } | undefined;

  /** Takes a line of tap. */
  take(line: string): void {
    const indent = line.length - line.trimStart().length;
    if (this.#diagnostics && (indent > this.#diagnostics.indent || line.trim() === '')) {
      if (++this.#diagnostics.lines <= LINES) this.texts[this.texts.length - 1] += `\n${line.slice(0, WIDTH)}`;
      return;
    }
    this.#diagnostics = undefined;
    const depth = indent / 4;
    const file = FILE_LINE.exec(line)?.[1];
    if (file !== undefined) this.#names[0] = file;
    const begun = /^\s*# Subtest: (.*)$/.exec(line)?.[1];
    if (begun !== undefined) {
      this.#names.length = depth;
      this.#names[depth] = begun;
      return;
    }
    if (!/^\s*not ok /.test(line) || / # (?:SKIP|TODO)\b/.test(line)) return;
    // A test fails with the assertions in it, which were collected.
    const isAround = depth < this.#deepest;
    this.#deepest = isAround ? depth : depth + 0.5;
    if (isAround || this.texts.length === KEPT) return;
    const path = this.#names.slice(0, depth).join(' > ');
    this.texts.push(`${path}\n${line.slice(0, WIDTH)}`);
    this.lines.push(`FAILED  ${path} > ${line.trim().slice('not ok '.length, WIDTH)}`);
    this.#diagnostics = { indent, lines: 0 };
  }
}
