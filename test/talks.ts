import { writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { fixture, isUpdated, readRecorded } from './recorded.ts';

/** Whoever is told steps, and what they say to each. */
export interface Talking {
  step(step: string): Promise<readonly string[]>;
}

/**
 * Runs a text of `test/fixtures`: what it is about, and blocks that begin with `== ` and a promise. Their lines are steps, and
 * below each is indented what is said to it. The first steps, of which `isSetUp` knows, make the world, and say nothing.
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
      t.strictSame(told, block.split('\n'));
    });
  }
  t.teardown(() => {
    if (isUpdated) writeFileSync(fixture(file), `${found.join('\n\n== ')}\n`);
  });
}
