import { writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { fixture, isUpdated, readRecorded } from './recorded.ts';

/** Runs the steps of one block. */
export interface Talking {
  /** Returns the lines that belong below the step. */
  step(step: string): Promise<readonly string[]>;
}

/** A line that a command prints, without times and the path of its credentials. */
export const withoutTimes = (line: string): string =>
  line.replaceAll(/20\d\d-\d\d-\d\d[ T][\d:.]+Z?/g, 'TIME').replaceAll(/\/\S*credentials\.json/g, 'FILE');

/** A line of a table with two spaces between its columns, however wide they are. */
export const narrowed = (line: string): string => line.replaceAll(/(?<=\S) {2,}/g, '  ');

/**
 * Runs a text of `test/fixtures`: an introduction, then blocks that begin with `== ` and a promise. The lines of a block are its
 * steps, and the indented lines below a step are what it must say. The first steps, those that match `isSetUp`, make the world
 * and say nothing.
 */
export function talks(
  file: string,
  isSetUp: RegExp,
  begin: (t: Test, setUp: readonly string[]) => Promise<Talking>,
): void {
  const [about = '', ...blocks] = readRecorded(file).trimEnd().split('\n\n== ');
  const found: string[] = [about, ...blocks];
  for (const [place, block] of blocks.entries()) {
    const [promise = '', ...lines] = block.split('\n');
    t.test(promise, async (t) => {
      const steps = lines.filter((line) => !line.startsWith('  '));
      const first = steps.findIndex((step) => !isSetUp.test(step));
      const talk = await begin(t, steps.slice(0, first));
      const told = [promise];
      for (const [at, step] of steps.entries()) {
        const said = at < first ? [] : await talk.step(step);
        told.push(step, ...said.flatMap((line) => line.split('\n')).map((line) => `  ${line}`));
      }
      found[place + 1] = told.join('\n');
      if (!isUpdated) t.strictSame(told, block.split('\n'));
    });
  }
  t.teardown(() => {
    if (isUpdated) writeFileSync(fixture(file), `${found.join('\n\n== ')}\n`);
  });
}
